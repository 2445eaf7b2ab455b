"""The study of all positions at once: both ways compute the same, and both sizes are alike."""

from __future__ import annotations

import pytest
import torch

from experiments.parallelism import study

pytestmark = pytest.mark.slow

SMALL = study.Size(sentences=2, length=5, words=9, embed_dim=8, state=6)


def test_one_by_one_gives_the_scores_of_all_at_once() -> None:
    torch.manual_seed(3)
    model, batch = SMALL.transformer(), SMALL.batch(3)
    torch.testing.assert_close(study.one_by_one(model, batch), study.at_once(model, batch))


def test_both_models_have_about_as_many_weights() -> None:
    models = study.SIZE.transformer(), study.SIZE.recurrent()
    first, second = (sum(p.numel() for p in model.parameters()) for model in models)
    assert first == pytest.approx(second, rel=0.01)
