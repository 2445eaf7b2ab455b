"""The settings that several studies report: the tuned ones of the study `bottleneck`."""

from experiments.engine.translators import KINDS, GrammarTask, Setting
from experiments.engine.trials import tuned

REPORT_SEEDS = (1, 2, 3, 4, 5)
REPORT_STEPS = 2000
"""Updates of a reported training on the grammar; tuning takes `Setting.steps`, fewer."""


def reported() -> dict[str, Setting]:
    """Return the settings of the grammar's reported translators: as tuned, trained for longer."""
    return tuned("bottleneck", {kind: Setting(kind) for kind in KINDS}, steps=REPORT_STEPS)


LIVE_TASK = GrammarTask(
    train_pairs=10_000, max_length=14, test_pairs=200, bin_pairs=100,
    bins=((1, 5), (6, 10), (11, 14)), test_seed=70_001,
)  # fmt: skip
"""A task that a page can train on in seconds."""

LIVE_SETTINGS: dict[str, Setting] = {
    kind: Setting(kind, learning_rate=4e-3, steps=800, hidden_dim=96) for kind in KINDS
}
