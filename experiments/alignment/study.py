"""Is attention alignment? Largest weights against gold links, by aligner and by word class."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from companion.alignment import FastAlign, HMMAligner, IBMModel1, diagonal_links, oracle_links
from companion.models.seq2seq import Seq2SeqConfig
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Answers, Experiment, numbers, on
from experiments.engine.kinds import exact
from experiments.engine.settings import REPORT_SEEDS, reported
from experiments.engine.translators import (
    GrammarTask,
    Setting,
    determiner_counts,
    fit,
    kinds,
    link_measures,
    outcome,
    smoke_trace,
)

TASK = GrammarTask()
SMALL = GrammarTask(train_pairs=120, max_length=9, test_pairs=12, bin_pairs=4, bins=())


@dataclass(frozen=True)
class FedSetting(Setting):
    """A translator whose order does not decide whether the cell reads what attention found."""

    input_feeding: bool | None = None

    def config(self, vocabularies: tuple[int, int]) -> Seq2SeqConfig:
        """Return the model's configuration, for source and target vocabularies of a size."""
        return replace(super().config(vocabularies), input_feeding=self.input_feeding)


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
        *numbers(baselines(7, SMALL)).values(),
    ]


def variants(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return the papers' translators and what takes their two differences apart.

    Bahdanau's decoder looks with the previous state and its cell reads the context; Luong's looks
    with the present state and its cell reads only the last word. Each score comes in both orders.
    The additive score also comes with the previous state and nothing but the last word in the
    cell, "unfed", and with the present state and the last attentional output in the cell, "fed".
    """
    additive, dot = settings["additive"], settings["dot"]
    return {
        "additive": additive, "dot": dot, "additive_present": replace(additive, query="present"),
        "dot_previous": replace(dot, query="previous"),
        "additive_unfed": fed(additive, "previous", False),
        "additive_present_fed": fed(additive, "present", True),
    }  # fmt: skip


def fed(setting: Setting, query: Literal["previous", "present"], feeding: bool) -> FedSetting:
    """Return a setting with another query, that says whether the cell reads what was found."""
    return FedSetting(**{**vars(setting), "query": query}, input_feeding=feeding)


def baselines(seed: int, task: GrammarTask = TASK) -> dict[str, float | Answers]:
    """Align the test sentences without a neural network, by aligners of 1993 to 2013.

    The diagonal and the oracle learn nothing; the others learn from the training sentences that
    the translators of this seed have.
    """
    corpus = task.corpus(seed)
    pairs = corpus.tests["test"]
    learners: dict[str, IBMModel1 | FastAlign | HMMAligner] = {
        "model1": IBMModel1(),
        "fast_align": FastAlign(),
        "hmm": HMMAligner(),
    }
    aligners = {
        "diagonal": [diagonal_links(len(pair.target), len(pair.source)) for pair in pairs],
        "oracle": [oracle_links(pair) for pair in pairs],
    } | {
        name: [*map(learner.fit(corpus.train, iterations=10).links, pairs)]
        for name, learner in learners.items()
    }
    return {
        f"{name}/{what}": value
        for name, links in aligners.items()
        for what, value in (link_measures(links, pairs) | determiner_counts(links, pairs)).items()
    }


def recorded(runs: Runs) -> Runs:
    """Keep what is said about alignment, and the share of sentences that are right.

    Wrong determiners are kept as counts: a share of each run's would make much of a run that has
    hardly any.
    """
    wanted = ("alignment_error", "link_accuracy", "determiner_counts", "exact_match/test")
    return {name: runs[name] for name in runs if name.partition("/")[2].startswith(wanted)}


STUDY = Experiment(
    name="alignment", title="Is attention alignment?",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, variants(reported())), outcome=outcome,
    beside=baselines, recorded=recorded,
    # The gold links themselves, and a rule that looks at nothing but lengths.
    kinds={
        "diagonal/determiner_counts/*": exact("words"),
        "oracle/determiner_counts/*": exact("words"),
        "oracle/*": exact("%"), "diagonal/*": exact("%"), **kinds(TASK),
    },
    modules=TRANSLATORS,
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
