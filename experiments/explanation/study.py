"""Is attention explanation? The same tests on classifiers and on translators.

Six classifiers, three questions by two encoders, each also trained with uniform attention from the
start (Wiegreffe and Pinter, 2019); two recurrent translators, on a grammar that knows which word
comes from which; and a small Transformer, for rollout. Weights are erased, permuted, made uniform,
and chosen by an adversary; the weights are ranked against what deleting a word does. The
classifiers are tuned here. The translators are not compared with one another: each is the live
cells' or the Transformer study's, with a schedule for short sentences, tried on seed 101.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Literal, cast, get_args

import torch
from torch import Generator, Tensor

from bookkit.data.classification import (
    ClassificationTask,
    Examples,
    LookupTask,
    MajorityTask,
    MarkerTask,
)
from companion.alignment import Links, argmax_links
from companion.data.batching import Batch, collate
from companion.data.pairs import Pair
from companion.interpret import (
    Read,
    adversarial_weights,
    classifier_read,
    cross_rollout,
    erased,
    flipped,
    jensen_shannon,
    kendall_tau,
    leave_one_out,
    other_places,
    permuted_weights,
    top_agreement,
    top_places,
    total_variation,
    translator_read,
    uniform_weights,
)
from companion.metrics import alignment_error_rate
from companion.models.classifier import AttentionClassifier, ClassifierConfig
from companion.models.seq2seq import Seq2Seq
from companion.models.transformer import Transformer
from experiments.engine import code
from experiments.engine.claims_file import read_claims
from experiments.engine.descent import config_of, train_new
from experiments.engine.experiment import Answers, Arm, Experiment, by_item, on
from experiments.engine.kinds import Kinds, NumberKind, number, share
from experiments.engine.settings import LIVE_SETTINGS
from experiments.engine.translators import Corpus, GrammarTask, Trainable, Trained
from experiments.engine.translators import Setting as TranslatorSetting
from experiments.engine.translators import fit as fit_translator
from experiments.engine.trials import Trials, tuned
from experiments.transformer.study import SMALL, TransformerSetting
from experiments.transformer.study import tuned as tuned_transformer

SEEDS = tuple(range(501, 521))
TWIN = 1000
"""What is added to a seed for the second model, whose weights are compared with the first's."""
LEARNING_RATES = (0.004, 0.012, 0.036, 0.1, 0.3)

Name = Literal["marker", "majority", "lookup"]
Encoder = Literal["embeddings", "gru"]
Attention = Literal["additive", "uniform"]
TASKS: dict[str, ClassificationTask] = {
    "marker": MarkerTask(),
    "majority": MajorityTask(),
    "lookup": LookupTask(),
}
TRANSLATORS = ("additive", "dot")
SENTENCES = GrammarTask(train_pairs=8_000, max_length=10, test_pairs=200, bins=(), test_seed=70_201)
UPDATES, WARMUP = 400, 40
"""Of the translators: short sentences need fewer than the live cells'."""
TRANSLATOR_RATE = 8e-3
LONGER = 5
"""How many times as many updates the uniform look-up gets in a second trial."""


@dataclass(frozen=True)
class Setting:
    """One classifier and its training."""

    task: Name
    encoder: Encoder
    attention: Attention
    learning_rate: float = 0.0
    steps: int = 200
    warmup_steps: int = 20
    batch_size: int = 64
    embed_dim: int = 32


@dataclass(frozen=True)
class Tests:
    """How the weights are put to the test.

    An adversary is let loose on `searched` sentences of a classifier; on a tenth of that of a
    translator, which has many words a sentence.
    """

    examples: int = 500
    permutations: int = 5
    bound: float = 0.01
    searched: int = 200
    steps: int = 60
    starts: int = 2


TESTS = Tests()


