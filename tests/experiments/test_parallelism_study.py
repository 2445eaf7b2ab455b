"""The study of all positions at once: both ways compute the same, and both sizes are alike."""

from __future__ import annotations

import pytest
import torch

from experiments.parallelism import study

SMALL = study.Size(sentences=2, length=5, words=9, embed_dim=8, state=6)


def test_one_by_one_gives_the_scores_of_all_at_once() -> None:
    torch.manual_seed(3)
    model, batch = SMALL.transformer(), SMALL.batch(3)
    torch.testing.assert_close(study.one_by_one(model, batch), study.at_once(model, batch))


def test_both_models_have_about_as_many_weights() -> None:
    models = study.SIZE.transformer(), study.SIZE.recurrent()
    first, second = (sum(p.numel() for p in model.parameters()) for model in models)
    assert first == pytest.approx(second, rel=0.01)


def test_an_update_leaves_gradients() -> None:
    model = SMALL.recurrent()
    study.update(model, SMALL.batch(3))
    assert all(p.grad is not None for p in model.parameters())


def test_every_call_is_timed_with_one_thread_and_with_two_and_the_number_comes_back() -> None:
    before = torch.get_num_threads()
    times = study.outcome(3, SMALL, 1)
    assert torch.get_num_threads() == before
    assert set(times) == {f"{name}/{n}" for name in study.calls(SMALL, 3) for n in (1, 2)}
    assert min(times.values()) > 0
