"""The register: every claim of every record once, its page, and what chance may have decided."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bookkit.records import Claim, recorded_studies, register

ROOT = Path(__file__).parents[3]


def claim(*runs: float, threshold: float = 0.0, interval: tuple[float, float] = (0, 0)) -> Claim:
    mean = float(np.mean(runs))
    return Claim(
        claim="A beats B.", side="above", unit="", runs=runs, mean=mean, threshold=threshold,
        interval=interval, prediction=(mean, mean),
    )  # fmt: skip


def entry(one: Claim, key: str = "study/claim") -> register.Entry:
    return register.Entry(key, one, "history/bottleneck.ipynb")


def test_every_claim_of_every_record_is_there_once() -> None:
    recorded = [
        f"{study}/{key}"
        for study, path in recorded_studies().items()
        for key in json.loads(path.read_text(encoding="utf-8"))["claims"]
    ]
    keys = [one.key for one in register.register()]
    assert sorted(keys) == sorted(recorded)
    assert len(keys) == len(set(keys)) > 200


def test_the_page_of_a_study_shows_its_results() -> None:
    for study, page in register.PAGES.items():
        cells = json.loads((ROOT / "book" / page).read_text(encoding="utf8"))["cells"]
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        assert f'"{study}"' in code or f'"{study}/' in code, study


def test_what_is_told_of_earlier_claims_leads_to_those_of_today() -> None:
    today = {one.key: one.claim for one in register.register()}
    for group in register.changes()["renamed"]:
        assert group["why"]
        assert not group["names"].keys() & today.keys()
        assert set(group["names"].values()) <= today.keys()
    listed = {one.key: one.claim for one in register.withdrawn()} | today
    for group in register.changes()["reworded"]:
        assert group["why"]
        assert not [name for name, said in group["said"].items() if listed[name].claim == said]
    for one, of in register.changes()["variants"].items():
        assert today[one].side == today[of].side
    for entry in register.withdrawn():
        assert entry.withdrawn
        assert entry.key not in today or today[entry.key].claim != entry.claim.claim


def test_claims_that_ask_the_same_are_one_family() -> None:
    entries = [*register.register(), *register.withdrawn()]
    found = register.families(entries)
    assert sorted(id(one) for family in found for one in family) == sorted(map(id, entries))
    keys = [{one.key for one in family} for family in found]
    for one, other in (
        ("bottleneck/attention_gain", "buys/dot_gain"),  # the same runs
        ("explanation/top_agrees", "explanation_seeds/top_agrees"),
        ("from_scratch/late/in_use", "from_scratch/late-long/in_use"),
        ("positions/none_suffices", "positions/patient_none_suffices"),
    ):
        assert {one, other} in keys
    # What is measured is another thing, though the numbers agree or the name does.
    assert {"from_scratch/swapped/in_use", "from_scratch/swapped-long/in_use"} in keys
    assert keys.count({"translator_race/equal_time"}) == 2


def test_hypotheses_are_counted_once_each() -> None:
    one = claim(0.4, 1.9, 0.8)
    again, higher = replace(one, claim="B loses to A."), replace(one, threshold=1.0)
    bug, check = replace(one, sort="demonstration"), replace(one, sort="check", threshold=2.0)
    entries = [entry(other) for other in (one, again, higher, check)]
    assert [other.claim for other in register.hypotheses(entries)] == [one, higher]
    assert register.hypotheses([entry(bug), entry(check)]) == []
    assert not entry(bug).is_hypothesis


def test_two_studies_of_the_same_runs_count_once() -> None:
    keys = [one.key for one in register.hypotheses(register.register())]
    assert "bottleneck/attention_gain" in keys
    assert "buys/dot_gain" not in keys
    assert {"buys/transformer_far_beyond", "summarization/coverage_helps"} <= set(keys)


def test_a_p_value_is_that_of_the_interval() -> None:
    runs = (0.4, 1.9, 0.8, 2.7, 1.1)
    for threshold in (0.0, 1.0, 5.0):
        found = register.p_value(claim(*runs, threshold=threshold))
        low, high = map(float, stats.ttest_1samp(runs, 0).confidence_interval(1 - found))
        assert min(abs(low - threshold), abs(high - threshold)) < 1e-6


def test_decided_claims_are_counted_and_lucky_ones_are_bounded() -> None:
    sure = claim(1.0, 1.01, 0.99, 1.0, interval=(0.98, 1.02))
    lucky = claim(1.0, 2.0, 0.5, 3.0, interval=(0.1, 3.1))
    open_ = [claim(-1.0, 2.0, 0.5, -0.8 - n, interval=(-1.5, 1.9)) for n in range(18)]
    found = register.tally([entry(one) for one in (sure, lucky, *open_)])
    assert found == (20, 2, 1.0, 1)
    assert register.tally([entry(sure)]) == (1, 1, 0.05, 1)
    with pytest.raises(ValueError, match="at least one hypothesis"):
        register.tally([])
