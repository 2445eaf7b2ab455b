"""Other weights: they sum to one, stay within the mask, and are what their names say."""

import pytest
import torch
from torch import Generator

from companion.interpret import erased, other_places, permuted_weights, top_places, uniform_weights

LENGTHS = torch.tensor([7, 1, 5, 2])
MASK = torch.arange(7) < LENGTHS[:, None]
WEIGHTS = torch.rand(3, 4, 7, generator=Generator().manual_seed(1), dtype=torch.float64) * MASK
WEIGHTS = WEIGHTS / WEIGHTS.sum(-1, keepdim=True)


def test_erased_weights_against_loops() -> None:
    places = top_places(WEIGHTS)
    found = erased(WEIGHTS, places)
    for i in range(3):
        for b in range(4):
            row = WEIGHTS[i, b].tolist()
            assert row[places[i, b]] == max(row)
            row[int(places[i, b])] = 0.0
            left = sum(row)
            wanted = [w / left if left else 0.0 for w in row]
            assert found[i, b].tolist() == pytest.approx(wanted, abs=1e-12)
    assert found[:, 1].abs().sum() == 0  # a sentence of one word has nothing left


def test_other_places_are_words_without_the_largest_weight() -> None:
    generator, seen = Generator().manual_seed(2), set()
    for _ in range(100):
        places = other_places(WEIGHTS, MASK, generator=generator)
        assert (places < LENGTHS).all()
        hits = places == top_places(WEIGHTS)
        assert torch.equal(hits, (LENGTHS == 1).expand_as(hits))
        seen.add(int(places[0, 0]))
    assert seen == set(range(7)) - {int(top_places(WEIGHTS)[0, 0])}


def test_permuted_weights_are_the_same_weights() -> None:
    generator = Generator().manual_seed(3)
    found = permuted_weights(WEIGHTS, MASK, generator=generator)
    assert torch.equal(found.sort(-1).values, WEIGHTS.sort(-1).values)
    assert found.masked_select(~MASK).abs().sum() == 0
    assert not torch.equal(found[:, 0], WEIGHTS[:, 0])
    assert torch.equal(found[:, 1], WEIGHTS[:, 1])


def test_every_order_is_as_likely() -> None:
    rows = torch.tensor([0.6, 0.3, 0.1, 0.0]).expand(6000, 4)
    mask = torch.tensor([True, True, False, True])
    found = permuted_weights(rows, mask, generator=Generator().manual_seed(4))
    assert (found[:, 2] == rows[:, 2]).all()
    orders, counts = torch.unique(found, dim=0, return_counts=True)
    assert len(orders) == 6
    assert (counts - 1000).abs().max() < 150


def test_uniform_weights_are_shared_among_the_words() -> None:
    found = uniform_weights(MASK, dtype=torch.float64)
    torch.testing.assert_close(found, MASK / LENGTHS[:, None].double())
    assert uniform_weights(torch.zeros(2, 3, dtype=torch.bool)).sum() == 0


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match=r"wanted \(3, 4\)"):
        erased(WEIGHTS, LENGTHS[:3])
    with pytest.raises(TypeError, match="mask: got dtype"):
        permuted_weights(WEIGHTS, LENGTHS)
