from deplda.data.datasets.newsroom_lexicon import ONE_DOCUMENT_LABEL, read_lexicon


def test_every_subject_has_words_of_each_kind_and_stories_in_different_places() -> None:
    for subject in read_lexicon().subjects:
        people, things, *others = subject.words
        assert len(people) >= 2
        assert len(things) >= 4
        assert all(len(words) >= 2 and all(words) for words in others)
        assert len({story.place for story in subject.stories}) == len(subject.stories)
        assert all(story.label.startswith(f"{subject.label} IN ") for story in subject.stories)


def test_names_of_descriptors_are_distinct() -> None:
    lexicon = read_lexicon()
    names = [subject.label for subject in lexicon.subjects]
    names += [story.label for subject in lexicon.subjects for story in subject.stories]
    names += {aspect.label for group in lexicon.aspects for aspect in group}
    names += [place.upper() for place in lexicon.places]
    assert len(set(names)) == len(names)


def test_the_label_of_one_document_is_never_drawn_nor_strayed_to() -> None:
    lexicon = read_lexicon()
    rare = lexicon.subject(ONE_DOCUMENT_LABEL)
    number = lexicon.subjects.index(rare)
    assert lexicon.shares[number] == lexicon.shares[number - 1]
    assert number not in lexicon.frequent
    assert rare.words not in lexicon.alike(number)
    assert all(rare.words not in writer.comparisons for writer in lexicon.writers)
    assert all(number not in [n for n, _ in subject.companions] for subject in lexicon.subjects)
