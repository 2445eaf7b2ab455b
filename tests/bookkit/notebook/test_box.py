import re
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bookkit.notebook import MeasuredBox, measured
from bookkit.records import UnknownNameError
from experiments.engine import record
from experiments.engine.claims import History
from experiments.engine.kinds import number

DATA = {"credit": "A. Author", "licence": "CC BY 4.0"}
SIGNS = {"holds": "●", "undecided": "◐", "does not hold": "○"}
SAID = {
    "holds": "With attention, {} more sentences in 100 are right.",
    "fails": "It gets {size} sentences fewer right.",
    "undecided": "We cannot tell which is better.",
    "number": "{} in 100 sentences",
}


def with_history(claims: dict[str, record.Entry]) -> dict[str, record.Entry]:
    history = asdict(History("ours", "hypothesis", "before the runs"))
    return {name: {**claim, **history} for name, claim in claims.items()}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Write a study with made-up numbers; return where it lies."""
    better, worse = [97.0, 98.0, 96.5, 97.5, 98.5], [60.0, 63.0, 59.0, 62.0, 66.0]
    claims = {
        "gain": record.claim("A < B & C.", better, worse, number("points"), "above"),
        "loss": record.claim("It hurts.", better, worse, number("points"), "below"),
        "tie": record.claim("It helps.", better, better[::-1], number(""), "above"),
        "bound": record.claim("Below 70 %.", worse, None, number("%"), "below", 70.5),
        "drop": record.claim("It helps.", worse, better, number("points"), "above"),
    }
    claims |= {f"said_{name}": entry | {"finding": SAID} for name, entry in claims.items()}
    claims["said_drop"]["finding"] = SAID | {"number": "{size} fewer in 100"}
    record.write_result(
        "sample", title="A sample", command="python -m experiments sample", seeds=[1, 2, 3, 4, 5],
        threads=2, code={"commit": "0123456789abcdef", "of": "record", "files": {}}, config={},
        measures={"dot/exact_match": record.measure(better, number("%"))},
        claims=with_history(claims), data=DATA, directory=tmp_path,
    )  # fmt: skip
    return tmp_path


def parts(box: MeasuredBox, name: str) -> list[str]:
    """Return the texts of the elements of a class, white space set right."""
    root = ElementTree.fromstring(box._repr_html_())
    found = [element for element in root.iter() if element.get("class") == name]
    return [" ".join("".join(element.itertext()).split()) for element in found]


def part(box: MeasuredBox, name: str) -> str:
    """Return the text of the one element of a class."""
    (text,) = parts(box, name)
    return text


@pytest.mark.parametrize(
    ("key", "verdict"),
    [("gain", "holds"), ("loss", "does not hold"), ("tie", "undecided"), ("bound", "holds")],
)
def test_the_verdict_stands_beside_the_claim_and_not_beside_the_finding(
    results: Path, key: str, verdict: str
) -> None:
    box = measured(f"sample/{key}", directory=results)
    claim = f"The study states: “{box.claim.claim}” This holds if the number is "
    claim += f"{box.claim.claimed}. Verdict:"
    assert repr(box).splitlines()[3] == f"{claim} {SIGNS[verdict]} {verdict}"
    assert part(box, "m-claim") == f"{claim} {verdict}"
    assert rf"Verdict: {verdict}}}" in box._repr_latex_()
    for name in ("m-head", "m-finding"):
        assert verdict not in part(box, name)


def test_the_headline_is_what_was_found(results: Path) -> None:
    rows: list[tuple[str, str]] = [
        ("gain", "A < B & C."),
        ("loss", "The runs contradict this claim."),
        ("tie", "The runs do not decide this question."),
        ("said_gain", "With attention, 36 more sentences in 100 are right."),
        ("said_loss", "It gets 36 sentences fewer right."),
        ("said_drop", "It gets 36 sentences fewer right."),
        ("said_tie", "We cannot tell which is better."),
    ]
    for key, headline in rows:
        box = measured(f"sample/{key}", directory=results)
        assert repr(box).splitlines()[:2] == ["Measured", headline]
        assert part(box, "m-finding") == headline
        escaped = headline.replace("&", r"\&")
        assert rf"\textbf{{Measured}} --- \textbf{{{escaped}}}\\" in box._repr_latex_()


def test_a_claim_that_does_not_hold_is_never_the_headline(results: Path) -> None:
    for key in ("loss", "tie", "drop"):
        box = measured(f"sample/{key}", directory=results)
        assert box.claim.claim not in part(box, "m-finding")
        assert part(box, "m-asked") == f"The claim: “{box.claim.claim}”"
        assert parts(measured(f"sample/said_{key}", directory=results), "m-asked") == []
    assert parts(measured("sample/gain", directory=results), "m-asked") == []


@pytest.mark.parametrize(
    ("key", "number", "sign"),
    [
        ("gain", "36 points", 1),
        ("bound", "62 %", 1),
        ("said_gain", "36 in 100 sentences", 1),
        ("drop", "−36 points", 1),
        ("said_drop", "36 fewer in 100", -1),
    ],
)
def test_the_number_is_round_and_as_a_reader_pictures_it(
    results: Path, key: str, number: str, sign: int
) -> None:
    box = measured(f"sample/{key}", directory=results)
    low, high = sorted(sign * end for end in box.claim.interval)
    likely = f"likely between {low:.0f} and {high:.0f}".replace("-", "−")
    assert part(box, "m-value") == number
    assert part(box, "m-likely") == likely
    assert " ".join(repr(box).splitlines()[2].split()) == f"{number}, {likely}"


def test_the_box_tells_where_its_number_comes_from(results: Path) -> None:
    box = measured("sample/gain", directory=results)
    low, high = box.claim.interval
    facts = part(box, "m-meta")
    assert facts.startswith(f"95 % interval {low:.1f} to {high:.1f} · 5 seeds (1, 2, 3, 4, 5)")
    for fact in (
        "data: A. Author, CC BY 4.0",
        f"{box.study.processor}, 2 threads",
        f"Python {box.study.versions['python']}",
        f"PyTorch {box.study.versions['torch']}",
        "again: python -m experiments sample",
    ):
        assert fact in facts
        assert fact in " ".join(repr(box).split())
    assert re.search(r"· \d{1,2} [A-Z][a-z]{2} 20\d\d ·", facts)


def test_the_box_tells_where_its_claim_comes_from(results: Path) -> None:
    box = measured("sample/gain", directory=results)
    facts = part(box, "m-meta")
    assert facts.endswith("· claim of our own, before the runs.")
    assert "stored with commit 0123456, before records named their code" in facts
    told = replace(
        box.claim, origin="paper", source="luong2015", planned="changed later", before="It was 5.",
        wants_answers=True,
    )  # fmt: skip
    study = replace(
        box.study, code={**box.study.code, "of": "code"}, data={**DATA, "sha256": "f" * 64}
    )
    facts = part(MeasuredBox(study, told), "m-meta")
    assert "claim from a paper (luong2015), changed later. It was 5." in facts
    assert "code of commit 0123456" in facts
    assert f"SHA-256 {'f' * 12} ·" in facts
    assert "the record does not say which test items each run got right" in facts


def test_latex_is_one_formula_without_signs_that_break_it(results: Path) -> None:
    latex = measured("sample/gain", directory=results)._repr_latex_()
    assert (latex[0], latex[-1]) == ("$", "$")
    assert "$" not in latex[1:-1]
    assert latex.count("{") == latex.count("}")
    assert r"A < B \& C." in latex
    assert not re.search(r"(?<!\\)[%&#_]", latex)
    assert not re.search("[●◐○−·“”\N{NO-BREAK SPACE}]", latex)


def test_unknown_keys_are_answered(results: Path) -> None:
    with pytest.raises(UnknownNameError, match="study: got 'smaple', wanted one of 'sample'"):
        measured("smaple/gain", directory=results)
    with pytest.raises(UnknownNameError, match="claim of 'sample': got 'gian', wanted one of"):
        measured("sample/gian", directory=results)
    with pytest.raises(ValueError, match="key: got 'sample', wanted \"study/claim\""):
        measured("sample", directory=results)


def test_a_page_loads_neither_torch_nor_matplotlib() -> None:
    code = "import sys, bookkit.notebook\nprint({'matplotlib', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
