"""What `benchmarks.annif` has a real Annif do, on a few texts."""

from pathlib import Path

import pytest

from deplda import Concept, Vocabulary
from deplda.errors import DepldaError

CAT, DOG, COW = (f"http://example.org/{name}" for name in ("cat", "dog", "cow"))
TEXTS = (
    "A kitten purrs\nand chases the mouse.",
    "The puppy barks at the postman.",
    "Kittens purr, whiskers and all.",
    "A barking puppy fetches sticks.",
)
SUBJECTS = ([CAT], [DOG], [CAT], [DOG])


@pytest.mark.annif
def test_a_real_annif_learns_from_texts_and_suggests_labels_of_others(
    annif: Path, tmp_path: Path
) -> None:
    from benchmarks.annif import Annif, scores_of

    concepts = zip((CAT, DOG, COW), ("cats", "dogs", "cows"), strict=True)
    vocabulary = Vocabulary(Concept(uri=uri, names={"en": name}) for uri, name in concepts)
    real = Annif(annif, tmp_path, vocabulary, "en", "snowball(english)")
    real.train("tfidf", TEXTS, SUBJECTS)
    found = real.suggest("tfidf", ["My puppy barks.", "", "It purrs:\na kitten!"])
    assert [[uri for uri, _ in own] for own in found] == [[DOG], [], [CAT]]
    scores = scores_of(found, (CAT, DOG, COW))
    assert scores.shape == (3, 3)
    assert scores[0, 1] == found[0][0][1] > 0
    assert scores[2, 0] == found[2][0][1] > 0
    assert scores.nnz == 2


@pytest.mark.annif
def test_what_annif_says_of_a_mistake_is_in_the_error(annif: Path, tmp_path: Path) -> None:
    from benchmarks.annif import Annif

    vocabulary = Vocabulary([Concept(uri=CAT, names={"en": "cats"})])
    real = Annif(annif, tmp_path, vocabulary, "en", "snowball(english)")
    with pytest.raises(DepldaError, match=r"annif index .* ended with 1; it said: .*not trained"):
        real.suggest("tfidf", ["A kitten purrs."])
