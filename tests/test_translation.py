"""A translator learns a small language, keeps order, and reads its attention out."""

import itertools
from typing import Any

import pytest
import torch

from companion.alignment import argmax_links
from companion.data.batching import PooledBatches
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import Transformer, TransformerConfig
from companion.training import TrainingConfig, train
from companion.translation import Translator, replace_unknown

WORDS = {"one": "uno", "two": "dos", "three": "tres", "four": "cuatro"}


def reversed_pairs() -> list[Pair]:
    """Translate each word and write them backwards: the diagonal is always wrong."""
    return [
        Pair(source, tuple(WORDS[word] for word in reversed(source)))
        for length in (1, 2, 3, 4)
        for source in itertools.product(WORDS, repeat=length)
    ]


def trained(kind: str) -> Translator:
    pairs = reversed_pairs()
    source = Vocabulary.from_tokens(pair.source for pair in pairs)
    target = Vocabulary.from_tokens(pair.target for pair in pairs)
    batches = PooledBatches(pairs, source, target, batch_size=32, seed=0)
    torch.manual_seed(0)
    if kind == "recurrent":
        config = Seq2SeqConfig(
            len(source), len(target), embed_dim=16, hidden_dim=32, attention="general", dropout_p=0
        )
        recurrent = Seq2Seq(config)
        train(recurrent, batches, Seq2Seq.loss, TrainingConfig(400, learning_rate=1e-2))
        return Translator(recurrent, source, target)
    shape = TransformerConfig(
        len(target), len(source), embed_dim=16, num_heads=2, num_layers=1, dropout_p=0.0
    )
    transformer = Transformer(shape)
    train(transformer, batches, Transformer.loss, TrainingConfig(400, learning_rate=1e-2))
    return Translator(transformer, source, target)


