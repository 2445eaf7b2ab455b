"""Who copies names that nobody has seen? Words with and without copying, and characters.

Match reports are summed up by a recurrent encoder-decoder with attention: one that copies (a
pointer-generator), one that does not, and one that spells. All names are outside the vocabulary of
words. The pointer-generator is then trained further, with coverage and, as a control, without; the
others take as many updates. `--tune` chooses a learning rate for each, on seeds and names of its
own.
"""

import copy
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from bookkit.data.reports import made_up_names, match_reports, mistaken_facts, tells_winner
from companion.data.batching import PooledBatches, collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.metrics import exact_match, rouge
from companion.models.pointer import PointerGenerator, coverage_loss
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.training import TrainingConfig, train
from companion.translation import Translation, Translator, replace_unknown
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS, TEXTS
from experiments.engine.experiment import Experiment, on, split_off
from experiments.engine.kinds import NumberKind, exact, number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(21, 41))
LEARNING_RATES = (0.005, 0.01, 0.02, 0.04)
MISTAKES = ("reversed", "winner", "loser", "scores", "player", "form")

Kind = Literal["pointer", "attention", "characters"]
Model = Seq2Seq | PointerGenerator


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training: `steps` updates, then `more_steps` at a lower rate."""

    kind: Kind
    learning_rate: float = 0.0
    steps: int = 150
    more_steps: int = 30
    batch_size: int = 32
    embed_dim: int = 32
    hidden_dim: int = 64


@dataclass(frozen=True)
class Task:
    """How many reports and names there are. Test names are never those of training."""

    reports: int = 8000
    names: int = 1000
    tests: int = 500
    test_names: int = 300
    validation: bool = False

    def training(self, seed: int) -> list[Pair]:
        """Draw the reports of a seed; the names are the same for all."""
        return match_reports(self.reports, seed=seed, names=made_up_names(self.names, seed=0))

    def testing(self) -> dict[str, list[Pair]]:
        """Draw reports with names never seen, and others with names of training."""
        split: Literal["validation", "test"] = "validation" if self.validation else "test"
        new = made_up_names(self.test_names, seed=0, split=split)
        old = made_up_names(self.names, seed=0)
        first = 80_001 if self.validation else 90_001
        return {
            "unseen": match_reports(self.tests, seed=first, names=new),
            "seen": match_reports(self.tests, seed=first + 1, names=old),
        }


TASK = Task()
REPORT_STEPS = (240, 60)
"""Updates of a reported training, in its two parts; tuning takes those of `Setting`, fewer."""
LOWER = 0.25
"""The second part of a training begins at this share of the learning rate."""
WARMUP = 50


def vocabulary(kind: Kind, pairs: Sequence[Pair], names: Sequence[str]) -> Vocabulary:
    """Return what a model knows: characters, or all words but the names."""
    if kind == "characters":
        return Vocabulary.from_tokens(pair.source for pair in as_characters(pairs))
    left_out = set(names)
    return Vocabulary.from_tokens(
        [word for word in words if word not in left_out]
        for pair in pairs
        for words in (pair.source, pair.target)
    )


def as_characters(pairs: Sequence[Pair]) -> list[Pair]:
    """Spell reports and summaries, with spaces between the words."""
    return [Pair(tuple(" ".join(p.source)), tuple(" ".join(p.target))) for p in pairs]


@dataclass
class Trained:
    """A model with its words, the loss of every update and the seconds of training."""

    kind: Kind
    model: Model
    vocab: Vocabulary
    losses: list[float]
    seconds: float

    @property
    def translator(self) -> Translator:
        """What summarises with this model."""
        copying = self.kind == "pointer"
        return Translator(self.model, self.vocab, self.vocab, copying=copying)


def begin(setting: Setting, vocab: Vocabulary, seed: int) -> Model:
    """Draw a model; all kinds differ in copying and in their vocabularies alone."""
    config = Seq2SeqConfig(
        len(vocab), len(vocab), embed_dim=setting.embed_dim, hidden_dim=setting.hidden_dim,
        attention="general", query="present", dropout_p=0.0,
    )  # fmt: skip
    torch.manual_seed(seed)
    return PointerGenerator(config) if setting.kind == "pointer" else Seq2Seq(config)


def batches_of(setting: Setting, task: Task, vocab: Vocabulary, seed: int) -> PooledBatches:
    """Return the training batches of a seed."""
    pairs = task.training(seed)
    spelled = as_characters(pairs) if setting.kind == "characters" else pairs
    copying = setting.kind == "pointer"
    return PooledBatches(
        spelled, vocab, vocab, batch_size=setting.batch_size, seed=seed, copying=copying
    )


class Later:
    """Batches that go on where the first part of a training ended."""

    def __init__(self, batches: PooledBatches, after: int) -> None:
        self.batches, self.after = batches, after

    def __getitem__(self, step: int) -> Any:
        return self.batches[self.after + step]


def fit(setting: Setting, task: Task, seed: int) -> Trained:
    """Do the first part of a training."""
    names = made_up_names(task.names, seed=0)
    vocab = vocabulary(setting.kind, task.training(seed), names)
    batches = batches_of(setting, task, vocab, seed)
    model = begin(setting, vocab, seed)
    config = TrainingConfig(
        setting.steps, setting.learning_rate, min(WARMUP, setting.steps // 2), seed=seed
    )
    began = time.process_time()
    losses = train(model, batches, loss_of, config, progress=False)
    return Trained(setting.kind, model, vocab, losses, time.process_time() - began)


def loss_of(model: Model, batch: Any) -> Tensor:
    """Return what training makes smaller."""
    return model.loss(batch)


def go_on(trained: Trained, setting: Setting, task: Task, seed: int, *, cover: bool) -> Trained:
    """Do the second part on a copy, with coverage if asked."""
    model = copy.deepcopy(trained.model)
    if cover:
        assert isinstance(model, PointerGenerator)
        model = model.covered()
    batches = Later(batches_of(setting, task, trained.vocab, seed), setting.steps)
    rate, warmup = LOWER * setting.learning_rate, min(10, setting.more_steps // 2)
    config = TrainingConfig(setting.more_steps, rate, warmup, seed=seed)
    began = time.process_time()
    losses = train(model, batches, loss_of, config, progress=False)
    seconds = trained.seconds + time.process_time() - began
    return Trained(trained.kind, model, trained.vocab, trained.losses + losses, seconds)


# What is measured


def written(trained: Trained, pairs: Sequence[Pair]) -> list[Translation]:
    """Sum up reports by greedy decoding; what comes back is in words, whatever the model reads."""
    if trained.kind != "characters":
        return trained.translator.translate([pair.source for pair in pairs], max_len=12)
    spelled = as_characters(pairs)
    texts = trained.translator.translate([pair.source for pair in spelled], max_len=60)
    return [one._replace(tokens=tuple("".join(one.tokens).split())) for one in texts]


def quality(summaries: Sequence[Sequence[str]], pairs: Sequence[Pair]) -> dict[str, float]:
    """Compare summaries with the right ones: exact match, ROUGE and mistaken facts, in percent."""
    counts = Counter(
        wrong for said, pair in zip(summaries, pairs, strict=True)
        for wrong in mistaken_facts(said, pair)
    )  # fmt: skip
    told = {True: list[int](), False: list[int]()}
    for row, pair in enumerate(pairs):
        told[tells_winner(pair)].append(row)
    targets = [pair.target for pair in pairs]
    return {
        "exact": exact_match(summaries, targets),
        **{
            f"exact_{name}": exact_match([summaries[n] for n in part], [targets[n] for n in part])
            for name, part in (("told", told[True]), ("worked_out", told[False]))
        },
        **rouge(summaries, targets),
        **{wrong: 100.0 * counts[wrong] / len(pairs) for wrong in MISTAKES},
    }


@torch.no_grad()
def sources_of_words(trained: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
    """Say where the words of right summaries come from, by class, while the model reads them.

    Returns:
        For names, digits and other words p_gen and the share that is copied, from 0 to 1; of names
        and digits how often the largest weight is on them in the report, in percent; and the mean
        coverage loss.
    """
    model = trained.model
    assert isinstance(model, PointerGenerator)
    batch = collate(pairs, trained.vocab, trained.vocab, copying=True)
    mixture = model.mixture(batch)
    share = mixture.copied_share(batch.source, batch.target_out)
    looked = mixture.weights.argmax(-1)
    values: dict[str, list[float]] = {}
    for row, pair in enumerate(pairs):
        links = dict(pair.sure)
        for column, name in enumerate(pair.classes):
            group = group_of(name)
            values.setdefault(f"p_gen/{group}", []).append(float(mixture.p_gen[row, column]))
            values.setdefault(f"copied/{group}", []).append(float(share[row, column]))
            if column in links:
                hit = 100.0 * (int(looked[row, column]) == links[column])
                values.setdefault(f"pointing/{group}", []).append(hit)
    again = coverage_loss(mixture.weights)[batch.target_mask]
    return {**{key: fmean(runs) for key, runs in values.items()}, "again": float(again.mean())}


def group_of(name: str) -> str:
    """Return whether a word of this class is a name, a digit or another word.

    >>> group_of("winner"), group_of("loser_score"), group_of("function")
    ('name', 'digit', 'other')
    """
    if name == "function":
        return "other"
    return "digit" if name.endswith("_score") else "name"


def measures_of(trained: Trained, task: Task) -> dict[str, float]:
    """Measure a model on reports with names never seen, and on others."""
    measures: dict[str, float] = {"seconds": trained.seconds}
    for where, pairs in task.testing().items():
        summaries = written(trained, pairs)
        tokens = [one.tokens for one in summaries]
        measures |= {f"{where}/{what}": value for what, value in quality(tokens, pairs).items()}
        if trained.kind == "attention":
            replaced = []
            for one, pair in zip(summaries, pairs, strict=True):
                assert one.weights is not None
                replaced.append(replace_unknown(one.tokens, pair.source, one.weights))
            for what, value in quality(replaced, pairs).items():
                measures[f"replaced/{where}/{what}"] = value
    if trained.kind == "pointer":
        measures |= sources_of_words(trained, task.testing()["unseen"])
    measures["parameters"] = sum(parameter.numel() for parameter in trained.model.parameters())
    return measures


@torch.no_grad()
def validation_loss(trained: Trained, task: Task) -> float:
    """Return the loss on reports with names never seen, in nats a token."""
    pairs = task.testing()["unseen"]
    spelled = as_characters(pairs) if trained.kind == "characters" else pairs
    copying = trained.kind == "pointer"
    return float(
        trained.model.loss(collate(spelled, trained.vocab, trained.vocab, copying=copying))
    )


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm and measure it; a pointer-generator after both parts, and with coverage."""
    first = fit(setting, task, seed)
    last = go_on(first, setting, task, seed, cover=False)
    if task.validation:
        return {"loss": validation_loss(last, task)}
    measures = measures_of(last, task)
    if setting.kind == "pointer":
        covered = go_on(first, setting, task, seed, cover=True)
        for name, model in (("first", first), ("coverage", covered)):
            for what, value in measures_of(model, task).items():
                measures[f"{name}/{what}"] = value
    return measures


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned."""
    return {kind: Setting(kind) for kind in get_args(Kind)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, trained for longer."""
    steps, more = REPORT_STEPS
    return tuned("summarization", arms(), steps=steps, more_steps=more)


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(reports=60, names=20, tests=6, test_names=12)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(
            arm, learning_rate=0.01, steps=4, more_steps=2, batch_size=4, embed_dim=8,
            hidden_dim=12,
        )  # fmt: skip
        first = fit(setting, task, seed=7)
        models = [go_on(first, setting, task, seed=7, cover=False)]
        if setting.kind == "pointer":
            models.append(go_on(first, setting, task, seed=7, cover=True))
        for model in models:
            trace += [*model.losses, validation_loss(model, task)]
            measures = measures_of(model, task)
            trace += [measures[key] for key in ("unseen/exact", "again") if key in measures]
    pairs = match_reports(40, seed=3, names=made_up_names(9, seed=3))
    shifted = [pair.target for pair in (*pairs[1:], *pairs[:1])]
    return [*trace, *(value / 1000 for value in quality(shifted, pairs).values())]