@dataclass(frozen=True)
class Drawn:
    """Fresh examples for every update."""

    task: ClassificationTask
    batch_size: int
    seed: int

    def __getitem__(self, step: int, /) -> Examples:
        """Draw the batch of a step."""
        generator = Generator().manual_seed(1_000_003 * self.seed + step)
        return self.task.draw(self.batch_size, generator)


# Classifiers


def fit(setting: Setting, seed: int) -> tuple[AttentionClassifier, list[float]]:
    """Train a classifier; return it in double precision, and the loss of every update."""
    task = TASKS[setting.task]
    sizes = task.vocab_size, task.classes, task.questions, setting.embed_dim
    config = ClassifierConfig(*sizes, setting.encoder, setting.attention)
    batches = Drawn(task, setting.batch_size, seed)
    model, losses = train_new(
        lambda: AttentionClassifier(config), batches, loss_of, config_of(setting, seed)
    )
    return model.double(), losses


def loss_of(model: AttentionClassifier, examples: Examples) -> Tensor:
    """Return the cross-entropy of a batch."""
    logits = model(examples.tokens, examples.lengths, examples.question)
    return torch.nn.functional.cross_entropy(logits, examples.labels)


def held_out(task: ClassificationTask, tests: Tests) -> Examples:
    """Draw the test sentences, the same for every seed."""
    return task.draw(tests.examples, Generator().manual_seed(90_001))


@torch.no_grad()
def correct(model: AttentionClassifier, examples: Examples) -> Tensor:
    """Return which answers are right, (b,) booleans."""
    logits = model(examples.tokens, examples.lengths, examples.question)
    return logits.argmax(-1) == examples.labels


def accuracy(model: AttentionClassifier, examples: Examples) -> float:
    """Return the share of right answers, in %."""
    return percent(correct(model, examples))


def explained(
    model: AttentionClassifier, examples: Examples, seed: int, tests: Tests
) -> dict[str, float]:
    """Put the weights of a classifier to every test."""
    with torch.no_grad():
        encoded = model.encode(examples.tokens, examples.lengths, examples.question)
        own = model.weights(encoded)
        read = classifier_read(model, encoded)
        right = read(uniform_weights(encoded.mask, dtype=own.dtype)).argmax(-1) == examples.labels

    def predict(tokens: Tensor, lengths: Tensor) -> Tensor:
        return model(tokens, lengths, examples.question).softmax(-1)

    effects = leave_one_out(predict, examples.tokens, examples.lengths)
    few = slice(tests.searched)
    some = model.encode(examples.tokens[few], examples.lengths[few], examples.question[few])
    some = type(some)(*(part.detach() for part in some))
    return {
        "accuracy/made_uniform": percent(right),
        "pointing": percent(examples.gold.gather(-1, top_places(own)[:, None])),
        **replaced(read, own, encoded.mask, seed, tests),
        **agreement(own, effects, encoded.mask),
        **searched(classifier_read(model, some), own[few], some.mask, seed, tests),
    }


@torch.no_grad()
def replaced(
    read: Read, own: Tensor, mask: Tensor, seed: int, tests: Tests, counts: Tensor | None = None
) -> dict[str, float]:
    """Erase, permute and level the weights; return what flips, and how far outputs move.

    Args:
        counts: (...) booleans, True for the rows that count; None counts all.
    """
    generator = Generator().manual_seed(seed)
    counts = torch.ones(own.shape[:-1], dtype=torch.bool) if counts is None else counts
    before = read(own)

    def flips(weights: Tensor) -> float:
        return percent(flipped(read(weights), before)[counts])

    dealt = [
        read(permuted_weights(own, mask, generator=generator)) for _ in range(tests.permutations)
    ]
    moved = torch.stack([total_variation(said, before) for said in dealt])
    changed = torch.stack([flipped(said, before) for said in dealt])
    return {
        "flips/top": flips(erased(own, top_places(own))),
        "flips/other": flips(erased(own, other_places(own, mask, generator=generator))),
        "flips/uniform": flips(uniform_weights(mask.expand(own.shape), dtype=own.dtype)),
        "flips/permuted": percent(changed[:, counts]),
        "distance/permuted": float(moved[:, counts].mean()),
    }


