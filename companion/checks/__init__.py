"""Checks for your own attention code: hand a function over, and a mistake that is silent speaks.

A check returns nothing if all is well, and else raises an `AssertionError` that hints at the
cause. Most need no more than a function and two inputs, `x` and `other`, that differ at every
position; they take arrays of NumPy, PyTorch and other libraries, and treat the function as a black
box: change something that must not matter, or that must, and look at what comes out.
"""

from companion.checks.attention import check_dead_row, check_large_scores, check_scale
from companion.checks.caches import check_cached
from companion.checks.causality import check_offset, check_prefixes
from companion.checks.heads import check_grouped, check_heads
from companion.checks.influence import (
    check_causal,
    check_influence,
    check_mask,
    check_reach,
    influence,
)
from companion.checks.memory import check_delta_rule
from companion.checks.models import check_agree, check_norm_order, norm_order
from companion.checks.positions import check_relative
from companion.checks.results import check_definition, check_dtype, check_lse, check_weights
from companion.checks.scores import check_bias, check_softcap
from companion.checks.sequences import check_alone, check_padding, check_permutation
from companion.checks.sinks import check_sinks
from companion.checks.text import check_bleu, check_spacing

__all__ = [
    "check_agree", "check_alone", "check_bias", "check_bleu", "check_cached", "check_causal",
    "check_dead_row", "check_definition", "check_delta_rule", "check_dtype", "check_grouped",
    "check_heads", "check_influence", "check_large_scores", "check_lse", "check_mask",
    "check_norm_order", "check_offset", "check_padding", "check_permutation", "check_prefixes",
    "check_reach", "check_relative", "check_scale", "check_sinks", "check_softcap",
    "check_spacing", "check_weights", "influence", "norm_order",
]  # fmt: skip
