"""When does a model learn to copy what came before? Two layers of attention, and one.

A block of random symbols is repeated. Attention alone, no feed-forward layer: a head that looks at
the previous position and one that uses it, in the layer above, can predict every repetition; heads
of one layer cannot work together. Their scores are measured while they train, and then what each
layer looks at is taken away.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Generator, Tensor

from companion.masks import causal_mask
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.training import TrainingConfig, train
from experiments.claims import Claim, Runs
from experiments.experiment import Experiment, on
from experiments.findings import with_findings
from experiments.findings.induction import FINDINGS
from experiments.kinds import number, share

SEEDS = tuple(range(1, 6))
TEST_SEED = 80_001
WITHIN = 100
"""Updates over which the largest gain is looked for."""


@dataclass(frozen=True)
class Task:
    """Blocks of several lengths, each repeated to the end: one offset does not fit all."""

    symbols: int = 64
    length: int = 48
    shortest: int = 6
    longest: int = 20
    batch_size: int = 32
    test_size: int = 64

    def draw(self, generator: Generator, size: int) -> tuple[Tensor, Tensor]:
        """Draw sequences (b, n) and the lengths of their blocks (b,)."""
        lengths = torch.randint(self.shortest, self.longest + 1, (size,), generator=generator)
        blocks = torch.randint(self.symbols, (size, self.longest), generator=generator)
        positions = torch.arange(self.length) % lengths[:, None]
        return blocks.take_along_dim(positions, 1), lengths

    def test(self) -> tuple[Tensor, Tensor]:
        """Draw the test set, the same for every seed."""
        return self.draw(Generator().manual_seed(TEST_SEED), self.test_size)


@dataclass(frozen=True)
class Batches:
    """Endless training data; the batch of a step depends on seed and step."""

    task: Task
    seed: int

    def __getitem__(self, step: int) -> Tensor:
        generator = Generator().manual_seed(1_000_000 * self.seed + step)
        return self.task.draw(generator, self.task.batch_size)[0]


@dataclass(frozen=True)
class Setting:
    """One model and its training."""

    num_layers: int
    learning_rate: float = 4e-3
    steps: int = 600
    every: int = 25
    width: int = 64
    num_heads: int = 4


TASK = Task()
ARMS = {"one": Setting(1), "two": Setting(2)}


def attention_only(setting: Setting, task: Task) -> LanguageModel:
    """Return a language model whose feed-forward layers add nothing, and never will."""
    model = LanguageModel(
        TransformerConfig(
            task.symbols,
            embed_dim=setting.width,
            num_heads=setting.num_heads,
            num_layers=setting.num_layers,
            hidden_dim=1,
            positions="rotary",
            rotary_base=100.0,  # the sequences are short
            feed_forward_bias=False,
            embedding_scale=False,
            tied="none",
            dropout_p=0.0,
        )
    )
    for name, parameter in model.named_parameters():
        if ".feed_forward." in name:
            torch.nn.init.zeros_(parameter)
            parameter.requires_grad_(False)
    return model


def fit(setting: Setting, task: Task, seed: int) -> tuple[LanguageModel, dict[str, float]]:
    """Train a model, and measure it before the first update, every so many, and at the end."""
    torch.manual_seed(seed)
    model = attention_only(setting, task)
    sequences, lengths = task.test()
    measures: dict[str, float] = {}

    def look(step: int) -> None:
        for name, value in looked_at(model, sequences, lengths).items():
            measures[f"{name}/{step:04d}"] = value

    def loss(model: LanguageModel, batch: tuple[int, Tensor]) -> Tensor:
        step, tokens = batch
        if step % setting.every == 0:
            look(step)
        return model.loss(tokens)

    config = TrainingConfig(setting.steps, setting.learning_rate, min(50, setting.steps), seed=seed)
    losses = train(model, _Numbered(Batches(task, seed)), loss, config, progress=False)
    look(setting.steps)
    return model, measures | {"final_loss": fmean(losses[-20:])}


@dataclass(frozen=True)
class _Numbered:
    """Batches with the number of their step."""

    batches: Batches

    def __getitem__(self, step: int) -> tuple[int, Tensor]:
        return step, self.batches[step]


@torch.no_grad()
def looked_at(model: LanguageModel, sequences: Tensor, lengths: Tensor) -> dict[str, float]:
    """Measure accuracy in percent, and the best heads' mean weight where it would be of use.

    "previous" is the weight of a first-layer head on the previous position; "induction" is that of
    a last-layer head on the position after the symbol's last occurrence. Both are those of the head
    that has most of it, and are means over the positions from the second copy on.

    Args:
        model: the model.
        sequences: (b, n).
        lengths: (b,) of their blocks.
    """
    logits, weights = model(sequences, need_weights=True)
    positions = torch.arange(sequences.shape[1])
    known = positions >= lengths[:, None]
    previous = (positions - 1).clamp(min=0).expand_as(sequences)
    after = (positions - lengths[:, None] + 1).clamp(min=0)
    return {
        "accuracy": accuracy(logits, sequences, lengths),
        "previous": _best_head(weights[0], previous, known),
        "induction": _best_head(weights[-1], after, known),
    }


def accuracy(logits: Tensor, sequences: Tensor, lengths: Tensor) -> float:
    """Return the percentage of symbols predicted, from the second symbol of the second copy on."""
    known = (torch.arange(sequences.shape[1]) >= lengths[:, None])[:, :-1]
    hits = logits[:, :-1].argmax(-1) == sequences[:, 1:]
    return 100 * float(hits[known].double().mean())


def _best_head(weights: Tensor, positions: Tensor, known: Tensor) -> float:
    """Return the largest mean weight of a head (b, h, n, n) on every query's position (b, n)."""
    at = weights.take_along_dim(positions[:, None, :, None], -1)[..., 0].transpose(0, 1)
    return max(float(head[known].double().mean()) for head in at)