def agreement(
    own: Tensor, effects: Tensor, mask: Tensor, counts: Tensor | None = None
) -> dict[str, float]:
    """Rank the words by their weights and by what deleting them does; compare both orders."""
    counts = torch.ones(own.shape[:-1], dtype=torch.bool) if counts is None else counts
    tau = kendall_tau(own, effects, mask)[counts]
    return {
        "tau": float(tau.nanmean()),
        "top_agreement": percent(top_agreement(own, effects, mask)[counts]),
    }


def searched(
    read: Read, own: Tensor, mask: Tensor, seed: int, tests: Tests, counts: Tensor | None = None
) -> dict[str, float]:
    """Let an adversary choose the weights; return how far it gets from the model's own."""
    counts = torch.ones(own.shape[:-1], dtype=torch.bool) if counts is None else counts
    chosen = adversarial_weights(
        read, own, mask, bound=tests.bound, steps=tests.steps, starts=tests.starts,
        generator=Generator().manual_seed(seed),
    )  # fmt: skip
    return {
        "adversary/divergence": float(jensen_shannon(chosen, own)[counts].mean()),
        "adversary/other_top": percent((top_places(chosen) != top_places(own))[counts]),
    }


def percent(flags: Tensor) -> float:
    """Return the share of what is true, in %."""
    return 100.0 * float(flags.double().mean())


def classified(setting: Setting, tests: Tests | None, seed: int) -> dict[str, float | Answers]:
    """Train one classifier and test it; without `tests`, measure its loss and accuracy alone."""
    model, losses = fit(setting, seed)
    examples = held_out(TASKS[setting.task], tests or TESTS)
    hits = correct(model, examples)
    measures: dict[str, float | Answers] = {
        "final_loss": fmean(losses[-50:]),
        "accuracy": percent(hits),
        by_item("accuracy"): [(float(hit), 1.0) for hit in hits.tolist()],
    }
    if tests is None or setting.attention == "uniform":
        return measures
    twin, _ = fit(setting, TWIN + seed)
    return measures | explained(model, examples, seed, tests) | apart(model, twin, examples)


@torch.no_grad()
def apart(
    model: AttentionClassifier, twin: AttentionClassifier, examples: Examples
) -> dict[str, float]:
    """Compare the weights of two models that differ in their seeds alone."""
    encoded = [
        one.encode(examples.tokens, examples.lengths, examples.question) for one in (model, twin)
    ]
    own, other = model.weights(encoded[0]), twin.weights(encoded[1])
    return {
        "twin/divergence": float(jensen_shannon(other, own).mean()),
        "twin/other_top": percent(top_places(other) != top_places(own)),
    }


# Translators


