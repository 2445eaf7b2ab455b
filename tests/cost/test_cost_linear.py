"""Linear attention's three forms against the products that they do."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from companion.cost import (
    chunked_linear_attention_flops,
    linear_attention_flops,
    measure_flops,
    recurrent_linear_attention_flops,
    training_flops,
)
from companion.linear import (
    chunked_linear_attention,
    elu_feature_map,
    linear_attention,
    recurrent_linear_attention,
)

SIZES = [(3, 5, 7, 11), (1, 13, 3, 1), (5, 1, 1, 3)]
"""Heads, length, width of a key and of a value."""


def arrays(heads: int, length: int, d: int, v: int) -> tuple[Any, Any, Any]:
    query, key = torch.zeros(2, heads, length, d, device="meta", requires_grad=True)
    return query, key, torch.zeros(heads, length, v, device="meta", requires_grad=True)


def both_passes(call: Any) -> None:
    call().sum().backward()


def factors(kind: str | None, heads: int, length: int, d: int) -> Any:
    if kind is None:
        return None
    return torch.ones(*((heads, length) if kind == "step" else (heads, length, d)), device="meta")


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_all_pairs(size: tuple[int, int, int, int]) -> None:
    (heads, n, d, v), given = size, arrays(*size)
    sizes: dict[str, Any] = {"length": n, "num_heads": heads}
    for causal in (False, True):
        result = linear_attention_flops(d, v, is_causal=causal, **sizes).total
        call = partial(linear_attention, *given, is_causal=causal)
        assert measure_flops(call) == result
        assert measure_flops(partial(both_passes, call)) == training_flops(result)
        mapped = linear_attention_flops(d, v, is_causal=causal, normalised=True, **sizes).total
        assert mapped == measure_flops(
            partial(linear_attention, *given, feature_map=elu_feature_map, is_causal=causal)
        )
    for decay in ("step", "channel"):
        decays = factors(decay, heads, n, d)
        done = measure_flops(partial(linear_attention, *given, decay=decays))
        assert done == linear_attention_flops(d, v, decay=decay, **sizes).total


class Written(TorchDispatchMode):
    """Count the entries of states to which something is added: a product and a sum each."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.shape, self.operations = shape, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.add.Tensor and tuple(made.shape) == self.shape:
            self.operations += 2 * made.numel()
        return made


@pytest.mark.parametrize("delta", [False, True])
@pytest.mark.parametrize("size", SIZES[:2], ids=str)
def test_step_by_step(size: tuple[int, int, int, int], delta: bool) -> None:
    (heads, n, d, v), given = size, arrays(*size)
    beta = factors("step", heads, n, d) if delta else None
    result = recurrent_linear_attention_flops(d, v, length=n, num_heads=heads, delta=delta)
    call = partial(recurrent_linear_attention, *given, beta=beta)
    assert measure_flops(call) == result.total - result.writing
    state = torch.zeros(heads, d, v, device="meta")
    with Written((heads, d, v)) as written:
        recurrent_linear_attention(*given, beta=beta, state=state)
    assert written.operations - 2 * state.numel() == result.writing  # the first adds nothing


@pytest.mark.parametrize("delta", [False, True])
@pytest.mark.parametrize("decay", [None, "step", "channel"])
def test_chunk_by_chunk(decay: Any, delta: bool) -> None:
    for size in SIZES:
        (heads, n, d, v), given = size, arrays(*size)
        decays = factors(decay, heads, n, d)
        beta = factors("step", heads, n, d) if delta else None
        for chunk_size in (1, 3, 4, 64):
            done = measure_flops(
                partial(
                    chunked_linear_attention,
                    *given,
                    decay=decays,
                    beta=beta,
                    chunk_size=chunk_size,
                )
            )
            assert (
                done
                == chunked_linear_attention_flops(
                    d, v, length=n, chunk_size=chunk_size, num_heads=heads, decay=decay, delta=delta
                ).total
            )


def test_only_all_pairs_are_quadratic() -> None:
    for form, growth in (
        (linear_attention_flops, 4),
        (recurrent_linear_attention_flops, 2),
        (chunked_linear_attention_flops, 2),
    ):
        short, long = (form(64, 64, length=n).total for n in (1024, 2048))
        assert long == growth * short


def test_impossible_counts_are_refused() -> None:
    any_decay: Any = "head"
    with pytest.raises(ValueError, match=r"decay: got 'head', wanted one of .*, or None"):
        chunked_linear_attention_flops(4, 5, length=7, decay=any_decay)
    with pytest.raises(ValueError, match="decay: got 'step' without is_causal"):
        linear_attention_flops(4, 5, length=7, is_causal=False, decay="step")
    with pytest.raises(ValueError, match="length: got 0"):
        recurrent_linear_attention_flops(4, 5, length=0)
    with pytest.raises(ValueError, match="chunk_size: got 0"):
        chunked_linear_attention_flops(4, 5, length=7, chunk_size=0)
