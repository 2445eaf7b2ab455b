"""Is attention alignment? Largest weights against gold links, by aligner and by word class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from companion.alignment import IBMModel1, diagonal_links, oracle_links
from experiments.claims import Claim, Runs
from experiments.experiment import Experiment, on
from experiments.kinds import exact
from experiments.settings import REPORT_SEEDS, reported
from experiments.translators import (
    GrammarTask,
    Setting,
    fit,
    kinds,
    link_measures,
    outcome,
    smoke_trace,
)

TASK = GrammarTask()
SMALL = GrammarTask(train_pairs=120, max_length=9, test_pairs=12, bin_pairs=4, bins=())


def smoke() -> list[float]:
    """Run the whole pipeline on a few sentences; see `smoke_trace`.

    The trace goes on with the weights of a translator that has just begun to train, and with what
    the other aligners measure.
    """
    settings = variants({kind: Setting(kind) for kind in ("additive", "dot")})
    corpus = SMALL.corpus(seed=7)
    small = Setting("additive", steps=6, warmup_steps=2, hidden_dim=16, embed_dim=8, batch_size=16)
    weights = fit(small, corpus, seed=7).translator.forced_weights(corpus.tests["test"][:1])
    return [
        *smoke_trace(settings.values()),
        *weights[0].flatten().tolist(),
        *baselines(7, SMALL).values(),
    ]


def variants(settings: Mapping[str, Setting]) -> dict[str, Setting]:
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


def recorded(runs: Runs) -> Runs:
    """Keep what is said about alignment, and the share of sentences that are right."""
    wanted = ("alignment_error", "link_accuracy", "determiner_errors", "exact_match/test")
    return {name: runs[name] for name in runs if name.partition("/")[2].startswith(wanted)}


def better(sentence: str, first: str, second: str) -> Claim:
    """Claim that one aligner has less error than another."""
    both = f"{first}/alignment_error", f"{second}/alignment_error"
    return Claim(sentence, *both, "points of alignment error", below=0)


CLAIMS = {
    "additive_beats_diagonal": better(
        "The largest weights of additive attention align better than the diagonal.",
        "additive", "diagonal"),
    "additive_beats_model1": better(
        "The largest weights of additive attention align better than IBM Model 1.",
        "additive", "model1"),
    "dot_beats_model1": better(
        "The largest weights of dot attention align better than IBM Model 1.",
        "dot", "model1"),
    "present_query_aligns_additive": better(
        "Additive attention aligns better in Luong's order than in Bahdanau's.",
        "additive_present", "additive"),
    "present_query_aligns_dot": better(
        "Dot attention aligns better in Luong's order than in Bahdanau's.",
        "dot", "dot_previous"),
    "wrong_determiners_point_at_their_noun": Claim(
        "Most determiners that additive attention links wrongly are linked to their noun.",
        "additive/determiner_errors/at_their_noun", unit="% of wrong determiners", above=50),
}  # fmt: skip

STUDY = Experiment(
    name="alignment", title="Is attention alignment?",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, variants(reported())), outcome=outcome,
    beside=baselines, recorded=recorded,
    # The gold links themselves, and a rule that looks at nothing but lengths.
    kinds={"oracle/*": exact("%"), "diagonal/*": exact("%"), **kinds(TASK)},
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
