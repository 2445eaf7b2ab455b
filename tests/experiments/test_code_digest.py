"""The digest of a run's code changes with what is computed, and with nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from experiments.engine import source
from experiments.engine.experiment import run_cached
from experiments.engine.source import code_digest
from experiments.engine.translators import GrammarTask, Setting, fit, outcome

Changed = dict[str, tuple[str, str]]
DigestOf = Callable[..., str]

FILES = {
    "helper": "WIDTH = 3\n\ndef twice(x):\n    return 2 * x\n\ndef unused():\n    return 0\n",
    "study": (
        "from companion_like.helper import WIDTH, twice, unused\n\n"
        "class Setting:\n    rate = 1\n\n"
        "def outcome(setting, seed):\n    return {'width': twice(seed) * WIDTH}\n\n"
        "CLAIM = 'wide'\n"
    ),
}


@pytest.fixture
def digest_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DigestOf]:
    """Return what takes a changed file's name and text, and gives the digest of its outcome."""
    package = tmp_path / "companion_like"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(source, "OURS", ("companion_like",))

    def digest(**changed: tuple[str, str]) -> str:
        for name, text in FILES.items():
            old, new = changed.get(name, ("", ""))
            assert old in text
            (package / f"{name}.py").write_text(text.replace(old, new, 1) if old else text)
        for name in [name for name in sys.modules if name.startswith("companion_like")]:
            del sys.modules[name]
        source._definitions.cache_clear()
        source._origin.cache_clear()
        study = import_module("companion_like.study")
        return code_digest(study.outcome, study.Setting(), 1)

    yield digest
    source._definitions.cache_clear()
    source._origin.cache_clear()


@pytest.mark.parametrize(
    "changed",
    [
        {"helper": ("2 * x", "3 * x")},
        {"helper": ("WIDTH = 3", "WIDTH = 4")},
        {"study": ("rate = 1", "rate = 2")},
        {"study": ("twice(seed) *", "twice(seed) +")},
    ],
)
def test_a_change_of_what_is_computed_is_seen(digest_of: DigestOf, changed: Changed) -> None:
    assert digest_of(**changed) != digest_of()


@pytest.mark.parametrize(
    "changed",
    [
        {"study": ("'wide'", "'very wide'")},
        {"helper": ("return 0", "return 1")},
        {"helper": ("def twice(x):\n", 'def twice(x):\n    """Double."""\n')},
        {"helper": ("    return 2 * x", "    # Doubled.\n    return (2\n            * x)")},
        {"study": ("WIDTH, twice, unused", "twice, WIDTH")},
    ],
)
def test_words_layout_and_what_is_not_reached_do_not_matter(
    digest_of: DigestOf, changed: Changed
) -> None:
    assert digest_of(**changed) == digest_of()


def test_the_setting_and_its_task_are_followed_to_the_model_and_the_grammar() -> None:
    task, setting = GrammarTask(), Setting("dot")

    assert code_digest(outcome, setting, task, 1) != code_digest(fit, setting, task, 1)
    assert code_digest(outcome, setting, task, 1) == code_digest(outcome, setting, task, 2)


def test_a_run_of_other_code_is_not_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.engine.experiment.RUNS", tmp_path)
    done: list[int] = []

    def work(seed: int) -> dict[str, float]:
        done.append(seed)
        return {"value": 1.0}

    for digest in ("one", "one", "two"):
        monkeypatch.setattr("experiments.engine.experiment.code_digest", lambda *_, d=digest: d)
        run_cached("study", None, work, 1)

    assert len(done) == 2
