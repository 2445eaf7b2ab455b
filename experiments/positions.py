"""Which ways to tell places work beyond the lengths of training? One question, six ways, and two.

A language model of two blocks reads letters and says, at every place, which letter stood three
places back. Trained on up to 32 letters, it is asked at the end of 32, 48, 64 and 128. The model
with rotations is also asked with its frequencies rescaled, by position interpolation and by YaRN,
without training again. `--tune` chooses a learning rate for every way from one grid, on seeds of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import get_args

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from companion.models.transformer import LanguageModel, TransformerConfig
from companion.models.transformer.config import Positions
from companion.positions import Linear, RotaryScaling, Yarn
from experiments.descent import descend
from experiments.record import claim, fingerprint, measure_all, write_result
from experiments.settings import chosen
from experiments.translators import Runs, as_key, cached, run_arms, split_off
from experiments.trials import command_line, each_rate, tune_rates

STUDY = "positions"
SEEDS = tuple(range(1, 6))
LEARNING_RATES = (0.006, 0.012)


@dataclass(frozen=True)
class Task:
    """Letters, and what is asked about them.

    Training draws a length for every batch, from half of `length` to all of it. The longest test
    is `stretch` times as long, and asks in the last quarter of the places.
    """

    letters: int = 8
    back: int = 3
    length: int = 32
    stretch: int = 4
    batch_size: int = 16
    test_size: int = 100

    @property
    def lengths(self) -> tuple[int, int, int, int]:
        """Lengths of the tests: that of training, 1.5 and 2 times it, and the longest."""
        return self.length, self.length * 3 // 2, self.length * 2, self.length * self.stretch

    def draw(self, rows: int, n: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw tokens (rows, n), and the answers, which exist from place `back` on."""
        tokens = torch.randint(self.letters, (rows, n), generator=generator)
        return tokens, tokens.roll(self.back, 1)


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    positions: Positions
    learning_rate: float = 0.0
    steps: int = 250


TASK = Task()
WIDTH = 32
HEADS = 4
WARMUP = 20
CLIP = 1.0
BUCKETS = 16


def make(setting: Setting, task: Task) -> LanguageModel:
    """Draw a model of two blocks, with an id beyond the letters, which never occurs.

    Learned positions have a row for every place of the longest test. The last bucket of distances
    begins at three quarters of the training length, so that training meets every bucket.
    """
    config = TransformerConfig(
        vocab_size=task.letters + 1,
        embed_dim=WIDTH,
        num_heads=HEADS,
        hidden_dim=2 * WIDTH,
        positions=setting.positions,
        max_len=task.lengths[-1],
        relative_buckets=BUCKETS,
        relative_max_distance=task.length * 3 // 4,
        dropout_p=0.0,
    )
    return LanguageModel(config)


def rescalings(task: Task) -> dict[str, RotaryScaling]:
    """Return the rescalings of rotary frequencies, for the longest test."""
    return {
        "linear": Linear(float(task.stretch)),
        "yarn": Yarn(float(task.stretch), original_length=task.length),
    }


def rescaled(model: LanguageModel, scaling: RotaryScaling) -> LanguageModel:
    """Return a model with the same weights and other frequencies."""
    with torch.random.fork_rng(devices=[]):
        other = LanguageModel(replace(model.config, rotary_scaling=scaling))
    other.load_state_dict(model.state_dict())
    return other


def fit(setting: Setting, task: Task, seed: int) -> tuple[LanguageModel, list[float]]:
    """Train on fresh batches; return the model and the loss of every update.

    Arms of one seed see the same letters.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make(setting, task)
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.learning_rate, fused=True)

    def loss_of() -> Tensor:
        n = int(torch.randint(task.length // 2, task.length + 1, (), generator=generator))
        tokens, answers = task.draw(task.batch_size, n, generator)
        logits = model(tokens)[:, task.back :]
        return F.cross_entropy(logits.flatten(0, 1), answers[:, task.back :].flatten())

    losses = descend(
        model, optimizer, loss_of, setting.steps, setting.learning_rate, warmup=WARMUP, clip=CLIP
    )
    return model, losses


@torch.no_grad()
def accuracy(model: LanguageModel, task: Task, seed: int) -> dict[str, float]:
    """Return the share of right answers in the last quarter of every test length, in %."""
    found = {}
    for n in task.lengths:
        generator = Generator().manual_seed(90_000 + seed)
        tokens, answers = task.draw(task.test_size, n, generator)
        right = (model(tokens).argmax(-1) == answers)[:, n * 3 // 4 :]
        found[f"accuracy/{n}"] = 100.0 * float(right.double().mean())
    return found


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm: its loss and its right answers; with rotations, also rescaled."""
    name = f"{STUDY}/{setting.positions}-{setting.learning_rate}"
    key = as_key(setting=setting, task=task, seed=seed)

    def compute() -> dict[str, float]:
        model, losses = fit(setting, task, seed)
        found = {"final_loss": fmean(losses[-20:]), **accuracy(model, task, seed)}
        if setting.positions != "rotary":
            return found
        for kind, scaling in rescalings(task).items():
            other = accuracy(rescaled(model, scaling), task, seed)
            found |= {f"{kind}/{what}": value for what, value in other.items()}
        return found

    return cached(f"{name}-{setting.steps}-{seed}", key, compute)


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: all ways to tell places."""
    return {positions: Setting(positions) for positions in get_args(Positions)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms."""
    settings = chosen(STUDY)
    return {name: Setting(**settings[name]) for name in arms()}


