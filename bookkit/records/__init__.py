"""Recorded studies: what was measured, with its interval, its runs and where it came from."""

from bookkit.records.reading import load_result, load_trials, read_study, recorded_studies
from bookkit.records.records import (
    Bounds,
    Claim,
    Finding,
    KindName,
    Measure,
    Origin,
    Planned,
    Side,
    Sort,
    Study,
    UnknownNameError,
    Verdict,
    verdict_of,
)
from bookkit.records.rounding import (
    Interval,
    decimals_for,
    exact_decimals,
    fewest_decimals,
    format_estimate,
    format_interval,
    format_number,
    with_unit,
)

__all__ = [
    "Bounds", "Claim", "Finding", "Interval", "KindName", "Measure", "Origin", "Planned", "Side",
    "Sort", "Study", "UnknownNameError", "Verdict", "decimals_for", "exact_decimals",
    "fewest_decimals", "format_estimate", "format_interval", "format_number", "load_result",
    "load_trials", "read_study", "recorded_studies", "verdict_of", "with_unit",
]  # fmt: skip
