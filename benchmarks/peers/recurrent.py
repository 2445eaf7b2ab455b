"""Recurrent translators as they are often taught: the decoder goes word by word in a plain loop."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from companion.data.batching import Batch
from companion.models.seq2seq import Seq2Seq


class Score(nn.Module):
    """Score by v . tanh(W_q q + W_k k), after *Dive into Deep Learning* (Zhang et al., 2023).

    Others are q . k, "dot", and q . W k, "general" (Luong et al., 2015).
    """

    def __init__(self, kind: str, width: int) -> None:
        super().__init__()
        self.is_additive = kind == "additive"
        self.project = nn.Identity() if kind == "dot" else nn.Linear(width, width, bias=False)
        if self.is_additive:
            self.query = nn.Linear(width, width, bias=False)
            self.vector = nn.Linear(width, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score projected keys (b, k, h) for one query (b, 1, h)."""
        if not self.is_additive:
            return torch.bmm(query, keys.mT)
        features = torch.tanh(self.query(query)[:, :, None] + keys[:, None])
        scores: Tensor = self.vector(features)[..., 0]
        return scores


class PlainTranslator(nn.Module):
    """The same translator as a `Seq2Seq` with GRU cells, with its weights.

    Its loop is the usual one: sentences are packed for the encoder, the decoder attends at every
    word, and autograd adds up what each step gives to the gradients. Keys are projected again at
    every word, or once before the loop.
    """

    def __init__(self, twin: Seq2Seq, *, projects_at_every_step: bool) -> None:
        super().__init__()
        config = twin.config
        e, h = config.embed_dim, config.hidden_dim
        self.projects_at_every_step = projects_at_every_step
        self.feeds_context = config.feeds_context
        self.source_embedding = nn.Embedding(config.source_vocab, e)
        self.target_embedding = nn.Embedding(config.target_vocab, e)
        self.encoder = nn.GRU(e, h // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.ModuleList([nn.Linear(h, h)])
        self.decoder = nn.GRU(e + h if self.feeds_context else e, h, batch_first=True)
        self.score = Score(config.attention, h)
        self.combine = nn.Linear(2 * h, h, bias=False)
        self.output = nn.Linear(h, config.target_vocab)
        self.load_state_dict(_renamed(twin.state_dict()))

    def loss(self, batch: Batch) -> Tensor:
        """Average the cross-entropy over the target tokens."""
        memory, state = self._encoded(batch)
        attend = self._attention(memory, batch.source_lengths)
        rows = []
        for word in self.target_embedding(batch.target_in).split(1, dim=1):
            if self.feeds_context:  # Bahdanau: the state before this word attends
                context = attend(state[0][:, None])
                hidden, state = self.decoder(torch.cat((word, context), -1), state)
            else:  # Luong: the state after it
                hidden, state = self.decoder(word, state)
                context = attend(hidden)
            rows.append(torch.tanh(self.combine(torch.cat((context, hidden), -1))))
        logits = self.output(torch.cat(rows, 1))
        return nn.functional.cross_entropy(
            logits[batch.target_mask], batch.target_out[batch.target_mask]
        )

    def _encoded(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the memory (b, k, h) and the decoder's first state (1, b, h)."""
        words, lengths = self.source_embedding(batch.source), batch.source_lengths
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        outputs, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(outputs, batch_first=True, total_length=words.shape[1])
        return memory, torch.tanh(self.bridge[0](torch.cat((last[0], last[1]), -1)))[None]

    def _attention(self, memory: Tensor, lengths: Tensor) -> Callable[[Tensor], Tensor]:
        """Return what blends the memory for one query (b, 1, h)."""
        padding = torch.arange(memory.shape[1])[None, None] >= lengths[:, None, None]
        projected = None if self.projects_at_every_step else self.score.project(memory)

        def attend(query: Tensor) -> Tensor:
            keys = self.score.project(memory) if projected is None else projected
            scores = self.score(query, keys).masked_fill(padding, -1e6)
            return torch.bmm(torch.softmax(scores, -1), memory)

        return attend


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give our weights the names of this module's; linear layers want (out, in) matrices."""
    renamed = {name: tensor for name, tensor in state.items() if not name.startswith("attention.")}
    if "attention.vector" in state:
        renamed["score.query.weight"] = state["attention.query_weight"].mT
        renamed["score.project.weight"] = state["attention.key_weight"].mT
        renamed["score.vector.weight"] = state["attention.vector"][None]
    elif "attention.weight" in state:
        renamed["score.project.weight"] = state["attention.weight"]
    return renamed
