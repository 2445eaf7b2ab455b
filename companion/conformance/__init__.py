"""Checks for your own attention code: hand a function over, and a mistake that is silent speaks.

A check returns nothing if all is well, and else raises an `AssertionError` that hints at the
cause; it refuses by a `ValueError` what cannot show a mistake, such as a text too short to have a
future. Most need no more than a function and two inputs, `x` and `other`, that differ at every
position; they take arrays of NumPy, PyTorch and other libraries, and treat the function as a black
box: change something that must not matter, or that must, and look at what comes out.

`KIT` has those for one attention function, each with the exhibit of the bug museum that shows what
it finds. Does the function scale, mask, group, cache and sink rightly, at all sizes and beside each
other? `examine` asks it all of them, and pytest makes a test of each:

    pytest --attention my_module:my_attention
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from companion.conformance.attention import (
        check_dead_row,
        check_grouped,
        check_heads,
        check_large_scores,
        check_scale,
    )
    from companion.conformance.kit import KIT, Check, Finding, examine
    from companion.conformance.models import (
        check_agree,
        check_delta_rule,
        check_norm_order,
        check_relative,
        norm_order,
    )
    from companion.conformance.results import (
        check_definition,
        check_dtype,
        check_lse,
        check_sums,
        check_weights,
    )
    from companion.conformance.scores import (
        check_bias,
        check_sinks,
        check_softcap,
    )
    from companion.conformance.sequences import (
        check_alone,
        check_cached,
        check_padding,
        check_permutation,
        check_prefixes,
    )
    from companion.conformance.signature import (
        NotOfferedError,
        RefusedError,
        Subject,
        subject,
    )
    from companion.conformance.text import check_bleu, check_spacing
    from companion.conformance.visibility import (
        check_causal,
        check_influence,
        check_mask,
        check_offset,
        check_reach,
        influence,
    )

__all__ = [
    "KIT", "Check", "Finding", "NotOfferedError", "RefusedError", "Subject", "check_agree",
    "check_alone", "check_bias", "check_bleu", "check_cached", "check_causal", "check_dead_row",
    "check_definition", "check_delta_rule", "check_dtype", "check_grouped", "check_heads",
    "check_influence", "check_large_scores", "check_lse", "check_mask", "check_norm_order",
    "check_offset", "check_padding", "check_permutation", "check_prefixes", "check_reach",
    "check_relative", "check_scale", "check_sinks", "check_softcap", "check_spacing", "check_sums",
    "check_weights", "examine", "influence", "norm_order", "subject",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Find a name when it is first used: every pytest loads this package for its plugin."""
    from importlib import import_module

    rooms = "attention kit models results scores sequences signature text visibility"
    for room in rooms.split() if name in __all__ else ():
        module = import_module(f"{__name__}.{room}")
        if hasattr(module, name):
            found: object = getattr(module, name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
