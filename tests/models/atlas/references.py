"""Layers of transformers with random weights, which the layers of the atlas are held against."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from companion.models.atlas.kept import Kept, bytes_kept

torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")

Read = Callable[[Any, Any], Any]
"""How a reference reads tokens and keeps what they leave in its cache: read(x, cache)."""


def randomised(layer: Any, seed: int = 0) -> Any:
    """Give every parameter of a layer random numbers: those of norms about 1, rates above 0."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in layer.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith("A_log"):
                weight.copy_(noise.exp().clamp(0.05, 8).log())
            elif weight.ndim == 1:
                weight.copy_(1 + noise / 3)
            else:
                weight.copy_(noise / weight[0].numel() ** 0.5)
    return layer.float().eval()


def dynamic_cache(config: Any) -> Any:
    return transformers.DynamicCache(config=config)


def count_bytes(cache: Any) -> int:
    """Count the bytes of all tensors that an object holds, once each."""
    return sum(tensor.numel() * tensor.element_size() for tensor in _tensors(cache, set()))


def _tensors(held: Any, seen: set[int]) -> Iterator[Any]:
    if id(held) in seen:
        return
    seen.add(id(held))
    if isinstance(held, torch.Tensor):
        yield held
    elif isinstance(held, dict):
        for part in held.values():
            yield from _tensors(part, seen)
    elif isinstance(held, (list, tuple)):
        for part in held:
            yield from _tensors(part, seen)
    elif type(held).__module__.startswith("transformers.") and hasattr(held, "__dict__"):
        yield from _tensors(vars(held), seen)


def tokens(length: int, width: int, batch: int = 2) -> Any:
    generator = torch.Generator().manual_seed(length)
    return torch.randn(batch, length, width, generator=generator)


def quiet(config_class: Any, **options: Any) -> Any:
    """Make a configuration without its remarks about what it lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return config_class(**options)


def difference(one: Any, other: Any) -> float:
    return float((one - other).detach().abs().max())


def check_pieces(layer: Any, x: Any) -> None:
    """Assert that a text in two pieces, and token by token, gives the outputs of the whole."""
    layer, x = layer.double(), x.double()
    whole, last = layer(x)
    for cut in range(x.shape[1] + 1):
        first, state = layer(x[:, :cut])
        second, after = layer(x[:, cut:], state)
        torch.testing.assert_close(torch.cat([first, second], 1), whole)
        for one, other in zip(after, last, strict=True):
            torch.testing.assert_close(one, other)
    state, steps = None, []
    for t in range(x.shape[1]):
        output, state = layer(x[:, t : t + 1], state)
        steps.append(output)
    torch.testing.assert_close(torch.cat(steps, 1), whole)


def check_pieces_beyond_a_chunk(layer: Any, x: Any) -> None:
    """Assert the same of 131 tokens in two pieces, cut beside the ends of chunks of 64."""
    layer, x = layer.double(), x.double()
    whole, last = layer(x)
    for cut in (1, 63, 64, 65, 130):
        first, state = layer(x[:, :cut])
        second, after = layer(x[:, cut:], state)
        torch.testing.assert_close(torch.cat([first, second], 1), whole)
        torch.testing.assert_close(after.memory, last.memory)


def check_cache(
    read: Read, cache: Any, layer: Any, x: Any, same: Callable[[Any, Any], None], *,
    steps_alike: bool = True,
) -> None:  # fmt: skip
    """Assert that a layer keeps what the cache of its reference holds, and as many bytes.

    Args:
        read: how the reference reads.
        cache: of the reference, empty.
        layer: ours, with the weights of the reference.
        x: tokens, of which the last one is a step after the others.
        same: asserts that a state of ours and the cache hold the same.
        steps_alike: whether the reference gives a token alone what it gives it in a text.
    """
    length = x.shape[1] - 1
    with torch.no_grad():
        read(x[:, :length], cache)
        _, state = layer(x[:, :length])
        same(state, cache)
        assert count_bytes(cache) == _bytes(layer, length)
        step = read(x[:, length:], cache)
        if steps_alike:
            assert difference(layer(x[:, length:], state)[0], step) < 1e-5
    assert count_bytes(cache) == _bytes(layer, length + 1)


def _bytes(layer: Any, length: int) -> int:
    return bytes_kept(layer.spec.keeps(), length, batch_size=2, itemsize=4)


def check_bytes_in_half_precision(
    read: Read, cache: Any, keeps: tuple[Kept, ...], width: int
) -> None:
    """Assert that a cache in bfloat16 has the bytes of our formula, and that no text has none."""
    read(tokens(5, width).bfloat16(), cache)
    assert count_bytes(cache) == bytes_kept(keeps, 5, batch_size=2, itemsize=2)
    assert bytes_kept(keeps, 0) == 0


def check_wrong_calls(layer: Any, width: int) -> None:
    """Assert that tokens of another width, and the state of another batch, are refused."""
    with pytest.raises(ValueError, match=r"^x: got embed_dim = 11"):
        layer(tokens(5, 11))
    _, state = layer(tokens(5, width))
    with pytest.raises(ValueError, match=r"^state: got one of b = 2, wanted 3 as in x"):
        layer(tokens(5, width, batch=3), state)


def check_code_on_show(layer_class: Any) -> None:
    """Assert that the arithmetic of a layer fits a screen."""
    source = inspect.getsource(inspect.unwrap(layer_class.forward))
    assert len(source.rpartition('"""')[2].strip().splitlines()) <= 25


def check_forgetting(layer: Any, x: Any) -> None:
    """Assert that outputs and gradients are finite where nothing of the state is left."""
    torch.nn.init.constant_(layer.decay_rate, 9.0)
    torch.nn.init.constant_(layer.decay_bias, 99.0)
    output, _ = layer(x)
    output.sum().backward()
    assert output.isfinite().all()
    assert all(weight.grad.isfinite().all() for weight in layer.parameters())


def check_causal(layer: Any, x: Any) -> None:
    """Assert that another future leaves the past as it was, and that the past is read."""
    changed = x.clone()
    changed[:, 5:] += 1
    one, other = layer(x)[0], layer(changed)[0]
    assert torch.equal(one[:, :5], other[:, :5])
    assert (one[:, 5:] != other[:, 5:]).any()
    changed = x.clone()
    changed[:, 0] += 1
    assert (layer(x)[0][:, 1] != layer(changed)[0][:, 1]).any()


def check_gradients(layer: Any, x: Any) -> None:
    """Assert that all weights and inputs get finite gradients that are not all 0."""
    x = x.clone().requires_grad_()
    output, state = layer(x)
    (output.square().sum() + sum(part.square().sum() for part in state)).backward()
    for name, tensor in [("x", x), *layer.named_parameters()]:
        assert tensor.grad.isfinite().all(), name
        assert tensor.grad.abs().max() > 0, name
