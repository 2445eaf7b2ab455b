"""Exponents and their intervals against SciPy's, and lengths at which costs cross."""

import math
import random
from typing import Any

import pytest
from scipy import stats

from companion import cost
from tests.transformers import config_of


def test_the_interval_is_scipys() -> None:
    cases: list[Any] = [(3, 0.5), (4, 0.95), (31, 0.999)]
    for count, confidence in cases:
        generator = random.Random(count)
        lengths = [generator.uniform(1, 1e5) for _ in range(count)]
        values = [n**1.5 * math.exp(generator.gauss(0, 0.3)) for n in lengths]
        law = cost.fit_exponent(lengths, values, confidence=confidence)
        line = stats.linregress([math.log(n) for n in lengths], [math.log(v) for v in values])
        half = stats.t.ppf((1 + confidence) / 2, count - 2) * line.stderr
        expected = line.slope, line.slope - half, line.slope + half, math.exp(line.intercept)
        assert law == pytest.approx(expected, rel=1e-8)
        quantile = stats.t.ppf((1 + confidence) / 2, count)
        assert cost.t_quantile(count, confidence) == pytest.approx(quantile, rel=1e-9)
    law = cost.fit_exponent([2, 4], [3.0, 12.0])
    assert (law.low, law.high) == (-math.inf, math.inf)


@pytest.mark.parametrize("with_projections", [False, True])
@pytest.mark.parametrize(("variant", "hidden_dim"), [("paper", 5), ("llama", 97), ("gpt2", 1000)])
def test_costs_cross_there_and_not_before(
    variant: str, hidden_dim: int, with_projections: bool
) -> None:
    config = config_of(variant, hidden_dim=hidden_dim)
    crossing = cost.crossover_length(config, with_projections=with_projections)

    def ahead(n: int) -> bool:
        attention = cost.multi_head_flops(
            config.embed_dim, config.num_heads, q_len=n,
            num_kv_heads=config.groups, head_dim=config.width_of_head,
        )  # fmt: skip
        rest = cost.feed_forward_flops(
            config.embed_dim, config.hidden_width, tokens=n, gated=config.gated
        )
        own = attention.total if with_projections else attention.scores + attention.blend
        return own >= rest

    assert ahead(crossing)
    assert crossing == 1 or not ahead(crossing - 1)


def test_impossible_fits_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lengths: got .* wanted at least two that differ"):
        cost.fit_exponent([2, 2], [3.0, 4.0])
