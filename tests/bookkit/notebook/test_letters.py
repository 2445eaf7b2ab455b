"""The small models of letters: trained as in the study, asked as in the study."""

from functools import partial

import pytest
import torch
from torch import Generator

from bookkit.notebook import letters
from companion import rotate
from companion.models.transformer import LanguageModel
from companion.positions import Yarn
from companion.training import TrainingConfig
from experiments.engine.descent import CLIP, WARMUP
from experiments.positions import study as positions

SMALL = letters.Letters(letters=5, back=2, length=12, batch_size=4, test_size=6)


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return letters.learn_letters(SMALL, seed=3, steps=2)


def test_the_answer_stands_so_many_positions_back() -> None:
    given, answers = SMALL.draw(4, 9, Generator().manual_seed(5))
    assert given.shape == answers.shape == (4, 9)
    assert torch.equal(answers[:, 2:], given[:, :-2])
    assert set(given.flatten().tolist()) == set(range(5))
    assert SMALL.lengths == (12, 18, 24, 48)


def test_the_task_is_that_of_the_study() -> None:
    assert letters.letter_task() == positions.TASK


def test_batches_are_drawn_one_after_the_other() -> None:
    generator, batches = Generator().manual_seed(4), letters.Fresh(SMALL, seed=4)
    drawn = [SMALL.batch(generator)[0] for _ in range(80)]
    assert all(torch.equal(batches[step][0], drawn[step]) for step in range(80))
    assert {len(batch) for batch in drawn} == {4}
    assert {batch.shape[1] for batch in drawn} == set(range(6, 13))


def test_a_model_of_the_page_learns_as_one_of_the_study() -> None:
    arm = positions.reported()["alibi"]
    schedule = TrainingConfig(3, arm.learning_rate, WARMUP, CLIP, seed=3)
    wanted, losses = letters.train_letters(SMALL, positions.config_of(arm, SMALL), schedule)
    found = letters.learn_letters(SMALL, "alibi", seed=3, steps=3)
    assert len(losses) == 3
    assert found.config == wanted.config
    theirs = wanted.state_dict()
    assert all(torch.equal(weight, theirs[name]) for name, weight in found.state_dict().items())


def test_copies_leave_the_model_as_it_is(model: LanguageModel) -> None:
    given = SMALL.draw(2, 12, Generator().manual_seed(3))[0]
    before = model(given)
    changed = {
        "scaling": letters.with_scaling(model, Yarn(4.0, original_length=12)),
        "window": letters.with_attention(model, window=(2, 0)),
        "layout": letters.with_attention(model, rotary=partial(rotate, interleaved=True)),
    }
    for other in changed.values():
        assert not torch.allclose(other(given), before)
        theirs = other.state_dict()
        assert all(torch.equal(one, theirs[name]) for name, one in model.state_dict().items())
    assert torch.equal(model(given), before)
    assert torch.equal(letters.with_attention(model)(given), before)
    assert torch.allclose(changed["window"](given)[:, :3], before[:, :3], atol=1e-6)
