"""A made-up model for decoders: the next word depends on sentence, place and all words before."""

from typing import NamedTuple

import torch
from torch import Tensor

BOS, EOS, WORDS = 1, 0, 4


class ChainState(NamedTuple):
    place: int
    sentence: Tensor  # (rows,)
    history: Tensor  # (rows,) a number that every word so far has changed


class Chain:
    """A step over random tables. What it attends to is the word that it was given."""

    def __init__(self, seed: int, *, places: int = 9, sharpness: float = 1.0) -> None:
        generator = torch.Generator().manual_seed(seed)
        shape = (3, places, 5, WORDS)
        self.logits = sharpness * torch.randn(shape, generator=generator, dtype=torch.float64)
        self.steps = 0

    def start(self, sentences: list[int], beam_size: int = 1) -> ChainState:
        rows = torch.tensor(sentences).repeat_interleave(beam_size)
        return ChainState(0, rows, torch.zeros_like(rows))

    def step(self, tokens: Tensor, state: ChainState) -> tuple[Tensor, ChainState, Tensor]:
        self.steps += 1
        history = (2 * state.history + tokens) % 5
        logits = self.logits[state.sentence, state.place, history]
        after = ChainState(state.place + 1, state.sentence, history)
        return logits, after, torch.eye(WORDS)[tokens]

    def reorder(self, state: ChainState, indices: Tensor) -> ChainState:
        assert torch.equal(state.sentence[indices], state.sentence), "a row left its sentence"
        return state._replace(history=state.history[indices])

    def log_probs(self, sentence: int, tokens: list[int]) -> list[float]:
        """What the model gives every word of a sequence."""
        history, given = 0, []
        for place, (last, token) in enumerate(zip([BOS, *tokens], tokens, strict=False)):
            history = (2 * history + last) % 5
            row = self.logits[sentence, place, history].log_softmax(-1)
            given.append(float(row[token]))
        return given
