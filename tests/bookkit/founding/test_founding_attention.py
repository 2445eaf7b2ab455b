"""The notebook's layer is wrong where the page says so, and the repaired one is the package's."""

import pytest
import torch
from torch.testing import assert_close

from bookkit.founding import FoundingAttention, RepairedAttention
from companion import additive_score, attend, masked_softmax, padding_mask

B, Q, K, D = 2, 5, 7, 3


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def weights_by_the_package(
    layer: FoundingAttention, letters: torch.Tensor, steps: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    scores = additive_score(steps, letters, layer.U_a, layer.W_a, layer.V_a[:, 0])
    return masked_softmax(scores, mask)


def test_the_repaired_layer_computes_what_the_package_computes() -> None:
    layer = RepairedAttention(D)
    letters, steps = torch.randn(B, K, D), torch.randn(B, Q, D)
    right = weights_by_the_package(layer, letters, steps, None)
    context, weights = layer(letters, steps)
    assert_close(weights[..., 0], right)
    assert_close(context, attend(right, letters))


def test_the_repaired_weights_leave_padding_out() -> None:
    layer, lengths = RepairedAttention(D), torch.tensor([K, 2])
    letters, steps = torch.randn(B, K, D), torch.randn(B, Q, D)
    mask = padding_mask(lengths, K)
    right = weights_by_the_package(layer, letters, steps, mask)
    weights = layer.weigh_letters(layer.score(letters, steps), mask[:, 0])
    assert_close(weights[..., 0], right)
    assert (weights[1, :, 2:] == 0).all()


def test_the_notebooks_layer_stops_where_lengths_differ() -> None:
    with pytest.raises(RuntimeError, match="must match"):
        FoundingAttention(D)(torch.randn(B, K, D), torch.randn(B, Q, D))


def test_the_notebooks_layer_is_right_for_one_step() -> None:
    layer = FoundingAttention(D)
    letters, step = torch.randn(B, K, D), torch.randn(B, 1, D)
    right = weights_by_the_package(layer, letters, step, None)
    context, _ = layer(letters, step)
    assert_close(context[:, None], attend(right, letters))


def test_the_notebooks_layer_scores_the_diagonal_where_lengths_are_equal() -> None:
    layer = FoundingAttention(D)
    letters, steps = torch.randn(B, K, D), torch.randn(B, K, D)
    silent = layer.score(letters, steps) @ layer.V_a[:, 0]
    scores = additive_score(steps, letters, layer.U_a, layer.W_a, layer.V_a[:, 0])
    assert_close(silent, scores.diagonal(dim1=1, dim2=2))
