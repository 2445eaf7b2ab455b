"""The pointer-generator, against plain loops in float64."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from companion.data.batching import Batch, collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.models.pointer import PointerGenerator, final_distribution
from companion.models.seq2seq import Seq2SeqConfig
from companion.translation import Translator
from tests.oracle import as_numpy

VOCAB = Vocabulary(["beat", "and", "3", "1"])
PAIRS = [
    Pair(("toral", "3", "mikuno", "1", "toral"), ("toral", "beat", "mikuno", "3", "1")),
    Pair(("and", "vobis", "1"), ("vobis", "beat", "vobis")),
]


def batch() -> Batch:
    return collate(PAIRS, VOCAB, VOCAB, copying=True)


def made(attention: Any = "general", *, coverage: bool = False, seed: int = 3) -> PointerGenerator:
    torch.manual_seed(seed)
    config = Seq2SeqConfig(
        len(VOCAB), len(VOCAB), embed_dim=5, hidden_dim=6, attention=attention, query="present",
        dropout_p=0.0,
    )  # fmt: skip
    model = PointerGenerator(config, coverage=coverage).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7)
    return model.eval()


def softmax(scores: Any) -> Any:
    shares = np.exp(scores - np.max(scores))
    return shares / shares.sum()


def by_loops(model: PointerGenerator, given: Batch, row: int) -> tuple[Any, Any]:
    """Say the final distribution and the coverage loss of every step of one sentence, as words.

    States of the two recurrent layers are torch's; all that the pointer-generator adds is here.
    """
    length = int(given.source_lengths[row])
    encoded = model.encode(given.source, given.source_lengths)
    memory = as_numpy(encoded.memory[row, :length])
    state: Any = tuple(part[row : row + 1] for part in encoded.start)
    w = {name.removeprefix("base."): as_numpy(x) for name, x in model.named_parameters()}
    coverage, distributions, penalties = np.zeros(length), [], []
    for token in given.target_in[row].tolist():
        x = model.base.target_embedding.weight[token if token < len(VOCAB) else VOCAB.unk_id]
        states, state = model.base.run(x[None, None], state)
        s, scores = as_numpy(states[0, 0]), np.zeros(length)
        for place, entry in enumerate(memory):
            seen = coverage[place] * w["coverage_vector"] if model.coverage else 0.0
            if "attention.vector" in w:
                key = entry @ w["attention.key_weight"] + seen
                inside = np.tanh(s @ w["attention.query_weight"] + key)
                scores[place] = w["attention.vector"] @ inside
            else:
                scores[place] = s @ (w["attention.weight"] @ entry + seen)
        a = softmax(scores)
        joined = np.concatenate([a @ memory, s])
        combined = np.tanh(w["combine.weight"] @ joined)
        p_vocab = softmax(w["output.weight"] @ combined + w["output.bias"])
        switch = w["switch.weight"] @ np.concatenate([joined, as_numpy(x)]) + w["switch.bias"]
        p_gen = 1 / (1 + math.exp(-switch.item()))
        final = np.concatenate([p_gen * p_vocab, np.zeros(2)])
        for place, identity in enumerate(given.source[row, :length].tolist()):
            final[identity] += (1 - p_gen) * a[place]
        distributions.append(final)
        penalties.append(np.minimum(a, coverage).sum())
        coverage = coverage + a
    return np.stack(distributions), penalties


def test_the_final_distribution_is_that_of_plain_loops() -> None:
    for attention in ("general", "additive"):
        for coverage in (False, True):
            model, given = made(attention, coverage=coverage), batch()
            found = model(given).exp()
            total = 0.0
            for row in range(2):
                distributions, penalties = by_loops(model, given, row)
                expected = torch.tensor(distributions)
                torch.testing.assert_close(found[row, :, : expected.shape[1]], expected)
                for place in range(int(given.target_mask[row].sum())):
                    word = int(given.target_out[row, place])
                    total -= math.log(distributions[place][word])
                    total += penalties[place] if coverage else 0.0
            count = int(given.target_mask.sum())
            torch.testing.assert_close(model.loss(given).item(), total / count)


def test_an_unknown_word_has_the_attention_on_its_places() -> None:
    """And nothing else: the vocabulary cannot say it. All probabilities sum to 1."""
    for coverage in (False, True):
        model, given = made(coverage=coverage), batch()
        mixture = model.mixture(given)
        found = mixture.distribution(given.source, len(VOCAB) + 2)
        torch.testing.assert_close(found.sum(-1), torch.ones_like(found[..., 0]))
        toral = len(VOCAB)  # the first unknown word of the first report, at its places 0 and 4
        expected = (1 - mixture.p_gen[0]) * mixture.weights[0][:, [0, 4]].sum(-1)
        torch.testing.assert_close(found[0, :, toral], expected)
        share = mixture.copied_share(given.source, given.target_out)
        torch.testing.assert_close(share[0, :1], torch.ones(1, dtype=torch.float64))
        assert share[0, 1] == 0  # "beat" does not stand in the report


def test_coverage_begins_as_nothing_and_can_be_trained() -> None:
    model, given = made(), batch()
    with torch.no_grad():
        model.coverage_vector.zero_()
    other = model.covered()
    torch.testing.assert_close(other(given), model(given))
    loss: Any = other.loss(given)
    loss.backward()
    assert other.coverage_vector.grad is not None
    assert other.coverage_vector.grad.abs().min() > 0
    assert not model.coverage


def test_gradients_are_right_also_without_probability() -> None:
    """A word outside of the vocabulary and of the source has probability 0, and no NaN comes."""
    model = made()
    given = batch()._replace(source=batch().source.clamp(max=len(VOCAB)))
    loss: Any = model.loss(given)
    loss.backward()
    assert math.isfinite(loss.item())
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_unknown_words_are_written() -> None:
    model = made(coverage=True, seed=5)
    with torch.no_grad():
        model.switch.bias.fill_(-30.0)  # copies every word
    sources = [pair.source for pair in PAIRS]
    translator = Translator(model, VOCAB, VOCAB, copying=True)
    for source, one in zip(sources, translator.translate(sources, max_len=4), strict=True):
        assert len(one.tokens) == 4
        assert set(one.tokens) <= set(source)
        assert not one.finished


def test_unknown_words_of_others_change_nothing() -> None:
    model, given = made(coverage=True), batch()
    alone = collate(PAIRS[1:], VOCAB, VOCAB, copying=True)
    found, single = model(given)[1], model(alone)[0]
    n, size = single.shape
    torch.testing.assert_close(found[:n, :size], single)
    state = model.start(given.source, given.source_lengths)
    whole = model(given)
    for place in range(given.target_in.shape[1]):
        logits, state, _ = model.step(given.target_in[:, place], state)
        torch.testing.assert_close(logits, whole[:, place])


def test_what_does_not_go_together_is_refused() -> None:
    config = Seq2SeqConfig(8, 9, attention="general", query="present")
    with pytest.raises(ValueError, match=r"config\.target_vocab: got 9, wanted 8"):
        PointerGenerator(config)
    ones, source = torch.ones(2, 3, 4), torch.zeros(2, 4, dtype=torch.int64)
    with pytest.raises(ValueError, match="size: got 3, wanted at least 4"):
        final_distribution(ones, ones, torch.ones(2, 3), source, size=3)
