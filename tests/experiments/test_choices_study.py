"""The study of Luong's choices: one setting for all, and dot attention from other records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.choices import study as choices
from experiments.engine.settings import reported

pytestmark = pytest.mark.slow


def test_a_record_of_other_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = reported()
    longer = {**settings, "dot": replace(settings["dot"], steps=3000)}
    monkeypatch.setattr(choices, "reported", lambda: longer)
    choices.recorded.cache_clear()
    with pytest.raises(ValueError, match="bottleneck: its dot was not trained as dot is here"):
        choices.recorded()
