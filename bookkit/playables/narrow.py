"""A softmax that the reader computes in narrow numbers, until it overflows or vanishes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_vector
from bookkit.playables._numbers import precise
from bookkit.playables.output import LiveOutput
from companion.attention import masked_softmax

Numbers = NDArray[np.float64]


class NumberType(NamedTuple):
    """A binary type of floating-point numbers.

    Attributes:
        name: what it is called.
        digits: its significant bits, the one that is not stored counted.
        lowest: the exponent of its smallest number with all these bits.
        largest: its largest finite number.
    """

    name: str
    digits: int
    lowest: int
    largest: float


TYPES = (
    NumberType("float32", 24, -126, (2 - 2.0**-23) * 2.0**127),
    NumberType("float16", 11, -14, 65504.0),
    NumberType("bfloat16", 8, -126, (2 - 2.0**-7) * 2.0**127),
)
SHIFTS = (
    -120, -104, -100, -90, -80, -60, -40, -30, -20, -19, -18, -17, -16, -15, -12, -10, -5,
    0, 5, 7, 8, 9, 10, 11, 12, 15, 20, 40, 60, 80, 84, 85, 86, 87, 88, 90, 100, 150, 200, 255, 300,
)  # fmt: skip
"""What can be added to all scores: close together where a type comes to its end."""
LEAST = 0.01
"""In per cent: smaller errors of a weight are not told apart."""
_NAMES = tuple(one.name for one in TYPES)
_WIDE, _ROW, _TOP = 504, 29, 28
_SCORE, _EXPONENT, _POWER = 128, 205, 296  # where the columns of numbers end
_LEFT, _BAR = 312, 118  # where the bars begin, and how long a weight of 1 is


def narrow_softmax(
    names: Sequence[str],
    scores: Any,
    *,
    shift: int = 0,
    kind: str = "float16",
    safe: bool = False,
    caption: str = "",
) -> LiveOutput:
    """Show the steps of a softmax, each of them rounded to a type of numbers.

    The steps are the scores as they are stored, the largest subtracted from them if `safe`, the
    exponentials, their sum, one term after the other, and the weights. Dotted outlines are the
    weights without any rounding.

    Args:
        names: (k,) what the keys are called.
        scores: (k,) scores, before anything is added.
        shift: what is added to all scores to begin with, one of `SHIFTS`.
        kind: the type to begin with: float32, float16 or bfloat16.
        safe: begin with the largest score subtracted.
        caption: the words below it.

    Raises:
        TypeError: `scores` holds no numbers.
        ValueError: fewer than two scores, one that is not finite, not one name each, or a shift or
            type that the controls do not have.

    >>> narrow_softmax(["new", "house"], [2.0, 1.0], shift=10)
    A softmax in narrow numbers. float16, +10 on every score, nothing subtracted. exp is too large \
