"""The study of heads: its task, what its arms share, and how heads are taken apart."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Generator

from companion.layers import MultiHeadAttention
from experiments.heads import study as heads

pytestmark = pytest.mark.slow

SMALL = heads.Task(places=5, classes=3, pointers=2, batch_size=6, test_size=20)


def test_the_answers_are_the_classes_that_the_pointers_lead_to() -> None:
    features, answers, pointers = SMALL.batch(Generator().manual_seed(5), 4)
    assert features.shape == (4, 5, SMALL.width) == (4, 5, 18)
    assert features.square().mean() == pytest.approx(1, rel=1e-5)
    names, classes, first, second = torch.split(features, [5, 3, 5, 5], dim=-1)
    assert torch.equal(names.argmax(-1), torch.arange(5).expand(4, 5))
    assert torch.equal(torch.stack([first, second], -1).argmax(2), pointers)
    for b, n, m in itertools.product(range(4), range(5), range(2)):
        assert answers[b, n, m] == classes[b, pointers[b, n, m]].argmax()


@pytest.mark.parametrize("head_dim", [None, 5])
def test_the_parts_of_the_heads_sum_to_the_layers_output(head_dim: int | None) -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(12, 3, head_dim=head_dim).double()
    x = torch.randn(2, 7, 12, dtype=torch.float64)
    parts, weights = heads.contributions(attention, x)
    assert parts.shape == (3, 2, 7, 12)
    assert torch.allclose(parts.sum(0), attention(x))
    d = attention.head_dim
    with torch.no_grad():
        attention.output_proj.weight[:, d : 2 * d] = 0
    assert torch.allclose(parts[0] + parts[2], attention(x))
    assert weights.shape == (2, 3, 7, 7)


def test_where_heads_look_is_averaged_over_places() -> None:
    weights = torch.rand(2, 3, 4, 4)
    pointers = torch.tensor([[[0, 1], [2, 2], [3, 0], [1, 2]], [[1, 1], [0, 3], [2, 0], [3, 3]]])
    found = heads.looked_at(weights, pointers)
    apart = [(0, 0), (0, 2), (0, 3), (1, 1), (1, 2)]  # where the two lead to different positions
    for h, m in itertools.product(range(3), range(2)):
        cells = [weights[b, h, q, pointers[b, q, m]] for b, q in apart]
        assert found[h, m] == pytest.approx(float(torch.stack(cells).mean()), rel=1e-5)


def test_removing_heads_is_measured_against_the_whole() -> None:
    """A head whose part is zero is spare; the rest then carries everything."""
    setting = heads.Setting(3, 2, learning_rate=0.02, steps=60)
    model, _ = heads.fit(setting, SMALL, seed=3)
    d = model.attention.head_dim
    with torch.no_grad():
        model.attention.output_proj.weight[:, d:] = 0
    found = heads.examined(model, setting, SMALL, seed=3)
    assert found["removed/least"] == found["removed/median"] == found["removed/half"] == 0
    assert found["removed/most"] > 5
    assert found["spare"] == pytest.approx(200 / 3)
    assert found["accuracy"] == pytest.approx((found["right/1"] + found["right/2"]) / 2)
    assert found["share/1"] >= found["share/2"]


def test_a_share_of_two_thirds_is_where_it_should_be() -> None:
    runs = {"two/1/share/1": [0.6, 0.45], "two/1/share/2": [0.3, 0.45]}
    assert heads.of_the_two(runs) == pytest.approx([2 / 3, 1 / 2])
    assert heads.off_two_thirds(runs) == pytest.approx([0, 1 / 6])
