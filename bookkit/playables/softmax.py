"""A softmax to touch: what the width of the vectors and the temperature do to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_vector
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput
from companion.attention import masked_softmax

# The series R20 of ISO 3 from 0.1 to 10: nearly even steps of a logarithm that meet 2, 4 and 8, the
# square roots of 4, 16 and 64. What is shown is what is computed with.
_DECADE = (
    1.0, 1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.24, 2.5, 2.8,
    3.15, 3.55, 4.0, 4.5, 5.0, 5.6, 6.3, 7.1, 8.0, 9.0,
)  # fmt: skip
TEMPERATURES = (*(round(number / 10, 3) for number in _DECADE), *_DECADE, 10.0)
WIDTHS = tuple(2**power for power in range(10))

_ROW, _TOP = 28, 26
_LETTER, _SCORE, _NUMBER = 9, 46, 46  # as wide as a letter, a score, any other number
_BAR = {"weight": 120, "derivative": 90}
_UNIT = {"weight": _BAR["weight"], "derivative": 4 * _BAR["derivative"]}  # a derivative is <= 1/4


def softmax_explorer(
    names: Sequence[str],
    scores: Any,
    *,
    width: int = 64,
    temperature: float = 1.0,
    divided: bool = False,
    caption: str = "",
) -> LiveOutput:
    """Show the weights of some keys and their derivatives, by width, scale and temperature.

    Scores of a width d are the given ones times sqrt(d): so much do dot products of vectors with
    independent entries of variance 1 spread. Dotted outlines stay where the scores, divided by
    sqrt(d), have their weights at temperature 1.

    Args:
        names: (k,) what the keys are called.
        scores: (k,) scores at width 1.
        width: the width d to begin with, one of `WIDTHS`.
        temperature: the temperature to begin with, one of `TEMPERATURES`.
        divided: begin with scores that are divided by sqrt(d).
        caption: the words below it.

    Raises:
        TypeError: `scores` holds no numbers.
        ValueError: fewer than two scores, one that is not finite, not one name each, or a width or
            temperature between the steps of its slider.

    >>> softmax_explorer(["cat", "mat"], [1.0, 0.5])
    Softmax, width and temperature. Bars for cat, mat. Width 64, scores as they are, temperature \
