"""How much do explanations differ by seed? One classifier, twenty times.

The marker classifier with a biGRU of `experiments.explanation`, with its setting, on other seeds:
five are few where the seeds differ in kind and not in degree.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from bookkit.data.classification import Examples
from bookkit.records import Finding
from companion.interpret import classifier_read, leave_one_out, top_places
from companion.models.classifier import AttentionClassifier
from experiments.engine.claims import Claim
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import NumberKind, share
from experiments.explanation.study import (
    KINDS,
    SMOKE,
    TASKS,
    TESTS,
    accuracy,
    agreement,
    fit,
    held_out,
    percent,
    replaced,
    reported,
)

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
    by_class = sorted(percent(hits[examples.labels == label]) for label in (0, 1))
    flips = replaced(classifier_read(model, encoded), own, encoded.mask, seed, SMOKE)
    return {
        "pointing": percent(hits),
        "pointing/worse_class": by_class[0],
        "pointing/better_class": by_class[1],
        "flips/top": flips["flips/top"],
        **agreement(own, effects, encoded.mask),
    }


def smaller_class(name: str) -> NumberKind:
    """Return the kind of a share of the sentences of one class: as many as the smaller one has."""
    labels = held_out(TASKS["marker"], TESTS).labels
    return share(int(labels.bincount().min()))


def outcome(seed: int) -> dict[str, float]:
    """Train the classifier on a seed, and look at its weights."""
    setting = reported()[ARM]
    model, _ = fit(setting, seed)
    examples = held_out(TASKS[setting.task], TESTS)
    return {"accuracy": accuracy(model, examples), **looked(model, examples, seed)}


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates, and what is looked at."""
    setting = replace(reported()[ARM], steps=4, warmup_steps=2, embed_dim=6)
    model, losses = fit(setting, seed=7)
    examples = held_out(TASKS[setting.task], SMOKE)
    return [*losses, *(value / 1000 for value in looked(model, examples, seed=7).values())]


CLAIMS = {
    "top_agrees": Claim(
        "Marker, biGRU, twenty seeds: weights and deletion put the same word first in more than "
        "95 % of sentences.",
        "top_agreement", unit="%", above=95,
        finding=Finding(
            holds="In twenty models, the largest weight and deletion nearly always name the same "
            "word.",
            fails="The largest weight and deletion often name different words, in models that "
            "make no mistake.",
            undecided="Twenty models do not decide how often the largest weight and deletion name "
            "the same word.",
            number="the same word in {} of 100 sentences",
        )),
    "tau_is_low": Claim(
        "Marker, biGRU, twenty seeds: tau between weights and deletion is below 0.5.",
        "tau", unit="tau", below=0.5,
        finding=Finding(
            holds="Weights and deletion order the words of a sentence quite differently, in "
            "models that make no mistake.",
            fails="Weights and deletion order the words of a sentence much alike.",
            undecided="Twenty models do not decide how alike weights and deletion order the "
            "words.",
        )),
}  # fmt: skip

STUDY = Experiment(
    name="explanation_seeds", title="One classifier, twenty seeds",
    seeds=SEEDS, beside=outcome, workers=1,
    config=lambda: {"setting": reported()[ARM], "task": TASKS["marker"], "tests": TESTS},
    kinds={"pointing/*_class": smaller_class} | KINDS,
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip
