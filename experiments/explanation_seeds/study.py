"""How much do explanations differ by seed? One classifier, twenty times.

The marker classifier with a biGRU of `experiments.explanation`, with its setting, on other seeds:
five are few where the seeds differ in kind and not in degree.
"""

from dataclasses import replace

import torch
from torch import Tensor

from bookkit.data.classification import Examples
from companion.interpret import classifier_read, leave_one_out, top_places
from companion.models.classifier import AttentionClassifier
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import NumberKind, share
from experiments.explanation import study as explanation

SEEDS = tuple(range(11, 31))
ARM = "marker/gru/additive"


def looked(model: AttentionClassifier, examples: Examples, seed: int) -> dict[str, float]:
    """Return where the largest weight stands, and what deletion and erasure say of it."""
    with torch.no_grad():
        encoded = model.encode(examples.tokens, examples.lengths, examples.question)
        own = model.weights(encoded)

    def predict(tokens: Tensor, lengths: Tensor) -> Tensor:
        return model(tokens, lengths, examples.question).softmax(-1)

    effects = leave_one_out(predict, examples.tokens, examples.lengths)
    hits = examples.gold.gather(-1, top_places(own)[:, None])[:, 0]
    by_class = sorted(explanation.percent(hits[examples.labels == label]) for label in (0, 1))
    flips = explanation.replaced(
        classifier_read(model, encoded), own, encoded.mask, seed, explanation.SMOKE
    )
    return {
        "pointing": explanation.percent(hits), "pointing/worse_class": by_class[0],
        "pointing/better_class": by_class[1], "flips/top": flips["flips/top"],
        **explanation.agreement(own, effects, encoded.mask),
    }  # fmt: skip


def smaller_class(name: str) -> NumberKind:
    """Return the kind of a share of the sentences of one class: as many as the smaller one has."""
    labels = explanation.held_out(explanation.TASKS["marker"], explanation.TESTS).labels
    return share(int(labels.bincount().min()))


def outcome(seed: int) -> dict[str, float]:
    """Train the classifier on a seed, and look at its weights."""
    setting = explanation.reported()[ARM]
    model, _ = explanation.fit(setting, seed)
    examples = explanation.held_out(explanation.TASKS[setting.task], explanation.TESTS)
    return {"accuracy": explanation.accuracy(model, examples), **looked(model, examples, seed)}


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates, and what is looked at."""
    setting = replace(explanation.reported()[ARM], steps=4, warmup_steps=2, embed_dim=6)
    model, losses = explanation.fit(setting, seed=7)
    examples = explanation.held_out(explanation.TASKS[setting.task], explanation.SMOKE)
    return [*losses, *(value / 1000 for value in looked(model, examples, seed=7).values())]


STUDY = Experiment(
    name="explanation_seeds", title="One classifier, twenty seeds",
    seeds=SEEDS, beside=outcome, workers=1,
    config=lambda: {
        "setting": explanation.reported()[ARM], "task": explanation.TASKS["marker"],
        "tests": explanation.TESTS,
    },
    kinds={"pointing/*_class": smaller_class} | explanation.KINDS,
    modules=(
        *LAYERS, "bookkit.data.classification", "companion.interpret",
        "companion.models.classifier", "experiments.explanation.study",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