for this type: inf / inf is NaN.
    """
    given = as_vector(scores, "scores")
    if given.size < 2 or not np.isfinite(given).all():
        raise ValueError(f"scores: got {given.tolist()}, wanted two or more finite numbers")
    labels = as_labels(names, "names", given.size, "score")
    if shift not in SHIFTS:
        raise ValueError(f"shift: got {shift!r}, wanted one of {', '.join(map(str, SHIFTS))}")
    if kind not in _NAMES:
        raise ValueError(f"kind: got {kind!r}, wanted one of {', '.join(_NAMES)}")
    exact = masked_softmax(given[None])[0]
    found = softmax_steps(given + shift, TYPES[_NAMES.index(kind)], safe=safe)
    order = "the largest score subtracted first" if safe else "nothing subtracted"
    sign = f"\u2212{-shift}" if shift < 0 else f"+{shift}"
    said = f"{kind}, {sign} on every score, {order}. {_finding(found, exact)}"
    return LiveOutput(
        "narrow-softmax",
        drawing=_chart(labels, found, exact, said),
        data={
            "scores": given.tolist(),
            "exact": [float(precise(weight)) for weight in exact],
            "types": [one._asdict() for one in TYPES],
            "shifts": SHIFTS,
            "shift": SHIFTS.index(shift),
            "type": _NAMES.index(kind),
            "safe": bool(safe),
            "bar": _BAR,
            "least": LEAST,
        },
        label="A softmax in narrow numbers",
        alt=said,
        caption=caption,
        state=said,
    )


# The arithmetic


def round_to(values: Any, kind: NumberType) -> Numbers:
    """Round numbers to the nearest ones of a type, ties to even.

    >>> float16, bfloat16 = TYPES[1:]
    >>> round_to([2049.0, 65519.0, 65520.0], float16).tolist()
    [2048.0, 65504.0, inf]
    >>> round_to([257.0, 3.14159], bfloat16).tolist()
    [256.0, 3.140625]
    """
    given = np.asarray(values, dtype=np.float64)
    power = np.maximum(np.frexp(given)[1] - 1, kind.lowest)  # given = m 2^power with m < 2
    unit = np.ldexp(1.0, power - kind.digits + 1)
    near = np.rint(given / unit) * unit
    return np.where(np.abs(near) > kind.largest, np.copysign(np.inf, given), near)


class Steps(NamedTuple):
    """What a softmax computes on its way.

    Attributes:
        stored: (k,) the scores as the type stores them.
        exponents: (k,) what goes into the exponential.
        powers: (k,) what comes out of it.
        total: their sum.
        weights: (k,) the quotients.
    """

    stored: Numbers
    exponents: Numbers
    powers: Numbers
    total: float
    weights: Numbers


def softmax_steps(scores: Any, kind: NumberType, *, safe: bool) -> Steps:
    """Compute a softmax, the result of every operation rounded to a type.

    Args:
        scores: (k,) the scores.
        kind: the type.
        safe: subtract the largest score first.

    >>> softmax_steps([12.0, 11.0], TYPES[1], safe=False).powers.tolist()
    [inf, 59872.0]
    """
    stored = round_to(scores, kind)
    exponents = round_to(stored - stored.max(), kind) if safe else stored
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        powers = round_to(np.exp(exponents), kind)
        for power in powers:
            total = float(round_to(total + power, kind))
        weights = round_to(np.divide(powers, np.float64(total)), kind)
    return Steps(stored, exponents, powers, total, weights)


def _finding(found: Steps, exact: Numbers) -> str:
    if np.isinf(found.powers).any():
        return "exp is too large for this type: inf / inf is NaN."
    if math.isinf(found.total):
        return "Every exp still fits, but their sum does not: all weights are 0, and nothing warns."
    if found.total == 0:
        return "Every exp is rounded to 0, and 0 / 0 is NaN."
    worst = 100 * float((np.abs(found.weights - exact) / exact).max())
    said = f"{short(worst)} %" if worst > LEAST else f"less than {LEAST} %"
    return f"The weights are numbers; the worst of them is off by {said}."


def short(value: float) -> str:
    """Write a number of any size in a few letters.

    >>> [short(one) for one in (math.nan, math.inf, 0.0, -2.0, 59872.0, 1.6516363e38)]
    ['NaN', 'inf', '0', '−2.000', '59872', '1.65e38']
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf"
    size = abs(value)
    if size == 0:
        return "0"
    if 0.001 <= size < 100_000:
        said = f"{value:.{max(0, 3 - max(0, math.floor(math.log10(size))))}f}"
    else:
        digits, power = f"{value:.2e}".split("e")
        said = f"{digits}e{int(power)}"
    return said.replace("-", "\u2212")


# What is drawn


def _chart(labels: Sequence[str], found: Steps, exact: Numbers, said: str) -> str:
    heads = (
        ("score", _SCORE), ("into exp", _EXPONENT), ("exp", _POWER), ("weight", _WIDE - 4),
    )  # fmt: skip
    titles = "".join(
        f'<text class="am-narrow-title" x="{x}" y="18">{title}</text>' for title, x in heads
    )
    rows = "".join(_row(at, label, found, exact) for at, label in enumerate(labels))
    foot = _TOP + _ROW * len(labels)
    total = (
        f'<line class="am-narrow-line" x1="{_EXPONENT + 20}" x2="{_POWER}" y1="{foot + 1}"'
        f' y2="{foot + 1}"/><text class="am-narrow-sum" x="0" y="{foot + 22}">sum</text>'
        + _number("total", found.total, _POWER, foot)
    )
    return (
        f'<svg class="am-narrow-chart" viewBox="0 0 {_WIDE} {foot + 32}" role="img"'
        f' aria-label="{escape(said)}">{titles}{rows}{total}</svg>'
    )


def _row(at: int, label: str, found: Steps, exact: Numbers) -> str:
    y = _TOP + _ROW * at
    weight = float(found.weights[at])
    long = _BAR * min(weight, 1.0) if math.isfinite(weight) else 0.0
    return (
        f'<text class="am-narrow-word" x="0" y="{y + 21}">{escape(label)}</text>'
        + _number("score", found.stored[at], _SCORE, y)
        + _number("exponent", found.exponents[at], _EXPONENT, y)
        + _number("power", found.powers[at], _POWER, y)
        + f'<rect class="am-narrow-bar" x="{_LEFT}" y="{y + 7}" height="16" width="{long:.2f}"/>'
        f'<rect class="am-narrow-exact" x="{_LEFT}" y="{y + 4}" height="22"'
        f' width="{_BAR * exact[at]:.2f}"/>' + _number("weight", weight, _WIDE - 4, y)
    )


def _number(part: str, value: float, right: int, y: int) -> str:
    lost = "" if math.isfinite(value) else " am-narrow-lost"
    return (
        f'<text class="am-narrow-{part}{lost}" x="{right}" y="{y + 21}"'
        f' data-am-value="{json.dumps(float(value))}">{short(float(value))}</text>'
    )
