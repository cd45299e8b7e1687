"""How labels are inferred, checked at once."""

from typing import Any

import pytest

from deplda import InputError
from deplda.inference.settings import Inference


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": -1.0}, "eta is -1.0"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"eta": 0.0, "alpha": 0.0}, "both 0"),
        ({"method": "guess"}, "it must be one of 'sampled', 'proper', 'deterministic'"),
        ({"gamma": 0.0}, "gamma is 0.0; it must be a number above 0"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"n_chains": 0}, "n_chains is 0; it must be a whole number from 1"),
        ({"n_label_tokens": 2.5}, "n_label_tokens is 2.5"),
        ({"max_cycles": -1}, "max_cycles is -1"),
        ({"method": "proper", "alpha": 0.0}, "proper inference needs it above 0"),
        ({"estimate": "all"}, "estimate is 'all'"),
        ({"combine": "sum"}, "combine is 'sum'"),
    ],
)
def test_bad_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Inference(**{"eta": 1.0, "alpha": 1.0, "gamma": 1.0, **options})
