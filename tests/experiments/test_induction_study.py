"""The study of copying: its texts, its model, and what is measured of its heads."""

from __future__ import annotations

from dataclasses import asdict

import pytest
import torch
from torch import Generator

from bookkit.notebook import load_result
from companion.layers import MultiHeadAttention
from companion.models.transformer import Block, LanguageModel
from experiments.induction import study as induction

SMALL = induction.Task(symbols=9, length=13, shortest=3, longest=5, batch_size=4, test_size=6)
SETTING = induction.Setting(2, 4, 4e-3, every=2, width=16, num_heads=2)


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
    found = induction.head_scores(model, sequences, lengths)
    logits, weights = model(sequences, need_weights=True)
    wanted: dict[str, list[list[float]]] = {name: [[], []] for name in found}
    hits: list[bool] = []
    for b, length in enumerate(lengths.tolist()):
        for i in range(length, 13):
            for h in range(2):
                wanted["previous"][h].append(weights[0][b, h, i, i - 1].item())
                wanted["latest"][h].append(weights[1][b, h, i, i - length + 1].item())
                copies = range(i - length + 1, -1, -length)
                wanted["induction"][h].append(sum(weights[1][b, h, i, j].item() for j in copies))
            if i < 12:
                hits.append(logits[b, i].argmax().item() == sequences[b, i + 1].item())
    for name, heads in wanted.items():
        assert found[name] == pytest.approx([sum(s) / len(s) for s in heads], rel=1e-5)
    seen = induction.looked_at(model, sequences, lengths)
    assert seen["accuracy"] == pytest.approx(100 * sum(hits) / len(hits))
    assert seen["previous"] == max(found["previous"])
    assert seen["induction"] == max(found["induction"])


def test_a_head_that_is_taken_away_gives_its_mean() -> None:
    torch.manual_seed(3)
    model = induction.attention_only(SETTING, SMALL)
    sequences, lengths = SMALL.test()
    attention = model.decoder.blocks[1].self_attention
    assert isinstance(attention, MultiHeadAttention)
    seen: list[torch.Tensor] = []
    handle = attention.output_proj.register_forward_pre_hook(
        lambda _, given: seen.append(given[0].detach())
    )
    plain = induction.right(model, sequences, lengths)
    induction.without_heads(model, sequences, lengths, 1, [0])
    assert induction.right(model, sequences, lengths) == plain
    handle.remove()
    before, without, again = seen
    width = before.shape[-1] // 2
    mean = before[..., :width].mean((0, 1)).expand_as(before[..., :width])
    torch.testing.assert_close(without[..., :width], mean)
    torch.testing.assert_close(without[..., width:], before[..., width:])
    torch.testing.assert_close(again, before)


def test_turning_points_are_those_of_a_curve() -> None:
    setting = induction.Setting(2, 300, every=50)
    curve = [0.0, 1.0, 2.0, 60.0, 80.0, 82.0, 84.0]
    measures = {
        f"{name}/{50 * n:04d}": value
        for name in ("accuracy", "previous", "induction")
        for n, value in enumerate(curve)
    }
    found = induction.turning_points(measures, setting)
    assert found == {
        "largest_gain": 78.0, "largest_gain_at": 150.0,
        "half/accuracy": 150.0, "half/previous": 150.0, "half/induction": 150.0,
    }  # fmt: skip


def test_what_is_forbidden_gets_no_weight() -> None:
    """In a text whose next symbol only the forbidden place could tell, nothing else is changed."""
    torch.manual_seed(1)
    model, _ = induction.fit(SETTING, SMALL, seed=5)
    sequences, lengths = SMALL.test()
    plain = induction.right(model, sequences, lengths)
    for what in ("previous", "after"):
        assert induction.without_positions(model, sequences, lengths, 2, what) == plain
    seen: list[torch.Tensor] = []

    def watch(module: object, args: object, options: dict[str, torch.Tensor]) -> None:
        seen.append(options["attn_mask"])

    first = model.decoder.blocks[0]
    handle = first.register_forward_pre_hook(watch, with_kwargs=True)
    for what in ("previous", "after"):
        induction.without_positions(model, sequences, lengths, 0, what)
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
    assert config["arms"] == {name: asdict(arm) for name, arm in induction.reported().items()}
    assert isinstance(
        induction.attention_only(induction.reported()["one"], induction.TASK), LanguageModel
    )
