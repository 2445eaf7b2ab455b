import json
import math
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bookkit.records import load_result
from bookkit.records.intervals import interval
from experiments.engine import record
from experiments.engine.claims import History
from experiments.engine.kinds import number, share

PLAIN, PERCENT = number(""), share(100)
HISTORY = asdict(History("ours", "hypothesis", "before the runs"))


def test_a_measure_can_be_computed_again_from_what_is_stored() -> None:
    runs = [1 / 3, 2 / 3, 1.0, 4 / 3, 2.0]
    entry = record.measure(runs, PERCENT)
    stored = json.loads(json.dumps(entry))
    assert record.measure(stored["runs"], PERCENT) == stored
    assert stored["runs"] == pytest.approx(runs, rel=5e-8)
    assert stored["runs"][0] == 0.33333333


def test_a_new_run_is_right_on_whole_items() -> None:
    low, high = share(40).spans([95.0, 97.5, 97.5, 95.0])["prediction"]
    assert (low / 2.5).is_integer()
    assert high == 100


def test_a_claim_pairs_runs_by_seed() -> None:
    treatment, control = [10.0, 20.0, 30.0], [9.0, 18.0, 27.0]
    entry = record.claim("It helps.", treatment, control, kind=PLAIN, side="above")
    assert entry["runs"] == [1.0, 2.0, 3.0]
    assert entry["interval"] == pytest.approx([2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5], abs=1e-3)
    assert (entry["side"], entry["threshold"], entry["claim"]) == ("above", 0.0, "It helps.")


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match="control_runs: got 1 runs, wanted 2, one for each"):
        record.claim("", [1.0, 2.0], [1.0], kind=PLAIN, side="above")
    with pytest.raises(ValueError, match=r"losses: got .* all finite"):
        record.fingerprint([math.nan])


def test_where_it_ran_is_named_but_not_which_machine() -> None:
    assert record.versions()["python"] == platform.python_version()
    assert record.versions()["numpy"] == np.__version__
    assert "+" not in record.versions()["torch"]
    assert record.processor()
    assert "(R)" not in record.processor()
    assert platform.node() not in record.processor()


@dataclass(frozen=True)
class Setting:
    steps: int = 3
    sizes: tuple[int, ...] = (4, 5)


def arguments(**changes: Any) -> dict[str, Any]:
    runs = [1.0, 2.0, 3.0, 4.0, 5.5]
    return {
        "title": "A sample", "command": "python -m experiments sample", "seeds": [1, 2, 3, 4, 5],
        "threads": 1, "code": {"commit": None, "of": "code", "files": {}},
        "config": {"model": Setting()},
        "measures": {"b": record.measure(runs, PERCENT), "a": record.measure(runs, number("s"))},
        "claims": {"c": record.claim("It is.", runs, None, kind=PLAIN, side="above") | HISTORY},
        "fingerprint": record.fingerprint([2.0, 1.0]),
        **changes,
    }  # fmt: skip


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    path = record.write_result("sample", **arguments(), directory=tmp_path)
    study = load_result("sample", directory=tmp_path)
    assert path == tmp_path / "sample" / "record.json"
    assert study["a"].runs == (1.0, 2.0, 3.0, 4.0, 5.5)
    assert study["a"].interval == pytest.approx(interval(study["a"].runs), rel=1e-7)
    assert study.claim("c").verdict == "holds"
    assert study.config["model"] == {"steps": 3, "sizes": [4, 5]}
    assert [entry.name for entry in path.parent.iterdir()] == ["record.json"]
    assert platform.node() not in path.read_text(encoding="utf-8")


def test_what_is_no_record_is_not_written(tmp_path: Path) -> None:
    better = {**record.measure([1.0, 2.0, 3.0, 4.0, 5.0], PERCENT), "mean": 3.1}
    rows: list[tuple[dict[str, Any], str]] = [
        ({"seeds": [1, 2, 3, 4]}, "seeds: got 4, wanted at least 5"),
        ({"config": {"file": "/data/pairs.tsv"}}, "config, file: got an absolute path"),
        ({"config": {"rate": math.nan}}, "not JSON compliant"),
        ({"config": {"model": object()}}, "sample, config, model: got object, wanted what JSON"),
        ({"measures": {"a": better}}, r"measures, a, mean: got 3.1, runs give 3.0"),
    ]
    for changes, message in rows:
        with pytest.raises((ValueError, TypeError), match=message):
            record.write_result("sample", **arguments(**changes), directory=tmp_path)
        assert not list(tmp_path.iterdir())


def test_a_write_that_fails_leaves_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record.write_result("sample", **arguments(), directory=tmp_path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        record.write_result("sample", **arguments(title="Another"), directory=tmp_path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
