"""Abuse: what may not happen whatever a file, a kill or a crowd does.

`make test` tries each kind of abuse a little; `make test-abuse` as often as docs/explanation/
threat-model.md says.
"""

from collections.abc import Callable

import pytest

Amount = Callable[[int, int], int]


@pytest.fixture(scope="session")
def amount(request: pytest.FixtureRequest) -> Amount:
    """Return what picks how often to try something: the first number, with --abuse the second."""
    thorough = request.config.getoption("--abuse")
    return lambda quick, full: full if thorough else quick
