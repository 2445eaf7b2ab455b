"""The exercises of the evidence for "Position"."""

import numpy as np

from bookkit.exercises.answers import Numbers
from bookkit.exercises.exercise import Function
from companion.positions import sinusoidal_encoding


def _added(encoding: Numbers, angles: Numbers, *, halves: bool = False) -> Numbers:
    """Add angles to the sines and cosines, which stand beside each other or in two halves."""
    n, width = encoding.shape
    apart = (n, 2, width // 2) if halves else (n, width // 2, 2)
    sine, cosine = np.moveaxis(encoding.reshape(apart), 1 if halves else 2, 0)
    new_sine = sine * np.cos(angles) + cosine * np.sin(angles)
    new_cosine = cosine * np.cos(angles) - sine * np.sin(angles)
    return np.stack([new_sine, new_cosine], axis=1 if halves else 2).reshape(n, width)


def _shift(
    encoding: Numbers, distance: float, *, power: float = 2, halves: bool = False
) -> Numbers:
    width = encoding.shape[1]
    angles = distance * 10_000.0 ** (-power * np.arange(width // 2) / width)
    return _added(encoding, angles, halves=halves)


check_shift = Function(
    "`shift(encoding, distance)`, encodings that are moved along without knowing their positions, "
    "from (n, e), e even, to the encodings of the positions that lie `distance` further on; base "
    "10 000.",
    right=_shift,
    cases=[(sinusoidal_encoding(7, width, offset=11), by) for width, by in ((6, 3), (10, -4))],
    mistakes={
        "this moves back where it should move on: sin(a + b) = sin a cos b + cos a sin b":
            lambda x, d: _shift(x, -d),
        "the rows are moved, but the first or last ones then have the wrong encoding: turn "
        "each row by the angles of the distance":
            lambda x, d: np.roll(x, -d, axis=0),
        "sine and cosine of a frequency stand beside each other, not in two halves":
            lambda x, d: _shift(x, d, halves=True),
        "every pair turns by its own angle, the distance times its frequency":
            lambda x, d: _shift(x, d, power=0),
        "the frequencies fall like base^(-2 i / width)": lambda x, d: _shift(x, d, power=1),
    }, rtol=1e-6, atol=1e-6,
)  # fmt: skip


def _evens_first(n: int) -> list[int]:
    return [*range(0, n, 2), *range(1, n, 2)]


def _sorted_rows(weight: Numbers, h: int, *, back: bool = False) -> Numbers:
    heads = weight.reshape(h, -1, weight.shape[1])
    order = _evens_first(heads.shape[1])
    return heads[:, np.argsort(order) if back else order].reshape(weight.shape)


DICE = np.random.default_rng(5)

check_layout = Function(
    "`convert(weight, num_heads)`, how query or key weights move from interleaved rotations to "
    "half-split ones: from (h * d, e), whose rows h heads with interleaved pairs are made of, to "
    "weights for half-split pairs that give the same scores.",
    right=_sorted_rows,
    cases=[(DICE.normal(size=(h * d, e)), h) for h, d, e in ((3, 8, 5), (1, 6, 4))], mistakes={
        "nothing has moved": lambda weight, h: weight,
        "that is the way back, from half-split to interleaved":
            lambda weight, h: _sorted_rows(weight, h, back=True),
        "pairs belong to a head: sort the rows within every head":
            lambda weight, h: weight[_evens_first(len(weight))],
    }, rtol=1e-6, atol=1e-6,
)  # fmt: skip
