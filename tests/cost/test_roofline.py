"""Calls and bounds on a clock that the test moves, and bytes against those that are read."""

import itertools
import time
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from companion.cost import Roofline, cpu_seconds, measure_flops, measure_roofline, step_cost
from companion.models.transformer import LanguageModel
from tests.transformers import config_of, each_variant


def test_the_lower_of_two_roofs_counts() -> None:
    roof = Roofline(flops=30.0, bandwidth=5.0)
    assert roof.ridge == 6.0
    assert [roof.attainable(x) for x in (0.5, 6.0, 7.0)] == [2.5, 30.0, 30.0]
    assert [roof.seconds(60.0, moved) for moved in (5.0, 10.0, 20.0)] == [2.0, 2.0, 4.0]


def test_both_bounds_are_the_best_of_all_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two calls to warm up, the second one timed, and three readings of each, alternately.
    lasts = iter([1.0, 1.0, 4.0, 8.0, 2.0, 16.0, 4.0, 32.0])
    marks = [0.0]

    def clock() -> float:
        marks[0] += 0.0 if len(marks) % 2 else next(lasts)
        marks.append(0.0)
        return marks[0]

    monkeypatch.setattr(time, "process_time", clock)
    roof = measure_roofline(size=5, megabytes=3, rounds=3)
    assert roof == pytest.approx((250 / 2, 3 * 2**20 / 8))


class Read(TorchDispatchMode):
    """Remember every storage that an operation other than a look-up takes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.storages: dict[int, int] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an operation."""
        if func is not torch.ops.aten.embedding.default:
            for leaf in tree_leaves((args, kwargs)):
                if isinstance(leaf, torch.Tensor):
                    storage = leaf.untyped_storage()
                    self.storages[storage.data_ptr()] = storage.nbytes()
        return func(*args, **(kwargs or {}))


@each_variant
def test_a_step_reads_its_weights_once_and_its_caches(variant: str) -> None:
    batch_size = 3
    config = config_of(variant)
    model = LanguageModel(config).eval()
    prompt = torch.ones(batch_size, 5, dtype=torch.int64)
    state = model.start(prompt, max_len=1)
    assert state.caches is not None
    cost = step_cost(config, cached=4, batch_size=batch_size)
    with torch.no_grad(), Read() as read:
        model.step(state.last, state)
    weights = {p.untyped_storage().data_ptr(): p for p in model.parameters()}
    moved = sum(size for key, size in read.storages.items() if key in weights)
    assert moved == cost.weights
    held = {
        x.untyped_storage().data_ptr(): x.untyped_storage().nbytes()
        for cache in state.caches
        for x in vars(cache).values()
        if isinstance(x, torch.Tensor) and x.is_floating_point()
    }
    assert sum(held.values()) == cost.cache
    assert held.keys() <= read.storages.keys()
    again = model.start(prompt, max_len=1)
    with torch.no_grad():
        assert measure_flops(lambda: model.step(again.last, again)) == cost.flops
    assert cost.intensity == cost.flops / (cost.weights + cost.cache)
    half = step_cost(config, cached=4, batch_size=batch_size, dtype=torch.bfloat16)
    assert 2 * half.moved == cost.moved


def test_calls_alternate_and_a_short_one_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading is the mean of its calls; the first two have been made to learn their lengths."""
    made: list[tuple[str, float]] = []
    monkeypatch.setattr(time, "process_time", lambda: sum(seconds for _, seconds in made))
    lasts = itertools.cycle([0.125, 0.375])
    calls = {
        "a": lambda: made.append(("a", 0.25 if len(made) < 2 else next(lasts))),
        "b": lambda: made.append(("b", 1.0)),
    }
    result = cpu_seconds(calls, rounds=3, shortest=0.5)
    assert result == {"a": [0.25] * 3, "b": [1.0] * 3}
    assert "".join(name for name, _ in made) == "aabb" + "aab" * 3
