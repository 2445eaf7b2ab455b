"""How much do tests of attention weights depend on the learning rate of the model?

The study of explanation chose one rate a classifier by the loss on two seeds. For majority with a
biGRU another rate ended nearly as well, and for marker with a biGRU three rates ended with the same
loss, of which it took the smallest. Here the first is trained at both of its rates and the second
at the smallest and the largest of its three, and both are put to two of the tests, on other seeds
and on more sentences.
"""

from dataclasses import replace

import torch
from torch import Tensor

from companion.interpret import (
    classifier_read,
    erased,
    flipped,
    kendall_tau,
    leave_one_out,
    top_agreement,
    top_places,
)
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.experiment import Experiment, Measures, by_item, numbers, on
from experiments.engine.kinds import number, share
from experiments.explanation import study as explanation
from experiments.explanation.study import SMOKE, TASKS, TESTS, Setting, Tests, percent

SEEDS = tuple(range(201, 221))
RATES = {"majority": (0.012, 0.036), "marker": (0.012, 0.1)}
ASKED = replace(TESTS, examples=2000)


def outcome(setting: Setting, tests: Tests, seed: int) -> Measures:
    """Train one classifier; erase its largest weight, and delete its words one by one."""
    model, _ = explanation.fit(setting, seed)
    examples = explanation.held_out(TASKS[setting.task], tests)
    with torch.no_grad():
        encoded = model.encode(examples.tokens, examples.lengths, examples.question)
        own, read = model.weights(encoded), classifier_read(model, encoded)
        flips = flipped(read(erased(own, top_places(own))), read(own))

    def predict(tokens: Tensor, lengths: Tensor) -> Tensor:
        return model(tokens, lengths, examples.question).softmax(-1)

    effects = leave_one_out(predict, examples.tokens, examples.lengths)
    measures: dict[str, Tensor] = {
        "accuracy": explanation.correct(model, examples),
        "flips": flips,
        "agreement": top_agreement(own, effects, encoded.mask),
    }
    return {
        "tau": float(kendall_tau(own, effects, encoded.mask).nanmean()),
        **{name: percent(flags) for name, flags in measures.items()},
        **{by_item(name): [(float(f), 1.0) for f in flags] for name, flags in measures.items()},
    }


def arms() -> dict[str, Setting]:
    """Return both classifiers, with the recorded setting, at each of the rates."""
    recorded = explanation.reported()
    return {
        f"{task}/{rate}": replace(recorded[f"{task}/gru/additive"], learning_rate=rate)
        for task, rates in RATES.items()
        for rate in rates
    }


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates at every rate, and both tests."""
    small = [replace(arm, steps=4, warmup_steps=2, embed_dim=6) for arm in arms().values()]
    found = [outcome(arm, SMOKE, seed=7) for arm in small]
    return [value / 1000 for one in found for value in numbers(one).values()]


STUDY = Experiment(
    name="explanation_rates", title="Tests of attention weights, by the model's learning rate",
    seeds=SEEDS, arms=lambda: on(ASKED, arms()), outcome=outcome,
    config=lambda: {"tasks": {name: TASKS[name] for name in RATES}, "tests": ASKED, "arms": arms()},
    kinds={"*/tau": number("", -1, 1), "*": share(ASKED.examples)},
    modules=(
        *LAYERS, "bookkit.data.classification", "companion.interpret",
        "companion.models.classifier", "experiments.explanation.study",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