1: most weight on cat, 0.982; largest derivative 0.018. Dotted outlines, scores divided by the \
square root of 64: most weight on cat, 0.622; largest derivative 0.235.
    """
    given = as_vector(scores, "scores")
    if given.size < 2 or not np.isfinite(given).all():
        raise ValueError(f"scores: got {given.tolist()}, wanted two or more finite numbers")
    labels = as_labels(names, "names", given.size, "score")
    for name, asked, steps in (
        ("width", width, WIDTHS),
        ("temperature", temperature, TEMPERATURES),
    ):
        if asked not in steps:
            wanted = ", ".join(f"{step:g}" for step in steps)
            raise ValueError(f"{name}: got {asked!r}, wanted one of {wanted}")

    scale = (1 if divided else math.sqrt(width)) / temperature
    drawn, as_divided = _state(scale * given), _state(given)
    first = "divided by the square root" if divided else "as they are"
    return LiveOutput(
        "softmax",
        drawing=_chart(labels, drawn, as_divided) + _readings(drawn, as_divided),
        data={
            "names": labels,
            "scores": given.tolist(),
            "widths": WIDTHS,
            "temperatures": TEMPERATURES,
            "width": WIDTHS.index(width),
            "temperature": TEMPERATURES.index(temperature),
            "divided": bool(divided),
            "units": _UNIT,
        },
        label="Softmax, width and temperature",
        alt=(
            f"Bars for {', '.join(labels)}. Width {width}, scores {first}, temperature"
            f" {temperature:g}: {_said(labels, drawn)}. Dotted outlines, scores divided by the"
            f" square root of {width}: {_said(labels, as_divided)}."
        ),
        caption=caption,
        state=f"Width d = {width}, scores {'' if divided else 'not '}divided by √d, temperature"
        f" {temperature:g}.",
    )


class _State(NamedTuple):
    """What softmax makes of scores.

    Attributes:
        scores: (k,) what goes in.
        weights: (k,) what comes out.
        derivatives: (k,) of each weight by its own score: the diagonal of the Jacobian.
    """

    scores: NDArray[np.float64]
    weights: NDArray[np.float64]
    derivatives: NDArray[np.float64]

    @property
    def readings(self) -> dict[str, float]:
        """What the table says, by the words it says it with."""
        positive = self.weights[self.weights > 0]
        return {
            "variance of the scores": float(self.scores.var()),
            "entropy, in nats": float(-(positive * np.log(positive)).sum()),
            "largest derivative": float(self.derivatives.max()),
            "trace of the Jacobian": float(self.derivatives.sum()),
        }


def _state(scores: NDArray[np.float64]) -> _State:
    weights = masked_softmax(scores[None])[0]
    return _State(scores, weights, weights * (1 - weights))


def _said(labels: Sequence[str], state: _State) -> str:
    best = int(state.weights.argmax())
    return (
        f"most weight on {labels[best]}, {state.weights[best]:.3f};"
        f" largest derivative {state.derivatives.max():.3f}"
    )


def _chart(labels: Sequence[str], drawn: _State, as_divided: _State) -> str:
    edge = _LETTER * max(map(len, labels)) + 4
    weight = edge + _SCORE + 8
    derivative = weight + _BAR["weight"] + _NUMBER + 18
    wide, high = derivative + _BAR["derivative"] + _NUMBER, _TOP + _ROW * len(labels) + 2
    rows = []
    for row, label in enumerate(labels):
        y = _TOP + _ROW * row
        values = (drawn.weights[row], as_divided.weights[row])
        slopes = (drawn.derivatives[row], as_divided.derivatives[row])
        rows.append(
            f'<text x="{edge}" y="{y + 19}">{escape(label)}</text>'
            f"{_number('score', drawn.scores[row], 1, weight - 8, y)}"
            f"{_bar('weight', *values, weight, y)}{_bar('derivative', *slopes, derivative, y)}"
        )
    axes = "".join(
        f'<line x1="{left}" x2="{left}" y1="{_TOP}" y2="{high}"/>' for left in (weight, derivative)
    )
    heads = (("score", weight - 8), ("weight α", weight + 62), ("derivative", derivative + 72))
    titles = "".join(
        f'<text class="am-softmax-title" x="{x}" y="16">{title}</text>' for title, x in heads
    )
    return (
        f'<svg class="am-softmax-chart" viewBox="0 0 {wide} {high}" role="img"'
        f' aria-label="{escape(_list(labels, drawn))}">{titles}{axes}{"".join(rows)}</svg>'
    )


def _bar(kind: str, value: float, outline: float, left: int, y: int) -> str:
    return (
        f'<rect class="am-softmax-{kind}-bar" x="{left}" y="{y + 6}" height="16"'
        f' width="{_UNIT[kind] * value:.2f}"/>'
        f'<rect class="am-softmax-outline" x="{left}" y="{y + 2}" height="24"'
        f' width="{_UNIT[kind] * outline:.2f}"/>'
        f"{_number(kind, value, 3, left + _BAR[kind] + _NUMBER, y)}"
    )


def _number(kind: str, value: float, decimals: int, right: int, y: int) -> str:
    return (
        f'<text class="am-softmax-{kind}" x="{right}" y="{y + 19}"'
        f' data-am-value="{precise(value)}">{signed(value, decimals)}</text>'
    )


def _list(labels: Sequence[str], state: _State) -> str:
    def said(values: NDArray[np.float64]) -> str:
        return ", ".join(f"{name} {value:.3f}" for name, value in zip(labels, values, strict=True))

    return f"Weights: {said(state.weights)}. Derivatives: {said(state.derivatives)}."


def _readings(drawn: _State, as_divided: _State) -> str:
    rows = "".join(
        f'<tr><th scope="row">{name}</th>'
        f'<td class="am-softmax-reading" data-am-value="{precise(value)}">{_short(value)}</td>'
        f"<td>{_short(as_divided.readings[name])}</td></tr>"
        for name, value in drawn.readings.items()
    )
    return (
        '<table class="am-softmax-readings"><thead><tr><th scope="col">in numbers</th>'
        '<th scope="col">filled</th><th scope="col">dotted</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _short(number: float) -> str:
    """Write a number that may be very small: 64.0, 0.038, 0.00012."""
    if number >= 10:
        return f"{number:.0f}"
    if number >= 0.01:
        return f"{number:.{2 if number >= 0.9995 else 3}f}"
    if number < 1e-6:
        return "< 0.000001"
    return f"{number:.{1 - math.floor(math.log10(number))}f}"
