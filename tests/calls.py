"""Random valid calls of attention: sizes, broadcast axes, options."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Call:
    """Arrays and options as they are given, and as the loops want them: (b, h, q, d)."""

    arrays: list[Any] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    lead: tuple[int, ...] = ()
    scores_lead: tuple[int, ...] = ()
    loop_arrays: list[Any] = field(default_factory=list)
    loop_options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        options = {
            name: f"{option.dtype} {option.shape}" if isinstance(option, np.ndarray) else option
            for name, option in self.options.items()
        }
        return f"{[array.shape for array in self.arrays]} {options}"


def draw_call(generator: np.random.Generator) -> Call:
    """Draw a valid call: sizes, broadcast axes, options."""

    def chance(probability: float) -> bool:
        return bool(generator.random() < probability)

    def size(low: int, high: int) -> int:
        return int(generator.integers(low, high + 1))

    def shrunk(axes: tuple[int, ...]) -> tuple[int, ...]:
        """Replace some axes by 1 and drop some of the first, for broadcasting to undo."""
        kept = tuple(1 if chance(0.25) else axis for axis in axes)
        return kept[size(0, len(kept)) if chance(0.25) else 0 :]

    def spread(array: Any, shape: tuple[int, ...], heads: int) -> Any:
        """Undo the broadcasting, and join the axes before the heads."""
        full = np.broadcast_to(array, shape)
        return full.reshape(math.prod(shape[:-3]), heads, *shape[-2:])

    grouped, axes = chance(0.4), size(0, 3)
    groups, repeats = size(1, 3), size(1, 3)
    heads = groups * repeats if grouped else size(1, 4)
    outer = tuple(0 if chance(0.02) else size(1, 2) for _ in range(axes - 1))
    lead = (*outer, heads) if axes or grouped else ()
    q, k = (0 if chance(0.04) else size(1, 6) for _ in range(2))
    d, v = size(1, 5), size(1, 5)

    if grouped:
        query = (*shrunk(outer), heads, q, d)
        key, value = (*shrunk(outer), groups, k, d), (*shrunk(outer), groups, k, v)
    else:
        query, key, value = (*shrunk(lead), q, d), (*shrunk(lead), k, d), (*shrunk(lead), k, v)
    # The scores have the axes of query and key, the output those of the value as well.
    leads = [(*x[:-3], heads) if grouped else x[:-2] for x in (query, key, value)]
    scores_lead, lead = np.broadcast_shapes(*leads[:2]), np.broadcast_shapes(*leads)
    heads = lead[-1] if lead else 1
    groups = groups if grouped else heads
    outer = lead[:-1]

    call = Call(lead=lead, scores_lead=scores_lead)
    call.arrays = [generator.normal(size=shape) for shape in (query, key, value)]
    call.loop_arrays = [
        spread(array, (*outer, count, *array.shape[-2:]), count)
        for array, count in zip(call.arrays, (heads, groups, groups), strict=True)
    ]
    shared: dict[str, Any] = {}
    if grouped:
        call.options["enable_gqa"] = True
    if chance(0.5):
        shape = (*shrunk((*scores_lead, q)), k)
        mask = generator.random(shape) < 0.7
        if chance(0.5):
            mask = np.where(mask, 2 * generator.normal(size=shape), -math.inf)
        call.options["attn_mask"] = mask
        call.loop_options["attn_mask"] = spread(mask, (*outer, heads, q, k), heads)
    if chance(0.5):
        shared["is_causal"] = True
        if chance(0.4):
            shared["offset"] = size(-3, 6)
        elif len(query) > 3 and query[0] and chance(0.6):
            offset = generator.integers(-3, 7, query[0])
            call.options["offset"] = offset
            rows = np.broadcast_to(offset.reshape(-1, *(1,) * (len(query) - 4)), query[:-3])
            call.loop_options["offset"] = np.broadcast_to(rows, outer).reshape(-1)
    if chance(0.3):
        shared["scale"] = float(generator.normal())
    if chance(0.3):
        shared["softcap"] = float(generator.uniform(0.5, 3))
    if scores_lead and chance(0.3):
        sinks = generator.normal(size=shrunk(scores_lead[-1:]))
        call.options["sinks"] = sinks
        call.loop_options["sinks"] = np.broadcast_to(sinks, (heads,))
    call.options |= shared
    call.loop_options |= shared
    return call
