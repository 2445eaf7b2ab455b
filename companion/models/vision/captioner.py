"""A convolutional encoder, attention over its map, and a decoder that writes a caption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.layers import AdditiveAttention
from companion.models._checks import check_rows, check_targets
from companion.models.losses import mean_cross_entropy
from companion.positions import sinusoidal_encoding

if TYPE_CHECKING:
    from companion.data.images import CaptionBatch

Attention = Literal["soft", "hard", "uniform"]
Query = Literal["previous", "present"]
Choose = Callable[[int, Tensor], Tensor]
"""Takes the position in the caption and the (b, k) weights there; gives the (b,) cells to take, -1
for all cells by their weights."""

COLOURS = 3
"""Channels of a picture."""

STRIDE = 4
"""Pixels between the centres of neighbouring cells of the map."""


@contract(
    vocab_size=">= 1", image_size=">= 1", channels=">= 2 and even", embed_dim=">= 1",
    hidden_dim=">= 1",
)  # fmt: skip
@dataclass(frozen=True)
class CaptionerConfig:
    """Shape of a captioner.

    Attributes:
        vocab_size: number of ids.
        image_size: height and width of a picture, a multiple of 4; the map has a cell for every
            4 x 4 pixels.
        attention: "soft" blends the cells by their weights, "hard" takes one cell (Xu et al.,
            2015), "uniform" gives all cells the same weight at every word.
        query: which state attends to the map. "previous": the state that has not yet read the last
            word, and the context enters the recurrent cell with that word (Xu et al., 2015).
            "present": the state that has, and the context goes to the output alone (Lu et al.,
            2017).
        channels: width of an annotation, the vector of a cell; even.
        embed_dim: width of a word's embedding.
        hidden_dim: width of the decoder's state.
    """

    vocab_size: int
    image_size: int = 32
    attention: Attention = "soft"
    query: Query = "previous"
    channels: int = 48
    embed_dim: int = 32
    hidden_dim: int = 96

    @property
    def side(self) -> int:
        """Cells in a row and in a column of the map."""
        return self.image_size // STRIDE

    def __post_init__(self) -> None:
        if self.image_size % STRIDE:
            raise ValueError(
                f"image_size: got {self.image_size}, wanted a multiple of {STRIDE}"
            )


class Seen(NamedTuple):
    """A picture as the decoder sees it.

    Attributes:
        memory: (b, k, channels) annotations, one a cell of the map, row by row.
        keys: (b, k, channels) what attention compares with, projected once a picture.
    """

    memory: Tensor
    keys: Tensor


class CaptionState(NamedTuple):
    """What `Captioner.step` carries from word to word: the picture and (b, hidden_dim)."""

    seen: Seen
    hidden: Tensor


class CaptionStep(NamedTuple):
    """One step: (b, vocab_size) logits, the next state, and (b, k) weights."""

    logits: Tensor
    state: CaptionState
    weights: Tensor


class CaptionOutput(NamedTuple):
    """Scores of a whole caption, and where its words attended.

    Attributes:
        logits: (b, q, vocab_size).
        weights: (b, q, k) attention over the map.
        cells: (b, q) cells that were taken, -1 where all were blended.
    """

    logits: Tensor
    weights: Tensor
    cells: Tensor


class Captioner(nn.Module):
    """Describe a picture word by word, attending to its map before each (Xu et al., 2015).

    Three convolutions make a map. The annotation of a cell is what they compute there, plus the
    encoding of its row and column, which is sinusoidal at first and learned further. A state
    attends to the annotations, and the next word is scored from the last one, the state and the
    context.

    In training, hard attention draws the cell of every word; see `Reinforce`. Otherwise it takes
    the cell with the largest weight.

    Args:
        config: the model's shape.

    >>> model = Captioner(CaptionerConfig(vocab_size=11, image_size=12)).eval()
    >>> state = model.start(torch.zeros(2, 3, 12, 12))
    >>> model.step(torch.tensor([1, 1]), state).weights.shape
    torch.Size([2, 9])
    """

    def __init__(self, config: CaptionerConfig) -> None:
        super().__init__()
        self.config = config
        self.image_size, self.colours = config.image_size, COLOURS
        c, h = config.channels, config.hidden_dim
        self.encoder = nn.Sequential(
            *_convolution(COLOURS, c // 2, stride=2),
            *_convolution(c // 2, c // 2, stride=1),
            *_convolution(c // 2, c, stride=2),
        )
        self.places = nn.Parameter(_grid(config.side, c))
        self.bridge = nn.Linear(c, h)
        self.attention = AdditiveAttention(h, c, c)
        self.embedding = nn.Embedding(config.vocab_size, config.embed_dim)
        read = config.embed_dim + (c if config.query == "previous" else 0)
        self.cell = nn.GRUCell(read, h)
        self.from_state = nn.Linear(h, config.embed_dim)
        self.from_context = nn.Linear(c, config.embed_dim, bias=False)
        self.output = nn.Linear(config.embed_dim, config.vocab_size)

    @contract(matching="places", images="b colours image_size image_size")
    def see(self, images: Tensor) -> Seen:
        """Compute the map of pictures, for all words together.

        Args:
            images: from 0 to 1.
        """
        maps: Tensor = self.encoder(4 * images - 2)
        memory = maps.flatten(2).mT + self.places
        return Seen(memory, self.attention.project(memory))

    @contract(matching="places", images="b colours image_size image_size")
    def start(self, images: Tensor) -> CaptionState:
        """Look at pictures as a whole, and return the state before the first word.

        Args:
            images: from 0 to 1.
        """
        seen = self.see(images)
        return CaptionState(seen, torch.tanh(self.bridge(seen.memory.mean(1))))

    @contract(tokens="ids: b")
    def step(self, tokens: Tensor, state: CaptionState) -> CaptionStep:
        """Look, read one word a picture, and score the next.

        Args:
            tokens: ids of the last words.
            state: from `start` or from the step before.
        """
        check_rows("tokens", tokens, state.hidden)
        words = self.embedding(tokens)[:, None]
        (logits, weights, _), hidden = self._unroll(words, state, None)
        after = CaptionState(state.seen, hidden)
        return CaptionStep(logits[:, 0], after, weights[:, 0])

    @contract(
        matching="places",
        images="b colours image_size image_size",
        tokens="ids: b q",
        q="> 0",
    )
    def forward(
        self, images: Tensor, tokens: Tensor, *, choose: Choose | None = None
    ) -> CaptionOutput:
        """Score every word of captions from the pictures and the right words before it.

        Args:
            images: from 0 to 1.
            tokens: ids, `<bos>` and the words.
            choose: says which cells are taken; None lets the kind of attention do so.
        """
        words, state = self.embedding(tokens), self.start(images)
        return self._unroll(words, state, choose)[0]

    if TYPE_CHECKING:
        __call__ = forward

    @contract()
    def loss(self, batch: CaptionBatch) -> Tensor:
        """Average the cross-entropy over the words, in nats a word; padding is left out.

        Args:
            batch: pictures and captions, with at least one word.
        """
        check_targets(batch)
        logits = self(batch.images, batch.target_in).logits
        return mean_cross_entropy(
            logits[batch.target_mask], batch.target_out[batch.target_mask]
        )

    def _unroll(
        self, words: Tensor, state: CaptionState, choose: Choose | None
    ) -> tuple[CaptionOutput, Tensor]:
        """Go through embedded words (b, q, e); return the scores, and the last state."""
        seen, hidden = state
        states, looks = [], []
        for position, word in enumerate(words.unbind(1)):
            if self.config.query == "previous":
                look = self._look(hidden[:, None], seen, position, choose)
                looks.append(look)
                word = torch.cat((word, look[0][:, 0]), -1)
            hidden = self.cell(word, hidden)
            states.append(hidden)
        queries = torch.stack(states, 1)
        if self.config.query == "present":
            looks = [self._look(queries, seen, 0, choose)]
        parts = zip(*looks, strict=True)
        context, weights, cells = (torch.cat(part, 1) for part in parts)
        logits = self._scores(words, queries, context)
        return CaptionOutput(logits, weights, cells), hidden

    def _look(
        self, queries: Tensor, seen: Seen, first: int, choose: Choose | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attend to the map with the (b, q, h) queries of the positions from `first` on.

        Returns:
            (b, q, channels) contexts, (b, q, k) weights, and (b, q) cells.
        """
        memory, keys = seen
        if self.config.attention == "uniform":
            shape = (*queries.shape[:2], memory.shape[1])
            weights = memory.new_full(shape, 1 / memory.shape[1])
        else:
            weights = torch.softmax(self.attention.score(queries, keys), -1)
        if choose is not None:
            rows = enumerate(weights.unbind(1), start=first)
            cells = torch.stack([choose(place, row) for place, row in rows], 1)
        elif self.config.attention == "hard":
            cells = weights.argmax(-1)
        else:
            none = weights.new_full(weights.shape[:2], -1).long()
            return weights @ memory, weights, none
        places = torch.arange(memory.shape[1], device=cells.device)
        taken = (places == cells[..., None]).to(weights.dtype)
        shares = torch.where(cells[..., None] < 0, weights, taken)
        return shares @ memory, weights, cells

    def _scores(
        self, words: Tensor, states: Tensor, context: Tensor
    ) -> Tensor:
        """Score the next words from the words before, the states and the contexts."""
        joined = words + self.from_state(states) + self.from_context(context)
        logits: Tensor = self.output(torch.tanh(joined))
        return logits


def _grid(side: int, width: int) -> Tensor:
    """Encode the row of every cell in one half of the features, and its column in the other."""
    like = torch.empty(0)
    along = sinusoidal_encoding(side, width // 2, base=100.0, like=like)
    rows, columns = along.repeat_interleave(side, 0), along.repeat(side, 1)
    return torch.cat((rows, columns), 1)


def _convolution(
    before: int, after: int, stride: int
) -> tuple[nn.Module, ...]:
    """Return a rectified convolution of 3 x 3 pixels, drawn as He et al. (2015) do."""
    convolution = nn.Conv2d(before, after, 3, stride=stride, padding=1)
    nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
    nn.init.zeros_(cast(Tensor, convolution.bias))
    return convolution, nn.ReLU()
