from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda import Concept, InputError, Vocabulary
from deplda.data.targets import Targets
from deplda.models.neighbours import beside, number_of


def test_labels_beside_another_are_counted_the_commonest_first() -> None:
    sets = csr_array([[1, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 0]], dtype=bool)
    assert beside(sets, np.array([0, 1, 3]), 0, 5) == [(2, 2, 2 / 3), (1, 1, 1 / 3)]
    assert beside(sets, np.array([0, 1, 3]), 0, 1) == [(2, 2, 2 / 3)]
    assert beside(sets, np.array([], dtype=np.int64), 0, 5) == []


def test_a_label_is_found_as_it_is_or_as_it_is_shown() -> None:
    classes = np.array(["http://x/1", "http://x/2"], dtype=object)
    concepts = [
        Concept(uri="http://x/1", names={"en": "violins", "de": "Geigen"}, notation="7"),
        Concept(uri="http://x/2", names={"en": "cellos"}, synonyms={"en": ("strings",)}),
        Concept(
            uri="http://x/3", names={"en": "fiddles"}, deprecated=True, replaced_by="http://x/1"
        ),
    ]
    model: Any = SimpleNamespace(
        _targets=Targets(classes, "sparse"), shown_labels_=("violins", "cellos"),
        vocabulary_=Vocabulary(concepts),
    )  # fmt: skip
    for label, number in (("geigen", 0), ("7", 0), ("strings", 1), ("fiddles", 0)):
        assert number_of(model, label) == number
    model.vocabulary_ = None
    assert [number_of(model, each) for each in ("http://x/2", "violins")] == [1, 0]
    with pytest.raises(InputError, match="know the label 'Violin'; did you mean 'violins'\\?"):
        number_of(model, "Violin")
    with pytest.raises(InputError, match="it has 2 labels, none like it"):
        number_of(model, "zither")
