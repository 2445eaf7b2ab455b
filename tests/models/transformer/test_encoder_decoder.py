"""The Transformer as a translator: one interface, padding, causality, decoding as in training."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from companion.decoding import beam, greedy
from companion.models.transformer import Transformer
from tests.batches import SOURCES, TARGETS, make_batch
from tests.tiers import often
from tests.transformers import config_of, each_variant, randomised


def make(variant: str, **changes: Any) -> Any:
    return randomised(Transformer(config_of(variant, **changes)))


@each_variant
def test_a_sentence_is_the_same_alone_and_in_a_padded_batch(variant: str) -> None:
    model = make(variant)
    together, weights = model(make_batch([0, 1, 2], extra=3), need_weights=True)
    for row in range(3):
        alone, own = model(make_batch([row]), need_weights=True)
        length, words = len(TARGETS[row]) + 1, len(SOURCES[row])
        torch.testing.assert_close(together[row, :length], alone[0])
        torch.testing.assert_close(weights[row, :length, :words], own[0])
        assert weights[row, :, words:].abs().max() == 0


@pytest.mark.parametrize("use_cache", often([True, False], bool))
@each_variant
def test_decoding_step_by_step_equals_the_forward_pass(variant: str, use_cache: bool) -> None:
    model, batch = make(variant), make_batch([0, 1, 2])
    logits, weights = model(batch, need_weights=True)
    q = batch.target_in.shape[1]
    state = model.start(
        batch.source, batch.source_lengths, max_len=q, use_cache=use_cache, beam_size=2
    )
    for i in range(q):
        twice = batch.target_in[:, i].repeat_interleave(2)
        with torch.no_grad():
            step_logits, state, step_weights = model.step(twice, state)
        torch.testing.assert_close(step_logits[::2], logits[:, i])
        torch.testing.assert_close(step_logits[1::2], logits[:, i])
        torch.testing.assert_close(step_weights[::2], weights[:, i])


@each_variant
def test_a_later_target_word_changes_no_earlier_prediction(variant: str) -> None:
    model, batch = make(variant), make_batch([0, 1, 2])
    before = model(batch)
    changed = batch.target_in.clone()
    changed[:, 3] = (changed[:, 3] + 1) % 19
    after = model(batch._replace(target_in=changed))
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert (before[:, 3] - after[:, 3]).abs().amax(-1).min() > 0


@each_variant
def test_every_source_word_reaches_every_prediction(variant: str) -> None:
    model, batch = make(variant), make_batch([0])
    before = model(batch)
    for j in range(len(SOURCES[0])):
        changed = batch.source.clone()
        changed[:, j] += 1
        assert (model(batch._replace(source=changed)) - before).abs().amax(-1).min() > 0


@each_variant
def test_gradients_reach_every_weight(variant: str) -> None:
    model, batch = make(variant), make_batch([0, 1, 2])
    model.loss(batch).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("key_proj.bias"):  # a shift of all keys moves no softmax
            assert parameter.grad.abs().sum() > 0, name


def test_what_is_tied_is_one_weight() -> None:
    for tied in ("none", "output", "all"):
        model = Transformer(config_of("paper", tied=tied))
        names = {name for name, _ in model.named_parameters()}
        assert ("output.vectors.weight" in names) == (tied == "none")
        assert ("source_embedding.words.weight" in names) == (tied != "all")
        loss = model.loss(make_batch([0, 1, 2]))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.optim.SGD(model.parameters(), 0.1).step()
        source, target = model.source_embedding.words, model.target_embedding.words
        scored = target if model.output.vectors is None else model.output.vectors
        assert (source.weight is target.weight) == (tied == "all")
        assert (scored.weight is target.weight) == (tied != "none")
        moved = model.double().float()
        assert (moved.source_embedding.words.weight is moved.target_embedding.words.weight) == (
            tied == "all"
        )


def test_the_weights_of_the_interface_are_a_mean_over_the_heads_of_one_block() -> None:
    batch = make_batch([0, 1, 2])
    for number in (0, 1, -1, -2):
        model = make("paper", alignment_layer=number)
        _, weights = model(batch, need_weights=True)
        everything = model.attention(batch)
        torch.testing.assert_close(weights, everything.cross[number].mean(1))
    assert [len(kind) for kind in everything] == [2, 2, 2]
    assert everything.encoder[0].shape == (3, 6, 5, 5)
    assert everything.decoder[0].shape == (3, 6, 7, 7)
    assert everything.cross[0].shape == (3, 6, 7, 5)
    assert everything.encoder[0][1, :, :, 2:].abs().max() == 0


def test_the_memory_is_projected_once_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch, calls = make("paper"), make_batch([0, 1, 2]), []
    for block in model.decoder.blocks:
        project = block.cross_attention.project_memory

        def counted(memory: Tensor, project: Any = project) -> Any:
            calls.append(memory)
            return project(memory)

        monkeypatch.setattr(block.cross_attention, "project_memory", counted)
    state = model.start(batch.source, batch.source_lengths, max_len=9)
    greedy(model.step, state, batch_size=3, bos_id=1, eos_id=18, max_len=9)
    assert len(calls) == 2


@pytest.mark.parametrize("beam_size", often([1, 3], (3).__eq__))
@each_variant
def test_with_and_without_caches_the_same_is_written(variant: str, beam_size: int) -> None:
    model, batch = make(variant), make_batch([0, 1, 2])

    def write(use_cache: bool) -> Any:
        state = model.start(
            batch.source, batch.source_lengths, max_len=11, beam_size=beam_size, use_cache=use_cache
        )
        ids: dict[str, Any] = {"batch_size": 3, "bos_id": 1, "eos_id": 2, "max_len": 11}
        if beam_size == 1:
            return greedy(model.step, state, **ids)
        return beam(model.step, state, reorder=model.reorder, beam_size=beam_size, **ids)

    cached, plain = write(True), write(False)
    assert cached.sequences() == plain.sequences()
    assert cached.finished.tolist() == plain.finished.tolist()
    torch.testing.assert_close(cached.log_probs, plain.log_probs)
    torch.testing.assert_close(cached.weights, plain.weights)


def test_the_log_probabilities_are_those_of_the_forward_pass() -> None:
    model, batch = make("paper"), make_batch([0])
    state = model.start(batch.source, batch.source_lengths, max_len=7)
    written = greedy(model.step, state, batch_size=1, bos_id=1, eos_id=18, max_len=7)
    read = torch.cat((torch.ones(1, 1, dtype=torch.int64), written.tokens[:, :-1]), 1)
    logits = model(batch._replace(target_in=read))
    expected = logits.log_softmax(-1).gather(-1, written.tokens[..., None])[..., 0]
    torch.testing.assert_close(written.log_probs, expected)


def test_the_loss_leaves_padding_out_and_can_be_smoothed() -> None:
    model = make("paper")
    tight, loose = model.loss(make_batch([0, 1, 2])), model.loss(make_batch([0, 1, 2], extra=4))
    torch.testing.assert_close(tight, loose)
    words = [len(target) + 1 for target in TARGETS]
    alone = [model.loss(make_batch([row])) * words[row] for row in range(3)]
    torch.testing.assert_close(tight, torch.stack(alone).sum() / sum(words))
    batch = make_batch([0])
    logs = model(batch)[0].log_softmax(-1)
    target = 0.8 * torch.eye(19).double()[batch.target_out[0]] + 0.2 / 19
    expected = -(target * logs).sum(-1).mean()
    torch.testing.assert_close(model.loss(batch, label_smoothing=0.2), expected)


def test_dropout_works_in_training_alone() -> None:
    model, batch = make("paper", dropout_p=0.5), make_batch([0, 1])
    assert torch.equal(model(batch), model(batch))
    model.train()
    assert not torch.allclose(model(batch), model(batch))


def test_learned_positions_limit_what_is_written() -> None:
    model, batch = make("gpt2"), make_batch([0])
    with pytest.raises(ValueError, match="max_len: got 24 tokens in all, wanted at most 23"):
        model.start(batch.source, batch.source_lengths, max_len=24)


@pytest.mark.parametrize("variant", ["paper", "llama"])
def test_meta_tensors_have_shapes(variant: str) -> None:
    with torch.device("meta"):
        model = Transformer(config_of(variant)).eval()
    batch = make_batch([0, 1, 2])
    batch = type(batch)(*(part.to("meta") for part in batch))
    assert model(batch).shape == (3, 7, 19)
    logits, _, weights = model.step(
        batch.target_in[:, 0], model.start(batch.source, batch.source_lengths, max_len=5)
    )
    assert (logits.shape, weights.shape) == ((3, 19), (3, 5))


@pytest.mark.parametrize("variant", ["paper", "llama"])
def test_autocast(variant: str) -> None:
    model, batch = make(variant).float(), make_batch([0, 1, 2])
    model = randomised(model, dtype=torch.float32, std=0.2)
    expected = model(batch)
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        actual = model(batch)
        state = model.start(batch.source, batch.source_lengths, max_len=7)
        steps = []
        for i in range(7):
            logits, state, _ = model.step(batch.target_in[:, i], state)
            steps.append(logits)
    assert actual.dtype == torch.bfloat16
    scale = expected.detach().abs().max()
    for logits in (actual, torch.stack(steps, 1)):
        assert (logits.float() - expected).abs().max() < 0.05 * scale


@pytest.mark.filterwarnings("ignore")
def test_torch_compiles_it_in_one_piece() -> None:
    model, batch = make("paper", num_layers=1), make_batch([0, 1, 2])
    torch.compiler.reset()
    compiled: Any = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(batch), model(batch))
