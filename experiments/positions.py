"""Which encodings of positions work beyond the lengths of training? One question, eight answers.

A language model of two blocks reads letters and says, at every position, which letter stood three
positions back. Trained on up to 32 letters, it is asked at the end of 32, 48, 64 and 128. The model
with rotations is also asked with its frequencies rescaled, by position interpolation and by YaRN,
without training again. Three encodings that may only be slow to learn are trained three times as
long, too. `--tune` chooses a learning rate for every encoding from one grid, on seeds of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean
from typing import get_args

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from companion.models.transformer import LanguageModel, TransformerConfig
from companion.models.transformer.config import Positions
from companion.pages.studies import Finding
from companion.positions import Linear, RotaryScaling, Yarn
from experiments.claims import Claim
from experiments.descent import CLIP, WARMUP, descend
from experiments.experiment import Experiment, on, split_off
from experiments.kinds import number, share
from experiments.trials import Trials, tuned

SEEDS = tuple(range(1, 6))
LEARNING_RATES = (0.006, 0.012, 0.024, 0.048, 0.096)
"""With the first three, sinusoids, buckets and no positions were best at the largest."""
PATIENCE = 3
"""How many times as long the patient arms train."""
PATIENT: tuple[Positions, ...] = ("sinusoidal", "alibi", "none")


@dataclass(frozen=True)
class Task:
    """Letters, and what is asked about them.

    Training draws a length for every batch, from half of `length` to all of it. The longest test
    is `stretch` times as long, and asks in the last quarter of the positions.
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
        """Draw tokens (rows, n), and the answers, which exist from position `back` on."""
        tokens = torch.randint(self.letters, (rows, n), generator=generator)
        return tokens, tokens.roll(self.back, 1)


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    positions: Positions
    learning_rate: float = 0.0
    steps: int = 2000


TASK = Task()
WIDTH = 32
HEADS = 4
BUCKETS = 16


def make(setting: Setting, task: Task) -> LanguageModel:
    """Draw a model of two blocks, with an id beyond the letters, which never occurs.

    Learned positions have a row for each of the longest test. The last bucket of distances
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

    def draw(generator: Generator) -> tuple[Tensor, Tensor]:
        n = int(torch.randint(task.length // 2, task.length + 1, (), generator=generator))
        return task.draw(task.batch_size, n, generator)

    def loss(model: LanguageModel, batch: tuple[Tensor, Tensor]) -> Tensor:
        tokens, answers = batch
        logits = model(tokens)[:, task.back :]
        return F.cross_entropy(logits.flatten(0, 1), answers[:, task.back :].flatten())

    return descend(lambda: make(setting, task), draw, loss, setting, seed)


@torch.no_grad()
def accuracy(model: LanguageModel, task: Task, seed: int) -> dict[str, float]:
    """Return the share of right answers in the last quarter of every test length, in %."""
    shares = {}
    for n in task.lengths:
        generator = Generator().manual_seed(90_000 + seed)
        tokens, answers = task.draw(task.test_size, n, generator)
        right = (model(tokens).argmax(-1) == answers)[:, n * 3 // 4 :]
        shares[f"accuracy/{n}"] = 100.0 * float(right.double().mean())
    return shares


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm: its loss and its right answers; with rotations, also rescaled."""
    model, losses = fit(setting, task, seed)
    measures = {"final_loss": fmean(losses[-20:]), **accuracy(model, task, seed)}
    if setting.positions == "rotary":
        for kind, scaling in rescalings(task).items():
            other = accuracy(rescaled(model, scaling), task, seed)
            measures |= {f"{kind}/{what}": value for what, value in other.items()}
    return measures


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: all encodings of positions."""
    return {positions: Setting(positions) for positions in get_args(Positions)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and three that train for longer, at the rates they had."""
    settings = tuned("positions", arms())
    return settings | {
        f"{name}-long": replace(settings[name], steps=PATIENCE * settings[name].steps)
        for name in PATIENT
    }


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


