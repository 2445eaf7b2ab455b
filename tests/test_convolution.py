"""The short convolution against loops and torch's own, on every array library."""

from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from companion.convolution import short_convolution
from tests.oracle import assert_matches, draw

Float = npt.NDArray[np.float64]

CHANNELS = 3


def loops(x: Float, weight: Float, bias: Float | None = None, state: Float | None = None) -> Float:
    """Blend for (n, c), one number at a time."""
    (n, c), w = x.shape, weight.shape[1]
    output = np.zeros((n, c))
    for t in range(n):
        for channel in range(c):
            output[t, channel] = 0.0 if bias is None else bias[channel]
            for back in range(w):
                if t - back >= 0:
                    value = x[t - back, channel]
                elif state is not None:
                    value = state[w - 1 + t - back, channel]
                else:
                    value = 0.0
                output[t, channel] += weight[channel, w - 1 - back] * value
    return output


def test_equals_loops(libraries: list[Any]) -> None:
    for xp in libraries:
        for n, width, options in [
            (0, 4, {"bias": draw(CHANNELS), "state": draw(3, CHANNELS, seed=1)}),
            (1, 4, {}),
            (5, 7, {"bias": draw(CHANNELS), "state": draw(6, CHANNELS, seed=1)}),
            (63, 2, {"bias": draw(CHANNELS)}),
            (7, 1, {"state": draw(0, CHANNELS)}),
        ]:
            x, weight = draw(n, CHANNELS), draw(CHANNELS, width)
            moved = {name: xp.asarray(array) for name, array in options.items()}
            output, after = short_convolution(xp.asarray(x), xp.asarray(weight), **moved)
            assert_matches(output, loops(x, weight, **options))
            before = options.get("state", np.zeros((width - 1, CHANNELS)))
            assert_matches(after, np.concatenate([before, x])[n:])


def test_is_torchs_convolution(torch: ModuleType) -> None:
    x, weight, bias = (torch.tensor(draw(*shape)) for shape in [(2, 11, 5), (5, 4), (5,)])
    wanted = torch.nn.functional.conv1d(x.mT, weight[:, None], bias, padding=3, groups=5)
    output, _ = short_convolution(x, weight, bias=bias)
    torch.testing.assert_close(output, wanted[..., :11].mT)


def test_a_sequence_may_be_split_anywhere() -> None:
    for width in [1, 2, 4, 13]:
        x, weight = draw(2, 11, CHANNELS), draw(CHANNELS, width)
        whole, last = short_convolution(x, weight)
        for cut in range(12):
            first, state = short_convolution(x[:, :cut, :], weight)
            second, after = short_convolution(x[:, cut:, :], weight, state=state)
            assert_matches(np.concat([first, second], axis=1), whole)
            assert_matches(after, last)


def test_half_precision_is_added_in_float32(torch: ModuleType) -> None:
    x = torch.cat([torch.full((1, 1), 1.0), torch.full((4, 1), 2.0**-8)]).bfloat16()
    weight = torch.ones(1, 5).bfloat16()
    output, state = short_convolution(x, weight)
    assert (output.dtype, state.dtype) == (torch.bfloat16, torch.bfloat16)
    assert output[-1, 0] == 1 + 2.0**-6  # bfloat16 alone would add 2^-8 to 1 in vain


def test_gradients_are_those_of_differences(torch: ModuleType) -> None:
    shapes = [(2, 5, CHANNELS), (CHANNELS, 4), (CHANNELS,), (2, 3, CHANNELS)]
    arrays = [torch.tensor(draw(*shape), requires_grad=True) for shape in shapes]

    def call(x: Any, weight: Any, bias: Any, state: Any) -> Any:
        return short_convolution(x, weight, bias=bias, state=state)

    assert torch.autograd.gradcheck(call, arrays)


def test_a_state_of_another_width_is_refused() -> None:
    x, weight = draw(5, CHANNELS), draw(CHANNELS, 4)
    message = r"^state: got 4 inputs in shape \(4, 3\), wanted 3, one fewer than the 4 weights"
    with pytest.raises(ValueError, match=message):
        short_convolution(x, weight, state=draw(4, CHANNELS))
