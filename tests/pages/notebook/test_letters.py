"""The small models of letters: trained as in the study, asked as in the study."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Generator

from companion import rotate
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.pages.notebook.letters import (
    Letters,
    learn_letters,
    letter_task,
    right_answers,
    with_attention,
    with_scaling,
)
from companion.positions import Yarn
from experiments import positions

SMALL = Letters(letters=5, back=2, length=12, batch_size=4, test_size=6, seed=3)


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return learn_letters(SMALL, steps=2)


def studied() -> positions.Task:
    return positions.Task(letters=5, back=2, length=12, batch_size=4, test_size=6)


def test_the_task_is_that_of_the_study() -> None:
    task = letter_task(seed=7)
    assert task == Letters(seed=7)
    assert task.lengths == positions.TASK.lengths == (32, 48, 64, 128)
    for one in (SMALL, studied()):
        given, answers = one.draw(4, 9, Generator().manual_seed(5))
        assert torch.equal(answers[:, 2:], given[:, :-2])


def test_a_batch_depends_on_its_number_and_the_seed() -> None:
    first, again, other = SMALL[4][0], SMALL[4][0], replace(SMALL, seed=4)[4][0]
    assert torch.equal(first, again)
    assert first.shape != other.shape or not torch.equal(first, other)
    assert {SMALL[step][0].shape[1] for step in range(80)} == set(range(6, 13))


def test_the_model_is_that_of_the_study(model: LanguageModel) -> None:
    assert model.config == positions.make(positions.Setting("rotary"), studied()).config
    start = learn_letters(SMALL, "alibi", steps=1)
    assert start.config.positions == "alibi"


def test_training_makes_the_loss_fall() -> None:
    task = replace(SMALL, letters=3, back=1, test_size=50)
    few, many = (learn_letters(task, steps=steps, learning_rate=0.02) for steps in (1, 150))
    assert right_answers(many, task, 12, seed=1) > 95 > 70 > right_answers(few, task, 12, seed=1)


def test_right_answers_are_counted_as_in_the_study(model: LanguageModel) -> None:
    wanted = positions.accuracy(model, studied(), seed=2)
    found = {f"accuracy/{n}": right_answers(model, SMALL, n, 90_002) for n in SMALL.lengths}
    assert found == wanted


def test_copies_leave_the_model_as_it_is(model: LanguageModel) -> None:
    given = SMALL.draw(2, 12, Generator().manual_seed(3))[0]
    before = model(given)
    changed = {
        "scaling": with_scaling(model, Yarn(4.0, original_length=12)),
        "window": with_attention(model, window=(2, 0)),
        "layout": with_attention(model, rotary=partial(rotate, interleaved=True)),
    }
    for other in changed.values():
        assert not torch.allclose(other(given), before)
    assert torch.equal(model(given), before)
    assert torch.equal(with_attention(model)(given), before)
    assert torch.allclose(changed["window"](given)[:, :3], before[:, :3], atol=1e-6)


def test_a_setting_that_attention_does_not_have_is_refused() -> None:
    config = TransformerConfig(vocab_size=4, embed_dim=8, num_heads=2, positions="rotary")
    with pytest.raises(AttributeError, match="windows"):
        with_attention(LanguageModel(config), windows=(2, 0))
