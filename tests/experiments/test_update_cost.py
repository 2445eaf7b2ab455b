"""What an update costs, side by side."""

from __future__ import annotations

from experiments.engine.translators import GrammarTask, Setting
from experiments.engine.update_cost import update_costs


def test_a_wider_translator_costs_more_and_the_first_is_the_unit() -> None:
    task = GrammarTask(train_pairs=80, max_length=8, test_pairs=8, bins=())
    settings = {
        "narrow": Setting("none", hidden_dim=8, embed_dim=4, batch_size=16),
        "wide": Setting("none", hidden_dim=512, embed_dim=4, batch_size=16),
    }
    costs = update_costs(settings, task, seed=1, rounds=3, updates=3)
    assert costs["narrow"] == 1.0
    assert costs["wide"] > 2.0
