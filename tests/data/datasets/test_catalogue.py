"""The data sets that have names."""

from pathlib import Path

import pytest

from deplda import InputError, datasets
from deplda.data.datasets.catalogue import cache_folder


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    for call in (datasets.load, datasets.fetch):
        for name in ("nonsense", "", "-"):
            with pytest.raises(InputError, match=f"file or folder '{name}'.* .data sets: newsroom"):
                call(name)


def test_the_generated_data_set_takes_options() -> None:
    small = datasets.load("newsroom", n_documents=20)
    assert small.corpus == datasets.newsroom(20).corpus
    assert 0 in small.splits[0].train
    assert datasets.fetch("newsroom") == {}
    with pytest.raises(InputError, match=r"newsroom does not take these options \(.*n_words"):
        datasets.load("newsroom", n_words=5)
    with pytest.raises(InputError, match="debtags takes no options; got seed"):
        datasets.load("debtags", seed=1)


def test_the_cache_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEPLDA_DATA", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("DEPLDA_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "deplda"
