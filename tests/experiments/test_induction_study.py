"""The study of copying: its texts, its model, and what is measured of its heads."""

from __future__ import annotations

from dataclasses import asdict

import pytest
import torch
from torch import Generator

from companion.models.transformer import Block, LanguageModel
from companion.pages.notebook import load_result
from experiments import induction

SMALL = induction.Task(symbols=9, length=13, shortest=3, longest=5, batch_size=4, test_size=6)
SETTING = induction.Setting(2, steps=4, every=2, width=16, num_heads=2)


def test_a_block_is_repeated_to_the_end() -> None:
    sequences, lengths = SMALL.draw(Generator().manual_seed(2), 40)
    assert set(lengths.tolist()) == {3, 4, 5}
    for row, length in zip(sequences.tolist(), lengths.tolist(), strict=True):
        assert len(row) == 13
        assert row == (row[:length] * 5)[:13]
    assert torch.equal(SMALL.test()[0], SMALL.test()[0])


def test_a_batch_depends_on_seed_and_step() -> None:
    batches = induction.Batches(SMALL, 3)
    assert torch.equal(batches[5], induction.Batches(SMALL, 3)[5])
    assert not torch.equal(batches[5], batches[6])
    assert not torch.equal(batches[5], induction.Batches(SMALL, 4)[5])


def test_feed_forward_layers_add_nothing_and_never_will() -> None:
    torch.manual_seed(0)
    model = induction.attention_only(SETTING, SMALL)
    sequences, _ = SMALL.test()
    x = model.embedding(sequences)
    for block in model.decoder.blocks:
        assert isinstance(block, Block)
        x = x + block.self_attention(block.self_residual.before(x), is_causal=True)
    assert model.decoder.norm is not None
    expected = model.output(model.decoder.norm(x), model.embedding.words)
    torch.testing.assert_close(model(sequences), expected)
    model.loss(sequences).backward()  # type: ignore[no-untyped-call]
    still = [name for name, p in model.named_parameters() if p.grad is None]
    assert {name.split(".")[3] for name in still} == {"feed_forward"}


def test_scores_are_those_of_loops() -> None:
    torch.manual_seed(1)
    model = induction.attention_only(SETTING, SMALL)
    sequences, lengths = SMALL.test()
    found = induction.looked_at(model, sequences, lengths)
    logits, weights = model(sequences, need_weights=True)
    previous: list[list[float]] = [[], []]
    after: list[list[float]] = [[], []]
    hits: list[bool] = []
    for b, length in enumerate(lengths.tolist()):
        for i in range(length, 13):
            for h in range(2):
                previous[h].append(weights[0][b, h, i, i - 1].item())
                after[h].append(weights[1][b, h, i, i - length + 1].item())
            if i < 12:
                hits.append(logits[b, i].argmax().item() == sequences[b, i + 1].item())
    assert found["previous"] == pytest.approx(max(sum(s) / len(s) for s in previous), rel=1e-5)
    assert found["induction"] == pytest.approx(max(sum(s) / len(s) for s in after), rel=1e-5)
    assert found["accuracy"] == pytest.approx(100 * sum(hits) / len(hits))


def test_what_is_forbidden_gets_no_weight() -> None:
    """In a text whose next symbol only the forbidden place could tell, nothing else is changed."""
    torch.manual_seed(1)
    model, _ = induction.fit(SETTING, SMALL, seed=5)
    sequences, lengths = SMALL.test()
    plain = induction.accuracy(model(sequences), sequences, lengths)
    for what in ("previous", "after"):
        assert induction.accuracy_without(model, sequences, lengths, 2, what) == plain
    seen: list[torch.Tensor] = []

    def watch(module: object, args: object, options: dict[str, torch.Tensor]) -> None:
        seen.append(options["attn_mask"])

    first = model.decoder.blocks[0]
    handle = first.register_forward_pre_hook(watch, with_kwargs=True)
    for what in ("previous", "after"):
        induction.accuracy_without(model, sequences, lengths, 0, what)
    handle.remove()
    previous, after = (mask.expand(6, 1, 13, 13) for mask in seen)
    for b, length in enumerate(lengths.tolist()):
        for i in range(13):
            allowed = [j for j in range(i + 1) if j != i - 1]
            assert previous[b, 0, i].nonzero()[:, 0].tolist() == allowed
            allowed = [j for j in range(i + 1) if j == i or (i - j + 1) % length]
            assert after[b, 0, i].nonzero()[:, 0].tolist() == allowed


def test_the_record_is_of_these_settings() -> None:
    config = load_result("induction").config
    assert config["task"] == asdict(induction.TASK)
    assert config["arms"] == {name: asdict(arm) for name, arm in induction.ARMS.items()}
    assert isinstance(
        induction.attention_only(induction.ARMS["one"], induction.TASK), LanguageModel
    )
