"""Shards laid out, and the cells of all of them in blocks of labels."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deplda import Corpus, PriorLDA, read_corpus
from deplda.data.datasets import newsroom
from deplda.training import shard_layouts
from deplda.training.shard_layouts import add_up, lay_out_shards, read_block, read_layout
from deplda.training.shards import prepare
from deplda.training.slices import save_array
from deplda.training.word_chain import lay_out
from tests.training.worlds import in_shards, same


@cache
def news() -> Corpus:
    return newsroom(200, seed=4).corpus


@pytest.mark.parametrize("word_counts", ["raw", "log"])
def test_one_shard_is_laid_out_as_in_memory(word_counts: Any, tmp_path: Path) -> None:
    source = in_shards(news(), tmp_path / "in", 1)
    corpus = read_corpus(source / "docs-0.jsonl")
    ready = prepare(source, tmp_path / "scratch")
    laid = lay_out_shards(tmp_path / "scratch", ready, "expected", word_counts)
    found, expected = read_layout(laid, 0), lay_out(corpus, word_counts)
    for name, array in expected._asdict().items():
        np.testing.assert_array_equal(getattr(found, name), array)
    again = lay_out_shards(tmp_path / "scratch", ready, "expected", word_counts)
    assert again == laid


def test_blocks_have_the_cells_of_all_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_layouts, "_BLOCK_CELLS", 500)
    source = in_shards(news(), tmp_path / "in", 3)
    ready = prepare(source, tmp_path / "scratch")
    laid = lay_out_shards(tmp_path / "scratch", ready, "expected", background=True)
    assert len(laid.blocks) > 5
    assert laid.cuts[-2:] == [len(ready.labels), len(ready.labels) + 1]
    layouts = [read_layout(laid, shard) for shard in laid.shards]
    for shard, layout in enumerate(layouts):
        save_array(laid.of_shard(shard, "ones.npy"), np.ones(len(layout.cell_words)))
    for block in laid.blocks:
        cells, ends = read_block(laid, block), laid.ends[block]
        n_shards = np.zeros(len(cells.words))
        for shard, layout in enumerate(layouts):
            begin, end = laid.own_cells(shard, block)
            places = cells.places[ends[shard] : ends[shard + 1]]
            np.testing.assert_array_equal(cells.words[places], layout.cell_words[begin:end])
            n_shards[places] += 1
        assert n_shards.min() >= 1
        found = add_up(laid, block, lambda shard: laid.of_shard(shard, "ones.npy"), cells)
        np.testing.assert_array_equal(found, n_shards)


@pytest.mark.parametrize("how", [{"word_counts": "log"}, {"background": 0.3}])
def test_the_size_of_blocks_changes_no_bit(
    how: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = in_shards(news(), tmp_path / "in", 3)
    found = []
    for name, n_cells in (("one", 10**9), ("many", 500)):
        monkeypatch.setattr(shard_layouts, "_BLOCK_CELLS", n_cells)
        found.append(PriorLDA(**how).fit_shards(source, tmp_path / name).label_words_)
    assert len(list((tmp_path / "many").glob("layout-*-block-*-words.npy"))) > 5
    assert same(*found)
