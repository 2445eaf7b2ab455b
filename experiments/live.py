"""The small translators that the pages train before your eyes, on five seeds.

A page trains one seed of these and asserts that what it gets lies in the 95 % prediction interval
recorded here.
"""

from __future__ import annotations

from experiments.record import fingerprint, measure_all, write_result
from experiments.settings import LIVE_SETTINGS, LIVE_TASK, REPORT_SEEDS
from experiments.translators import run_all, smoke_trace, unit_of

STUDY = "live"


def smoke() -> list[float]:
    """Run the whole pipeline on a few sentences; see `smoke_trace`."""
    return smoke_trace(LIVE_SETTINGS.values())


def main(workers: int = 2) -> None:
    """Train every small translator on every seed and write the record."""
    entries = {name: (setting, LIVE_TASK) for name, setting in LIVE_SETTINGS.items()}
    runs = run_all("live", entries, REPORT_SEEDS, workers)
    write_result(
        STUDY,
        title="The small translators of the live cells",
        command="python -m experiments.live",
        seeds=REPORT_SEEDS,
        threads=1,
        config={
            name: {"setting": setting, "task": task} for name, (setting, task) in entries.items()
        },
        measures=measure_all(runs, unit_of),
        fingerprint=fingerprint(smoke()),
    )


if __name__ == "__main__":
    main()
