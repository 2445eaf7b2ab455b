"""How costs grow with the length: the exponent that measurements show, and where parts cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import linear_regression, pvariance
from typing import NamedTuple

from companion.contracts import contract
from companion.cost.transformer import attention_of, feed_forward_of
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


@contract(confidence="> 0 and < 1")
def fit_exponent(
    lengths: Sequence[float],
    values: Sequence[float],
    *,
    confidence: float = 0.95,
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

    >>> law = fit_exponent([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0])
    >>> round(law.exponent, 6), round(law.low, 6), round(law.high, 6), round(law.factor, 6)
    (2.0, 2.0, 2.0, 3.0)
    """
    if len(lengths) != len(values):
        raise ValueError(
            f"values: got {len(values)}, wanted {len(lengths)}, one a length"
        )
    for name, numbers in (("lengths", lengths), ("values", values)):
        if not all(0 < number < math.inf for number in numbers):
            raise ValueError(
                f"{name}: got {list(numbers)}, wanted finite numbers above 0"
            )
    if len(set(lengths)) < 2:
        raise ValueError(
            f"lengths: got {list(lengths)}, wanted at least two that differ"
        )

    x = [math.log(length) for length in lengths]
    y = [math.log(value) for value in values]
    slope, start = linear_regression(x, y)
    freedom, half = len(x) - 2, math.inf
    if freedom:
        pairs = zip(x, y, strict=True)
        strays = math.fsum((b - start - slope * a) ** 2 for a, b in pairs)
        spread = len(x) * pvariance(x)
        error = math.sqrt(strays / freedom / spread)
        half = t_quantile(freedom, confidence) * error
    return PowerLaw(slope, slope - half, slope + half, math.exp(start))


@contract(freedom=">= 1", confidence="> 0 and < 1")
def t_quantile(freedom: int, confidence: float) -> float:
    """Return the t for which Student's variable lies between -t and t with a probability.

    Args:
        freedom: degrees of freedom.
        confidence: the probability.

    >>> round(t_quantile(4, 0.95), 3)
    2.776
    """
    # Takes half a second to load, and few callers of this room ask.
    from scipy.stats import t

    return float(t.ppf((1 + confidence) / 2, freedom))


@contract()
def crossover_length(
    config: TransformerConfig, *, with_projections: bool = True
) -> int:
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
    attention, rest = attention_of(config, 1), feed_forward_of(config, 1)
    if with_projections:
        rest -= attention.projections
    return max(1, -(-rest // (attention.scores + attention.blend)))
