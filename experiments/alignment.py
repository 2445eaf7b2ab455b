"""Is attention alignment? Largest weights against gold links, by aligner and by word class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from companion.alignment import IBMModel1, diagonal_links, oracle_links
from experiments.record import claim, fingerprint, measure, write_result
from experiments.settings import REPORT_SEEDS, reported
from experiments.translators import (
    GrammarTask,
    Kind,
    Setting,
    cached,
    fit,
    in_parallel,
    link_measures,
    run_all,
    runs_by_measure,
    smoke_trace,
)

STUDY = "alignment"
TASK = GrammarTask()
WANTED = ("alignment_error", "link_accuracy", "determiner_errors", "exact_match/test")


SMALL = GrammarTask(train_pairs=120, max_length=9, test_pairs=12, bin_pairs=4, bins=())


def smoke() -> list[float]:
    """Run the whole pipeline on a few sentences; see `smoke_trace`.

    The trace goes on with the weights of a translator that has just begun to train, and with what
    the other aligners find.
    """
    settings = entries_of({kind: Setting(kind) for kind in ("additive", "dot")})
    corpus = SMALL.corpus(seed=7)
    small = Setting("additive", steps=6, warmup_steps=2, hidden_dim=16, embed_dim=8, batch_size=16)
    weights = fit(small, corpus, seed=7).translator.forced_weights(corpus.tests["test"][:1])
    return [
        *smoke_trace(settings.values()),
        *weights[0].flatten().tolist(),
        *baselines(7, SMALL).values(),
    ]


def entries_of(settings: Mapping[Kind, Setting]) -> dict[str, Setting]:
    """Return the papers' translators, and each with the other's order of reading and looking."""
    return {name: settings[name] for name in ("additive", "dot")} | {
        "additive_present": replace(settings["additive"], query="present"),
        "dot_previous": replace(settings["dot"], query="previous"),
    }


def baselines(seed: int, task: GrammarTask = TASK) -> dict[str, float]:
    """Align the test sentences without a neural network: diagonal, IBM Model 1, oracle."""
    corpus = task.corpus(seed)
    pairs = corpus.tests["test"]
    model1 = IBMModel1().fit(corpus.train, iterations=10)
    aligners = {
        "diagonal": [diagonal_links(len(pair.target), len(pair.source)) for pair in pairs],
        "model1": [model1.links(pair) for pair in pairs],
        "oracle": [oracle_links(pair) for pair in pairs],
    }
    return {
        f"{name}/{what}": value
        for name, links in aligners.items()
        for what, value in link_measures(links, pairs).items()
    }


def cached_baselines(seed: int) -> dict[str, float]:
    """Return the baselines of a seed, computed once."""
    return cached(
        f"grammar/aligners-{seed}", {"task": repr(TASK), "seed": seed}, lambda: baselines(seed)
    )


def main(workers: int = 2) -> None:
    """Train every translator on every seed, align, and write the record."""
    settings = entries_of(reported())
    entries = {name: (setting, TASK) for name, setting in settings.items()}
    runs = run_all("grammar", entries, REPORT_SEEDS, workers)
    plain = runs_by_measure(
        in_parallel(cached_baselines, [(seed,) for seed in REPORT_SEEDS], workers)
    )
    found = plain | {
        f"{name}/{what}": values
        for name, measures in runs.items()
        for what, values in measures.items()
        if what.startswith(WANTED)
    }
    write_result(
        STUDY,
        title="Is attention alignment?",
        command="python -m experiments.alignment",
        seeds=REPORT_SEEDS,
        threads=1,
        config={name: {"setting": setting, "task": TASK} for name, setting in settings.items()},
        measures={name: measure(values, "%") for name, values in found.items()},
        claims=claims(found),
        fingerprint=fingerprint(smoke()),
    )


def claims(found: dict[str, list[float]]) -> dict[str, dict[str, object]]:
    """Compare aligners seed by seed, as the page states it."""

    def lower(text: str, first: str, second: str) -> dict[str, object]:
        what = "alignment_error"
        return claim(
            text,
            found[f"{first}/{what}"],
            found[f"{second}/{what}"],
            unit="points of alignment error",
            side="below",
        )

    return {
        "additive_beats_diagonal": lower(
            "The largest weights of additive attention align better than the diagonal.",
            "additive",
            "diagonal",
        ),
        "additive_beats_model1": lower(
            "The largest weights of additive attention align better than IBM Model 1.",
            "additive",
            "model1",
        ),
        "dot_beats_model1": lower(
            "The largest weights of dot attention align better than IBM Model 1.", "dot", "model1"
        ),
        "present_query_aligns_additive": lower(
            "Additive attention aligns better in Luong's order than in Bahdanau's.",
            "additive_present",
            "additive",
        ),
        "present_query_aligns_dot": lower(
            "Dot attention aligns better in Luong's order than in Bahdanau's.",
            "dot",
            "dot_previous",
        ),
        "wrong_determiners_point_at_their_noun": claim(
            "Most determiners that additive attention links wrongly are linked to their noun.",
            found["additive/determiner_errors/at_their_noun"],
            None,
            unit="% of wrong determiners",
            side="above",
            threshold=50.0,
        ),
    }


if __name__ == "__main__":
    main()
