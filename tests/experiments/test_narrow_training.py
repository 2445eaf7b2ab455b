"""The study of training in narrow numbers: its questions, its arithmetic, and what arms share."""

from __future__ import annotations

import pytest
import torch
from torch import Generator

from companion.attention import scaled_dot_product_attention
from companion.pages.notebook import load_result
from experiments import narrow_training as narrow

SMALL = narrow.Task(keys=300, queries=6, width=8, classes=3, tests=2)


def test_each_query_is_a_noisy_key_and_asks_for_its_class() -> None:
    task = narrow.Task(keys=50, queries=40, noise=0.1)
    questions = task.draw(Generator().manual_seed(3))
    nearest = torch.cdist(questions.query, questions.key).argmin(-1)
    assert torch.equal(questions.value.argmax(-1)[nearest], questions.right)
    spread = (questions.query - questions.key[nearest]).std().item()
    assert spread == pytest.approx(task.noise, rel=0.1)


def test_the_right_arithmetic_is_attention() -> None:
    model = narrow.Finder(narrow.Setting("float32"), SMALL)
    questions = SMALL.draw(Generator().manual_seed(4))
    blend = scaled_dot_product_attention(
        model.query(questions.query), model.key(questions.key), questions.value
    )
    torch.testing.assert_close(model(questions), model.output(blend))
    torch.testing.assert_close(model.in_float32()(questions), model(questions))


def test_a_narrow_sum_makes_the_blend_too_large() -> None:
    task = narrow.Task(keys=1024, queries=4, width=8)
    model = narrow.Finder(narrow.Setting("bfloat16", running=True), task)
    torch.nn.init.zeros_(model.query.weight)  # all weights alike
    questions = task.draw(Generator().manual_seed(5))
    torch.testing.assert_close(
        model(questions), 4 * model.in_float32()(questions), rtol=0.02, atol=0.02
    )


def test_training_that_breaks_ends_with_what_was_learned() -> None:
    setting = narrow.Setting("float16", safe=False, learning_rate=1.0, steps=40)
    model, losses = narrow.fit(setting, SMALL, seed=7)
    assert 0 < len(losses) < 40
    measures = narrow.outcome(setting, SMALL, seed=7)
    assert measures["updates"] == len(losses)
    assert 0 <= narrow.wrong(model.in_float32(), SMALL, seed=7) == measures["wrong_in_float32"]


def test_answers_that_are_no_numbers_are_wrong() -> None:
    model = narrow.Finder(narrow.Setting("float32"), SMALL)
    torch.nn.init.constant_(model.output.weight, torch.nan)
    assert narrow.wrong(model, SMALL, seed=1) == 100


def test_the_recorded_rates_lie_inside_the_grid_where_a_model_learns() -> None:
    recorded = load_result("narrow_training").config["arms"]
    for name, arm in narrow.reported().items():
        assert narrow.Setting(**recorded[name]) == arm
        if "textbook" not in name:
            assert narrow.LEARNING_RATES[0] < arm.learning_rate < narrow.LEARNING_RATES[-1]
