"""Queries that may attend to nothing."""

import math

import torch
from torch import Tensor

from bookkit.museum.exhibit import Exhibit, Variant, two_inputs
from companion.attention import scaled_dot_product_attention
from companion.conformance import check_dead_row


def zero_by_zero(x: Tensor, mask: Tensor) -> Tensor:
    """Attend with forbidden scores at minus infinity, and nothing said of rows that are empty."""
    scores = x @ x.mT / math.sqrt(x.shape[-1])
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ x


def large_penalty(x: Tensor, mask: Tensor) -> Tensor:
    """Attend with forbidden scores at minus a billion."""
    scores = x @ x.mT / math.sqrt(x.shape[-1])
    return torch.softmax(scores.masked_fill(~mask, -1e9), -1) @ x


def nothing_for_nothing(x: Tensor, mask: Tensor) -> Tensor:
    """Attend to nothing where nothing is allowed."""
    return scaled_dot_product_attention(x, x, x, mask)


def check_empty_row(attend: Variant) -> None:
    """Check a query that may attend to nothing."""
    check_dead_row(attend, *two_inputs())


ROWS = (
    Exhibit(
        "zero by zero",
        "A row with nothing allowed is NaN, and one backward pass later all weights are",
        broken=zero_by_zero, sound=nothing_for_nothing, check=check_empty_row, hint="gives NaN",
        threads=("pytorch/pytorch #103963 #41508 #131060", "ml-explore/mlx #2395"),
    ),
    Exhibit(
        "the average of all", "A row with nothing allowed looks at everything",
        broken=large_penalty, sound=nothing_for_nothing, check=check_empty_row,
        hint="attends to everything", threads=("ml-explore/mlx #2395",),
    ),
)  # fmt: skip
