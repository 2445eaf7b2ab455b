"""Check functions of "Position".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.pages.exercises.answers import as_array, called, compare, fail, named
from companion.positions import alibi_slopes, rotate, sinusoidal_encoding

Numbers = NDArray[np.float64]
_compare = partial(compare, rtol=1e-6, atol=1e-6)


def check_shift(shift: Callable[..., Any]) -> None:
    """Check that encodings are moved along without knowing their places.

    Args:
        shift: `shift(encoding, distance)`, from (n, e), e even, to the encodings of the places
            that lie `distance` further on; base 10 000.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    for width, distance in ((6, 3), (10, -4)):
        encoding = sinusoidal_encoding(7, width, offset=11)
        pairs = encoding.reshape(7, -1, 2)
        angles = distance * 10_000.0 ** (-2 * np.arange(width // 2) / width)
        halves = encoding.reshape(7, 2, -1).swapaxes(1, 2)
        mistakes = {
            "this moves back where it should move on: sin(a + b) = sin a cos b + cos a sin b": (
                _turned(pairs, -angles)
            ),
            "the rows are moved, but the first or last ones then have the wrong encoding: turn "
            "each row by the angles of the distance": np.roll(encoding, -distance, axis=0),
            "sine and cosine of a frequency stand beside each other, not in two halves": (
                _turned(halves, angles).reshape(7, -1, 2).swapaxes(1, 2).reshape(7, -1)
            ),
            "every pair turns by its own angle, the distance times its frequency": (
                _turned(pairs, np.full(width // 2, float(distance)))
            ),
            "the frequencies fall like base^(-2 i / width)": _turned(
                pairs, distance * 10_000.0 ** (-np.arange(width // 2) / width)
            ),
        }
        wanted = sinusoidal_encoding(7, width, offset=11 + distance)
        _compare(called(shift, encoding.copy(), distance), wanted, mistakes)
    print("Right.")


def _turned(pairs: Numbers, angles: Numbers) -> Numbers:
    """Add angles to (n, pairs, 2) sines and cosines, and write pairs beside each other."""
    sine, cosine = pairs[..., 0], pairs[..., 1]
    moved = np.stack(
        [
            sine * np.cos(angles) + cosine * np.sin(angles),
            cosine * np.cos(angles) - sine * np.sin(angles),
        ],
        axis=-1,
    )
    return moved.reshape(len(pairs), -1)


def check_bias(bias: Callable[..., Any]) -> None:
    """Check what ALiBi adds to the scores of a decoder's new words.

    Args:
        bias: `bias(slopes, new, cached)`, (h, new, cached + new) from the slopes (h,), for new
            queries behind `cached` keys; what stands at keys to come does not count.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    for heads, new, cached in ((3, 4, 0), (2, 1, 5), (4, 3, 2)):
        slopes = alibi_slopes(heads)

        def right(
            offset: int, sign: int = -1, slopes: Numbers = slopes, shape: Any = (new, cached)
        ) -> Numbers:
            distance = np.arange(shape[0])[:, None] + offset - np.arange(sum(shape))
            return np.asarray(sign * slopes[:, None, None] * distance)

        answer = called(bias, slopes.copy(), new, cached)
        got = as_array(answer)
        if got.shape != (heads, new, cached + new):
            what = f"shape {got.shape}" if got.ndim else named(answer)
            fail(
                f"got {what} for {heads} slopes, {new} new and {cached} cached words, "
                f"wanted ({heads}, {new}, {cached + new}): keys are all words so far"
            )
        past = np.arange(cached + new) <= np.arange(new)[:, None] + cached
        mistakes = {
            "a far key has to lose: the bias is minus the slope times the distance": right(
                cached, 1
            ),
            "the first new query stands at place `cached`, not at place 0": right(0),
            "every head has its own slope": np.broadcast_to(
                right(cached)[:1] / slopes[0], (heads, new, cached + new)
            ),
        }
        _compare(
            np.where(past, got, 0),
            np.where(past, right(cached), 0),
            {hint: np.where(past, wrong, 0) for hint, wrong in mistakes.items()},
        )
    print("Right.")


def check_layout(convert: Callable[..., Any]) -> None:
    """Check how query or key weights move from interleaved rotations to half-split ones.

    Args:
        convert: `convert(weight, num_heads)`, from (h * d, e), whose rows h heads with interleaved
            pairs are made of, to weights for half-split pairs that give the same scores.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    rng = np.random.default_rng(5)
    for h, d, e in ((3, 8, 5), (1, 6, 4)):
        weight = rng.normal(size=(h * d, e))
        heads = weight.reshape(h, d, e)
        order = [*range(0, d, 2), *range(1, d, 2)]
        mistakes = {
            "nothing has moved": weight,
            "that is the way back, from half-split to interleaved": heads[
                :, np.argsort(order)
            ].reshape(h * d, e),
            "pairs belong to a head: sort the rows within every head": weight[
                [*range(0, h * d, 2), *range(1, h * d, 2)]
            ],
        }
        wanted = heads[:, order].reshape(h * d, e)
        _compare(called(convert, weight.copy(), h), wanted, mistakes)
    print("Right.")


def check_step(step: Callable[..., Any]) -> None:
    """Check one step of a decoder with rotations and a cache.

    Args:
        step: `step(query, key, value, keys, values)`, from a new word's (1, d), (1, d), (1, v) and
            the cache, rotated keys (n, d) and values (n, v), to its output (1, v).

    Raises:
        AssertionError: the output is wrong; the message hints at the cause.
    """
    rng = np.random.default_rng(6)
    n, d = 5, 6
    query, key, value = rng.normal(size=(3, n + 1, d))
    places = np.arange(n + 1)
    turned = rotate(key, places)
    last = slice(n, n + 1)

    def output(at_query: int, keys: Numbers, values: Numbers) -> Numbers:
        scores = rotate(query[last], np.array([at_query])) @ keys.T / math.sqrt(d)
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum() @ values)

    def keys_with(new: Numbers) -> Numbers:
        return np.concatenate([turned[:n], new])

    at_zero, twice = rotate(key[last], np.array([0])), rotate(keys_with(key[last]), places)
    late = "the new word stands at the number of cached keys: turn it by that many places, not by 0"
    mistakes = {
        f"query: {late}": output(0, turned, value),
        f"key: {late}": output(n, keys_with(at_zero), value),
        f"query and key: {late}": output(0, keys_with(at_zero), value),
        "cached keys are rotated already: rotate the new key alone": output(n, twice, value),
        "cached keys are rotated already, and the new query stands behind them": output(
            0, twice, value
        ),
        "values are not rotated": output(n, turned, rotate(value, places)),
        "the new value is not rotated": output(
            n, turned, np.concatenate([value[:n], rotate(value[last], places[last])])
        ),
        "the new word attends to itself, too": output(n, turned[:n], value[:n]),
    }
    got = called(step, query[last], key[last], value[last], turned[:n].copy(), value[:n].copy())
    _compare(got, output(n, turned, value), mistakes)
    print("Right.")
