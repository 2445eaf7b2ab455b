"""What ranks compute together is what one computes alone, in values, gradients and bytes sent."""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from bookkit.devices import run_on
from companion import (
    FeedForward,
    MultiHeadAttention,
    causal_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
)
from companion.decoding import stream_tokens
from companion.dispatch import definitions
from companion.models.smollm import smollm, wheel_file
from companion.parallel import (
    NOTE,
    Layout,
    TensorParallelAttention,
    Traffic,
    head_parallel_attention,
    head_parallel_bytes,
    ring,
    ring_attention,
    ring_bytes,
    ring_pairs,
    shard,
    split_attention,
    split_bytes,
    tensor_parallel,
)
from companion.parallel.layouts import runs_of
from companion.parallel.ranks import GRACE

LIMIT = {torch.float32: 2e-6, torch.float64: 1e-12}  # processors add in different orders
LAYOUTS: tuple[Layout, ...] = ("in order", "balanced", "striped")
B, D, V = 2, 5, 3


class Case(NamedTuple):
    """A call over a text that is cut: keys and queries may differ in number."""

    layout: Layout = "balanced"
    q: int = 13
    k: int = 13
    h: int = 6
    g: int = 3
    told: Mapping[str, Any] = MappingProxyType({})
    mask: str = ""
    dtype: torch.dtype = torch.float64


CASES = [
    Case(layout, 13, 13, 4, 4, {"is_causal": causal}, dtype=dtype)
    for layout, causal, dtype in [
        *product(LAYOUTS, (False, True), [torch.float64]), ("balanced", True, torch.float32),
    ]
] + [
    Case("balanced", 24, 24, 8, 4, {"is_causal": True}, dtype=torch.float32),
    Case("balanced", 13, 13, 8, 4, {"is_causal": True, "left": 3}),
    Case("striped", 13, 13, told={"is_causal": True, "left": 4}),
    Case("in order", 13, 13, told={"left": 2, "right": 1}),
    Case("striped", 23, 23, told={"left": 0}),
    Case("balanced", 7, 19, told={"is_causal": True, "offset": 12}),
    Case("striped", 11, 5, told={"is_causal": True, "offset": -3}),
    Case("in order", 3, 2, told={"is_causal": True}),
    Case("balanced", 13, 17, told={"softcap": 2.0, "scale": 0.3}),
    Case("balanced", 13, 13, told={"is_causal": True}, mask="sinks"),
    Case("striped", 13, 17, mask="column"),
    Case("balanced", 13, 13, told={"is_causal": True}, mask="bias"),
    Case("in order", 13, 17, mask="rows"),
]  # fmt: skip


def drawn(case: Case) -> dict[str, Any]:
    """Return the whole text: the same on every rank."""
    generator = torch.Generator().manual_seed(5)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    found: dict[str, Any] = {
        "query": normal(B, case.h, case.q, D), "key": normal(B, case.g, case.k, D),
        "value": normal(B, case.g, case.k, V), "grad": normal(B, case.h, case.q, V),
        "sinks": normal(case.h) if case.mask == "sinks" else None, "attn_mask": None,
    }  # fmt: skip
    if case.mask == "bias":
        found["attn_mask"] = normal(case.h, case.q, case.k)
    if case.mask == "rows":
        found["attn_mask"] = (rows := normal(B, 1, case.q, case.k) > 0.5)
        rows[:, :, 4] = False
    if case.mask == "column":
        found["attn_mask"] = normal(B, 1, 1, case.k) > 0
    return {
        n: x.to(case.dtype) if x is not None and x.is_floating_point() else x
        for n, x in found.items()
    }


def alone(case: Case, x: dict[str, Any]) -> tuple[Tensor, dict[str, Tensor]]:
    """Return output and gradients of the definition, which sees the whole text at once."""
    told = dict(case.told)
    left, right = told.pop("left", None), told.pop("right", None)
    leaves = {n: one.clone().requires_grad_() for n, one in x.items()
              if one is not None and one.is_floating_point() and n != "grad"}  # fmt: skip
    mask = leaves.get("attn_mask", x["attn_mask"])
    if left is not None:
        wide = case.k if right is None else right
        mask = sliding_window_mask(
            case.q,
            case.k,
            left=left,
            right=wide,
            offset=told.get("offset", 0),
            like=leaves["query"],
        )
    given = (leaves["query"], leaves["key"], leaves["value"], mask)
    with definitions():
        output = scaled_dot_product_attention(
            *given, **told, enable_gqa=case.g != case.h, sinks=leaves.get("sinks")
        )
    output.backward(x["grad"])
    return output.detach(), {n: one.grad for n, one in leaves.items() if one.grad is not None}