@cache
def telling(where: str) -> int:
    """Return how many of the reports say who won."""
    return sum(map(tells_winner, TASK.testing()[where]))


def of_reports(name: str) -> NumberKind:
    """Return the kind of a share of the reports that say who won, or of those that do not."""
    where, what = name.split("/")[-2:]
    return share(telling(where) if what == "exact_told" else TASK.tests - telling(where))


STUDY = Experiment(
    name="summarization", title="Names that nobody has seen: copied, replaced or spelled",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, workers=1,
    recorded=split_off(["first", "coverage", "replaced"]),
    trials=Trials(
        arms, LEARNING_RATES, replace(TASK, tests=300, validation=True),
        "loss", "validation loss, nats a token",
    ),
    config=lambda: {"task": TASK, "arms": reported(), "lower": LOWER, "warmup": WARMUP},
    kinds={
        "*/seconds": number("s", 0, timed=True), "*/parameters": exact("weights"),
        "*/p_gen/*": number("", 0, 1), "*/copied/*": number("", 0, 1), "*/again": number("", 0),
        "*/exact_*": of_reports, "*": share(TASK.tests),
    },
    modules=(
        *LAYERS, *TEXTS, "bookkit.data.reports", "companion.decoding", "companion.metrics",
        "companion.models.pointer", "companion.models.seq2seq", "companion.translation",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
