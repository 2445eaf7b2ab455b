"""The measures themselves, on calls whose costs are known."""

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from companion.attention import scaled_dot_product_attention
from companion.cost import LiveBytes, array_bytes, matmul_flops, measure_flops, measure_saved_bytes


def test_every_product_counts_once() -> None:
    left, right, vector = torch.ones(3, 5), torch.ones(5, 7), torch.ones(5)
    batch, sums = torch.ones(2, 3, 5), torch.ones(3, 7)
    assert measure_flops(lambda: left @ right) == matmul_flops(3, 5, 7)
    assert measure_flops(lambda: left @ vector) == matmul_flops(3, 5, 1)
    assert measure_flops(lambda: vector @ vector) == matmul_flops(1, 5, 1)
    assert measure_flops(lambda: batch @ right) == 2 * matmul_flops(3, 5, 7)
    assert measure_flops(lambda: torch.addmv(torch.ones(3), left, vector)) == 30
    assert measure_flops(lambda: torch.addmm(sums, left, right)) == matmul_flops(3, 5, 7)
    assert measure_flops(lambda: sums.addmm_(left, right)) == matmul_flops(3, 5, 7)
    third = torch.ones(2, 5, 7)
    totals = torch.ones(2, 3, 7)
    assert measure_flops(lambda: totals.baddbmm_(batch, third)) == 2 * matmul_flops(3, 5, 7)
    assert measure_flops(lambda: left.exp() * left) == 0


def _alone(call: Callable[[], Tensor]) -> int:
    """What torch's counter sees by itself."""
    with FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


def test_fused_attention_is_seen_and_comes_back() -> None:
    query = torch.ones(2, 3, 5, 4)
    call = partial(scaled_dot_product_attention, query, query, query)
    assert _alone(call) == 0  # what is gone round
    assert measure_flops(call) == 2 * 2 * 3 * matmul_flops(5, 4, 5)
    assert _alone(call) == 0  # and is there again


def test_views_add_nothing_and_what_is_held_counts() -> None:
    before = torch.ones(100)
    with LiveBytes() as count:
        x = torch.ones(3, 5)
        assert count.live == 60
        parts = [x.T, x[1:], x.reshape(15), before[:7]]
        assert count.live == 60
        x.add_(1)
        before.mul_(2)
        assert count.live == 60
        del x
        assert count.live == 60  # a view holds the storage
        parts.clear()
        assert count.live == 0
        y = torch.zeros(7, dtype=torch.float64)
        z = torch.tensor([1.0, 2.0, 3.0])
    assert (count.live, count.peak) == (68, 68)
    del y, z
    assert count.live == 0  # after the end too


def test_the_peak_is_that_of_what_lives_together() -> None:
    with LiveBytes() as count:
        for _ in range(3):
            x = torch.ones(10) + 1  # two at a time, and the last one's result
            del x
    assert count.peak == 80
    with LiveBytes() as count:
        held = [torch.ones(10) for _ in range(3)]
    assert count.live == count.peak == array_bytes(3, 10)
    assert len(held) == 3


def test_a_graph_holds_what_it_saved() -> None:
    x = torch.ones(5, 7, requires_grad=True)
    with LiveBytes() as count:
        y = x.exp().sum()
        assert count.live == 140 + 4
        y.backward()  # type: ignore[no-untyped-call]
        assert x.grad is not None
        gc.collect()
        assert count.live == 140 + 4  # the gradient has taken the place of the exponentials


def test_saved_bytes_are_those_that_a_backward_pass_could_want() -> None:
    x: Any = torch.ones(5, 7, requires_grad=True)
    layer = nn.Linear(7, 3)
    assert measure_saved_bytes(lambda: layer(x), layer) == 140
    assert measure_saved_bytes(lambda: layer(x)) == 140 + array_bytes(7, 3)
    assert measure_saved_bytes(lambda: x * x) == 140  # once, not twice
    assert measure_saved_bytes(lambda: x.exp().exp()) == 280
    with torch.no_grad():
        assert measure_saved_bytes(lambda: x.exp()) == 0
    measure_saved_bytes(lambda: (x.exp() * x).sum().backward())
    torch.testing.assert_close(x.grad, (x.exp() * (1 + x)).detach())


def test_what_no_backward_pass_can_reach_is_not_saved() -> None:
    x = torch.ones(5, 7, requires_grad=True)

    def call() -> Tensor:
        highest = x.mul(2).amax(-1, keepdim=True).detach()
        return x - highest

    assert measure_saved_bytes(call) == 0