def apart(one: Tensor, other: Tensor) -> float:
    """Return the largest difference, of numbers above 1 relative to the largest."""
    if not other.numel():
        return 0.0
    return float((one - other).abs().max() / other.abs().max().clamp(min=1))


def together(case: Case, group: Any, attend: Any) -> float:
    """Return by how much this rank's part is off, in output and gradients."""
    x = drawn(case)
    output, grads = alone(case, x)
    cut = partial(shard, layout=case.layout, group=group)
    whole = ("sinks",) if case.mask in ("bias", "rows") else ("sinks", "attn_mask")
    parts = {n: one if one is None or n in whole else cut(one) for n, one in x.items()}
    leaves: dict[str, Any] = {
        n: one.clone().requires_grad_() if one is not None and one.is_floating_point() else one
        for n, one in parts.items()
    }
    found = attend(
        leaves["query"], leaves["key"], leaves["value"], leaves["attn_mask"], sinks=leaves["sinks"],
        **case.told, enable_gqa=case.g != case.h, layout=case.layout, group=group,
    )  # fmt: skip
    assert found.dtype == case.dtype
    found.backward(parts["grad"])
    worst = [apart(found.detach(), cut(output))]
    for name, right in grads.items():
        grad = leaves[name].grad
        if name == "sinks":
            dist.all_reduce(grad, group=group)
            worst.append(apart(grad, right))
        else:
            worst.append(apart(grad, cut(right)))
    return max(worst) / LIMIT[case.dtype]


def groups() -> Iterator[Any]:
    """Yield groups of two, three and four ranks to which this one belongs."""
    for size in (2, 3, 4):
        group = dist.new_group(list(range(size)))
        if dist.get_rank() < size:
            yield group


def everything(rank: int) -> dict[str, float]:
    """Return for each thing that failed by how many times its limit, or why."""
    failed: dict[str, Any] = {}

    def hold(name: str, work: Callable[[], float]) -> None:
        try:
            if (off := work()) >= 1:
                failed[name] = off
        except Exception as error:  # all ranks meet it
            failed[name] = repr(error)

    for group in groups():
        size = dist.get_world_size(group)
        for number, case in enumerate(CASES):
            where = f"{number} on {size} ranks: {case}"
            hold(f"ring {where}", partial(together, case, group, ring_attention))
            if case.g >= size and case.mask not in ("bias", "rows"):
                hold(f"heads {where}", partial(together, case, group, head_parallel_attention))
        hold(f"split on {size}", partial(split, group))
        hold(f"layers on {size}", partial(layers, group))
        hold(f"bytes on {size}", partial(traffic, group))
        hold(f"refusals on {size}", partial(refusals, group))
    return failed


def split(group: Any) -> float:
    case = Case(q=2, k=17, mask="column")
    x = drawn(case)
    output, grads = alone(case, x)
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    mine = [place for place in range(case.k) if (place % size if place < 15 else 0) == rank]
    parts = [x["query"], x["key"][:, :, mine], x["value"][:, :, mine]]
    leaves: list[Any] = [one.clone().requires_grad_() for one in parts]
    query, key, value = leaves
    mask = x["attn_mask"][..., mine]
    found: Any = split_attention(query, key, value, mask, enable_gqa=True, group=group)
    found.backward(x["grad"])
    right = [grads["query"], grads["key"][:, :, mine], grads["value"][:, :, mine]]
    pairs = [(found.detach(), output), *zip([one.grad for one in leaves], right, strict=True)]
    return max(float((one - other).abs().max()) for one, other in pairs) / 1e-12


