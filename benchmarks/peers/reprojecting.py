"""The translator with additive attention as it is often taught: keys projected at every step."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from companion.data.batching import Batch
from companion.models.seq2seq import Seq2Seq


class AdditiveAttention(nn.Module):
    """Score by v . tanh(W_q q + W_k k), after *Dive into Deep Learning* (Zhang et al., 2023)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.vector = nn.Linear(width, 1, bias=False)

    def forward(self, query: Tensor, memory: Tensor, lengths: Tensor) -> Tensor:
        """Blend the memory (b, k, h) for one query (b, 1, h)."""
        features = torch.tanh(self.query(query)[:, :, None] + self.key(memory)[:, None])
        scores = self.vector(features)[..., 0]
        beyond = torch.arange(memory.shape[1])[None, None] >= lengths[:, None, None]
        weights = torch.softmax(scores.masked_fill(beyond, -1e6), -1)
        return torch.bmm(weights, memory)


class ReprojectingTranslator(nn.Module):
    """The same translator as a `Seq2Seq` with additive attention and GRU cells, and its weights.

    The decoder hands the memory to attention at every step, which then projects all of it again.
    Its loop is the usual one: sentences are packed for the encoder, and autograd adds up what each
    step gives to the gradients.

    Args:
        twin: whose weights it copies.
    """

    def __init__(self, twin: Seq2Seq) -> None:
        super().__init__()
        config = twin.config
        e, h = config.embed_dim, config.hidden_dim
        self.source_embedding = nn.Embedding(config.source_vocab, e)
        self.target_embedding = nn.Embedding(config.target_vocab, e)
        self.encoder = nn.GRU(e, h // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.ModuleList([nn.Linear(h, h)])
        self.decoder = nn.GRU(e + h, h, batch_first=True)
        self.attention = AdditiveAttention(h)
        self.combine = nn.Linear(2 * h, h, bias=False)
        self.output = nn.Linear(h, config.target_vocab)
        self.load_state_dict(_renamed(twin.state_dict()))

    def loss(self, batch: Batch) -> Tensor:
        """Average the cross-entropy over the target tokens."""
        packed = pack_padded_sequence(
            self.source_embedding(batch.source),
            batch.source_lengths,
            batch_first=True,
            enforce_sorted=False,
        )
        outputs, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(
            outputs, batch_first=True, total_length=batch.source.shape[1]
        )
        state = torch.tanh(self.bridge[0](torch.cat((last[0], last[1]), -1)))[None]
        rows = []
        for word in self.target_embedding(batch.target_in).split(1, dim=1):
            context = self.attention(state[0][:, None], memory, batch.source_lengths)
            states, state = self.decoder(torch.cat((word, context), -1), state.contiguous())
            rows.append(torch.tanh(self.combine(torch.cat((context, states), -1))))
        logits = self.output(torch.cat(rows, 1))
        return nn.functional.cross_entropy(
            logits[batch.target_mask], batch.target_out[batch.target_mask]
        )


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Turn our matrices (in, out) into those of linear layers (out, in)."""
    turned = {
        "attention.query_weight": "attention.query.weight",
        "attention.key_weight": "attention.key.weight",
    }
    found = {name: tensor for name, tensor in state.items() if not name.startswith("attention.")}
    found |= {new: state[old].mT for old, new in turned.items()}
    return found | {"attention.vector.weight": state["attention.vector"][None]}
