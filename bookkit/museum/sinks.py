"""Sinks that never reach the softmax, or reach it on another scale."""

import math

import torch
from torch import Tensor

from bookkit.museum.exhibit import Exhibit, Variant, normal_numbers
from companion.conformance import check_sinks


def sinks_left_out(
    query: Tensor, key: Tensor, value: Tensor, sinks: Tensor
) -> Tensor:
    """Take sinks, a parameter of the layer, and hand over to a softmax that has none."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return torch.softmax(scores, -1) @ value


def sinks_joined(
    query: Tensor, key: Tensor, value: Tensor, sinks: Tensor
) -> Tensor:
    """Let the sink of each head take part in its rows as one more score, without a value."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    column = sinks[:, None, None].expand(*scores.shape[:-1], 1)
    weights = torch.softmax(torch.cat((scores, column), -1), -1)
    return weights[..., :-1] @ value


def added_unshifted(
    query: Tensor, key: Tensor, value: Tensor, sinks: Tensor
) -> Tensor:
    """Shift the scores by their largest, and add the term of the sink as it is."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    extra = torch.exp(sinks[:, None, None])
    return powers / (powers.sum(-1, keepdim=True) + extra) @ value


def added_shifted(
    query: Tensor, key: Tensor, value: Tensor, sinks: Tensor
) -> Tensor:
    """Shift the scores by their largest, and the term of the sink by the same."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    highest = scores.amax(-1, keepdim=True)
    powers = torch.exp(scores - highest)
    extra = torch.exp(sinks[:, None, None] - highest)
    return powers / (powers.sum(-1, keepdim=True) + extra) @ value


def check_rows(attend: Variant) -> None:
    """Check the sums of rows with sinks that are not zero, and without sinks."""

    def with_or_without(
        query: Tensor, key: Tensor, value: Tensor, *sinks: Tensor
    ) -> Tensor:
        nothing = torch.full(query.shape[1:2], -math.inf, dtype=query.dtype)
        output: Tensor = attend(query, key, value, *(sinks or (nothing,)))
        return output

    check_sinks(with_or_without, like=normal_numbers(1))


SINKS = (
    Exhibit(
        "the missing sink", "Sinks that nobody passes on, and a test that cannot see it",
        broken=sinks_left_out, sound=sinks_joined, check=check_rows, hint="never reach the softmax",
        threads=("NVIDIA/TransformerEngine #2541 #3551",),
    ),
    Exhibit(
        "off by one", "One more in the denominator, while the scores are shifted",
        broken=added_unshifted, sound=added_shifted, check=check_rows, hint="not from the sink",
        threads=("kyegomez/AttentionIsOFFByOne #5",),
    ),
)  # fmt: skip
