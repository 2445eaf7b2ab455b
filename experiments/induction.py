"""When does a model learn to copy what came before? Two layers of attention, and one.

A block of random symbols is repeated. Attention alone, no feed-forward layer: a head that looks at
the previous place and one that uses it, in the layer above, can predict every repetition; heads of
one layer cannot work together. Their scores are measured while they train, and then what each
attention has found is taken away.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Generator, Tensor

from companion.masks import causal_mask
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.training import TrainingConfig, train
from experiments.record import claim, fingerprint, measure, write_result
from experiments.translators import Runs, as_key, cached, in_parallel, runs_by_arm

STUDY = "induction"
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
        places = torch.arange(self.length) % lengths[:, None]
        return blocks.take_along_dim(places, 1), lengths

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
    found: dict[str, float] = {}

    def look(step: int) -> None:
        for name, value in looked_at(model, sequences, lengths).items():
            found[f"{name}/{step:04d}"] = value

    def loss(model: LanguageModel, batch: tuple[int, Tensor]) -> Tensor:
        step, tokens = batch
        if step % setting.every == 0:
            look(step)
        return model.loss(tokens)

    config = TrainingConfig(setting.steps, setting.learning_rate, min(50, setting.steps), seed=seed)
    losses = train(model, _Numbered(Batches(task, seed)), loss, config, progress=False)
    look(setting.steps)
    return model, found | {"final_loss": fmean(losses[-20:])}


@dataclass(frozen=True)
class _Numbered:
    """Batches with the number of their step."""

    batches: Batches

    def __getitem__(self, step: int) -> tuple[int, Tensor]:
        return step, self.batches[step]


@torch.no_grad()
def looked_at(model: LanguageModel, sequences: Tensor, lengths: Tensor) -> dict[str, float]:
    """Measure accuracy in percent, and the best heads' mean weight where it would be of use.

    "previous" is the weight of a first-layer head on the previous place; "induction" is that of a
    last-layer head on the place after the symbol's last occurrence. Both are those of the head
    that has most of it, and are means over the places from the second copy on.

    Args:
        model: the model.
        sequences: (b, n).
        lengths: (b,) of their blocks.
    """
    logits, weights = model(sequences, need_weights=True)
    places = torch.arange(sequences.shape[1])
    known = places >= lengths[:, None]
    previous = (places - 1).clamp(min=0).expand_as(sequences)
    after = (places - lengths[:, None] + 1).clamp(min=0)
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


def _best_head(weights: Tensor, places: Tensor, known: Tensor) -> float:
    """Return the largest mean weight of a head (b, h, n, n) on a place (b, n) for every query."""
    at = weights.take_along_dim(places[:, None, :, None], -1)[..., 0].transpose(0, 1)
    return max(float(head[known].double().mean()) for head in at)


@torch.no_grad()
def accuracy_without(
    model: LanguageModel, sequences: Tensor, lengths: Tensor, layer: int, what: str
) -> float:
    """Return the accuracy when one layer may not look at one place of every query.

    Args:
        model: the model.
        sequences: (b, n).
        lengths: (b,) of their blocks.
        layer: which layer.
        what: "previous" forbids the previous place; "after" the places after every earlier
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
    for number, block in enumerate(model.decoder.blocks):
        mask = causal_mask(n, like=x)
        x = block(x, attn_mask=mask & ~forbidden if number == layer else mask).x
    assert model.decoder.norm is not None
    logits = model.output(model.decoder.norm(x), model.embedding.words)
    return accuracy(logits, sequences, lengths)


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one model, watch it, and take away what its layers look at."""
    model, found = fit(setting, task, seed)
    for layer in range(setting.num_layers):
        for what in ("previous", "after"):
            found[f"without/{what}/{layer + 1}"] = accuracy_without(
                model, *task.test(), layer, what
            )
    steps = range(0, setting.steps + 1, setting.every)
    gains = [
        found[f"accuracy/{step + WITHIN:04d}"] - found[f"accuracy/{step:04d}"]
        for step in steps
        if step + WITHIN <= setting.steps
    ]
    found["largest_gain"] = max(gains, default=0.0)
    for name in ("accuracy", "previous", "induction"):
        half = found[f"{name}/{setting.steps:04d}"] / 2
        found[f"half/{name}"] = next(step for step in steps if found[f"{name}/{step:04d}"] >= half)
    return found


def run(name: str, setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Do one run, or read it back if it was done before."""
    key = as_key(setting=setting, task=task, seed=seed)
    return cached(f"{STUDY}/{name}-{seed}", key, lambda: outcome(setting, task, seed))


# The record


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    task = Task(symbols=7, length=12, shortest=3, longest=5, batch_size=4, test_size=6)
    trace: list[float] = []
    for layers in (1, 2):
        setting = Setting(layers, steps=6, every=3, width=16, num_heads=2)
        trace += outcome(setting, task, seed=7).values()
    return trace


def main(workers: int = 1) -> None:
    """Train both models on every seed, and write the record."""
    jobs = [(name, setting, TASK, seed) for seed in SEEDS for name, setting in ARMS.items()]
    found = in_parallel(run, jobs, workers)
    runs = runs_by_arm(ARMS, found)
    write_result(
        STUDY,
        title="Copying what came before, by number of attention layers",
        command="python -m experiments.induction",
        seeds=SEEDS,
        threads=1,
        config={"task": TASK, "arms": ARMS, "within": WITHIN},
        measures={
            f"{name}/{what}": measure(values, unit_of(what))
            for name, column in runs.items()
            for what, values in column.items()
        },
        claims=claims(runs),
        fingerprint=fingerprint(smoke()),
    )


def unit_of(what: str) -> str:
    """Return the unit of a measure."""
    kind = what.partition("/")[0]
    units = {
        "final_loss": "nats", "accuracy": "%", "without": "%", "largest_gain": "points",
        "half": "updates",
    }  # fmt: skip
    return units.get(kind, "")


def claims(runs: dict[str, Runs]) -> dict[str, dict[str, object]]:
    """Decide every sentence that the page puts on the scale."""
    one, two = runs["one"], runs["two"]
    last = f"accuracy/{ARMS['two'].steps:04d}"
    return {
        "two_copy": claim(
            "Two layers predict more of the repetition than one, by more than 50 points.",
            two[last], one[last], unit="points", side="above", threshold=50.0,
        ),
        "half_within_a_sixth": claim(
            "Two layers gain more than half of their final accuracy within some 100 of the 600 "
            "updates.",
            [100 * gain / end for gain, end in zip(two["largest_gain"], two[last], strict=True)],
            None, unit="% of the final accuracy", side="above", threshold=50.0,
        ),
        "previous_comes_first": claim(
            "The previous-token head reaches half of its final score before the induction head "
            "does.",
            two["half/previous"], two["half/induction"], unit="updates", side="below",
        ),
        "previous_is_needed": claim(
            "When the first layer may not look at the previous place, two layers lose more than "
            "50 points.",
            two[last], two["without/previous/1"], unit="points", side="above", threshold=50.0,
        ),
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1, help="processes of one thread each")
    main(parser.parse_args().workers)
