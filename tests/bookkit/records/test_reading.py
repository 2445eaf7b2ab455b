import copy
import json
from pathlib import Path
from typing import Any

import pytest

from bookkit.records import (
    Claim,
    Finding,
    UnknownNameError,
    load_result,
    read_study,
)

SAMPLE = Path(__file__).with_name("sample.json")


@pytest.fixture
def record() -> dict[str, Any]:
    """Return a well-formed record with made-up numbers."""
    record: dict[str, Any] = json.loads(SAMPLE.read_text(encoding="utf8"))
    return record


def save(record: dict[str, Any], directory: Path) -> None:
    (directory / "sample").mkdir(exist_ok=True)
    (directory / "sample" / "record.json").write_text(json.dumps(record), encoding="utf-8")


def test_a_record_becomes_a_study(record: dict[str, Any], tmp_path: Path) -> None:
    save(record, tmp_path)
    study = load_result("sample", directory=tmp_path)
    assert (study.study, study.seeds, study.threads) == ("sample", (3, 5, 7), 1)
    assert study["dot/exact_match"].interval == (95.5, 100.5)
    assert study["dot/exact_match"].runs == (97.0, 98.0, 99.0)
    claim = study.claim("gain")
    assert isinstance(claim, Claim)
    assert (claim.claim, claim.verdict, claim.decimals) == ("It helps.", "holds", 1)
    assert (claim.origin, claim.source, claim.planned) == ("paper", "luong2015", "before the runs")


FINDING: dict[str, Any] = {
    "holds": "It helps.", "fails": "It hurts.", "undecided": "We cannot tell.", "number": "",
}  # fmt: skip


def test_a_claim_may_have_a_finding(record: dict[str, Any]) -> None:
    assert read_study(record, name="sample").claim("gain").finding is None
    compared = FINDING | {"sides": {"dot": "dot/exact_match"}, "predicted": "a gap"}
    for finding in (FINDING, compared):
        record["claims"]["gain"]["finding"] = finding
        assert read_study(record, name="sample").claim("gain").finding == Finding(**finding)
    compared["sides"] = {"dot": "dot/exact"}
    with pytest.raises(ValueError, match=r"gain, sides: got \['dot/exact'\], wanted measures of"):
        read_study(record, name="sample")


def test_answers_by_item_are_one_a_seed(record: dict[str, Any]) -> None:
    share = {"kind": "share", "items": 4, "interval": [95.5, 100], "prediction": [93.0, 100]}
    record["measures"]["dot/bleu"] |= share | {"answers": ["f", "e", "f"]}
    found = read_study(record, name="sample")["dot/bleu"]
    assert (found.answers, found.items, found.bounds) == (("f", "e", "f"), 4, (0, 100))
    record["measures"]["dot/bleu"]["answers"] = ["f", "e", "x"]
    with pytest.raises(ValueError, match=r"answers: got .* wanted numbers in base 16"):
        read_study(record, name="sample")


def test_a_missing_study_lists_those_there_are(record: dict[str, Any], tmp_path: Path) -> None:
    save(record, tmp_path)
    with pytest.raises(UnknownNameError, match="study: got 'other', wanted one of 'sample'"):
        load_result("other", directory=tmp_path)
    with pytest.raises(UnknownNameError, match="study: got 'x', wanted but there is none yet"):
        load_result("x", directory=tmp_path / "nowhere")


def test_what_is_no_record_is_refused(record: dict[str, Any]) -> None:
    rows: list[tuple[list[str], object, str]] = [
        (["seeds"], [3, 5], "dot/exact_match, runs: got 3 numbers, wanted 2: one a seed"),
        (["seeds"], [3, 3, 5], "seeds: got .* all different"),
        (["study"], "other", "study: got other, wanted 'sample'"),
        (["date"], "31 Jan 2026", "date: got 31 Jan 2026, wanted YYYY-MM-DD"),
        (["threads"], "1", "threads: got str, wanted int"),
        (["measures", "dot/bleu", "runs"], [1, 2, float("nan")], "runs: .* finite numbers"),
        (["measures", "dot/bleu", "interval"], [98.5, 99.0], "interval: .* the mean 98 inside"),
        (["measures", "dot/bleu", "std"], 1.0, "dot/bleu: got also std, wanted no more than"),
        (["claims", "gain", "origin"], "folklore", "origin: got folklore, wanted paper, popular"),
        (
            ["claims", "gain", "finding"],
            FINDING | {"fails": ""},
            "fails: got '', wanted a sentence",
        ),
        (["claims", "gain", "source"], "", "source: got , wanted the paper's key"),
        (["claims", "gain", "side"], "left", "side: got left, wanted above or below"),
        (["fingerprint", "tolerance"], 0.0, "tolerance: got 0.0, wanted a number above 0"),
        (["measures", "dot/bleu", "kind"], "share", r"items: got \[\], wanted one number of"),
        (["measures", "dot/bleu", "kind"], "exact", "got also interval, prediction"),
        (["measures", "dot/bleu", "bounds"], [0, 100], "interval: .* an interval within"),
        (["code", "files"], {"a.py": "0b5e"}, "files, a.py: got 0b5e, wanted a SHA-256"),
        (["surprise"], 1, "got also surprise, wanted no more than"),
    ]
    for (*groups, last), value, message in rows:
        changed = copy.deepcopy(record)
        entry = changed
        for group in groups:
            entry = entry[group]
        entry[last] = value
        with pytest.raises(ValueError, match=f"record 'sample'.*{message}"):
            read_study(changed, name="sample")
