"""The adversary: it keeps its bound, gets far where nothing looks, and nowhere where all does."""

from typing import Any

import pytest
import torch
from torch import Generator, Tensor

from companion.interpret import adversarial_weights, jensen_shannon, total_variation

MASK = torch.arange(6) < torch.tensor([6, 4, 3])[:, None]
SCORES = 4 * torch.rand(3, 6, generator=Generator().manual_seed(1), dtype=torch.float64)
OWN = SCORES.masked_fill(~MASK, -torch.inf).softmax(-1)
VALUES = torch.rand(3, 6, 4, generator=Generator().manual_seed(2), dtype=torch.float64)


def blend(weights: Tensor) -> Tensor:
    return (4 * (weights[:, None] @ VALUES)[:, 0]).softmax(-1)


def search(read: Any, **options: Any) -> Tensor:
    options = {"steps": 40, "starts": 2, "generator": Generator().manual_seed(3), **options}
    return adversarial_weights(read, OWN, MASK, **options)


def test_found_weights_keep_the_bound_and_the_mask() -> None:
    for bound in (0.01, 0.1):
        found = search(blend, bound=bound)
        assert (total_variation(blend(found), blend(OWN)) <= bound).all()
        torch.testing.assert_close(found.sum(-1), torch.ones(3).double())
        assert found.masked_select(~MASK).abs().sum() == 0
        assert not found.requires_grad
    near, far = (jensen_shannon(search(blend, bound=bound), OWN).mean() for bound in (0.01, 0.1))
    assert 0 < near < far


def test_it_gets_far_where_nothing_looks_and_nowhere_where_all_does() -> None:
    found = search(lambda weights: torch.ones(3, 2) / 2 + 0 * weights[:, :2])
    assert (jensen_shannon(found, OWN) > 0.4).all()
    found = search(lambda weights: weights, bound=0.01)
    assert (total_variation(found, OWN) <= 0.01).all()


def test_a_wrong_reader_is_refused() -> None:
    with pytest.raises(TypeError, match="read: got list, wanted a tensor"):
        search(lambda weights: weights.tolist())
