"""Counts of words as data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from deplda import InputError
from deplda.data.word_frames import frame_of

COUNTS = csr_array(np.array([[0, 2], [1, 0]], dtype=np.int32))


def test_a_frame_of_pandas_is_sparse_and_one_of_polars_dense() -> None:
    pandas, polars = (frame_of(COUNTS, ["a", "b"], name) for name in ("pandas", "polars"))
    assert isinstance(pandas, pd.DataFrame)
    assert pandas.sparse.density == 0.5
    assert isinstance(polars, pl.DataFrame)
    assert polars.to_dict(as_series=False) == {"a": [0, 1], "b": [2, 0]}
    assert pandas.to_dict("list") == {"a": [0, 1], "b": [2, 0]}


def test_what_would_not_fit_in_memory_says_what_does() -> None:
    wide = csr_array((20_000, 10_000), dtype=np.int32)
    with pytest.raises(InputError, match=r"20,000 documents × 10,000 words .*transform='pandas'"):
        frame_of(wide, [], "polars")
