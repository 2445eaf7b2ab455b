"""Does one vector hold a sentence? Translators with and without attention, by sentence length.

Three translators, tuned alike, on five seeds of the grammar; then the fairness controls for the one
without attention: twice the training, and sentences of at most ten words. Dot attention has
exactly as many weights as no attention, so the first comparison is of equals.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.record import claim, fingerprint, measure, write_result
from experiments.settings import REPORT_SEEDS, reported
from experiments.translators import (
    KINDS,
    GrammarTask,
    Kind,
    Runs,
    Setting,
    bin_name,
    in_parallel,
    run_all,
    smoke_trace,
    unit_of,
)
from experiments.update_cost import update_costs

STUDY = "bottleneck"
TASK = GrammarTask()
SHORT = GrammarTask(max_length=10, bins=((1, 5), (6, 10)), test_pairs=500)


def smoke() -> list[float]:
    """Run the whole pipeline on a few sentences; see `smoke_trace`."""
    return smoke_trace(Setting(kind) for kind in KINDS)


def controls(settings: dict[Kind, Setting]) -> dict[str, tuple[Setting, GrammarTask]]:
    """Return what else the translator without attention is given, and a twin with attention."""
    plain, dot = settings["none"], settings["dot"]
    return {
        "none_longer": (replace(plain, steps=2 * plain.steps), TASK),
        "none_short": (plain, SHORT),
        "dot_short": (dot, SHORT),
    }


def main(workers: int = 2) -> None:
    """Train every translator on every seed and write the record."""
    settings = reported()
    entries: dict[str, tuple[Setting, GrammarTask]] = {
        **{kind: (setting, TASK) for kind, setting in settings.items()},
        **controls(settings),
    }
    runs = run_all("grammar", entries, REPORT_SEEDS, workers)
    costs = in_parallel(update_costs, [(settings, TASK, seed) for seed in REPORT_SEEDS], workers=1)
    write_result(
        STUDY,
        title="The bottleneck: one vector for a sentence, or attention",
        command="python -m experiments.bottleneck",
        seeds=REPORT_SEEDS,
        threads=1,
        config={
            name: {"setting": setting, "task": task} for name, (setting, task) in entries.items()
        },
        measures={
            f"{name}/{what}": measure(values, unit_of(what))
            for name, found in runs.items()
            for what, values in found.items()
            if not what.startswith(("alignment", "link", "determiner"))
        }
        | {
            f"{kind}/update_cost": measure([cost[kind] for cost in costs], "× no attention")
            for kind in KINDS[1:]
        },
        claims=claims(runs),
        fingerprint=fingerprint(smoke()),
    )


def claims(runs: dict[str, Runs]) -> dict[str, dict[str, object]]:
    """Compare translators seed by seed, as the page states it."""

    def gain(text: str, more: str, less: str, what: str = "exact_match/test") -> dict[str, object]:
        return claim(
            text, runs[more][what], runs[less][what], unit="points of exact match", side="above"
        )

    longest, shortest = (f"exact_match/{bin_name(*TASK.bins[i])}" for i in (5, 0))
    fall = [
        (dot_short - dot_long) - (none_short - none_long)
        for dot_short, dot_long, none_short, none_long in zip(
            runs["dot"][shortest],
            runs["dot"][longest],
            runs["none"][shortest],
            runs["none"][longest],
            strict=True,
        )
    ]
    return {
        "attention_gain": gain(
            "With attention, more sentences of at most 30 words come out exactly right.",
            "dot",
            "none",
        ),
        "attention_gain_short": gain(
            "Attention also helps when no sentence has more than 5 words.", "dot", "none", shortest
        ),
        "less_fall_with_length": claim(
            "From 1-5 to 26-30 words, the translator with attention loses less.",
            fall,
            None,
            unit="points of exact match",
            side="below",
        ),
        "longer_training_is_not_enough": gain(
            "Attention beats no attention trained for twice as many steps.",
            "dot",
            "none_longer",
        ),
        "additive_or_dot": gain(
            "Additive attention gets more sentences right than dot attention.", "additive", "dot"
        ),
        "held_out_gain": gain(
            "With attention, more sentences with word combinations never seen come out right.",
            "dot",
            "none",
            "exact_match/held_out",
        ),
    }


if __name__ == "__main__":
    main()
