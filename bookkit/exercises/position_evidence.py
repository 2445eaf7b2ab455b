"""Check functions of the evidence for "Position".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers
from companion.positions import sinusoidal_encoding


def check_shift(shift: Answer) -> None:
    """Check that encodings are moved along without knowing their positions.

    Args:
        shift: `shift(encoding, distance)`, from (n, e), e even, to the encodings of the
            positions that lie `distance` further on; base 10 000.
    """

    def expected(encoding: Numbers, distance: int) -> Expected:
        width = encoding.shape[1]
        pairs = encoding.reshape(7, -1, 2)
        halves = encoding.reshape(7, 2, -1).swapaxes(1, 2)
        exponents = np.arange(width // 2) / width
        angles = distance * 10_000.0 ** (-2 * exponents)
        by_halves = _rotated(halves, angles).reshape(7, -1, 2).swapaxes(1, 2).reshape(7, -1)
        slower, back = _rotated(pairs, distance * 10_000.0**-exponents), _rotated(pairs, -angles)
        by_one = _rotated(pairs, np.full(width // 2, float(distance)))
        return sinusoidal_encoding(7, width, offset=11 + distance), {
            "this moves back where it should move on: sin(a + b) = sin a cos b + cos a sin b": back,
            "the rows are moved, but the first or last ones then have the wrong encoding: turn "
            "each row by the angles of the distance": np.roll(encoding, -distance, axis=0),
            "sine and cosine of a frequency stand beside each other, not in two halves": by_halves,
            "every pair turns by its own angle, the distance times its frequency": by_one,
            "the frequencies fall like base^(-2 i / width)": slower,
        }

    cases = [(sinusoidal_encoding(7, width, offset=11), by) for width, by in ((6, 3), (10, -4))]
    answers.check(shift, cases, expected, rtol=1e-6, atol=1e-6)


def _rotated(pairs: Numbers, angles: Numbers) -> Numbers:
    """Add angles to (n, pairs, 2) sines and cosines, and write pairs beside each other."""
    sine, cosine = pairs[..., 0], pairs[..., 1]
    new_sine = sine * np.cos(angles) + cosine * np.sin(angles)
    new_cosine = cosine * np.cos(angles) - sine * np.sin(angles)
    return np.stack([new_sine, new_cosine], axis=-1).reshape(len(pairs), -1)


def check_layout(convert: Answer) -> None:
    """Check how query or key weights move from interleaved rotations to half-split ones.

    Args:
        convert: `convert(weight, num_heads)`, from (h * d, e), whose rows h heads with interleaved
            pairs are made of, to weights for half-split pairs that give the same scores.
    """

    def expected(weight: Numbers, h: int) -> Expected:
        rows, e = weight.shape
        heads = weight.reshape(h, rows // h, e)
        order, across = _evens_first(rows // h), _evens_first(rows)
        back = heads[:, np.argsort(order)].reshape(rows, e)
        return heads[:, order].reshape(rows, e), {
            "nothing has moved": weight,
            "that is the way back, from half-split to interleaved": back,
            "pairs belong to a head: sort the rows within every head": weight[across],
        }

    rng = np.random.default_rng(5)
    cases = [(rng.normal(size=(h * d, e)), h) for h, d, e in ((3, 8, 5), (1, 6, 4))]
    answers.check(convert, cases, expected, rtol=1e-6, atol=1e-6)


def _evens_first(n: int) -> list[int]:
    return [*range(0, n, 2), *range(1, n, 2)]