def tune(workers: int) -> None:
    """Try every learning rate on every arm; record all, and the best of each."""
    trials = each_rate(arms(), LEARNING_RATES, TASK)
    metric = "loss of the last 20 updates"
    tune_rates(STUDY, trials, outcome, "final_loss", workers, metric=metric)


# The record


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(letters=5, back=2, length=12, batch_size=4, test_size=6)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, learning_rate=0.01, steps=4)
        model, losses = fit(setting, task, seed=7)
        tokens, _ = task.draw(task.test_size, task.lengths[-1], Generator().manual_seed(7))
        models = [model]
        if setting.positions == "rotary":
            models += [rescaled(model, scaling) for scaling in rescalings(task).values()]
        with torch.no_grad():
            trace += losses + [float(one(tokens).square().mean()) for one in models]
        trace.append(fmean(accuracy(model, task, seed=7).values()) / 1000)
    return trace


def main(workers: int = 2) -> None:
    """Train every arm on every seed, and write the record."""
    settings = reported()
    found = run_arms(outcome, settings, TASK, SEEDS, workers)
    runs = split_off(found, rescalings(TASK))
    write_result(
        STUDY,
        title="Ways to tell places, beyond the lengths of training",
        command="python -m experiments.positions",
        seeds=SEEDS,
        threads=1,
        config={
            "task": TASK,
            "width": WIDTH,
            "heads": HEADS,
            "blocks": 2,
            "buckets": BUCKETS,
            "warmup": WARMUP,
            "clip": CLIP,
            "rescalings": rescalings(TASK),
            "arms": settings,
        },
        measures=measure_all(runs, lambda what: "nats" if what == "final_loss" else "%"),
        claims=claims(runs),
        fingerprint=fingerprint(smoke()),
    )


def claims(runs: Mapping[str, Runs]) -> dict[str, dict[str, object]]:
    """Decide every sentence that the page puts on the scale."""
    length, _, twice, longest = TASK.lengths

    def right(name: str, n: int) -> list[float]:
        return runs[name][f"accuracy/{n}"]

    return {
        "sinusoidal_extrapolates": claim(
            "Sinusoidal encodings lose less than 10 points from the training length to twice that.",
            right("sinusoidal", length), right("sinusoidal", twice), unit="points",
            side="below", threshold=10.0,
        ),
        "alibi_keeps": claim(
            "What ALiBi answers at the training length it answers at four times that, within 5 "
            "points.",
            right("alibi", length), right("alibi", longest), unit="points", side="below",
            threshold=5.0,
        ),
        "alibi_finds_places": claim(
            "ALiBi answers more than 90 % at the training length.",
            right("alibi", length), None, unit="%", side="above", threshold=90.0,
        ),
        "rotary_fails_beyond": claim(
            "Rotations lose more than 20 points from the training length to twice that.",
            right("rotary", length), right("rotary", twice), unit="points", side="above",
            threshold=20.0,
        ),
        "yarn_needs_no_training": claim(
            "With YaRN and without further training, rotations answer more than 80 % at four "
            "times the training length.",
            right("yarn", longest), None, unit="%", side="above", threshold=80.0,
        ),
        "interpolation_needs_training": claim(
            "Position interpolation without further training loses more than 20 points at the "
            "training length itself.",
            right("rotary", length), right("linear", length), unit="points", side="above",
            threshold=20.0,
        ),
        "buckets_beat_rotary": claim(
            "At twice the training length, learned buckets answer more than rotations.",
            right("relative", twice), right("rotary", twice), unit="points", side="above",
        ),
        "none_suffices": claim(
            "Without positions, a causal model answers more than 90 % at the training length.",
            right("none", length), None, unit="%", side="above", threshold=90.0,
        ),
    }  # fmt: skip


if __name__ == "__main__":
    command_line(__doc__, tune, main)
