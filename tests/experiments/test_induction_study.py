"""The study of copying: its texts, its model, and what is measured of its heads."""

from __future__ import annotations

import pytest
import torch

from companion.layers import MultiHeadAttention
from experiments.induction import study as induction

pytestmark = pytest.mark.slow

SMALL = induction.Task(symbols=9, length=13, shortest=3, longest=5, batch_size=4, test_size=6)
SETTING = induction.Setting(2, 4, 4e-3, every=2, width=16, num_heads=2)


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
