"""Check functions of "Position".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math

import numpy as np

from companion.pages.exercises import answers
from companion.pages.exercises.answers import Answer, Expected, Numbers, fail
from companion.positions import alibi_slopes, rotate, sinusoidal_encoding


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


def check_bias(bias: Answer) -> None:
    """Check what ALiBi adds to the scores of a decoder's new words.

    Args:
        bias: `bias(slopes, new, cached)`, (h, new, cached + new) from the slopes (h,), for new
            queries behind `cached` keys; what stands at keys to come does not count.
    """
    for heads, new, cached in ((3, 4, 0), (2, 1, 5), (4, 3, 2)):
        slopes = alibi_slopes(heads)
        answer = answers.called(bias, slopes, new, cached)
        got = answers.as_array(answer)
        if got.shape != (heads, new, cached + new):
            what = f"shape {got.shape}" if got.ndim else answers.named(answer)
            asked = f"{heads} slopes, {new} new and {cached} cached words"
            wanted = f"({heads}, {new}, {cached + new}): keys are all words so far"
            fail(f"got {what} for {asked}, wanted {wanted}")
        distance = np.arange(cached, cached + new)[:, None] - np.arange(cached + new)
        right, from_zero = (-slopes[:, None, None] * d for d in (distance, distance - cached))
        mistakes = {
            "a far key has to lose: the bias is minus the slope times the distance": -right,
            "the first new query stands at place `cached`, not at place 0": from_zero,
            "every head has its own slope": np.broadcast_to(right[:1] / slopes[0], right.shape),
        }
        past = distance >= 0
        got, right = np.where(past, got, 0), np.where(past, right, 0)
        visible = {hint: np.where(past, wrong, 0) for hint, wrong in mistakes.items()}
        answers.compare(got, right, visible, rtol=1e-6, atol=1e-6)
    print("Right.")


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


def check_step(step: Answer) -> None:
    """Check one step of a decoder with rotations and a cache.

    Args:
        step: `step(query, key, value, keys, values)`, from a new word's (1, d), (1, d), (1, v) and
            the cache, rotated keys (n, d) and values (n, v), to its output (1, v).
    """
    rng = np.random.default_rng(6)
    n, d = 5, 6
    query, key, value = rng.normal(size=(3, n + 1, d))
    positions = np.arange(n + 1)
    rotated = rotate(key, positions)
    last = slice(n, n + 1)

    def output(at_query: int, keys: Numbers, values: Numbers) -> Numbers:
        scores = rotate(query[last], np.array([at_query])) @ keys.T / math.sqrt(d)
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum() @ values)

    def keys_with(new: Numbers) -> Numbers:
        return np.concatenate([rotated[:n], new])

    at_zero = keys_with(rotate(key[last], np.array([0])))
    twice = rotate(keys_with(key[last]), positions)
    behind = "cached keys are rotated already, and the new query stands behind them"
    last_rotated = np.concatenate([value[:n], rotate(value[last], positions[last])])
    late = "the new word stands at the number of cached keys: turn it by that many places, not by 0"
    mistakes = {
        f"query: {late}": output(0, rotated, value),
        f"key: {late}": output(n, at_zero, value),
        f"query and key: {late}": output(0, at_zero, value),
        "cached keys are rotated already: rotate the new key alone": output(n, twice, value),
        behind: output(0, twice, value),
        "values are not rotated": output(n, rotated, rotate(value, positions)),
        "the new value is not rotated": output(n, rotated, last_rotated),
        "the new word attends to itself, too": output(n, rotated[:n], value[:n]),
    }
    given = query[last], key[last], value[last], rotated[:n], value[:n]
    answers.check_call(step, given, output(n, rotated, value), mistakes, rtol=1e-6, atol=1e-6)
