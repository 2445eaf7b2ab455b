"""Check functions of "The cache".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Numbers, compare, fail

Step = Callable[[Numbers], Numbers]
"""From the next rows (m, 2) to their outputs (m, 2)."""

LAYERS, QUERY_HEADS, KEY_HEADS, WIDTH, NUMBER_BYTES = 32, 32, 8, 128, 2
"""The model of `check_bytes`."""


def check_passes(passes: Answer) -> None:
    """Check how many words go through the layers, with a cache and without.

    Args:
        passes: `passes(prompt, new)`, both at least 1, to two numbers: how many words are computed
            in all to write `new` words after a prompt, with a cache and without.
    """
    for prompt, new in ((7, 5), (100, 40), (1, 1)):
        kept, anew = prompt + new - 1, new * prompt + new * (new - 1) // 2
        with_cache = {
            "the last word that is written is never read": prompt + new,
            "the prompt is read once, too": (new, new - 1),
            "what has a key and a value is not computed again": anew,
        }
        without = {
            "each word that is written makes the next pass longer by one": new * prompt,
            "the last word that is written is never read": anew + new,
            "not every pass is as long as the last": (new * (prompt + new), new * kept),
            "without a cache every step computes all words so far": kept,
        }
        got, wanted = answers.called(passes, prompt, new), "two numbers, (with, without)"
        parts = {"with a cache": (kept, with_cache), "without": (anew, without)}
        hint = "passes({}, {}): got {got:g}, which is not it"
        answers.compare_parts(got, parts, wanted, case=(prompt, new), otherwise=hint)
    print("Right.")


def check_bytes(per_token: Any, tokens: Any) -> None:
    """Check the bytes of a token's keys and values, and how many tokens fit into 8 GiB, by hand.

    The model has 32 layers with 32 heads of queries and 8 heads of keys and values of width 128,
    and stores a number in 2 bytes.

    Args:
        per_token: bytes of one token.
        tokens: how many tokens fit into 8 * 2**30 bytes.
    """
    right = 2 * LAYERS * KEY_HEADS * WIDTH * NUMBER_BYTES
    mistakes = {
        "there is a key and a value, and each number takes 2 bytes": (right // 2, right // 4),
        "every layer keeps its own keys and values": right // LAYERS,
        "keys and values have 8 heads: the 32 heads of queries are not kept": (
            right * QUERY_HEADS // KEY_HEADS
        ),
        "every head has a key and a value of its own": right // KEY_HEADS,
        "a token's keys and values are vectors of width 128": right // WIDTH,
    }
    compare(per_token, right, mistakes, where="per_token: ", otherwise="got {got:g} bytes")
    room = 8 * 2**30
    others = {
        "a GiB is 2**30 bytes": 8 * 10**9 // right,
        "that is for 1 GiB": room // 8 // right,
        "that is how many bytes there are": room,
    }
    compare(tokens, room // right, others, where="tokens: ", otherwise="got {got:g} tokens")
    print("Right.")


def check_kept(kept: Answer) -> None:
    """Check which positions a cache with a window and some first words holds.

    Args:
        kept: `kept(n, window, first)`, to the sorted list of the positions that are in the cache
            after n words were read: the latest `window` of them and the `first` words of the text.
    """
    for n, window, first in ((2, 3, 1), (6, 3, 1), (9, 4, 2), (5, 4, 2), (7, 2, 0), (3, 1, 3)):
        latest, begun = set(range(max(0, n - window), n)), set(range(min(first, n)))
        got = answers.called(kept, n, window, first)
        if not isinstance(got, list | tuple) or not all(isinstance(one, int) for one in got):
            answers.refuse(got, "a list of positions")
        found, right = list(got), sorted(latest | begun)
        if found == right:
            continue
        where = f"kept({n}, {window}, {first}): "
        if len(set(found)) < len(found):
            fail(f"{where}a position stands twice: the first words can lie inside the window")
        if sorted(found) == right:
            fail(f"{where}the positions are right, but not sorted")
        if any(one < 0 or one >= n for one in found):
            fail(f"{where}the positions of {n} words are 0 to {n - 1}")
        mistakes = {
            "the first words are missing": sorted(latest),
            "the window is missing": sorted(begun),
            "that is one word too many: the window counts the latest word, too": sorted(
                {max(0, n - window - 1)} | latest | begun
            ),
            "the window ends with the latest word": sorted(
                set(range(max(0, n - 1 - window), n - 1)) | begun
            ),
        }
        answers.hint_at(found, {f"{where}{hint}": wrong for hint, wrong in mistakes.items()})
        fail(f"{where}got {found}, which is not it")
    print("Right.")


def check_agrees(agrees: Answer) -> None:
    """Check a function that finds out whether a cache changes what a model computes.

    Args:
        agrees: `agrees(start, x)`, to True or False. `start()` begins a text: it gives a function
            from the next rows, (m, 2), to their outputs, (m, 2). The rows x are (n, 2), n >= 4.
    """
    x = np.random.default_rng(3).normal(size=(7, 2))
    cases = (
        (_start(), True, "a cache that changes nothing is accused: compare with a tolerance, and"
         " compare each output with the one of the same row"),
        (_start(offset=False), False, "a cache is passed whose mask begins at 0 in every piece:"
         " its first piece is right"),
        (_start(positions=False), False, "a cache is passed that counts positions from 0 in every"
         " piece: its first piece is right"),
        (_start(offset=False, except_one=True), False, "a cache is passed that is right as long as"
         " words come one at a time: cut the text in other places, too"),
        (_start(spoiled_by=3), False, "a cache is passed that spoils its first word when the fourth"
         " comes: compare all outputs, not only the last"),
    )  # fmt: skip
    for start, wanted, hint in cases:
        got = answers.called(agrees, start, x.copy())
        if not isinstance(got, bool | np.bool_):
            answers.refuse(got, "True or False")
        if bool(got) != wanted:
            fail(hint)
    print("Right.")


def _start(
    *,
    offset: bool = True,
    positions: bool = True,
    except_one: bool = False,
    spoiled_by: int | None = None,
) -> Callable[[], Step]:
    """Return what begins a text with an empty cache, and may go wrong on the way."""

    def start() -> Step:
        kept: list[Numbers] = []

        def read(rows: Numbers) -> Numbers:
            before = len(kept)
            begin = before if positions else 0
            turned = rows + 0.3 * (begin + np.arange(len(rows)))[:, None]
            kept.extend(turned)
            if spoiled_by is not None and before <= spoiled_by < len(kept):
                kept[0] = np.zeros(2)
            shifted = offset or (except_one and len(rows) == 1)
            return _attended(turned, np.array(kept), before if shifted else 0)

        return read

    return start


def _attended(queries: Numbers, keys: Numbers, offset: int) -> Numbers:
    causal = np.arange(len(keys)) <= offset + np.arange(len(queries))[:, None]
    powers = np.exp(queries @ keys.T) * causal
    outputs: Numbers = powers @ keys / powers.sum(1, keepdims=True)
    return outputs
