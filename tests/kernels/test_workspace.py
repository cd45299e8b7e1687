"""The workspace: slots, the cache and prefix sums hold what φ and φ′ say, whatever was before."""

import numpy as np
import pytest

from deplda.kernels import workspace
from deplda.kernels.workspace import HEAVY, WIDTH
from tests.kernels.benches import Bench


@pytest.fixture(name="bench")
def a_bench() -> Bench:
    return Bench(2, 12, 90, 3, [2, 1, 0, 3, 1, 1, 0, 2, 1, 4, 1, 1])


def put(bench: Bench, c: int) -> int:
    ws, words = bench.ws, bench.words
    k: int = workspace.new_slot(
        ws.columns, ws.mass, ws.labels, ws.slot_of, ws.cache, ws.cache_of, ws.cache_labels,
        ws.place, ws.counters, words.column_starts, words.column_words, words.column_values,
        words.base, np.int64(c),
    )  # fmt: skip
    return k


def test_tokens_come_type_by_type(bench: Bench) -> None:
    assert bench.ws.tokens.tolist() == np.repeat(np.arange(10), bench.times).tolist()
    assert bench.ws.place[bench.types].tolist() == list(range(10))


def test_a_new_slot_takes_one_without_mass_and_holds_the_labels_column(bench: Bench) -> None:
    workspace.clear(bench.ws)
    bench.ws.mass[:3] = 1.0
    slots = [put(bench, c) for c in range(80)]
    assert slots[:61] == list(range(3, WIDTH))
    assert slots[61] == 3  # those with mass are passed over
    for c in range(19, 80):
        k = bench.ws.slot_of[c]
        assert bench.ws.labels[k] == c
        assert bench.ws.columns[:, k] == pytest.approx(bench.phi[bench.types, c], rel=1e-5)
    assert (bench.ws.slot_of[:19] == -1).all()


def test_the_cache_gives_up_what_was_there_longest(bench: Bench) -> None:
    ws, words = bench.ws, bench.words
    place, counters = ws.place, np.zeros(5, np.int64)
    cache, cache_of = np.empty((2, 10), np.float32), np.full(90, -1, np.int32)
    labels, a = np.full(2, -1, np.int64), bench.label_words.weights.toarray()
    columns = words.column_starts, words.column_words, words.column_values
    for c, row in ((5, 0), (7, 1), (9, 0)):
        found = workspace.put_in_cache(
            cache, cache_of, labels, place, counters, *columns, np.int64(c)
        )
        assert found == cache_of[c] == row
        assert cache[row].tolist() == a[bench.types, c].tolist()
    assert cache_of[5] == -1


def test_a_resized_workspace_has_the_same_tokens_on_the_same_labels(bench: Bench) -> None:
    for _ in range(3):
        bench.cycle()
    before, mass = bench.labels(), np.sort(bench.ws.mass)[::-1]
    for width in (4 * WIDTH, WIDTH):
        bench.ws = workspace.resized(bench.ws, width)
        assert bench.ws.mass.size == width
        assert bench.labels().tolist() == before.tolist()
        n = int(bench.ws.counters[HEAVY])
        assert bench.ws.mass[:n].tolist() == mass[:n].tolist()  # the heaviest first
        on = bench.ws.labels[:n]
        assert bench.ws.columns[:, :n] == pytest.approx(
            bench.phi[np.ix_(bench.types, on)], rel=1e-5
        )


def test_prefix_sums_add_up_a_topics_labels_and_end_where_room_does(bench: Bench) -> None:
    ws, topics = bench.ws, bench.topics
    workspace.clear(ws)
    ws.counters[workspace.PREFIX_END] = 0
    at = workspace.new_prefix_sums(bench.words, topics, ws, np.int64(1))
    first, last = topics.topic_starts[1:3]
    own, n = topics.topic_labels[first:last], last - first
    products = bench.label_words.weights.toarray()[np.ix_(bench.types, own)]
    products = products * topics.topic_values[first:last]
    found = ws.prefix_sums[at : at + 10 * n].reshape(10, n)
    assert found == pytest.approx(np.cumsum(products, axis=1), rel=1e-5)
    ws.counters[workspace.PREFIX_END] = ws.prefix_sums.size
    assert workspace.new_prefix_sums(bench.words, topics, ws, np.int64(2)) == -1


def test_leaving_makes_room_for_the_next_document(bench: Bench) -> None:
    workspace.leave(bench.ws, bench.types)
    assert (bench.ws.slot_of == -1).all()
    assert (bench.ws.place == -1).all()
