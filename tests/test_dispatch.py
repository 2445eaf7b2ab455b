"""The door to the kernels: who is asked, in which order, and how to turn them off."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion import dispatch
from companion.attention import scaled_dot_product_attention
from companion.dispatch import definitions
from companion.tiled import tiled_attention


def definitions_alone() -> bool:
    return dispatch._thread.definitions_only


def test_definitions_can_be_nested() -> None:
    with definitions():
        with definitions():
            assert definitions_alone()
        assert definitions_alone()
    assert not definitions_alone()


def test_an_error_turns_the_kernels_on_again() -> None:
    with pytest.raises(KeyError), definitions():
        raise KeyError
    assert not definitions_alone()


def test_other_threads_keep_their_kernels() -> None:
    seen = []
    with definitions():
        thread = threading.Thread(target=lambda: seen.append(definitions_alone()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_numpy_asks_no_kernel_and_loads_no_torch() -> None:
    program = (
        "import sys, numpy as np\n"
        "from companion import scaled_dot_product_attention, tiled_attention\n"
        "x = np.ones((2, 3))\n"
        "scaled_dot_product_attention(x, x, x); tiled_attention(x, x, x)\n"
        "assert 'torch' not in sys.modules\n"
        "assert 'companion.kernels' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, tiled_attention])
def test_tensors_ask_the_kernels_by_keyword_too(attend: Any, torch: ModuleType) -> None:
    x = torch.tensor(np.random.default_rng(0).normal(size=(1, 2, 3, 4)))
    by_position, by_keyword = attend(x, x, x), attend(query=x, key=x, value=x)
    assert torch.equal(by_position, by_keyword)
    with definitions():
        torch.testing.assert_close(attend(query=x, key=x, value=x), by_position)


def test_the_first_kernel_that_takes_a_call_computes_it(
    monkeypatch: pytest.MonkeyPatch, torch: ModuleType
) -> None:
    asked: list[str] = []

    def kernel(name: str, result: Any) -> Any:
        def ask(*args: Any, **kwargs: Any) -> Any:
            asked.append(name)
            return result

        return ask

    kernels = {
        "compute": (kernel("first", NotImplemented), kernel("second", 2), kernel("third", 3)),
        "decline": (kernel("only", NotImplemented),),
    }
    listed = pytest.importorskip("companion.kernels")
    monkeypatch.setattr(listed, "kernels_of", kernels.__getitem__)

    @dispatch.accelerated
    def compute(x: Any) -> int:
        """Compute."""
        return 0

    @dispatch.accelerated
    def decline(x: Any) -> int:
        return 0

    assert compute(torch.ones(2)) == 2
    assert asked == ["first", "second"]
    assert decline(torch.ones(2)) == 0
    assert asked == ["first", "second", "only"]
    assert compute(np.ones(2)) == 0
    with definitions():
        assert compute(torch.ones(2)) == 0
    assert len(asked) == 3
    assert compute.__doc__ == "Compute."


def test_every_kernel_takes_the_arguments_of_its_definition(torch: ModuleType) -> None:
    import inspect

    kernels = pytest.importorskip("companion.kernels")
    for definition in (scaled_dot_product_attention, tiled_attention):
        parameters = inspect.signature(definition).parameters
        for kernel in kernels.kernels_of(definition.__name__):
            assert kernel.__name__ == definition.__name__
            theirs = inspect.signature(kernel).parameters
            open_ended = any(p.kind is p.VAR_KEYWORD for p in theirs.values())
            assert open_ended or theirs.keys() == parameters.keys()
            for name in theirs.keys() & parameters.keys():
                assert theirs[name].default == parameters[name].default, name
                assert theirs[name].kind == parameters[name].kind, name
