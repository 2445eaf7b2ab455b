"""The study of what attention buys: the same for all arms, and what they cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.buys import study as buys
from experiments.engine.settings import reported
from experiments.engine.translators import GrammarTask

pytestmark = pytest.mark.slow

SMALL = GrammarTask(train_pairs=120, max_length=9, test_pairs=8, bin_pairs=8, bins=((1, 5), (6, 9)))


def test_a_record_of_other_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = reported()
    longer = {**settings, "dot": replace(settings["dot"], steps=3000)}
    monkeypatch.setattr("experiments.buys.study.reported", lambda: longer)
    buys.recorded.cache_clear()
    with pytest.raises(ValueError, match="its dot was not trained as dot is here"):
        buys.recorded()


def test_costs_are_of_every_arm() -> None:
    settings = {name: setting.shrunk() for name, setting in buys.everyone().items()}
    costs = buys.costs(settings, 3, SMALL)
    assert len(costs) == 5 * len(settings)
    assert all(value > 0 for value in costs.values())
    assert costs["dot/parameters"] == costs["none/parameters"]
    assert costs["local/parameters"] > costs["general/parameters"] > costs["dot/parameters"]
    assert costs["concat/training_mib"] > costs["dot/training_mib"] > costs["none/training_mib"]