def layers(group: Any) -> float:
    """Cut layers of a model, and hold outputs and every gradient against those of the whole one."""
    torch.manual_seed(3)
    whole: Any = torch.nn.ModuleList([
        MultiHeadAttention(10, 6, num_kv_heads=6, head_dim=4, bias=True, rotary=True, sinks=True),
        FeedForward(10, 11, activation="silu", gated=True),
        MultiHeadAttention(10, 8, num_kv_heads=4, head_dim=2, key_dim=7, value_dim=7),
    ]).double()  # fmt: skip
    x, memory = torch.randn(2, 5, 10).double(), torch.randn(2, 7, 7).double()
    torch.nn.init.normal_(whole[0].sinks)

    def run(parts: Any) -> tuple[Tensor, list[Tensor]]:
        given = [x.clone().requires_grad_(), memory.clone().requires_grad_()]
        hidden = parts[0](given[0], is_causal=True)
        hidden = parts[1](hidden)
        output = parts[2](hidden, parts[2].project_memory(given[1])) + parts[2](hidden, given[1])
        (output * torch.arange(10)).sum().backward()
        return output.detach(), [one.grad for one in given]  # type: ignore[misc]

    output, grads = run(whole)
    lines: dict[str, Any] = {n: p.grad for n, p in whole.named_parameters()}
    cut: Any = tensor_parallel(whole, group)
    found, others = run(cut)
    pairs: list[Any] = [(found, output), *zip(others, grads, strict=True)]
    heads = cut[0].heads
    rows = slice(heads.start * 4, heads.stop * 4)
    pairs += [
        (cut[0].query_proj.weight.grad, lines["0.query_proj.weight"][rows]),
        (cut[0].output_proj.weight.grad, lines["0.output_proj.weight"][:, rows]),
        (cut[0].sinks.grad, lines["0.sinks"][heads]),
    ]
    return max(apart(one, other) for one, other in pairs) / LIMIT[torch.float64]


def traffic(group: Any) -> float:
    """Count what torch sends, and compare with the formulas to the byte."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    note = NOTE * (size - 1)
    wrong = 0
    for layout, dtype in product(LAYOUTS, LIMIT):
        case = Case(layout, 13, 13, 8, 4, {"is_causal": True}, dtype=dtype)
        x = drawn(case)
        x["value"] = x["key"]
        query, key, value = (
            shard(x[n], layout=layout, group=group).requires_grad_()
            for n in ("query", "key", "value")
        )
        token = B * case.g * 2 * D * dtype.itemsize
        for attend in (ring_attention, head_parallel_attention):
            with Traffic(group) as forward:
                output: Any = attend(
                    query, key, value, is_causal=True, enable_gqa=True, layout=layout, group=group
                )
            with Traffic(group) as backward:
                output.sum().backward()
            if attend is ring_attention:
                wanted = [
                    {"send": ring_bytes(13, size, token, layout=layout, backward=b)[rank]}
                    for b in (False, True)
                ]
            else:
                wanted = [
                    {"all_to_all": head_parallel_bytes(
                        13, size, B * D * dtype.itemsize, heads=8, groups=4, layout=layout,
                        backward=b,
                    )[rank]}
                    for b in (False, True)
                ]  # fmt: skip
            wanted[0] = wanted[0] | {"all_gather": note}
            wrong += [dict(forward.sent), dict(backward.sent)] != wanted
        with Traffic(group) as one:
            split_attention(x["query"][:, :, :1], key, value, enable_gqa=True, group=group)
        wrong += one.sent["all_gather"] != note + split_bytes(
            size, B * 8, D, itemsize=dtype.itemsize
        )
    return wrong


def refusals(group: Any) -> float:
    """Return how many wrong calls some rank did not refuse in the right words."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    x = torch.ones(1, 4, 4, 2)
    other = torch.ones(1, 4, 4, 3) if rank == 1 else x
    longer = torch.ones(1, 4, 5, 2) if rank == 1 else x
    few, mask = x[:, :1], torch.ones(4, 4 * size, dtype=torch.bool)
    ring, heads = (partial(f, group=group) for f in (ring_attention, head_parallel_attention))
    layer, gains = MultiHeadAttention(4, 1), MultiHeadAttention(8, 4, qk_norm=True)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: ring(other, other, other), "query: got .*3.* on rank 1, wanted .*2.* on rank 0"),
        (lambda: ring(x, x, x, is_causal=rank == 1), "options: got .* on rank 1"),
        (lambda: ring(longer, x, x), r"query: got \d+ of \d+ tokens on rank"),
        (lambda: ring(x, x, x, mask[:, :3]), r"attn_mask: got shape \(4, 3\), wanted \(\.\.\., "),
        (lambda: ring(x, few, few), "key: .*leading axes"),
        (lambda: ring(x, x, x, offset=torch.ones(1)),  # type: ignore[arg-type]
         "offset: got .*, wanted a whole number"),
        (lambda: heads(x, few, few, enable_gqa=True), "key: got 1 heads, wanted at least"),
        (lambda: heads(x, x, x, mask), "attn_mask: got shape .* one row for all"),
        (lambda: split_attention(other, other, other, group=group), "query: .*3.* on rank 1"),
        (lambda: TensorParallelAttention(layer, group), "layer: got 1 key heads"),
        (lambda: TensorParallelAttention(gains, group), "layer: got one with qk_norm"),
    ]  # fmt: skip
    wrong = 0
    for call, words in calls:
        try:
            call()
        except (ValueError, TypeError) as error:
            if not re.search(words, str(error)):
                raise AssertionError(f"{error} is not {words}") from None
        else:
            raise AssertionError(f"not refused: {words}")
    return wrong


