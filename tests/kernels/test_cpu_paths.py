"""Every path through the kernel of the CPU, forward and backward, against the definition.

Both share `companion.bands`, which tests of tiled attention hold against plain loops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from companion.dispatch import definitions
from companion.tiled import tiled_attention

torch: Any = pytest.importorskip("torch")
cpu: Any = pytest.importorskip("companion.kernels.cpu")

tiled: Any = tiled_attention

B, H, G, Q, K, D, V = 2, 6, 3, 9, 11, 4, 3


def draw(*shape: int, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng([seed, *shape]).normal(size=shape))


def keep(*shape: int) -> Any:
    """A boolean mask whose last query, and some other rows, have no key."""
    mask = torch.tensor(np.random.default_rng(3).random(shape) < 0.6)
    mask[..., -1, :] = False
    return mask


def bias(*shape: int) -> Any:
    return (2 * draw(*shape, seed=4)).masked_fill(~keep(*shape), -math.inf)


@dataclass(frozen=True)
class Case:
    """One call: its options, its lengths, and numbers that scale or shift what goes in."""

    options: dict[str, Any] = field(default_factory=dict)
    q: int = Q
    k: int = K
    query: float = 1.0
    shift: float = 0.0  # of all scores
    value: float = 1.0
    dtype: Any = torch.float64


LARGE = {"block_size": (4, 5)}  # several tiles of a row, and several rows of tiles
CASES = {
    "plain": Case(),
    "tiles": Case({**LARGE}),
    "narrow": Case({"block_size": (4, 2)}),  # narrower than the values
    "causal": Case({"is_causal": True, **LARGE}),
    "ahead": Case({"is_causal": True, "offset": 2, **LARGE}),
    "behind": Case({"is_causal": True, "offset": -6, **LARGE}),
    "mask": Case({"attn_mask": keep(B, H, Q, K), **LARGE}),
    "mask of one row": Case({"attn_mask": keep(2, K)[0], **LARGE}),
    "bias": Case({"attn_mask": bias(B, 1, Q, K), **LARGE}),
    "bias and causal": Case({"attn_mask": bias(H, Q, K), "is_causal": True, **LARGE}),
    "mask and window": Case({"attn_mask": keep(B, 1, Q, K), "left": 3, "right": 1, **LARGE}),
    "scale": Case({"scale": 0.7}),
    "minus": Case({"scale": -0.5, "is_causal": True, **LARGE}, shift=-2000.0),
    "softcap": Case({"softcap": 1.5, **LARGE}),
    "softcap and causal": Case({"softcap": 1.5, "is_causal": True, "offset": 3, **LARGE}),
    "softcap and bias": Case({"softcap": 1.5, "attn_mask": bias(Q, K), **LARGE}),
    "sinks": Case({"sinks": draw(H, seed=9), "is_causal": True}),
    "window": Case({"left": 2, "right": 1, **LARGE}),
    "window ahead": Case({"left": 2, "right": 1, "offset": 5, **LARGE}),
    "window beyond": Case({"left": 2, "right": 1, "offset": -8, **LARGE}),
    "one side": Case({"left": 2, **LARGE}),
    "long window": Case({"left": 5, "right": 3}, q=150, k=150),
    "long window ahead": Case({"left": 5, "right": 3, "offset": 7}, q=165, k=150),
    "long window behind": Case({"left": 40, "right": 2, "offset": -9}, q=170, k=140),
    "long causal": Case({"is_causal": True, "block_size": (24, 16)}, q=70, k=70),
    "low": Case({"is_causal": True, **LARGE}, shift=-2000.0),
    "high": Case({"is_causal": True, **LARGE}, shift=2000.0),
    "wild": Case({"is_causal": True, **LARGE}, query=300.0),
    "wild with a mask": Case({"attn_mask": keep(Q, K), **LARGE}, query=300.0),
    "low with a cap": Case({"softcap": 900.0, **LARGE}, shift=-2000.0),
    "sums overflow": Case(shift=88.0, value=1e-6, query=0.01, dtype=torch.float32),
    "values overflow": Case(shift=60.0, value=1e30, query=0.01, dtype=torch.float32),
    "grouped": Case({"attn_mask": keep(B, H, Q, K), "is_causal": True, "offset": 1}),
}


def arrays_of(case: Case) -> list[Any]:
    """Draw them; a last feature of query and key shifts every score by the same."""
    query, key = case.query * draw(B, H, case.q, D), draw(B, G, case.k, D, seed=1)
    scale = case.options.get("scale") or 1 / math.sqrt(D + 1)
    shift = torch.full((1,), case.shift / scale / 50)
    query = torch.cat([query, shift.expand(B, H, case.q, 1).double()], -1)
    key = torch.cat([key, torch.full((B, G, case.k, 1), 50.0).double()], -1)
    return [query, key, case.value * draw(B, G, case.k, V, seed=2)]


def results(case: Case, dtype: Any) -> list[Any]:
    """Output, log-sum-exp, and the gradients of both through a random loss."""
    leaves = [x.to(dtype).requires_grad_() for x in arrays_of(case)]
    options = dict(case.options)
    if "sinks" in options:
        options["sinks"] = options["sinks"].to(dtype).requires_grad_()
    wanted = [*leaves, *(x for name, x in options.items() if name == "sinks")]
    output, lse = tiled(*leaves, **options, enable_gqa=True, need_lse=True)
    alive = lse.detach() > -math.inf
    upstream = draw(*output.shape, seed=7).to(dtype) / case.value
    of_sums = draw(*lse.shape, seed=8).to(dtype)
    loss = (output * upstream).sum() + (lse[alive] * of_sums[alive]).sum()
    return [x.detach() for x in (output, lse, *torch.autograd.grad(loss, wanted))]


def compare(case: Case, tolerance: float) -> None:
    with definitions():
        expected = results(case, torch.float64)
    for ours, exact in zip(results(case, case.dtype), expected, strict=True):
        assert ours.shape == exact.shape
        finite = exact > -math.inf
        assert torch.equal(ours > -math.inf, finite)
        size = max(1.0, float(exact[finite].abs().max()))
        torch.testing.assert_close(
            ours.double()[finite] / size, exact[finite] / size,
            rtol=tolerance, atol=tolerance,
        )  # fmt: skip


@pytest.fixture(params=[True, False], ids=["exp", "exp2"])
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of two powers is the faster depends on the processor: both must be right."""
    monkeypatch.setattr(cpu, "exp_is_quick", lambda: request.param)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", CASES)
