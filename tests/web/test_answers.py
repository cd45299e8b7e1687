"""What clients get back."""

import msgspec

from deplda.web.answers import Error, SuggestAnswer, Suggested, Suggestion


def test_answers_come_back_from_json_as_they_were() -> None:
    found = SuggestAnswer(
        [Suggested([Suggestion("LAW", 0.5)], 3, 1, out_of_vocabulary=False, n_given=1)]
    )
    assert msgspec.json.decode(msgspec.json.encode(found), type=SuggestAnswer) == found


def test_an_error_has_one_field() -> None:
    assert msgspec.json.encode(Error("no")) == b'{"error":"no"}'