@torch.no_grad()
def accuracy_without(
    model: LanguageModel, sequences: Tensor, lengths: Tensor, layer: int, what: str
) -> float:
    """Return the accuracy when one layer may not look at one position of every query.

    Args:
        model: the model.
        sequences: (b, n).
        lengths: (b,) of their blocks.
        layer: which layer.
        what: "previous" forbids the previous position; "after" those after every earlier
            occurrence.
    """
    n = sequences.shape[1]
    distance = torch.arange(n)[:, None] - torch.arange(n)
    if what == "previous":
        forbidden = (distance == 1)[None, None]
    else:
        copies = (distance + 1) % lengths[:, None, None] == 0
        forbidden = (copies & (distance > 0))[:, None]
    x = model.embedding(sequences)
    for index, block in enumerate(model.decoder.blocks):
        mask = causal_mask(n, like=x)
        x = block(x, attn_mask=mask & ~forbidden if index == layer else mask).x
    assert model.decoder.norm is not None
    logits = model.output(model.decoder.norm(x), model.embedding.words)
    return accuracy(logits, sequences, lengths)


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one model, watch it, and take away what its layers look at."""
    model, measures = fit(setting, task, seed)
    for layer in range(setting.num_layers):
        for what in ("previous", "after"):
            right = accuracy_without(model, *task.test(), layer, what)
            measures[f"without/{what}/{layer + 1}"] = right
    steps = range(0, setting.steps + 1, setting.every)
    curves = {
        name: {step: measures[f"{name}/{step:04d}"] for step in steps}
        for name in ("accuracy", "previous", "induction")
    }
    right_at = curves["accuracy"]
    gains = [right_at[n + WITHIN] - right_at[n] for n in steps if n + WITHIN <= setting.steps]
    measures["largest_gain"] = max(gains, default=0.0)
    for name, curve in curves.items():
        half = curve[setting.steps] / 2
        measures[f"half/{name}"] = next(step for step in steps if curve[step] >= half)
    return measures


# The record


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    task = Task(symbols=7, length=12, shortest=3, longest=5, batch_size=4, test_size=6)
    trace: list[float] = []
    for layers in (1, 2):
        setting = Setting(layers, steps=6, every=3, width=16, num_heads=2)
        trace += outcome(setting, task, seed=7).values()
    return trace


LAST = f"accuracy/{ARMS['two'].steps:04d}"


def steepest(runs: Runs) -> list[float]:
    """Return the largest gain of two layers within `WITHIN` updates, in % of what they end with."""
    both = zip(runs["two/largest_gain"], runs[f"two/{LAST}"], strict=True)
    return [100 * gain / end for gain, end in both]


CLAIMS = with_findings(FINDINGS, {
    "two_copy": Claim(
        "Two layers predict more of the repetition than one, by more than 50 points.",
        f"two/{LAST}", f"one/{LAST}", "points", above=50),
    "half_within_a_sixth": Claim(
        "Two layers gain more than half of their final accuracy within some 100 of the 600 "
        "updates.",
        steepest, unit="% of the final accuracy", above=50),
    "previous_comes_first": Claim(
        "The previous-token head reaches half of its final score before the induction head does.",
        "two/half/previous", "two/half/induction", "updates", below=0),
    "previous_is_needed": Claim(
        "When the first layer may not look at the previous place, two layers lose more than 50 "
        "points.",
        f"two/{LAST}", "two/without/previous/1", "points", above=50),
})  # fmt: skip

STUDY = Experiment(
    name="induction", title="Copying what came before, by number of attention layers",
    seeds=SEEDS, arms=lambda: on(TASK, ARMS), outcome=outcome, workers=1,
    config=lambda: {"task": TASK, "arms": ARMS, "within": WITHIN},
    kinds={
        "*/half/*": number("updates", 0), "*/final_loss": number("nats", 0),
        "*/accuracy/*": share(TASK.test_size), "*/without/*": share(TASK.test_size),
        "*/largest_gain": number("points", -100, 100), "*": number("", 0, 1),
    },
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