def test_path(name: str) -> None:
    case = CASES[name]
    compare(case, 1e-9 if case.dtype == torch.float64 else 2e-4)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["grouped", "mask", "long window", "long window ahead"])
def test_few_scores_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of two heads of three, and of a few windows."""
    case = CASES[name]
    monkeypatch.setattr(cpu, "SCORES_AT_ONCE", 2 * Q * K)
    monkeypatch.setattr(cpu, "BACKWARD_SCORES_AT_ONCE", 2 * Q * K)
    monkeypatch.setattr(cpu, "WINDOW_SCORES_AT_ONCE", 2 * 32 * 40)
    compare(case, 1e-9)


@pytest.mark.usefixtures("quick")
def test_a_range_that_only_some_rows_leave() -> None:
    """Only their blocks are computed again; the others keep what they have."""
    case = Case({"is_causal": True, "block_size": (3, 4)}, q=12, k=12)
    query, key, value = arrays_of(case)
    query[:, :, 5] *= 3000
    query[:, 2, 9] *= -3000
    grads = []
    for context in (definitions(), None):
        leaves = [x.clone().requires_grad_() for x in (query, key, value)]
        if context is None:
            output, lse = tiled(*leaves, **case.options, enable_gqa=True, need_lse=True)
        else:
            with context:
                output, lse = tiled(*leaves, **case.options, enable_gqa=True, need_lse=True)
        loss = (output * draw(*output.shape, seed=7)).sum() + (lse / 3000).sum()
        grads.append([output, lse / 3000, *torch.autograd.grad(loss, leaves)])
    for ours, exact in zip(*reversed(grads), strict=True):
        torch.testing.assert_close(ours, exact, rtol=1e-8, atol=1e-8)


def test_the_tables_of_cases_reach_every_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both softmaxes and windows run in some case: a path that no case reaches is not tested."""
    reached: set[str] = set()
    for name in ("_average", "_average_online", "_windows"):
        original = getattr(cpu, name)

        def spy(*args: Any, original: Any = original, name: str = name) -> Any:
            reached.add(name)
            return original(*args)

        monkeypatch.setattr(cpu, name, spy)
    seen = {}
    for case in ("plain", "bias", "low", "long window"):
        reached.clear()
        results(CASES[case], CASES[case].dtype)
        seen[case] = set(reached)
    assert seen["plain"] == {"_average"}
    assert seen["bias"] == {"_average_online"}
    assert seen["low"] == {"_average", "_average_online"}
    assert seen["long window"] == {"_average", "_windows"}


@pytest.mark.parametrize(("left", "right", "offset"), [(5, 3, 0), (40, 2, -9), (100, 0, 7)])
def test_gradients_of_windows_that_share_a_key_are_not_added_together(
    left: int, right: int, offset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Added in place by several threads, some of them would be lost."""
    monkeypatch.setattr(cpu, "WINDOW_SCORES_AT_ONCE", 4 * 32 * 140)
    query, key = torch.zeros(1, 1, 1, 400, 1), torch.arange(400).reshape(1, 1, 400, 1)
    plan = cpu._Plan(
        cpu.Band(left, right, offset), 1.0, None, (256, 512), (256, 192), windows=True,
        bounded=False, scores_at_once=2**19,
    )  # fmt: skip
    together = []
    for piece in cpu._pieces(query, key, plan.backward):
        windows = piece.keys(key)
        assert windows.unique().numel() == windows.numel()
        together.append(windows.shape[0])
    assert max(together) > 1
