"""Every claim stands in one file beside its study, and a fault in the file is named."""

import re
from pathlib import Path

import pytest

from bookkit.records import Finding, load_result, recorded_studies
from experiments.engine.claims import Claim, History, Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.kinds import number

BIBLIOGRAPHY = Path(__file__).parents[2] / "book" / "references.bib"
RUNS: Runs = {"dot/1-5": [9.0, 8.0], "dot/26-30": [4.0, 5.0], "none/1-5": [9.0, 9.0]}
GOOD = Path(__file__).with_name("claims.yaml").read_text(encoding="utf8")


def lost(runs: Runs, kind: str, longest: str) -> list[float]:
    both = runs[f"{kind}/1-5"], runs[f"{kind}/{longest}"]
    return [short - long for short, long in zip(*both, strict=True)]


def claims_of(text: str, folder: Path) -> dict[str, Claim]:
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    return read_claims(str(folder / "study.py"), lost)


def test_a_claim_has_what_stands_under_it_and_what_stands_over_all(tmp_path: Path) -> None:
    falls, helps = claims_of(GOOD, tmp_path).values()
    assert (falls.sentence, falls.control) == ("Dot loses less.", "none/1-5")
    assert callable(falls.treatment)
    assert list(falls.treatment(RUNS)) == [5.0, 3.0]
    assert (falls.below, falls.above, falls.unit, falls.bounds) == (0, None, "points", (-200, None))
    assert falls.finding == Finding(
        holds="It loses {size}.", fails="It loses more.", undecided="We cannot tell.",
        number="{size} fewer",
    )  # fmt: skip
    before = "Added when the others had failed."
    assert falls.history == History("paper", "check", "added later", before, "britz2017")
    said = {"source": "luong2015", "quoted": "section 5: it helps"}
    assert helps.history == History("ours", "hypothesis", "before the runs", **said)
    assert (helps.unit, helps.above) == ("times", 0.5)
    assert callable(helps.treatment)
    assert list(helps.treatment(RUNS)) == [1.0, 8 / 9]


def test_a_fault_is_named(tmp_path: Path) -> None:
    rows: list[tuple[str, str, str]] = [
        ("    fails: No.\n", "", "helps: got no fails, wanted all of"),
        ("says: It", "sais: It", "helps: got 'sais', wanted one of says, number"),
        ("above: 0.5", "above: yes", "helps, above: got True, wanted int or float"),
        ("above: 0.5", "below: 1\n    above: 0", "helps, above, below: got 0, 1, wanted one"),
        ("ratio(dot/1-5, none/1-5)", "trainings(dot/1-5 over 8)", "helps: got trainings"),
        ("ratio(", "rati(", "helps, number: got rati, wanted one of .* trainings, lost"),
        ("none/1-5)", "none/1-5) - a - b", "helps: got .* wanted one number, or the difference"),
        ("sort: check", "sort: guess", "falls, sort: got guess, wanted one of"),
        ('"{size} fewer"', "fewer", "falls, number: got 'fewer', wanted"),
        ("  helps:", "  falls:", "got falls twice, wanted each key once"),
        ("claims:", "claim:", "got 'claim', wanted one of every_claim, claims"),
        (GOOD, "- a list", r"got \['a list'\], wanted a mapping"),
    ]
    for old, new, said in rows:
        assert old in GOOD
        with pytest.raises(ValueError, match=f"claims.*{said}"):
            claims_of(GOOD.replace(old, new), tmp_path)


def test_a_number_may_count_the_trainings_of_which_something_is_true(tmp_path: Path) -> None:
    for condition, runs in (
        ("dot/1-5 above 8.5", [100.0, 0.0]),
        ("dot/1-5 - none/1-5 below 0", [0.0, 100.0]),
    ):
        text = GOOD.replace("ratio(dot/1-5, none/1-5)", f"trainings({condition})")
        claim = claims_of(text, tmp_path)["helps"]
        entry = claim.decide(RUNS, lambda _: number("points"))
        assert (entry["runs"], entry["own_items"], entry["unit"]) == (runs, 1, "% of trainings")


def test_every_paper_is_in_the_bibliography_and_quoted_where_it_makes_the_claim() -> None:
    keys = set(re.findall(r"^@\w+\{([^,]+),", BIBLIOGRAPHY.read_text("utf8"), re.MULTILINE))
    claims = [claim for name in recorded_studies() for claim in load_result(name).claims.values()]
    assert {claim.source for claim in claims} - {""} <= keys
    unquoted = [claim.claim for claim in claims if claim.origin == "paper" and not claim.quoted]
    assert not unquoted


def test_a_number_that_is_shown_without_its_sign_is_below_0() -> None:
    for name in recorded_studies():
        for key, claim in load_result(name).claims.items():
            if claim.finding is not None and "{size}" in claim.finding.number:
                assert claim.interval[1] <= 0, f"{name}/{key}"


def test_of_trainings_a_box_shows_how_many_of_how_many() -> None:
    for name in recorded_studies():
        for key, claim in load_result(name).claims.items():
            if claim.counts_trainings and claim.finding is not None:
                assert "{} trainings" in claim.finding.number, f"{name}/{key}"
