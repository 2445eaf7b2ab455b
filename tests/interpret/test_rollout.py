"""Rollout: against products of matrices, and against a graph of all positions of two stacks."""

import pytest
import torch
from torch import Generator, Tensor

from companion.interpret import attention_rollout, cross_rollout

GENERATOR = Generator().manual_seed(6)


def rows(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=GENERATOR, dtype=torch.float64).softmax(-1)


SELF = [rows(2, 5, 5) for _ in range(3)]
OWN = [rows(2, 4, 4) for _ in range(2)]
CROSS = [rows(2, 4, 5) for _ in range(2)]


def test_rollout_is_a_product_of_blocks_with_their_residuals() -> None:
    eye = torch.eye(5, dtype=torch.float64).expand(2, 5, 5)
    for residual in (0.0, 0.5, 1.0):
        first, second, third = (
            (1 - residual) * weights.numpy() + residual * eye.numpy() for weights in SELF
        )
        wanted = torch.tensor(third @ second @ first)
        torch.testing.assert_close(attention_rollout(SELF, residual=residual), wanted)
    torch.testing.assert_close(attention_rollout(SELF).sum(-1), torch.ones(2, 5).double())


def test_two_stacks_are_one_graph() -> None:
    """Source and target positions are nodes; a sub-layer updates the nodes of one stack."""
    eye = torch.eye(9, dtype=torch.float64)
    for batch in range(2):
        flow = eye
        for block in SELF:
            step = eye.clone()
            step[:5, :5] = 0.5 * eye[:5, :5] + 0.5 * block[batch]
            flow = step @ flow
        for own, looks in zip(OWN, CROSS, strict=True):
            step = eye.clone()
            step[5:, 5:] = 0.5 * eye[5:, 5:] + 0.5 * own[batch]
            flow = step @ flow
            step = eye.clone()
            step[5:, 5:] = 0.5 * eye[5:, 5:]
            step[5:, :5] = 0.5 * looks[batch]
            flow = step @ flow
        torch.testing.assert_close(cross_rollout(SELF, OWN, CROSS)[batch], flow[5:, :5])


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="cross: got 1 blocks, wanted 2"):
        cross_rollout(SELF, OWN, CROSS[:1])
    with pytest.raises(ValueError, match=r"cross\[0\]: got shape \(2, 4, 4\), wanted \(2, 4, 5"):
        cross_rollout(SELF, OWN, OWN)
