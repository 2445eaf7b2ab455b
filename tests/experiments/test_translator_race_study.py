"""The race of two translators: equal weights, equal updates, equal time."""

from __future__ import annotations

import pytest

from experiments.engine.translators import parameter_count
from experiments.translator_race import study as race

pytestmark = pytest.mark.slow


def test_both_have_about_as_many_weights() -> None:
    sizes = 147, 253  # the words of the task
    first, second = (parameter_count(one, sizes) for one in (race.TRANSFORMER, race.RECURRENT))
    assert first == pytest.approx(second, rel=0.005)


def test_no_validation_sentence_is_reported() -> None:
    reported = {pair.source for pair in race.TASK.tests()["test"]}
    assert not reported & {pair.source for pair in race.VALIDATION.tests()["test"]}
