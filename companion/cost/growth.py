"""How costs grow with the length: the exponent that measurements show, and where parts cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from companion.arrays import check_number
from companion.cost.layers import feed_forward_flops, multi_head_flops
from companion.models.transformer import TransformerConfig


class PowerLaw(NamedTuple):
    """A power law, factor * length^exponent.

    Attributes:
        exponent: the slope of the logarithms.
        low: lower end of its interval.
        high: upper end.
        factor: the value at length 1.
    """

    exponent: float
    low: float
    high: float
    factor: float


def fit_exponent(
    lengths: Sequence[float], values: Sequence[float], *, confidence: float = 0.95
) -> PowerLaw:
    """Fit a power law by least squares of the logarithms, with a t-interval of its exponent.

    The interval asks that there is a power law, and that the logarithms stray from it
    independently and normally, with one spread. A sum of a linear and a quadratic part is none:
    its exponent rises with the length, and the interval says nothing of that.

    Args:
        lengths: sizes, above 0, not all the same.
        values: what was measured there, above 0.
        confidence: probability that the interval covers the exponent.

    Returns:
        The law; from two points alone, with an interval without ends.

    Raises:
        TypeError: a confidence that is no number.
        ValueError: numbers out of range, or not one value a length.

    >>> law = fit_exponent([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0])
    >>> round(law.exponent, 6), round(law.low, 6), round(law.high, 6), round(law.factor, 6)
    (2.0, 2.0, 2.0, 3.0)
    """
    if len(lengths) != len(values):
        raise ValueError(f"values: got {len(values)}, wanted {len(lengths)}, one a length")
    for name, numbers in (("lengths", lengths), ("values", values)):
        if not all(0 < number < math.inf for number in numbers):
            raise ValueError(f"{name}: got {list(numbers)}, wanted finite numbers above 0")
    if len(set(lengths)) < 2:
        raise ValueError(f"lengths: got {list(lengths)}, wanted at least two that differ")
    check_number(confidence=confidence)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: got {confidence}, wanted above 0 and below 1")

    x, y = [math.log(length) for length in lengths], [math.log(value) for value in values]
    x_mean, y_mean, freedom = fmean(x), fmean(y), len(x) - 2
    spread = math.fsum((a - x_mean) ** 2 for a in x)
    slope = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / spread
    start = y_mean - slope * x_mean
    half = math.inf
    if freedom:
        strays = math.fsum((b - start - slope * a) ** 2 for a, b in zip(x, y, strict=True))
        half = t_quantile(freedom, confidence) * math.sqrt(strays / freedom / spread)
    return PowerLaw(slope, slope - half, slope + half, math.exp(start))


def t_quantile(freedom: int, confidence: float) -> float:
    """Return the t for which Student's variable lies between -t and t with a probability.

    The probability is a finite sum (Student, 1908; Abramowitz & Stegun, 1964, 26.7.3 and 26.7.4),
    which is inverted by halving.

    Args:
        freedom: degrees of freedom, at least 1.
        confidence: the probability.

    >>> round(t_quantile(4, 0.95), 3)
    2.776
    """
    low, high = 0.0, math.pi / 2
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (low, middle) if _within(middle, freedom) > confidence else (middle, high)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """Return the probability of values up to sqrt(freedom) * tan(angle) on either side."""
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (k - 1) / k
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if freedom > 1 else 0.0))


def crossover_length(config: TransformerConfig, *, with_projections: bool = True) -> int:
    """Return the length from which self-attention takes as many operations as feed-forward.

    Both have products with weights, which grow with the length; attention has scores and sums of
    values besides, which grow with its square. All pairs count, as in `count_flops`.

    Args:
        config: the model's shape.
        with_projections: count the projections to attention; else its scores and sums of values
            alone must outgrow the feed-forward layer.

    Returns:
        The least such length, at least 1.

    >>> config = TransformerConfig(vocab_size=2, embed_dim=64, num_heads=4)
    >>> crossover_length(config), crossover_length(config, with_projections=False)
    (128, 256)
    """
    attention = multi_head_flops(
        config.embed_dim,
        config.num_heads,
        q_len=1,
        num_kv_heads=config.groups,
        head_dim=config.width_of_head,
    )
    rest = feed_forward_flops(config.embed_dim, config.hidden_width, tokens=1, gated=config.gated)
    if with_projections:
        rest -= attention.projections
    return max(1, -(-rest // (attention.scores + attention.blend)))
