"""Which cases of a test every run has, and which the long run alone."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def often(cases: Iterable[Any], chosen: Callable[[Any], bool]) -> list[Any]:
    """Mark all cases as slow but those that are chosen; a tuple has a value for each argument."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) and not hasattr(case, "_fields") else (case,)),
            marks=() if chosen(case) else pytest.mark.slow,
        )
        for case in cases
    ]
