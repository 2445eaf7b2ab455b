"""Beam search: several sequences a sentence, compared by probability and length."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from companion.contracts import contract
from companion.decoding.sequences import (
    Decoded,
    Reorder,
    State,
    Step,
    first_tokens,
    log_softmax,
    take_step,
)


@contract(length=">= 0", length_penalty=">= 0")
def length_factor(length: int, length_penalty: float) -> float:
    """Return what the log-probability of a sequence is divided by (Wu et al., 2016).

    It is (5 + length)^penalty / (5 + 1)^penalty, equation 14 without its coverage.

    Args:
        length: tokens of the sequence, its end included.
        length_penalty: the exponent; 0 compares probabilities as they are, larger ones favour
            longer sequences.

    Raises:
        ValueError: a penalty that makes the factor overflow.

    >>> length_factor(1, 0.6), length_factor(7, 1.0), length_factor(7, 0.0)
    (1.0, 2.0, 1.0)
    """
    try:
        return float(((5 + length) / 6) ** length_penalty)
    except OverflowError:
        raise ValueError(
            f"length_penalty: got {length_penalty}, "
            f"wanted one that gives {length} tokens a finite factor"
        ) from None


class _Alive(NamedTuple):
    """Sequences that go on, k a sentence: what they are, and what the model gave each token."""

    tokens: Tensor  # (b, k, n)
    log_probs: Tensor  # (b, k, n)
    weights: Tensor | None  # (b, k, n, source)

    def chosen(self, beams: Tensor) -> _Alive:
        """Return the sequences (b, m) of every sentence."""
        weights = None if self.weights is None else _rows(self.weights, beams)
        return _Alive(
            _rows(self.tokens, beams), _rows(self.log_probs, beams), weights
        )

    def sequence(self, row: int, beam: int) -> _Alive:
        """Return one sequence, without the axes of sentence and beam."""
        weights = None if self.weights is None else self.weights[row, beam]
        return _Alive(
            self.tokens[row, beam], self.log_probs[row, beam], weights
        )

    def extended(
        self, tokens: Tensor, log_probs: Tensor, weights: Tensor | None
    ) -> _Alive:
        """Put a token (b, k) behind every sequence."""
        if weights is not None:
            weights = weights[:, :, None]
            if self.weights is not None:
                weights = torch.cat((self.weights, weights), 2)
        return _Alive(
            torch.cat((self.tokens, tokens[..., None]), 2),
            torch.cat((self.log_probs, log_probs[..., None]), 2),
            weights,
        )


class _Ended:
    """The best sequence of every sentence that has ended, and how many have."""

    def __init__(self, batch_size: int, device: torch.device) -> None:
        self.score = torch.full(
            (batch_size,), -math.inf, device=device, dtype=torch.float64
        )
        self.count = torch.zeros(batch_size, dtype=torch.int64, device=device)
        self.best: list[_Alive | None] = [None] * batch_size

    def add(self, sequences: _Alive, scores: Tensor) -> None:
        """Take (b, k) sequences that end here; those that do not have a score of -inf."""
        self.count += (scores > -math.inf).sum(-1)
        score, beam = scores.max(-1)
        for row in (score > self.score).nonzero()[:, 0].tolist():
            self.best[row] = sequences.sequence(row, int(beam[row]))
        self.score = torch.maximum(self.score, score)


@contract(
    batch_size=">= 1", max_len=">= 1", beam_size=">= 1", length_penalty=">= 0"
)
@torch.no_grad()
def beam(
    step: Step[State], state: State, *, reorder: Reorder[State], batch_size: int,
    bos_id: int | Tensor, eos_id: int, max_len: int, beam_size: int = 4,
    length_penalty: float = 0.6,
) -> Decoded:  # fmt: skip
    """Keep the k most probable beginnings of every sentence at every step, k = beam_size.

    A sequence whose end is among them has ended: it leaves the beam, which from then on keeps one
    less (Sutskever et al., 2014). A sentence is done when its beam is empty, or when none that
    goes on can beat the best that has ended; its result is the ended sequence with the largest
    log-probability divided by `length_factor`. A sentence in which none has ended by `max_len`
    gives the best of those that go on, marked as not finished. With one beam this is `greedy`.

    Args:
        step: as for `greedy`, with batch_size * beam_size rows, those of one sentence together.
        state: the state before the first step, in as many rows.
        reorder: takes a state and indices (rows,); gives the state in which row i goes on from row
            indices[i], which is of the same sentence.
        batch_size: number of sentences.
        bos_id: token that every sequence starts from, where the first tensor of the state is; or
            one for every row, which also say the device. It is not returned.
        eos_id: token that ends a sequence.
        max_len: most tokens a sequence may have, its end counted.
        beam_size: sequences a sentence.
        length_penalty: exponent of `length_factor`.

    Returns:
        The best sequence of every sentence.

    >>> def count_down(tokens, state):
    ...     return torch.eye(5)[tokens - 1], state, None
    >>> best = beam(
    ...     count_down, None, reorder=lambda state, indices: state,
    ...     batch_size=1, bos_id=4, eos_id=0, max_len=9, beam_size=2, length_penalty=2.0,
    ... )
    >>> best.sequences()
    [[3, 2, 1]]
    """
    # Log-probabilities only fall, and no factor is larger than that of the longest sequence.
    best_factor = length_factor(max_len, length_penalty)
    last = first_tokens(bos_id, batch_size * beam_size, state)
    device = last.device
    first_row = torch.arange(batch_size, device=device)[:, None] * beam_size
    empty = last.new_empty(batch_size, beam_size, 0)
    alive = _Alive(empty, empty.float(), None)
    # Sums of many steps: in float32 the small differences of a late one would be lost.
    scores = torch.full(
        (batch_size, beam_size), -math.inf, device=device, dtype=torch.float64
    )
    scores[:, 0] = 0.0  # all beams begin alike: only one may go on
    ended = _Ended(batch_size, device)

    for length in range(1, max_len + 1):
        logits, state, weights = take_step(step, last, state)
        log_probs = log_softmax(logits).to(device)
        log_probs = log_probs.reshape(batch_size, beam_size, -1)
        totals, flat = _candidates(scores, log_probs, beam_size - ended.count)
        # Chosen as `greedy` does: what a softmax rounds to equal stays unequal.
        if beam_size == 1:
            flat = logits.argmax(-1, keepdim=True).to(device)
        beams, tokens = flat // log_probs.shape[-1], flat % log_probs.shape[-1]
        if weights is not None:
            weights = _rows(weights.reshape(batch_size, beam_size, -1), beams)
        chosen = log_probs.flatten(1).gather(1, flat)
        continued = alive.chosen(beams).extended(tokens, chosen, weights)
        ends = tokens == eos_id
        factor = length_factor(length, length_penalty)
        ended.add(continued, (totals / factor).where(ends, -math.inf))

        scores, order = totals.masked_fill(ends, -math.inf).sort(
            dim=-1, descending=True
        )
        alive = continued.chosen(order)
        done = ended.score >= scores[:, 0] / best_factor
        if bool(done.all()):
            break
        scores = scores.masked_fill(done[:, None], -math.inf)
        last = alive.tokens[:, :, -1].flatten()
        state = reorder(state, (beams.gather(1, order) + first_row).flatten())
    return _collected(ended, alive, eos_id)


def _candidates(
    scores: Tensor, log_probs: Tensor, width: Tensor
) -> tuple[Tensor, Tensor]:
    """Return log-probability and index of the best continuations, (b, k), best first.

    An index is beam * vocabulary + token. Only as many as a sentence's width (b,) count: the
    others have a log-probability of -inf.
    """
    # No more than k of the best come from one beam: the sums of the others are not needed.
    k, vocabulary = scores.shape[1], log_probs.shape[-1]
    ahead, tokens = log_probs.topk(min(k, vocabulary), -1)
    best, index = (scores[..., None] + ahead).flatten(1).topk(k, -1)
    beams = index // tokens.shape[-1]
    flat = beams * vocabulary + tokens.flatten(1).gather(-1, index)
    rank = torch.arange(k, device=width.device)
    return best.where(rank < width[:, None], -math.inf), flat


def _rows(array: Tensor, beams: Tensor) -> Tensor:
    """Return of (b, k, ...) the beams (b, m) of every sentence, (b, m, ...)."""
    rows = torch.arange(len(array), device=array.device)[:, None]
    return array[rows, beams.to(array.device)]


def _collected(ended: _Ended, alive: _Alive, eos_id: int) -> Decoded:
    """Put the best sequence of every sentence into one batch, padded with ends."""
    best = [
        alive.sequence(row, 0) if one is None else one
        for row, one in enumerate(ended.best)
    ]
    finished = torch.tensor([one is not None for one in ended.best])
    tokens = _padded([sequence.tokens for sequence in best], eos_id)
    log_probs = _padded([sequence.log_probs for sequence in best], 0.0)
    weights = [
        sequence.weights for sequence in best if sequence.weights is not None
    ]
    return Decoded(
        tokens,
        (tokens != eos_id).sum(1),
        finished.to(tokens.device),
        _padded(weights, 0.0) if weights else None,
        log_probs,
    )


def _padded(sequences: list[Tensor], value: float) -> Tensor:
    """Stack (n, ...) sequences of unequal length."""
    return torch.nn.utils.rnn.pad_sequence(
        sequences, batch_first=True, padding_value=value
    )
