"""What the study of real texts does to attention is what other code does."""

import math

import torch
from torch import nn

from companion import window_attention
from companion.cache import EightBitCache
from experiments.real_text.study import EIGHT, OWN, near, rounded_to, squared_in_float16

DRAW = torch.Generator().manual_seed(3)


def test_eight_bits_are_those_of_the_cache() -> None:
    heads = torch.randn(2, 1, 3, 7, 5, generator=DRAW)
    heads[:, :, 1, 2] = 0
    stored = EightBitCache(1, 3, 7, 5).update(*heads)
    torch.testing.assert_close(rounded_to(EIGHT, heads, OWN), torch.stack(stored))


def test_a_window_is_the_packages_and_keeps_the_first() -> None:
    query, key, value = (torch.randn(1, n, 11, 5, generator=DRAW) for n in (6, 3, 3))
    mask = torch.ones(11, 11, dtype=torch.bool).tril()
    wanted = window_attention(query, key, value, left=3, enable_gqa=True)
    torch.testing.assert_close(near(4, 0)(query, key, value, mask), wanted)
    key[:, :, 0], value[:, :, 0] = 0, 1e6  # a word whose value shows wherever it is seen
    with_first = near(4, 1)(query, key, value, mask)
    assert bool((with_first > 1e3).all())
    assert not bool((near(4, 0)(query, key, value, mask)[:, :, 4:] > 1e3).any())


def test_a_square_above_65504_makes_zeros() -> None:
    norm, x = nn.RMSNorm(4), torch.tensor([[300.0, 1.0, 1.0, 1.0], [3.0, 1.0, 1.0, 1.0]])
    found = squared_in_float16(norm, (x,), x)
    assert found[0].tolist() == [0.0] * 4
    torch.testing.assert_close(found[1], x[1] / math.sqrt(3), rtol=1e-3, atol=0)
