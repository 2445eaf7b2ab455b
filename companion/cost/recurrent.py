"""Operations of recurrent layers and of the recurrent encoder-decoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from companion.contracts import contract
from companion.cost.layers import AttentionFlops, additive_flops, luong_flops, matmul_flops
from companion.models.seq2seq import Seq2SeqConfig

Cell = Literal["gru", "lstm"]

_GATES = {"gru": 3, "lstm": 4}


@contract(input_dim=">= 1", hidden_dim=">= 1", tokens=">= 1")
def recurrent_flops(cell: Cell, input_dim: int, hidden_dim: int, *, tokens: int) -> int:
    """Count a recurrent layer, one direction of it: two products a gate and token.

    The GRU (Cho et al., 2014) has three gates, its candidate counted as one, and the LSTM
    (Hochreiter & Schmidhuber, 1997) four.

    Args:
        cell: "gru" or "lstm".
        input_dim: width of an input.
        hidden_dim: width of a state.
        tokens: steps, those of all sequences together; padding that is read counts, padding that
            is packed away does not.

    >>> recurrent_flops("gru", 5, 7, tokens=3), recurrent_flops("lstm", 5, 7, tokens=3)
    (1512, 2016)
    """
    return matmul_flops(tokens, input_dim + hidden_dim, _GATES[cell] * hidden_dim)


class Seq2SeqFlops(NamedTuple):
    """Operations of a recurrent encoder-decoder.

    Attributes:
        encoder: both directions, and what makes the decoder's first state of their last ones.
        attention: projection of the memory, scores and sums.
        decoder: the recurrent cell, and the layer that joins state and context.
        output: what scores the words.
    """

    encoder: int
    attention: int
    decoder: int
    output: int

    @property
    def total(self) -> int:
        """Sum of all parts."""
        return sum(self)


@contract(length=">= 1", padded_length=">= 1")
def seq2seq_flops(
    config: Seq2SeqConfig,
    *,
    source_lengths: Sequence[int],
    length: int,
    padded_length: int | None = None,
) -> Seq2SeqFlops:
    """Count a forward pass of `Seq2Seq` on the CPU.

    An LSTM that encodes skips padding, a GRU reads it, see `read_both_ways`; on other devices both
    skip it. Attention masks padding, and computes with it.

    Args:
        config: the model's shape.
        source_lengths: tokens of every source sentence.
        length: tokens of a target sentence, padding included.
        padded_length: tokens of a source sentence, padding included; None means the longest.

    Raises:
        ValueError: also for no sentence, and for a padded length below the longest.

    >>> config = Seq2SeqConfig(source_vocab=11, target_vocab=13, embed_dim=3, hidden_dim=4)
    >>> seq2seq_flops(config, source_lengths=[5, 2], length=7)
    Seq2SeqFlops(encoder=1264, attention=1888, decoder=4592, output=1456)
    """
    if not source_lengths or min(source_lengths) < 1:
        raise ValueError(
            f"source_lengths: got {list(source_lengths)}, wanted one a sentence, at least 1 each"
        )
    padded = max(source_lengths) if padded_length is None else padded_length
    if padded < max(source_lengths):
        raise ValueError(
            f"padded_length: got {padded}, wanted at least {max(source_lengths)}, the longest"
        )
    e, h, sentences = config.embed_dim, config.hidden_dim, len(source_lengths)
    states = 1 if config.cell == "gru" else 2
    read = sentences * padded if config.cell == "gru" else sum(source_lengths)
    encoder = 2 * recurrent_flops(config.cell, e, h // 2, tokens=read)
    encoder += states * matmul_flops(sentences, h, h)
    attention = _attention(config, sentences, length, padded).total
    written = sentences * length
    inputs = e + h if config.feeds_context else e
    decoder = recurrent_flops(config.cell, inputs, h, tokens=written)
    decoder += matmul_flops(written, 2 * h, h)
    output = matmul_flops(written, h, config.target_vocab)
    return Seq2SeqFlops(encoder, attention, decoder, output)


def _attention(config: Seq2SeqConfig, sentences: int, q_len: int, k_len: int) -> AttentionFlops:
    h = config.hidden_dim
    sizes: dict[str, Any] = {"q_len": q_len, "k_len": k_len, "batch_size": sentences}
    if config.attention == "none":
        return AttentionFlops(0, 0, 0)
    if config.attention == "additive":
        return additive_flops(h, h, h, **sizes)
    predictive = config.window is not None
    return luong_flops(h, h, score=config.attention, predictive=predictive, **sizes)