def translated(
    trained: Trained, pairs: Sequence[Pair], seed: int, tests: Tests
) -> dict[str, float]:
    """Put the weights of a translator to every test, word by word, its right words before it.

    Sentences of one word are left out: nothing can be deleted from them.
    """
    pairs = [pair for pair in pairs if len(pair.source) > 1]
    translator = trained.translator
    model = cast(Seq2Seq, translator.model).double()
    batch = collate(pairs, translator.source_vocab, translator.target_vocab)
    words = batch.target_mask & (batch.target_out != translator.target_vocab.eos_id)
    mask = model.start(batch.source, batch.source_lengths).encoded.mask
    read, own = translator_read(model, batch)
    rest = {"target_in": batch.target_in, "target_out": batch.target_out}

    def predict(source: Tensor, lengths: Tensor) -> Tensor:
        shorter = Batch(source, lengths, **rest, target_mask=batch.target_mask)
        logits: Tensor = model(shorter)
        return logits.softmax(-1)

    effects = leave_one_out(predict, batch.source, batch.source_lengths)
    with torch.no_grad():
        before = read(own)
        flips = flipped(read(erased(own, top_places(own))), before)
    few = max(1, tests.searched // 10)
    some = Batch(*(part[:few] for part in batch))
    return {
        "accuracy": percent((before.argmax(-1) == batch.target_out)[words]),
        "alignment_error": error_rate(own, pairs),
        "alignment_error/deleted": error_rate(effects, pairs),
        **by_place(flips, own, pairs),
        **replaced(read, own, mask, seed, tests, words),
        **agreement(own, effects, mask, words),
        **searched(
            translator_read(model, some)[0], own[:few], mask[:few], seed, tests, words[:few]
        ),
    }


def links_of(scores: Tensor, pairs: Sequence[Pair]) -> list[Links]:
    """Link every target word to the source word of its largest score, (b, q, k)."""
    return [
        argmax_links(matrix[: len(pair.target), : len(pair.source)])
        for matrix, pair in zip(scores, pairs, strict=True)
    ]


def error_rate(scores: Tensor, pairs: Sequence[Pair]) -> float:
    """Return the alignment error of the largest scores, (b, q, k)."""
    return alignment_error_rate(links_of(scores, pairs), pairs)


def by_place(flips: Tensor, own: Tensor, pairs: Sequence[Pair]) -> dict[str, float]:
    """Sort what flips without the largest weight: by whether it hits a gold link, and by class."""
    kinds: defaultdict[str, list[bool]] = defaultdict(list)
    for row, (links, pair) in enumerate(zip(links_of(own, pairs), pairs, strict=True)):
        for i, j in links:
            flip = bool(flips[row, i])
            hit = (i, j) in pair.sure | pair.possible
            kinds[f"flips/top/{'hit' if hit else 'miss'}"].append(flip)
            kinds[f"flips/top/class/{pair.classes[i]}"].append(flip)
    return {name: 100.0 * fmean(values) for name, values in sorted(kinds.items())}


@torch.no_grad()
def rolled_out(trained: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the alignment error of cross-attention by block, of its mean, and of rollout."""
    translator = trained.translator
    batch = collate(pairs, translator.source_vocab, translator.target_vocab)
    maps = cast(Transformer, translator.model).attention(batch)
    encoder, decoder, cross = (
        [weights.mean(1) for weights in maps_of]
        for maps_of in (maps.encoder, maps.decoder, maps.cross)
    )
    scores = {f"block_{number}": block for number, block in enumerate(cross, 1)} | {
        "mean": torch.stack(cross).mean(0),
        "rollout": cross_rollout(encoder, decoder, cross),
    }
    return {f"alignment_error/{name}": error_rate(one, pairs) for name, one in scores.items()}


# Settings


def arms() -> dict[str, Setting]:
    """Return every classifier that is tuned."""
    return {
        f"{task}/{encoder}/{attention}": Setting(task, encoder, attention)
        for task in get_args(Name)
        for encoder in get_args(Encoder)
        for attention in get_args(Attention)
    }


def reported() -> dict[str, Setting]:
    """Return the tuned classifiers."""
    return tuned("explanation", arms())


def longer() -> dict[str, Setting]:
    """Return the classifier that is trained again for longer: uniform, and in need of it."""
    setting = reported()["lookup/gru/uniform"]
    return {"lookup/gru/uniform_longer": replace(setting, steps=LONGER * setting.steps)}


def translator(kind: str) -> TranslatorSetting:
    """Return a recurrent translator for short sentences."""
    return replace(
        LIVE_SETTINGS[kind], learning_rate=TRANSLATOR_RATE, steps=UPDATES, warmup_steps=WARMUP
    )


def transformer() -> TransformerSetting:
    """Return the Transformer for short sentences."""
    return replace(tuned_transformer(SMALL), steps=UPDATES, warmup_steps=WARMUP)


def outcome(
    setting: Setting | TranslatorSetting | TransformerSetting, tests: Tests | None, seed: int
) -> Mapping[str, float | Answers]:
    """Train one model; put its weights to every test, or the Transformer's to rollout."""
    if isinstance(setting, Setting):
        return classified(setting, tests, seed)
    corpus = SENTENCES.corpus(seed)
    trained, pairs = fit_translator(setting, corpus, seed), corpus.tests["test"]
    if isinstance(setting, TransformerSetting):
        return rolled_out(trained, pairs)
    return translated(trained, pairs, seed, tests or TESTS)


def compared() -> dict[str, Arm]:
    """Return every model that is reported."""
    translators = {kind: translator(kind) for kind in TRANSLATORS}
    return on(TESTS, reported() | longer() | translators | {"transformer": transformer()})


SMOKE = Tests(examples=12, permutations=2, searched=4, steps=3, starts=1)


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every model, and all tests of its weights."""
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, learning_rate=0.01, steps=4, warmup_steps=2, embed_dim=6)
        model, losses = fit(setting, seed=7)
        examples = held_out(TASKS[setting.task], SMOKE)
        trace += [*losses, accuracy(model, examples) / 1000]
        if setting.attention == "additive":
            trace += shares(explained(model, examples, 7, SMOKE))
    task = GrammarTask(train_pairs=80, max_length=7, test_pairs=8, bin_pairs=2, bins=((1, 5),))
    corpus = task.corpus(seed=7)
    for kind in TRANSLATORS:
        trained = shrunk(LIVE_SETTINGS[kind], corpus)
        trace += trained.losses + shares(translated(trained, corpus.tests["test"], 7, SMOKE))
    trained = shrunk(TransformerSetting(), corpus)
    return trace + trained.losses + shares(rolled_out(trained, corpus.tests["test"]))


def shrunk(setting: Trainable, corpus: Corpus) -> Trained:
    """Train a translator as small as a smoke run needs it."""
    return fit_translator(setting.shrunk(), corpus, seed=7)


def shares(measures: Mapping[str, float]) -> list[float]:
    """Return measures, scaled so that one tie broken otherwise stays within tolerance."""
    return [value / 1000 for _, value in sorted(measures.items())]


@cache
def sentences() -> list[Pair]:
    """Return the sentences that the translators are tested on."""
    return [pair for pair in SENTENCES.tests()["test"] if len(pair.source) > 1]


def of_sentences(name: str) -> NumberKind:
    """Return the kind of a translator's share: of the sentences, or of those with a class."""
    _, _, word_class = name.partition("/class/")
    items = sum(word_class in ("", *pair.classes) for pair in sentences())
    return share(items, asked="" if word_class else "sentences")


KINDS: Kinds = {
    "*final_loss": number("nats", 0),
    "*divergence": number("nats", 0, math.log(2)),
    "*tau": number("", -1, 1),
    "*/distance/*": number("", 0, 1),
    "*/flips/top/hit": number("%", 0, 100),
    "*/flips/top/miss": number("%", 0, 100),
    **{f"{kind}/adversary/*": share(TESTS.searched // 10) for kind in TRANSLATORS},
    **{f"{kind}/*": of_sentences for kind in (*TRANSLATORS, "transformer")},
    "*/adversary/*": share(TESTS.searched),
    "*": share(TESTS.examples),
}
"""Words hit or missed have no number of sentences: it depends on the model."""

STUDY = Experiment(
    name="explanation", title="Is attention explanation?",
    seeds=SEEDS, arms=compared, outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, None, metric="loss of the last 50 updates"),
    config=lambda: {
        "arms": reported() | longer(), "tasks": TASKS, "tests": TESTS, "sentences": SENTENCES,
        "translators": dict(zip(TRANSLATORS, map(translator, TRANSLATORS), strict=True)),
        "transformer": transformer(),
    },
    kinds=KINDS,
    modules=(
        *code.TRANSLATORS, *code.TRANSFORMERS, "bookkit.data.classification",
        "companion.interpret", "companion.models.classifier",
        "experiments.transformer.study",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
