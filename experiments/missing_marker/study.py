"""What does a classifier of markers say when there is no marker, and where does it look?

In `experiments.explanation_seeds`, many models put the largest weight on the marker in all
sentences of one class and in few of the other. Do they look for one class, and say the other by
default? Here the marker of every test sentence is replaced by a filler, or the marker of the other
class is planted beside it, in the same two classifiers on twenty other seeds.
"""

from dataclasses import replace

import torch
from torch import Generator, Tensor

from bookkit.data.classification import MarkerTask
from companion.interpret import flipped, top_places, total_variation
from companion.models.classifier import AttentionClassifier
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.experiment import Experiment, Measures, numbers, on
from experiments.engine.kinds import NumberKind, share
from experiments.explanation import study as explanation
from experiments.explanation.study import SMOKE, TESTS, Setting, Tests, percent

SEEDS = tuple(range(301, 321))
TASK = MarkerTask()
ASKED = replace(TESTS, examples=2000)
IDLE = 0.1
"""A marker is idle if the output moves by less than this, in total variation, without it."""


def outcome(setting: Setting, tests: Tests, seed: int) -> Measures:
    """Train one classifier; take the marker out of every sentence, and plant the other one."""
    model, _ = explanation.fit(setting, seed)
    examples = explanation.held_out(TASK, tests)
    words, gold, labels = examples.tokens[..., 0], examples.gold, examples.labels
    place = gold.long().argmax(-1)
    generator = Generator().manual_seed(90_002)
    fillers = torch.randint(TASK.fillers, words.shape, generator=generator)
    others = TASK.fillers + TASK.markers * (1 - labels[:, None])

    def said(tokens: Tensor) -> Tensor:
        return model(tokens[..., None], examples.lengths).softmax(-1)

    with torch.no_grad():
        before, without = said(words), said(torch.where(gold, fillers, words))
        planted = said(words.scatter(-1, ((place + 1) % examples.lengths)[:, None], others))
        own = weights(model, examples.tokens, examples.lengths)
    by_default = labels == without.argmax(-1).mode().values
    on_marker, idle = top_places(own) == place, total_variation(before, without) < IDLE
    stays = ~flipped(without, before)
    return {
        "accuracy": percent(before.argmax(-1) == labels),
        "default": percent(without.argmax(-1) == without.argmax(-1).mode().values),
        "default/pointing": percent(on_marker[by_default]),
        "other/pointing": percent(on_marker[~by_default]),
        "default/stays": percent(stays[by_default]),
        "other/stays": percent(stays[~by_default]),
        "default/planted": percent(flipped(planted, before)[by_default]),
        "off/idle": percent(~on_marker & idle),
        "off/moved": percent(~on_marker & ~idle),
    }


def weights(model: AttentionClassifier, tokens: Tensor, lengths: Tensor) -> Tensor:
    """Return the weights of every sentence, (b, k)."""
    return model.weights(model.encode(tokens, lengths))


def arms() -> dict[str, Setting]:
    """Return both classifiers, with their recorded settings."""
    recorded = explanation.reported()
    return {encoder: recorded[f"marker/{encoder}/additive"] for encoder in ("embeddings", "gru")}


def of_class(name: str) -> NumberKind:
    """Return the kind of a share of one class: it has as many sentences as the smaller one."""
    return share(int(explanation.held_out(TASK, ASKED).labels.bincount().min()), asked=name)


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of both, and what is measured of them."""
    small = [replace(arm, steps=4, warmup_steps=2, embed_dim=6) for arm in arms().values()]
    found = [outcome(arm, SMOKE, seed=7) for arm in small]
    return [value / 1000 for one in found for value in numbers(one).values()]


STUDY = Experiment(
    name="missing_marker", title="What a classifier of markers says without a marker",
    seeds=SEEDS, arms=lambda: on(ASKED, arms()), outcome=outcome, workers=1,
    config=lambda: {"task": TASK, "tests": ASKED, "idle": IDLE, "arms": arms()},
    kinds={"*/default/*": of_class, "*/other/*": of_class, "*": share(ASKED.examples)},
    modules=(
        *LAYERS, "bookkit.data.classification", "companion.interpret",
        "companion.models.classifier", "experiments.explanation.study",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
