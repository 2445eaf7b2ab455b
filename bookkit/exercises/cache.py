"""The exercises of "The cache"."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, Sign, refuse
from bookkit.exercises.exercise import Function, Several, Value, Verdict

Step = Callable[[Numbers], Numbers]
"""From the next rows (m, 2) to their outputs (m, 2)."""


def _without(prompt: int, new: int) -> int:
    return sum(prompt + word for word in range(new))


check_passes = Function(
    "`passes(prompt, new)`, both at least 1, to two numbers: how many words are computed in all to "
    "write `new` words after a prompt, with a cache and without.",
    right=lambda prompt, new: (prompt + new - 1, _without(prompt, new)),
    cases=[(7, 5), (100, 40), (1, 1)], parts={
        "with a cache": {
            "the last word that is written is never read": lambda p, n: p + n,
            "the prompt is read once, too": (lambda p, n: n, lambda p, n: n - 1),
            "what has a key and a value is not computed again": _without,
        },
        "without": {
            "each word that is written makes the next pass longer by one": lambda p, n: n * p,
            "the last word that is written is never read": lambda p, n: _without(p, n) + n,
            "not every pass is as long as the last": (
                lambda p, n: n * (p + n),
                lambda p, n: n * (p + n - 1),
            ),
            "without a cache every step computes all words so far": lambda p, n: p + n - 1,
        },
    },
    kind="two numbers, (with, without)", otherwise="passes({}, {}): got {got:g}, which is not it",
)  # fmt: skip

LAYERS, QUERY_HEADS, KEY_HEADS, WIDTH, NUMBER_BYTES = 32, 32, 8, 128, 2
TOKEN, ROOM = 2 * LAYERS * KEY_HEADS * WIDTH * NUMBER_BYTES, 8 * 2**30

check_bytes = Several(
    "By hand, for a model of 32 layers with 32 heads of queries and 8 heads of keys and values of "
    "width 128, which stores a number in 2 bytes.",
    per_token=Value("The bytes of the keys and values of one token.", right=TOKEN, mistakes={
        "there is a key and a value, and each number takes 2 bytes": (TOKEN // 2, TOKEN // 4),
        "every layer keeps its own keys and values": TOKEN // LAYERS,
        "keys and values have 8 heads: the 32 heads of queries are not kept":
            TOKEN * QUERY_HEADS // KEY_HEADS,
        "every head has a key and a value of its own": TOKEN // KEY_HEADS,
        "a token's keys and values are vectors of width 128": TOKEN // WIDTH,
    }, otherwise="got {got:g} bytes"),
    tokens=Value("How many tokens fit into 8 GiB, 8 * 2**30 bytes.", right=ROOM // TOKEN, mistakes={
        "a GiB is 2**30 bytes": 8 * 10**9 // TOKEN,
        "that is for 1 GiB": ROOM // 8 // TOKEN,
        "that is how many bytes there are": ROOM,
    }, otherwise="got {got:g} tokens"),
)  # fmt: skip


def _kept(n: int, window: int, first: int, end: int | None = None) -> list[int]:
    end = n if end is None else end
    return sorted({*range(max(0, end - window), end), *range(min(first, n))})


def _positions(got: Any, *_: int) -> list[int]:
    if not isinstance(got, list | tuple) or not all(isinstance(one, int) for one in got):
        refuse(got, "a list of positions")
    return list(got)


def _other_positions(found: list[int], n: int, *_: int) -> str:
    if any(one < 0 or one >= n for one in found):
        return f"the positions of {n} words are 0 to {n - 1}"
    return f"got {found}, which is not it"


check_kept = Function(
    "`kept(n, window, first)`, the sorted list of the positions that are in a cache after n words "
    "were read: the latest `window` of them and the `first` words of the text.",
    right=_kept, cases=[(6, 3, 1), (2, 3, 1), (9, 4, 2), (5, 4, 2), (7, 2, 0), (3, 1, 3)],
    mistakes={
        "a position stands twice: the first words can lie inside the window": Sign(
            lambda found, *_: len(set(found)) < len(found),
            lambda n, w, f: [*range(min(f, n)), *range(max(0, n - w), n)],
        ),
        "the positions are right, but not sorted": Sign(
            lambda found, *case: sorted(found) == _kept(*case), lambda *case: _kept(*case)[::-1]
        ),
        "the first words are missing": lambda n, w, f: _kept(n, w, 0),
        "the window is missing": lambda n, w, f: _kept(n, 0, f),
        "that is one word too many: the window counts the latest word, too":
            lambda n, w, f: _kept(n, w + 1, f),
        "the window ends with the latest word": lambda n, w, f: _kept(n, w, f, n - 1),
    }, examples={
        "the positions of 6 words are 0 to 5": lambda n, window, first: [n],
        "got [3], which is not it": lambda n, window, first: [3],
    }, read=_positions, where="kept({}, {}, {}): ", otherwise=_other_positions,
)  # fmt: skip


def _start(
    *, offset: bool = True, positions: bool = True, except_one: bool = False,
    spoiled_by: int | None = None,
) -> Callable[[], Step]:  # fmt: skip
    """Return what begins a text with an empty cache, and may go wrong on the way."""

    def start() -> Step:
        kept: list[Numbers] = []

        def read(rows: Numbers) -> Any:
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


def _attended(queries: Numbers, keys: Numbers, offset: int) -> Any:
    causal = np.arange(len(keys)) <= offset + np.arange(len(queries))[:, None]
    powers = np.exp(queries @ keys.T) * causal
    return powers @ keys / powers.sum(1, keepdims=True)


X = np.random.default_rng(3).normal(size=(7, 2))

check_agrees = Verdict(
    "`agrees(start, x)`, whether a cache changes nothing in what a model computes. `start()` "
    "begins a text: it gives a function from the next rows, (m, 2), to their outputs, (m, 2). The "
    "rows x are (n, 2), n >= 4.",
    suspects=[
        ((_start(), X), True, "a cache that changes nothing is accused: compare with a tolerance, "
         "and compare each output with the one of the same row"),
        ((_start(offset=False), X), False, "a cache is passed whose mask begins at 0 in every "
         "piece: its first piece is right"),
        ((_start(positions=False), X), False, "a cache is passed that counts positions from 0 in "
         "every piece: its first piece is right"),
        ((_start(offset=False, except_one=True), X), False, "a cache is passed that is right as "
         "long as words come one at a time: cut the text in other places, too"),
        ((_start(spoiled_by=3), X), False, "a cache is passed that spoils its first word when the "
         "fourth comes: compare all outputs, not only the last"),
    ],
)  # fmt: skip