CLAIMS = {
    "sinusoidal_extrapolates": Claim(
        "Sinusoidal encodings lose less than 10 points from the training length to twice that.",
        "sinusoidal/accuracy/32", "sinusoidal/accuracy/64", "points", below=10,
        finding=Finding(
            holds="Sinusoidal encodings hardly notice a text of twice the length.",
            fails="Sinusoidal encodings fail on a text of twice the length.",
            undecided="We cannot tell whether sinusoidal encodings work at twice the length.",
            number="{} points lost",
        )),
    "patient_sinusoidal_extrapolates": Claim(
        "With three times the updates, sinusoidal encodings lose less than 10 points from the "
        "training length to twice that.",
        "sinusoidal-long/accuracy/32", "sinusoidal-long/accuracy/64", "points", below=10,
        finding=Finding(
            holds="After long training, sinusoidal encodings hardly notice a text of twice the "
            "length.",
            fails="Long training does not help: sinusoidal encodings fail on a text of twice the "
            "length.",
            undecided="We cannot tell whether sinusoidal encodings work at twice the length after "
            "long training.",
            number="{} points lost",
        )),
    "alibi_keeps": Claim(
        "What ALiBi answers at the training length it answers at four times that, within 5 points.",
        "alibi/accuracy/32", "alibi/accuracy/128", "points", below=5,
        finding=Finding(
            holds="ALiBi answers as well on texts four times as long as in training.",
            fails="ALiBi answers fewer questions on texts four times as long as in training.",
            undecided="We cannot tell whether ALiBi loses more than 5 points on texts four times "
            "as long.",
            number="{} points lost",
        )),
    "patient_alibi_keeps": Claim(
        "With three times the updates, what ALiBi answers at the training length it answers at "
        "four times that, within 5 points.",
        "alibi-long/accuracy/32", "alibi-long/accuracy/128", "points", below=5,
        finding=Finding(
            holds="After long training, ALiBi answers as well on texts four times as long.",
            fails="After long training, too, ALiBi answers fewer questions on texts four times as "
            "long.",
            undecided="We cannot tell whether ALiBi answers as well on longer texts after long "
            "training.",
            number="{} points lost",
        )),
    "alibi_finds_places": Claim(
        "ALiBi answers more than 90 % at the training length.",
        "alibi/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="ALiBi learns to find the letter three positions back.",
            fails="ALiBi does not learn in this time to find the letter three positions back every "
            "time.",
            undecided="We cannot tell whether ALiBi learns in this time to find the letter three "
            "positions back.",
            number="{} in 100 answers right",
        )),
    "patient_alibi_finds_places": Claim(
        "With three times the updates, ALiBi answers more than 90 % at the training length.",
        "alibi-long/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="Given three times as long, ALiBi learns to find the letter three positions "
            "back.",
            fails="Even with three times the training, ALiBi does not find the letter three "
            "positions back every time.",
            undecided="We cannot tell whether ALiBi learns the question with three times the "
            "training.",
            number="{} in 100 answers right",
        )),
    "rotary_fails_beyond": Claim(
        "Rotations lose more than 20 points from the training length to twice that.",
        "rotary/accuracy/32", "rotary/accuracy/64", "points", above=20,
        finding=Finding(
            holds="Rotations fail on texts of twice the training length.",
            fails="Rotations work on texts of twice the training length.",
            undecided="We cannot tell whether rotations work at twice the training length.",
            number="{} points lost",
        )),
    "yarn_needs_no_training": Claim(
        "With YaRN and without further training, rotations answer more than 80 % at four times "
        "the training length.",
        "yarn/accuracy/128", unit="%", above=80,
        finding=Finding(
            holds="YaRN carries rotations to four times the length without any further training.",
            fails="Without further training, YaRN does not carry rotations to four times the "
            "length.",
            undecided="With YaRN and no further training, rotations still answer most questions at "
            "four times the length.",
            number="{} in 100 answers right",
        )),
    "interpolation_needs_training": Claim(
        "Position interpolation without further training loses more than 20 points at the "
        "training length itself.",
        "rotary/accuracy/32", "linear/accuracy/32", "points", above=20,
        finding=Finding(
            holds="Position interpolation without further training breaks what the model could "
            "do.",
            fails="Position interpolation works without further training.",
            undecided="We cannot tell whether position interpolation needs further training.",
            number="{} points lost",
        )),
    "buckets_beat_rotary": Claim(
        "At twice the training length, learned buckets answer more than rotations.",
        "relative/accuracy/64", "rotary/accuracy/64", "points", above=0,
        finding=Finding(
            holds="At twice the training length, learned buckets of distances answer more than "
            "rotations.",
            fails="At twice the training length, rotations answer more than learned buckets of "
            "distances.",
            undecided="We cannot tell whether buckets or rotations answer more at twice the "
            "training length.",
            number="{} points more",
        )),
    "none_suffices": Claim(
        "Without positions, a causal model answers more than 90 % at the training length.",
        "none/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="A causal mask alone is enough to find the letter three positions back.",
            fails="Without positions, a causal model does not learn in this time to count three "
            "positions back.",
            undecided="We cannot tell whether a causal model needs positions for this question.",
            number="{} in 100 answers right",
        )),
    "patient_none_suffices": Claim(
        "With three times the updates, a causal model without positions answers more than 90 % at "
        "the training length.",
        "none-long/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="Given three times as long, a causal mask alone is enough to find the letter "
            "three positions back.",
            fails="Even with three times the training, a causal model without positions does not "
            "learn the question.",
            undecided="We cannot tell whether long training makes up for positions.",
            number="{} in 100 answers right",
        )),
    "none_is_at_a_plateau": Claim(
        "Three times the updates gain a model without positions less than 5 points at the "
        "training length.",
        "none-long/accuracy/32", "none/accuracy/32", "points", below=5,
        finding=Finding(
            holds="More training hardly helps the model without positions.",
            fails="More training still helps the model without positions, so it may only be slow.",
            undecided="We cannot tell whether more training helps the model without positions.",
            number="{} points gained",
        )),
}  # fmt: skip

STUDY = Experiment(
    name="positions", title="Encodings of positions, beyond the lengths of training",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    recorded=split_off(rescalings(TASK)),
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 20 updates",
                  digits=".6f"),
    config=lambda: {
        "task": TASK, "width": WIDTH, "heads": HEADS, "blocks": 2, "buckets": BUCKETS,
        "warmup": WARMUP, "clip": CLIP, "patience": PATIENCE,
        "rescalings": rescalings(TASK), "arms": reported(),
    },
    kinds={"*/final_loss": number("nats", 0), "*": share(TASK.test_size, own=True)},
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
