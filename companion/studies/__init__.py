"""Recorded studies: what was measured, with its interval, its runs and where it came from."""

from companion.studies.reading import load_result, read_study
from companion.studies.records import Claim, Measure, Side, Study, UnknownNameError, Verdict
from companion.studies.rounding import (
    Interval,
    decimals_for,
    exact_decimals,
    format_estimate,
    format_interval,
    format_number,
    with_unit,
)

__all__ = [
    "Claim",
    "Interval",
    "Measure",
    "Side",
    "Study",
    "UnknownNameError",
    "Verdict",
    "decimals_for",
    "exact_decimals",
    "format_estimate",
    "format_interval",
    "format_number",
    "load_result",
    "read_study",
    "with_unit",
]
