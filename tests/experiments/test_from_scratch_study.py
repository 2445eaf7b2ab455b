"""The study of silent mistakes: what its arms are, what is tuned, and what it measures."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Generator, Tensor

from companion.attention import scaled_dot_product_attention
from companion.masks import causal_mask
from experiments.from_scratch import study
from experiments.from_scratch.study import Mistake

pytestmark = pytest.mark.slow

CAUSAL: tuple[Mistake, ...] = ("none", "no_attention", "no_scale", "swapped", "view", "one_less")
"""Arms whose outputs do not depend on what comes later, on sequences of one length."""


def generators(*seeds: int) -> list[Generator]:
    return [Generator().manual_seed(seed) for seed in seeds]


def readers(mistake: Mistake) -> study.Readers:
    return study.Readers(mistake, study.TASK, generators(3, 4))


def drawn() -> Tensor:
    return study.TASK.batch(generators(5, 6), 3)[0]


def test_the_right_arm_is_attention() -> None:
    model = readers("none")
    x = torch.randn(2, 3, 16, study.EMBED_DIM, generator=Generator().manual_seed(1))
    for seed in range(2):
        weights = {name: weight[seed] for name, weight in model.weights.items()}
        heads = [
            (x[seed] @ weights[name]).reshape(3, 16, study.HEADS, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        ]
        blend = scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True)
        wanted = blend.transpose(1, 2).reshape(3, 16, -1) @ weights["output"]
        torch.testing.assert_close(model.attention(x)[seed], wanted)


def test_who_sees_the_future() -> None:
    for mistake in study.MISTAKES:
        features = drawn()
        later = features.clone()
        later[:, :, -1] = later[:, :, -1].flip(-1)
        before, after = (readers(mistake)(x)[:, :, :-1] for x in (features, later))
        assert torch.allclose(before, after, atol=1e-5) == (mistake in CAUSAL)


def test_models_side_by_side_do_not_meet() -> None:
    setting = study.Setting("query_axis", learning_rate=0.01, steps=8)
    task = replace(study.TASK, test_size=20)
    _, both = study.fit(setting, task, (7, 8))
    _, alone = study.fit(setting, task, (8,))
    torch.testing.assert_close(both[:, 1], alone[:, 0], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(both[:, 0], both[:, 1], atol=1e-3)


def test_accuracies_count_what_is_asked() -> None:
    logits = torch.eye(3)[torch.tensor([[[0, 1, 2, 2]], [[0, 0, 0, 0]]])]
    answers = torch.tensor([[[0, 1, 0, 0]], [[1, 0, 0, 0]]])
    asked = torch.tensor([[[True, True, True, False]], [[True, False, False, False]]])
    assert study.accuracies(logits, answers, asked) == pytest.approx([200 / 3, 0.0])


def test_the_masks_of_the_arms() -> None:
    scores = torch.zeros(1, 4, 4)
    allowed = causal_mask(4, like=scores)
    for mistake, mask in (
        ("none", allowed),
        ("inverted", ~allowed),
        ("one_more", causal_mask(4, offset=1, like=scores)),
        ("one_less", causal_mask(4, offset=-1, like=scores)),
        ("late", allowed),
        ("no_mask", torch.ones(4, 4, dtype=torch.bool)),
    ):
        weights = study.weights_of(scores, mistake)  # type: ignore[arg-type]
        assert torch.equal(weights[0] > 0, mask)
    late = study.weights_of(scores, "late")[0]
    assert late.sum(-1).tolist() == [0.25, 0.5, 0.75, 1.0]
    assert study.weights_of(scores, "query_axis")[0].sum(-2).tolist() == [1.0] * 4
