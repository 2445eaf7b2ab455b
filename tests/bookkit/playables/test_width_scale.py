"""Width and scale in Node: weights and gradients are the package's."""

from functools import cache
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray

from bookkit.figures import width_explorer
from companion import masked_softmax, scaled_dot_product_attention, scaled_dot_score
from tests.bookkit.playables.node import ask

Numbers = NDArray[np.float64]

WIDTHS = (4, 16, 64)
QUERIES, KEYS, MARKED = 6, 5, 2


def drawn(*shape: int) -> torch.Tensor:
    """Draw numbers that float32 holds exactly, since the output stores its numbers so."""
    numbers = torch.randn(*shape, generator=GENERATOR, dtype=torch.float64)
    return numbers.float().double()


GENERATOR = torch.Generator().manual_seed(11)
QUERY, KEY = drawn(QUERIES, 1, WIDTHS[-1]), drawn(QUERIES, KEYS, WIDTHS[-1])
VALUE, ABOVE = drawn(QUERIES, KEYS, 3), drawn(QUERIES, 1, 3)


def scale(width: int, *, divided: bool) -> float:
    return width**-0.5 if divided else 1.0


def weights(width: int, *, divided: bool) -> Numbers:
    """Return the weights of the marked query, (k,)."""
    query, key = QUERY[MARKED, :, :width], KEY[MARKED, :, :width]
    scores = scaled_dot_score(query, key, scale=scale(width, divided=divided))
    return np.asarray(masked_softmax(scores)[0])


@cache
def reached(width: int, *, divided: bool) -> Numbers:
    """Return the lengths of the gradients at the queries, (n,)."""
    query = QUERY[..., :width].clone().requires_grad_()
    how = scale(width, divided=divided)
    output = scaled_dot_product_attention(query, KEY[..., :width], VALUE, scale=how)
    (gradient,) = torch.autograd.grad((output * ABOVE).sum(), query)
    return np.asarray(gradient[:, 0].norm(dim=-1))


def test_numbers_are_those_of_the_package() -> None:
    settings = list(product(WIDTHS, (False, True)))
    states = [{"width": WIDTHS.index(width), "divided": divided} for width, divided in settings]
    scores = [(KEY[MARKED, :, :width] @ QUERY[MARKED, 0, :width]).numpy() for width in WIDTHS]
    given = [[reached(width, divided=divided) for width in WIDTHS] for divided in (False, True)]
    made = width_explorer(WIDTHS, np.array(scores), np.array(given), marked=MARKED, width=16)
    shown = ask(made, *states)
    for (width, divided), one in zip(settings, shown, strict=True):
        lengths, scaled = reached(width, divided=divided), np.median(reached(width, divided=True))
        own = weights(width, divided=divided)
        wanted = {
            "weights": own, "lengths": lengths, "largest": own.max(), "scaled": scaled,
            "typical": np.median(lengths), "fewer": (lengths < scaled).sum(),
        }  # fmt: skip
        for name, value in wanted.items():
            np.testing.assert_allclose(one[name], value, rtol=1e-6, atol=1e-6)
