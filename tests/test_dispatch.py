"""Where torch's kernel is asked, and how to turn it off."""

import threading
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion import dispatch
from companion.attention import scaled_dot_product_attention
from companion.dispatch import definitions, only_definitions
from companion.tiled import tiled_attention


def test_definitions_can_be_nested_and_an_error_turns_the_kernels_on_again() -> None:
    with suppress(KeyError), definitions():
        with definitions():
            assert only_definitions()
        assert only_definitions()
        raise KeyError
    assert not only_definitions()


def test_other_threads_keep_their_kernels() -> None:
    seen = []
    with definitions():
        thread = threading.Thread(target=lambda: seen.append(only_definitions()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_tensors_ask_the_kernels_by_keyword_too(torch: ModuleType) -> None:
    for attend in (scaled_dot_product_attention, tiled_attention):
        x = torch.tensor(np.random.default_rng(0).normal(size=(1, 2, 3, 4)))
        by_position, by_keyword = attend(x, x, x), attend(query=x, key=x, value=x)
        assert torch.equal(by_position, by_keyword)
        with definitions():
            torch.testing.assert_close(attend(query=x, key=x, value=x), by_position)


def test_a_call_that_the_kernel_leaves_goes_to_the_definition(
    monkeypatch: pytest.MonkeyPatch, torch: ModuleType
) -> None:
    from companion import torch_fused

    answers = iter([NotImplemented, 2])
    monkeypatch.setattr(torch_fused, "compute", lambda x: next(answers), raising=False)

    @dispatch.accelerated
    def compute(x: Any) -> int:
        """Compute."""
        return 0

    assert [compute(torch.ones(2)) for _ in range(2)] == [0, 2]
    assert compute(np.ones(2)) == 0
    with definitions():
        assert compute(torch.ones(2)) == 0
    assert compute.__doc__ == "Compute."
