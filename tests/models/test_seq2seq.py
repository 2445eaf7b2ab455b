"""The recurrent encoder-decoder: its equations, its options, and what it refuses."""

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, nn

from companion.decoding import greedy
from companion.layers import LuongAttention
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from tests.batches import SOURCES, TARGETS, make_batch

CONFIG = Seq2SeqConfig(source_vocab=17, target_vocab=19, embed_dim=5, hidden_dim=14, dropout_p=0.0)
SPECIAL: dict[str, dict[str, Any]] = {
    "local": {"attention": "general", "window": 2},
    "fed": {"attention": "dot", "query": "present", "input_feeding": True},
    "apart": {"attention": "additive", "query": "previous", "input_feeding": False},
}
"""Bilinear attention in a window of two to either side; Luong's input feeding; Bahdanau's order
without the context in the cell."""


def make_model(attention: Any, query: Any = None, cell: Any = "gru", **changes: Any) -> Seq2Seq:
    torch.manual_seed(5)
    given = {"attention": attention, "query": query, **SPECIAL.get(attention, {}), **changes}
    if attention == "local":
        given["query"] = query
    config = replace(CONFIG, cell=cell, **given)
    return Seq2Seq(config).double().eval()


def by_hand(
    model: Any, source: list[int], target_in: list[int], *, order: str, feeding: bool
) -> tuple[Tensor, Tensor]:
    """One sentence, written out with cells: logits and weights of an implementation of its own."""
    h = model.config.hidden_dim
    embedded = model.source_embedding.weight[torch.tensor(source)]
    halves = []
    for suffix, places in (("", range(len(source))), ("_reverse", reversed(range(len(source))))):
        cell = cell_of(model.encoder, suffix, h // 2)
        state, states = torch.zeros(1, h // 2).double(), {}
        for place in places:
            state = cell(embedded[place : place + 1], state)
            states[place] = state[0]
        halves.append(([states[p] for p in range(len(source))], state[0]))
    memory = torch.stack([torch.cat(pair) for pair in zip(halves[0][0], halves[1][0], strict=True)])
    attention, cell = model.attention, cell_of(model.decoder, "", h)

    def look(query: Tensor) -> Tensor:
        hidden = torch.tanh(query @ attention.query_weight + memory @ attention.key_weight)
        weights: Tensor = (hidden @ attention.vector).softmax(0)
        return weights

    state = torch.tanh(model.bridge[0](torch.cat((halves[0][1], halves[1][1]))))
    output, logits, rows = torch.zeros(h).double(), [], []
    for word in target_in:
        read = model.target_embedding.weight[word]
        before = state
        fed = look(before) @ memory if order == "previous" else output
        state = cell((torch.cat((read, fed)) if feeding else read)[None], before[None])[0]
        weights = look(before if order == "previous" else state)
        output = torch.tanh(model.combine.weight @ torch.cat((weights @ memory, state)))
        logits.append(model.output(output))
        rows.append(weights)
    return torch.stack(logits), torch.stack(rows)


def cell_of(rnn: Any, suffix: str, width: int) -> nn.GRUCell:
    cell = nn.GRUCell(rnn.input_size, width).double()
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data = getattr(rnn, f"{name}_l0{suffix}").data
    return cell


def test_order_and_feeding_are_set_apart() -> None:
    for feeding in (False, True):
        for order in ("previous", "present"):
            model: Any = make_model("additive", order, input_feeding=feeding)
            given: dict[str, Any] = {"order": order, "feeding": feeding}
            expected, weights = by_hand(model, SOURCES[0], [1, *TARGETS[0]], **given)
            logits, own = model(make_batch([0]), need_weights=True)
            torch.testing.assert_close(logits[0], expected)
            torch.testing.assert_close(own[0], weights)
            width = CONFIG.embed_dim + (CONFIG.hidden_dim if feeding else 0)
            assert model.decoder.input_size == width


def test_the_papers_order_says_whether_the_context_is_fed() -> None:
    for attention in ("additive", "dot"):
        default = make_model(attention)
        looks_first = attention == "additive"
        order = "previous" if looks_first else "present"
        spelled = make_model(attention, order, input_feeding=looks_first)
        batch = make_batch([0, 1, 2])
        torch.testing.assert_close(default(batch), spelled(batch))
        assert default.config.looks_first == default.config.feeds_context == looks_first


def test_keys_are_projected_once_a_sentence() -> None:
    model, batch = make_model("additive"), make_batch([0, 1, 2])
    assert model.attention is not None
    with patch.object(model.attention, "project", wraps=model.attention.project) as project:
        state = model.start(batch.source, batch.source_lengths)
        greedy(model.step, state, batch_size=3, bos_id=1, eos_id=2, max_len=9)
    assert project.call_count == 1


def test_a_window_is_around_a_predicted_position() -> None:
    attention = make_model("local").attention
    assert isinstance(attention, LuongAttention)
    assert attention.aligned_position(torch.zeros(1, 1, 14).double(), 6.0).item() == 3.0


def test_impossible_configurations_are_refused() -> None:
    with pytest.raises(ValueError, match="hidden_dim: got 13"):
        replace(CONFIG, hidden_dim=13)
    with pytest.raises(ValueError, match="window: got 3"):  # additive attention has none
        replace(CONFIG, window=3)
    with pytest.raises(ValueError, match="input_feeding: got True, wanted None or"):
        replace(CONFIG, attention="none", input_feeding=True)
    assert not replace(CONFIG, attention="none", query="previous").feeds_context
