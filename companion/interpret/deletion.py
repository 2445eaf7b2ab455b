"""What a model says without a word."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from companion.interpret._checks import check_weights
from companion.interpret.divergence import total_variation


@torch.no_grad()
def leave_one_out(
    predict: Callable[[Tensor, Tensor], Tensor], tokens: Tensor, lengths: Tensor
) -> Tensor:
    """Delete one word at a time, and measure how far the output moves (Jain and Wallace, 2019).

    The sentence gets shorter by the word: later words move up, and a recurrent encoder reads them
    anew. So this asks about the input, not about the weights.

    Args:
        predict: from tokens (b, n, ...) and lengths (b,) to distributions (b, ..., c).
        tokens: (b, k, ...) integers, padded at the end.
        lengths: (b,) number of words, at least 2 each.

    Returns:
        (b, ..., k) total variation distance from the output for the whole sentence, one number a
        word; 0 at the padding.

    Raises:
        TypeError: `predict` gives no tensor of floating numbers.
        ValueError: no axis of words, not one length a sentence, or a sentence of one word.

    >>> def predict(tokens, lengths):  # the share of ones among the words
    ...     share = tokens.sum(-1) / lengths
    ...     return torch.stack((share, 1 - share), -1)
    >>> leave_one_out(predict, torch.tensor([[1, 0, 0]]), torch.tensor([3])).round(decimals=3)
    tensor([[0.3330, 0.1670, 0.1670]])
    """
    _check_sentences(tokens, lengths)
    whole = predict(tokens, lengths)
    check_weights(predict=whole)
    size = tokens.shape[1]
    places = torch.arange(size, device=tokens.device)
    effects = [
        total_variation(
            whole, predict(tokens[:, places != place], lengths - (lengths > place).to(lengths))
        ).masked_fill((lengths <= place).view(-1, *[1] * (whole.ndim - 2)), 0.0)
        for place in range(size)
    ]
    return torch.stack(effects, -1)


def _check_sentences(tokens: Tensor, lengths: Tensor) -> None:
    if tokens.ndim < 2:
        raise ValueError(f"tokens: got shape {tuple(tokens.shape)}, wanted (b, k, ...)")
    if lengths.shape != tokens.shape[:1]:
        raise ValueError(
            f"lengths: got shape {tuple(lengths.shape)}, wanted ({len(tokens)},), one a sentence"
        )
    if len(lengths) and int(lengths.min()) < 2:
        raise ValueError(
            f"lengths: got one of {int(lengths.min())}, wanted at least 2: a sentence of one word "
            "has nothing left without it"
        )
