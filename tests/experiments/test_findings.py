"""Every claim of these studies has a finding, and the finding can be read beside its number."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from bookkit.notebook import measured
from bookkit.records import Finding, load_result
from experiments.engine import findings
from experiments.engine.claims import Claim
from experiments.engine.findings import with_findings

STUDIES = sorted(module.name for module in pkgutil.iter_modules(findings.__path__))
LONGEST = 95  # letters of a headline, which then has three lines on a phone


def test_the_studies_are_found() -> None:
    assert {"founding", "lookup", "scores"} <= set(STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_the_table_of_a_study_has_its_findings(name: str) -> None:
    own = importlib.import_module(f"experiments.engine.findings.{name}").FINDINGS
    claims = importlib.import_module(f"experiments.{name}.study").STUDY.claims
    assert {key: claim.finding for key, claim in claims.items()} == own


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_shows_the_findings_that_the_table_has(name: str) -> None:
    own = importlib.import_module(f"experiments.engine.findings.{name}").FINDINGS
    for key, claim in load_result(name).claims.items():
        assert measured(f"{name}/{key}").headline == own[key].headline(claim.verdict)


@pytest.mark.parametrize("name", STUDIES)
def test_findings_are_short_sentences_that_differ(name: str) -> None:
    own = importlib.import_module(f"experiments.engine.findings.{name}").FINDINGS
    for key, finding in own.items():
        said = (finding.holds, finding.fails, finding.undecided)
        assert len(set(said)) == 3, key
        for sentence in said:
            assert sentence.endswith("."), sentence
            assert sentence[0].isupper(), sentence
            assert len(sentence) <= LONGEST, sentence


@pytest.mark.parametrize("name", STUDIES)
def test_a_number_without_its_sign_is_below_0(name: str) -> None:
    own = importlib.import_module(f"experiments.engine.findings.{name}").FINDINGS
    for key, claim in load_result(name).claims.items():
        if "{size}" in own[key].number:
            assert claim.interval[1] <= 0, key


def test_no_claim_is_left_out_and_no_finding_is_left_over() -> None:
    claim = Claim("A beats B.", "a", "b", above=0)
    finding = Finding(holds="A is better.", fails="B is better.", undecided="We cannot tell.")
    assert with_findings({"one": finding}, {"one": claim})["one"].finding == finding
    with pytest.raises(ValueError, match="differs in two"):
        with_findings({"one": finding, "two": finding}, {"one": claim})
    with pytest.raises(ValueError, match="differs in one"):
        with_findings({}, {"one": claim})