def on_ranks(work: Callable[[int], Any], size: int, *, seconds: float) -> Any:
    """Return what the work gives on every rank that lives to tell; nothing runs for longer."""
    script = f"""
import json, os
from datetime import timedelta
import torch.distributed as dist
from tests.parallel import test_parallel
dist.init_process_group("gloo", timeout=timedelta(seconds={seconds}))
print(json.dumps(test_parallel.{work.__name__}(dist.get_rank())), flush=True)
os._exit(0)  # a group that has failed would wait for its threads
"""
    return [json.loads(line) for line in run_on(size, script, seconds=seconds).splitlines()]


def test_ranks_compute_what_one_computes() -> None:
    assert on_ranks(everything, 4, seconds=100) == [{}] * 4


def deaths(rank: int) -> list[tuple[str, float]]:
    """Return what ranks say, and after how long, when others die or hang.

    Of four, rank 3 ends between two calls. Of the other three, rank 1 ends when it sends its keys
    and would merge. Then rank 0 hangs, and the store of the group with it, until rank 2 wakes it.
    """
    limit = timedelta(seconds=3)
    members = ([0, 1, 2, 3], [0, 1, 2], [0, 2])
    four, three, two = groups = [dist.new_group(ranks, timeout=limit) for ranks in members]
    x = torch.ones(1, 2, 12, 4)
    for ranks, group in zip(members, groups, strict=True):
        if rank in ranks:  # connections are made in the first call
            attend_to_itself(x, group)
    dist.broadcast(first := torch.tensor(os.getpid()), 0)
    if rank == 3:
        os._exit(0)
    said = [refused(x, four)]
    if rank == 1:
        vars(ring)["merge_attention"] = lambda *_: os._exit(0)
    said.append(refused(x, three))
    if rank == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
    else:
        said.append(refused(x, two))
        os.kill(int(first), signal.SIGCONT)
    return said


def attend_to_itself(x: Tensor, group: Any) -> None:
    part = shard(x, group=group)
    ring_attention(part, part, part, is_causal=True, group=group)


def refused(x: Tensor, group: Any) -> tuple[str, float]:
    start = time.monotonic()
    try:
        attend_to_itself(x, group)
    except RuntimeError as error:
        return str(error), time.monotonic() - start
    return "no error", 0.0


def test_a_rank_that_dies_or_hangs_is_named_by_all_others() -> None:
    named = "on rank {} of the group: rank {} did not answer within 3 s"
    held = "on rank 1 of the group: rank 0, which mostly holds the store of the group, is gone or"
    wanted = [
        [named.format(0, 3), named.format(0, 1)],
        [named.format(2, 3), named.format(2, 1), held],
    ]
    for said, words in zip(on_ranks(deaths, 4, seconds=60), wanted, strict=True):
        for (message, seconds), start in zip(said, words, strict=True):
            assert message.startswith(start)
            assert seconds < 3 + 2 * GRACE + 2


def writes(rank: int) -> list[int]:
    model, tokenizer = smollm()
    tensor_parallel(model)
    with torch.no_grad():
        return list(stream_tokens(model, asked(tokenizer), eos_id=-1, max_len=100))


def asked(tokenizer: Any) -> list[int]:
    words: list[int] = tokenizer.encode(tokenizer.chat("Tell me a story about a fox and a crow."))
    return words


@pytest.mark.slow
@pytest.mark.skipif(wheel_file() is None, reason="no model")
def test_two_ranks_write_what_one_would_write() -> None:
    one, other = on_ranks(writes, 2, seconds=150)
    model, tokenizer = smollm()
    prompt = asked(tokenizer)
    with torch.no_grad():
        scores = model(torch.tensor([prompt + one]))[0]
    assert one == other == scores[len(prompt) - 1 : -1].argmax(-1).tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rounds_are_counted_as_the_mask_allows(layout: Layout) -> None:
    for length, size in ((13, 4), (24, 3), (2, 3)):
        mask = torch.as_tensor(causal_mask(length))
        places = [[p for run in runs for p in run] for runs in runs_of(length, size, layout)]
        assert sorted(p for one in places for p in one) == list(range(length))
        for turn, row in enumerate(ring_pairs(length, size, layout=layout)):
            for rank, pairs in enumerate(row):
                part = mask[places[rank]][:, places[(rank - turn) % size]]
                assert pairs == int(part.sum())
