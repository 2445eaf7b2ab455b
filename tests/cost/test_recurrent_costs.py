"""Recurrent layers against cells written out, and the encoder-decoder against what it does."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from companion.cost import measure_flops, recurrent_flops, seq2seq_flops
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from tests.batches import make_batch


def gru(x: Tensor, weights: Any) -> Tensor:
    """A GRU over (b, n, e), one matrix product at a time."""
    inputs, hidden = weights.weight_ih_l0.T, weights.weight_hh_l0.T
    state = x.new_zeros(x.shape[0], hidden.shape[0])
    for step in x.unbind(1):
        reset, update, new = (step @ inputs + weights.bias_ih_l0).chunk(3, -1)
        reset_h, update_h, new_h = (state @ hidden + weights.bias_hh_l0).chunk(3, -1)
        reset, update = torch.sigmoid(reset + reset_h), torch.sigmoid(update + update_h)
        state = (1 - update) * torch.tanh(new + reset * new_h) + update * state
    return state


def lstm(x: Tensor, weights: Any) -> Tensor:
    """An LSTM over (b, n, e), one matrix product at a time."""
    inputs, hidden = weights.weight_ih_l0.T, weights.weight_hh_l0.T
    state = memory = x.new_zeros(x.shape[0], hidden.shape[0])
    for step in x.unbind(1):
        gates = step @ inputs + weights.bias_ih_l0 + state @ hidden + weights.bias_hh_l0
        enter, forget, new, leave = gates.chunk(4, -1)
        memory = torch.sigmoid(forget) * memory + torch.sigmoid(enter) * torch.tanh(new)
        state = torch.sigmoid(leave) * torch.tanh(memory)
    return state


CELLS: dict[Any, Any] = {"gru": (nn.GRU, gru), "lstm": (nn.LSTM, lstm)}


@pytest.mark.parametrize("cell", CELLS)
def test_a_layer_does_what_its_cell_written_out_does(cell: Any) -> None:
    make, written_out = CELLS[cell]
    for b, n, e, h in ((3, 5, 7, 11), (1, 1, 3, 5), (2, 7, 1, 1)):
        layer, x = make(e, h, batch_first=True), torch.randn(b, n, e)
        with FlopCounterMode(display=False) as counter:
            state = written_out(x, layer)
        last = layer(x)[1]
        torch.testing.assert_close(state, (last if cell == "gru" else last[0])[0])
        result = recurrent_flops(cell, e, h, tokens=b * n)
        assert counter.get_total_flops() == result
        assert measure_flops(partial(layer, x)) == result
        meta = make(e, h, batch_first=True, device="meta")
        assert measure_flops(partial(meta, x.to("meta"))) == result


def test_torchs_counter_alone_sees_nothing_of_onednns_lstm() -> None:
    """If this fails, torch has learned it, and counting need not go round oneDNN any more."""
    layer, x = nn.LSTM(3, 5), torch.ones(2, 1, 3)
    with FlopCounterMode(display=False) as counter:
        layer(x)
    if torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        assert counter.get_total_flops() == 0


@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    ("attention", "query", "window", "feeding"),
    [("none", None, None, None), ("additive", None, None, None),
     ("additive", "present", None, None), ("additive", "previous", None, False),
     ("dot", "previous", None, None), ("dot", "present", None, True),
     ("general", None, None, None), ("concat", None, None, None), ("general", None, 2, None)],
)  # fmt: skip
def test_an_encoder_decoder_does_what_is_counted(
    attention: Any, query: Any, window: Any, feeding: Any, cell: Any, extra: int
) -> None:
    config = Seq2SeqConfig(
        source_vocab=17, target_vocab=19, embed_dim=5, hidden_dim=6, attention=attention,
        query=query, cell=cell, dropout_p=0.0, window=window, input_feeding=feeding,
    )  # fmt: skip
    model, batch = Seq2Seq(config), make_batch([0, 1, 2], extra)
    sizes: dict[str, Any] = {"padded_length": batch.source.shape[1]} if extra else {}
    result = seq2seq_flops(
        config,
        source_lengths=batch.source_lengths.tolist(),
        length=batch.target_in.shape[1],
        **sizes,
    )
    with torch.no_grad():
        assert measure_flops(lambda: model(batch)) == result.total
        encoded = measure_flops(lambda: model.encode(batch.source, batch.source_lengths))
    assert result.encoder <= encoded <= result.encoder + result.attention


def test_padding_costs_a_gru_and_no_lstm() -> None:
    cells: list[tuple[Any, int]] = [("gru", 2 * 9), ("lstm", 5 + 2)]
    for cell, read in cells:
        config = Seq2SeqConfig(
            source_vocab=17, target_vocab=19, embed_dim=5, hidden_dim=6, cell=cell
        )
        result = seq2seq_flops(config, source_lengths=[5, 2], length=3, padded_length=9)
        bridge = (1 if cell == "gru" else 2) * 2 * 2 * 6 * 6
        each = recurrent_flops(config.cell, 5, 3, tokens=1)
        assert result.encoder == 2 * read * each + bridge


def test_attention_alone_grows_with_both_lengths() -> None:
    config = Seq2SeqConfig(source_vocab=17, target_vocab=19, attention="dot")
    short, long = (seq2seq_flops(config, source_lengths=[n], length=n) for n in (8, 16))
    assert long.attention == 4 * short.attention
    assert (long.decoder, long.output) == (2 * short.decoder, 2 * short.output)


def test_impossible_counts_are_refused() -> None:
    any_cell: Any = "rnn"
    with pytest.raises(ValueError, match="cell: got 'rnn', wanted one of"):
        recurrent_flops(any_cell, 3, 5, tokens=1)
    with pytest.raises(ValueError, match="tokens: got 0"):
        recurrent_flops("gru", 3, 5, tokens=0)
    config = Seq2SeqConfig(source_vocab=17, target_vocab=19)
    with pytest.raises(ValueError, match=r"source_lengths: got \[\], wanted one a sentence"):
        seq2seq_flops(config, source_lengths=[], length=3)
    with pytest.raises(ValueError, match="padded_length: got 4, wanted at least 5"):
        seq2seq_flops(config, source_lengths=[5, 2], length=3, padded_length=4)
    with pytest.raises(
        ValueError, match=r"source_lengths: got \[3, 0\], wanted .* at least 1 each"
    ):
        seq2seq_flops(config, source_lengths=[3, 0], length=3)
