"""Layers of transformers with random weights, which the layers of the atlas are held against."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from companion.models.atlas.kept import bytes_kept

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
