"""The mistakes that a language model is given are those of "From scratch" and of the museum."""

import pytest
import torch
from torch import Tensor

from bookkit import inside
from bookkit.exercises import silent
from bookkit.museum import EXHIBITS
from companion.layers import MultiHeadAttention
from companion.masks import causal_mask
from companion.positions import rotary_frequencies, rotate

DRAW = torch.Generator().manual_seed(5)


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=DRAW, dtype=torch.float64)


@pytest.mark.parametrize("name", ["", *silent.MISTAKES])
def test_a_layer_with_it_is_the_lessons_layer(name: str) -> None:
    """In a layer that joins heads correctly, even where the mistake is in the joining."""
    attention = inside.MISTAKES[name].attention if name else inside.right
    layer = MultiHeadAttention(
        6, 3, attention_fn=lambda q, k, v, mask=None, **_: attention(q, k, v, mask)
    ).double()
    x = normal(7, 6)
    weights = {one: getattr(layer, f"{one}_proj").weight.detach().T
               for one in ("query", "key", "value", "output")}  # fmt: skip
    wanted, _ = silent.layer_with(name, x, weights, 3)
    with torch.no_grad():
        torch.testing.assert_close(layer(x[None], is_causal=True)[0], wanted)


def test_the_others_are_the_exhibits() -> None:
    query, key, value = normal(1, 6, 1, 8), normal(1, 3, 5, 8), normal(1, 3, 5, 8)
    keys, values = (heads.repeat_interleave(2, 1) for heads in (key, value))
    whole, wide = normal(1, 6, 5, 8), {"key": keys, "value": values}
    frequencies = rotary_frequencies(8, base=inside.BASE)

    def loaded(heads: Tensor, at: Tensor) -> Tensor:
        return rotate(heads, at, frequencies=frequencies, interleaved=True)

    def turned(heads: Tensor, at: Tensor) -> Tensor:
        return rotate(heads, at, frequencies=frequencies)

    x = normal(1, 5, 8)
    mask = causal_mask(5, like=x)
    last, every = torch.tensor([4]), torch.arange(5)
    wanted = {
        "scale of the model": EXHIBITS["the wrong width"].broken(query, keys, values),
        "key heads tiled": EXHIBITS["tile or repeat"].broken(query, key, value),
        "capped after the mask": EXHIBITS["the late cap"].broken(whole, **wide, cap=inside.CAP),
        "one more below": EXHIBITS["off by one"].broken(query, keys, values, torch.zeros(6)),
        "neighbours rotated": inside.right(
            loaded(query, last), loaded(key, every), value, every >= 0
        ),
        "-1e9 for infinity": EXHIBITS["the average of all"].broken(x, mask),
    }
    given = {
        "capped after the mask": (whole, key, value),
        "neighbours rotated": (turned(query, last), turned(key, every), value),
        "-1e9 for infinity": (x[:, None], x[:, None], x[:, None]),
    }
    assert set(wanted) == {name for name, one in inside.MISTAKES.items() if one.exhibit}
    assert all(one.exhibit in EXHIBITS for one in inside.MISTAKES.values() if one.exhibit)
    for name, right in wanted.items():
        heads = given.get(name, (query, key, value))
        mask = causal_mask(heads[0].shape[2], 5, offset=5 - heads[0].shape[2], like=query)
        found = inside.MISTAKES[name].attention(*heads, mask)
        torch.testing.assert_close(found.reshape(right.shape), right, msg=name)


def test_each_text_of_a_batch_has_its_own() -> None:
    attentions: list[inside.Attention] = [inside.right, inside.MISTAKES["no scale"].attention]
    heads = normal(2, 6, 4, 8), normal(2, 3, 4, 8), normal(2, 3, 4, 8)
    mask = causal_mask(4, like=heads[0])
    both = inside.side_by_side(attentions)(*heads, mask)
    for row, attention in enumerate(attentions):
        torch.testing.assert_close(both[row], attention(*(one[[row]] for one in heads), mask)[0])