@pytest.fixture(scope="module", params=["recurrent", "transformer"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return trained(request.param)


def test_it_learns_to_translate_and_to_align(translator: Translator) -> None:
    pairs = reversed_pairs()
    written = translator.translate([pair.source for pair in pairs])
    right = [w.tokens == pair.target for w, pair in zip(written, pairs, strict=True)]
    assert sum(right) / len(right) > 0.95
    assert all(w.finished for w, ok in zip(written, right, strict=True) if ok)
    weights = translator.forced_weights(pairs)
    linked = [
        argmax_links(matrix) == {(i, len(pair.source) - 1 - i) for i in range(len(pair.target))}
        for matrix, pair in zip(weights, pairs, strict=True)
    ]
    # Several heads and blocks share the Transformer's looking: one map tells less.
    least = 0.8 if isinstance(translator.model, Seq2Seq) else 0.3
    assert sum(linked) / len(linked) > least


def test_order_and_batch_size_do_not_matter(translator: Translator) -> None:
    sentences = [pair.source for pair in reversed_pairs()]
    together = translator.translate(sentences, batch_size=7)
    alone = [translator.translate([sentence])[0] for sentence in sentences[:25]]
    assert [t.tokens for t in together[:25]] == [t.tokens for t in alone]
    for mine, other in zip(together[:25], alone, strict=True):
        assert mine.weights is not None
        assert other.weights is not None
        torch.testing.assert_close(mine.weights, other.weights)


def test_beams_write_what_is_at_least_as_probable(translator: Translator) -> None:
    sentences = [pair.source for pair in reversed_pairs()][::7]
    plain = translator.translate(sentences)
    beams = translator.translate(sentences, beam_size=4, length_penalty=0.0, batch_size=11)
    one = translator.translate(sentences, beam_size=1)
    assert [t.tokens for t in one] == [t.tokens for t in plain]
    for found, other in zip(beams, plain, strict=True):
        assert found.log_prob >= other.log_prob - 1e-4
        assert found.log_prob < 0
        assert found.weights is not None
        assert found.weights.shape[0] == len(found.tokens)
    alone = translator.translate(sentences[:5], beam_size=4, length_penalty=0.0, batch_size=1)
    assert [t.tokens for t in alone] == [t.tokens for t in beams[:5]]


def test_empty_sentences_and_sizes_are_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match=r"sentences\[1\]: got no words"):
        translator.translate([("one",), ()])
    for name in ("max_len", "beam_size", "batch_size"):
        wrong: dict[str, Any] = {name: 0}
        with pytest.raises(ValueError, match=f"{name}: got 0"):
            translator.translate([("one",)], **wrong)


def test_a_model_without_attention_has_no_weights(translator: Translator) -> None:
    config = Seq2SeqConfig(8, 8, embed_dim=3, hidden_dim=4, attention="none")
    blind = Translator(Seq2Seq(config), translator.source_vocab, translator.target_vocab)
    assert blind.translate([("one",)], max_len=3)[0].weights is None
    with pytest.raises(ValueError, match="without attention"):
        blind.forced_weights(reversed_pairs()[:3])


def test_a_string_is_not_taken_for_its_letters(translator: Translator) -> None:
    for sentences in ("hello world", ["hello", "world"]):
        with pytest.raises(TypeError, match=r"sentences\[0\]: got str, wanted a sequence of words"):
            translator.translate(sentences)


def test_it_evaluates_and_leaves_every_part_in_its_mode(translator: Translator) -> None:
    for beam_size in (1, 2):
        for kind in (Seq2Seq, Transformer):
            source, target = translator.source_vocab, translator.target_vocab
            torch.manual_seed(0)
            model: Any = (
                Seq2Seq(Seq2SeqConfig(len(source), len(target), dropout_p=0.9))
                if kind is Seq2Seq
                else Transformer(TransformerConfig(len(target), len(source), dropout_p=0.9))
            )
            mine = Translator(model, source, target)
            assert model.training
            pairs, sentences = reversed_pairs()[-5:], [("one", "two"), ("four",)]
            expected = mine.translate(sentences, beam_size=beam_size, max_len=5)
            looked = mine.forced_weights(pairs)
            model.train().encoder.eval()
            modes = [part.training for part in model.modules()]
            assert len(set(modes)) == 2
            again = mine.translate(sentences, beam_size=beam_size, max_len=5)
            assert [t.log_prob for t in again] == [t.log_prob for t in expected]
            for first, second in zip(looked, mine.forced_weights(pairs), strict=True):
                assert torch.equal(first, second)
            with pytest.raises(TypeError, match="length_penalty"):
                mine.translate(sentences, beam_size=2, length_penalty="1")  # type: ignore[arg-type]
            assert [part.training for part in model.modules()] == modes


class ReachedError(Exception):
    """A model has been called."""


@pytest.mark.parametrize("beam_size", [1, 2])
def test_ids_go_where_the_model_is(
    beam_size: int, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = Seq2Seq(Seq2SeqConfig(9, 9, embed_dim=3, hidden_dim=4)).to("meta")
    seen: dict[str, str] = {}

    def start(source: torch.Tensor, lengths: torch.Tensor, **_: Any) -> None:
        seen.update(source=source.device.type, lengths=lengths.device.type)

    def step(tokens: torch.Tensor, state: None) -> None:
        seen.update(tokens=tokens.device.type)
        raise ReachedError

    def forward(batch: Any, *, need_weights: bool) -> None:
        seen.update(target_in=batch.target_in.device.type)
        raise ReachedError

    for name, stub in (("start", start), ("step", step), ("forward", forward)):
        monkeypatch.setattr(model, name, stub)
    away = Translator(model, translator.source_vocab, translator.target_vocab)
    with pytest.raises(ReachedError):
        away.translate([("one",)], beam_size=beam_size)
    with pytest.raises(ReachedError):
        away.forced_weights(reversed_pairs()[:1])
    assert seen == {"source": "meta", "lengths": "cpu", "tokens": "meta", "target_in": "meta"}


def test_unknown_words_become_the_words_looked_at() -> None:
    weights = torch.tensor([[0.1, 0.9], [0.9, 0.1], [0.4, 0.6]])
    assert replace_unknown(("<unk>", "x", "<unk>"), ("a", "b"), weights) == ("b", "x", "b")
    with pytest.raises(ValueError, match=r"weights: got shape \(3, 2\), wanted \(2, 2\)"):
        replace_unknown(("x", "y"), ("a", "b"), weights)


def test_rows_of_what_is_no_word_are_left_out() -> None:
    """A model may write `<bos>` or padding; neither is a word of the translation."""
    vocab = Vocabulary(["one", "two"])
    torch.manual_seed(0)
    model = Seq2Seq(Seq2SeqConfig(len(vocab), len(vocab), embed_dim=4, hidden_dim=6)).eval()
    model.output.weight.data.zero_()
    model.output.bias.data.copy_(torch.tensor([9.0, 0, 0, 0, 0, 0]))  # padding, for ever
    found = Translator(model, vocab, vocab).translate([("one", "two", "one")], max_len=3)[0]
    assert found.tokens == ()
    assert found.weights is not None
    assert found.weights.shape == (0, 3)
