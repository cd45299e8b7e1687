"""The map of labels: none on another, like ones together, the same each time."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from deplda.models.label_map import LabelMap, label_map


def sets(n_documents: int = 600, n_groups: int = 6, of_each: int = 8) -> csr_array:
    """Return documents of groups of labels, which seldom have a label of another group."""
    rng = np.random.default_rng(0)
    group = rng.integers(n_groups, size=n_documents)
    own = np.arange(n_groups * of_each) // of_each == group[:, None]
    rates = (
        np.where(own, 0.35, 0.002)
        * np.linspace(1.2, 0.1, of_each).repeat(n_groups).reshape(of_each, n_groups).T.ravel()
    )
    return csr_array(rng.random(rates.shape) < rates)


@pytest.fixture(scope="module")
def drawn() -> LabelMap:
    return label_map(sets(), None, None)


def test_no_label_lies_on_another_and_all_lie_in_their_region(drawn: LabelMap) -> None:
    far = np.hypot(*(drawn.places[:, None] - drawn.places[None]).T)
    apart = far - drawn.radii[:, None] - drawn.radii[None]
    np.fill_diagonal(apart, 1)
    assert apart.min() > 0
    from_centre = np.hypot(*(drawn.places - drawn.centres[drawn.regions]).T)
    assert (from_centre + drawn.radii <= drawn.region_radii[drawn.regions] + 1e-9).all()


def test_regions_do_not_overlap(drawn: LabelMap) -> None:
    far = np.hypot(*(drawn.centres[:, None] - drawn.centres[None]).T)
    apart = far - drawn.region_radii[:, None] - drawn.region_radii[None]
    np.fill_diagonal(apart, 1)
    assert apart.min() > 0


def test_labels_that_go_together_are_in_one_region(drawn: LabelMap) -> None:
    group = drawn.labels // 8
    same_group = group[:, None] == group[None]
    same_region = drawn.regions[:, None] == drawn.regions[None]
    pairs = ~np.eye(len(group), dtype=bool)
    assert same_group[pairs & same_region].mean() > 0.9


def test_the_area_of_a_label_is_its_documents(drawn: LabelMap) -> None:
    frequency = np.asarray(sets().sum(axis=0))[drawn.labels]
    assert np.allclose(drawn.radii**2, frequency + 1)
    assert (np.diff(frequency) <= 0).all()


def test_regions_are_called_by_their_own_labels_and_counted(drawn: LabelMap) -> None:
    of_label = dict(zip(drawn.labels.tolist(), drawn.regions.tolist(), strict=True))
    for region, names in enumerate(drawn.names):
        assert {of_label[c] for c in names} == {region}
        has = np.asarray(sets()[:, drawn.labels[drawn.regions == region]].sum(axis=1)) > 0
        assert drawn.together[region, region] == has.sum()
    assert (drawn.together == drawn.together.T).all()


def test_the_map_is_the_same_each_time(drawn: LabelMap) -> None:
    again = label_map(sets(), None, None)
    assert (again.places == drawn.places).all()
    assert again.names == drawn.names


@pytest.mark.parametrize("n_labels", [1, 2, 3, 5])
def test_few_labels_have_a_map_and_labels_of_no_document_are_left_out(n_labels: int) -> None:
    some = csr_array(np.tri(n_labels + 2, n_labels, dtype=bool))
    found = label_map(
        csr_array(np.hstack([some.toarray(), np.zeros((n_labels + 2, 1), bool)])), None, None
    )
    assert sorted(found.labels) == list(range(n_labels))
    assert np.isfinite(found.places).all()


@pytest.mark.parametrize(
    ("shape", "n_labels", "n_regions"),
    [((3, 4), 4, 1), ((1, 40), 40, 1), ((5, 1), 1, 1), ((0, 4), 0, 0)],
)
def test_labels_that_are_all_alike_are_one_region(
    shape: tuple[int, int], n_labels: int, n_regions: int
) -> None:
    drawn = label_map(csr_array(np.ones(shape, bool)), None, None)
    assert (len(drawn.labels), len(drawn.centres)) == (n_labels, n_regions)
    assert drawn.together.shape == (n_regions, n_regions)
    assert np.isfinite(drawn.places).all()
