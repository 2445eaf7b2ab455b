"""The softmax to touch in Node, against `masked_softmax` and its Jacobian."""

import math
from itertools import product
from typing import Any

import numpy as np
import torch

from bookkit.figures import softmax_explorer
from bookkit.playables.softmax import TEMPERATURES, WIDTHS
from companion import masked_softmax
from tests.bookkit.playables.node import ask

NAMES = ["The", "cat", "sat", "on", "a", "mat"]
SCORES = [-0.2, 1.4, 0.2, -1.0, -1.4, 1.0]


def test_numbers_are_those_of_the_package() -> None:
    settings = list(product((1, 64, 512), (0.1, 1.0, 8.0), (False, True)))
    states = [
        {"width": WIDTHS.index(d), "temperature": TEMPERATURES.index(heat), "divided": divided}
        for d, heat, divided in settings
    ]
    shown = ask(softmax_explorer(NAMES, SCORES), *states)
    for (d, heat, divided), one in zip(settings, shown, strict=True):
        scale = (1 if divided else math.sqrt(d)) / heat
        for found, scores in ((one["filled"], scale * np.array(SCORES)), (one["dotted"], SCORES)):
            given = torch.tensor(scores, dtype=torch.float64)
            jacobian: Any = torch.func.jacrev(lambda x: masked_softmax(x[None])[0])(given)
            weights = masked_softmax(given[None])[0]
            wanted = {
                "scores": given, "weights": weights, "derivatives": jacobian.diagonal(),
                "variance": given.var(correction=0), "entropy": torch.special.entr(weights).sum(),
                "steepest": jacobian.abs().max(), "trace": jacobian.trace(),
            }  # fmt: skip
            for name, value in wanted.items():
                np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=1e-6)
