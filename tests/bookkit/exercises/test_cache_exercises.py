"""The check functions of "The cache": what is wrong gets the hint at its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.cache import (
    check_agrees,
    check_bytes,
    check_kept,
    check_passes,
)

Answer = Callable[..., Any]


def passes(prompt: int, new: int) -> tuple[int, int]:
    """Every pass, one by one."""
    return prompt + sum(1 for _ in range(new - 1)), sum(prompt + i for i in range(new))


def kept(n: int, window: int, first: int) -> list[int]:
    return [i for i in range(n) if i < first or n - i <= window]


def agrees(cuts: Any = None, *, last: bool = False) -> Answer:
    """Compare the text as one piece with the text in pieces that end at the cuts."""

    def answer(start: Any, x: Any) -> bool:
        whole = start()(x)
        for cut in cuts or [[i] for i in range(1, len(x))]:
            read = start()
            parts = np.concatenate([read(piece) for piece in np.split(x, cut)])
            off = np.abs(parts - whole)
            if (off[-1] if last else off).max() > 1e-6:
                return False
        return True

    return answer


ONE_BY_ONE = [[1, 2, 3, 4, 5, 6]]


@pytest.mark.parametrize(
    ("check", "given"),
    [
        (check_passes, (passes,)),
        (check_bytes, (131072, 65536)),
        (check_kept, (kept,)),
        (check_agrees, (agrees(),)),
        (check_agrees, (agrees([*ONE_BY_ONE, [2], [5]]),)),
    ],
)
def test_the_right_answer_passes(
    check: Answer, given: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*given)
    assert capsys.readouterr().out == "Right.\n"


PASSES: list[tuple[Answer, str]] = [
    (lambda prompt, new: (prompt + new, 1), "with a cache: the last word"),
    (lambda prompt, new: (new, passes(prompt, new)[1]), "with a cache"),
    (lambda prompt, new: (passes(prompt, new)[1], 1), "is not computed again"),
    (lambda prompt, new: (passes(prompt, new)[0], new * prompt), "longer by one"),
    (
        lambda prompt, new: (passes(prompt, new)[0], sum(prompt + i + 1 for i in range(new))),
        "without: the last word",
    ),
    (
        lambda prompt, new: (passes(prompt, new)[0], new * (prompt + new - 1)),
        "not every pass is as long",
    ),
    (lambda prompt, new: (passes(prompt, new)[0],) * 2, "computes all words so far"),
    (lambda prompt, new: (passes(prompt, new)[0], 0.5), "got 0.5, which is not it"),
    (lambda prompt, new: 3, "wanted two numbers"),
    (lambda prompt, new: None, "end in a return"),
]
BYTES: list[tuple[Any, Any, str]] = [
    (65536, 65536, "per_token: there is a key and a value"),
    (32768, 65536, "each number takes 2 bytes"),
    (4096, 65536, "every layer keeps"),
    (524288, 65536, "the 32 heads of queries are not kept"),
    (16384, 65536, "every head has a key"),
    (1024, 65536, "vectors of width 128"),
    (7, 65536, "per_token: got 7 bytes"),
    (131072, 61035, r"tokens: a GiB is 2\*\*30 bytes"),
    (131072, 8192, "that is for 1 GiB"),
    (131072, 8 * 2**30, "how many bytes there are"),
    (131072, 5, "tokens: got 5 tokens"),
    ("many", 65536, "wanted a number"),
]
KEPT: list[tuple[Answer, str]] = [
    (lambda n, w, f: [i for i in range(n) if n - i <= w], "the first words are missing"),
    (lambda n, w, f: list(range(min(f, n))), "the window is missing"),
    (lambda n, w, f: kept(n, w + 1, f), "one word too many"),
    (
        lambda n, w, f: kept(n, w, f) if n < w else sorted({*kept(n - 1, w, f), *range(f)}),
        "ends with the latest word",
    ),
    (lambda n, w, f: [*range(min(f, n)), *range(max(0, n - w), n)], "stands twice"),
    (lambda n, w, f: kept(n, w, f)[::-1], "not sorted"),
    (lambda n, w, f: [i + 1 for i in kept(n, w, f)], r"the positions of 2 words are 0 to 1"),
    (lambda n, w, f: [1], "which is not it"),
    (lambda n, w, f: 3, "wanted a list of positions"),
    (lambda n, w, f: None, "end in a return"),
]
AGREES: list[tuple[Answer, str]] = [
    (agrees([[]]), "whose mask begins at 0"),
    (agrees(ONE_BY_ONE), "cut the text in other places"),
    (agrees(last=True), "not only the last"),
    (lambda start, x: False, "that changes nothing is accused"),
    (lambda start, x: 1, "wanted True or False"),
]


@pytest.mark.parametrize(
    ("check", "given", "hint"),
    [
        *((check_passes, (answer,), hint) for answer, hint in PASSES),
        *((check_bytes, (one, two), hint) for one, two, hint in BYTES),
        *((check_kept, (answer,), hint) for answer, hint in KEPT),
        *((check_agrees, (answer,), hint) for answer, hint in AGREES),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, given: tuple[Any, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*given)
    assert capsys.readouterr().out == ""
