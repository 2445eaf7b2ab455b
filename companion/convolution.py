"""A short convolution: every channel blends its own last few inputs, and nothing that comes later.

With w weights a channel, the newest last,

    output_t = bias + sum over i < w of weight_i * x_(t - w + 1 + i).
"""

from __future__ import annotations

from typing import Any

from companion.arrays import ArrayT, cast, device_of, namespace, widen
from companion.contracts import contract


@contract(
    x="... n c", weight="c w", bias="c", state="~... _ c", w=">= 1"
)  # fmt: skip
def short_convolution(
    x: ArrayT,
    weight: ArrayT,
    *,
    bias: ArrayT | None = None,
    state: ArrayT | None = None,
) -> tuple[ArrayT, ArrayT]:
    """Blend the last w inputs of every channel by the channel's own weights (Poli et al., 2023).

    Half precision is added in float32.

    Args:
        x: inputs of one text: packed texts would blend at their boundaries, so call once for each.
        weight: w numbers a channel; the last one is for the present input.
        bias: a number a channel, added to its outputs.
        state: the w - 1 inputs before x, the newest last; None means that the text begins here,
            after zeros.

    Returns:
        The output (..., n, c), and the last w - 1 inputs (..., w - 1, c): with them, a text that
        comes in pieces gives the outputs of the whole.

    >>> import numpy as np
    >>> x, weight = np.array([[1.0], [2.0], [3.0]]), np.array([[0.5, 1.0]])
    >>> output, state = short_convolution(x, weight)
    >>> output[:, 0], state
    (array([1. , 2.5, 4. ]), array([[3.]]))
    """
    xp, length, width = namespace(x), x.shape[-2], weight.shape[-1]
    if state is not None and state.shape[-2] != width - 1:
        raise ValueError(
            f"state: got {state.shape[-2]} inputs in shape {tuple(state.shape)}, wanted "
            f"{width - 1}, one fewer than the {width} weights of a channel"
        )
    before: Any = (*x.shape[:-2], width - 1, x.shape[-1])
    if state is None:
        past = xp.zeros(before, dtype=x.dtype, device=device_of(x))
    else:
        past = xp.broadcast_to(cast(state, x.dtype), before)
    inputs = xp.concat([past, x], axis=-2)

    wide, weights = widen(xp, inputs, weight)
    output = sum(
        weights[:, i] * wide[..., i : i + length, :] for i in range(width)
    )
    if bias is not None:
        output = output + cast(bias, wide.dtype)
    return cast(output, x.dtype), inputs[..., length:, :]
