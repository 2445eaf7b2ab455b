from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bookkit.notebook import MeasuredBox, claims_table, measured
from bookkit.records import UnknownNameError, load_result, recorded_studies
from experiments.engine import record
from experiments.engine.claims import History
from experiments.engine.kinds import number, share
from tests.bookkit.bibliography import authors, entry

SIGNS = {"holds": "●", "undecided": "◐", "does not hold": "○"}
SAID = {
    "holds": "With attention, {} more sentences in 100 are right.",
    "fails": "It gets {size} sentences fewer right.",
    "undecided": "We cannot tell which is better.",
    "number": "{} in 100 sentences",
}
SIDES = {
    "sides": {"dot": "dot/right", "none": "none/right"}, "axis": "right, %", "predicted": "a gap",
}  # fmt: skip


MOST = [100.0, 100.0, 0.0, 100.0, 100.0]
HISTORY = asdict(History("ours", "hypothesis", "before the runs"))


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
        "time": record.claim("It is fast.", worse, None, number("ms", timed=True), "below", 70.5),
        "most": record.claim("Most do.", MOST, None, share(1, "% of trainings", own=True), "above"),
    }
    claims["tie"]["near"] = {"a/right": "ceiling of 100 %", "b/right": "ceiling of 100 %"}
    claims |= {f"said_{name}": entry | {"finding": SAID} for name, entry in claims.items()}
    claims["said_drop"]["finding"] = SAID | {"number": "{size} fewer in 100"}
    claims["sides"] = claims["gain"] | {"finding": SAID | SIDES}
    record.write_result(
        "sample", title="A sample", command="python -m experiments sample", seeds=[1, 2, 3, 4, 5],
        threads=2, code={"commit": "0123456789abcdef", "of": "record", "files": {}}, config={},
        measures={
            "dot/right": record.measure(better, number("%")),
            "none/right": record.measure(worse, number("%")),
        },
        claims={name: claim | HISTORY for name, claim in claims.items()}, directory=tmp_path,
    )  # fmt: skip
    return tmp_path


def words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def part(box: MeasuredBox, name: str) -> str:
    """Return the text of the one element of a class."""
    root = ElementTree.fromstring(box._repr_html_())
    (text,) = (words(element) for element in root.iter() if element.get("class") == name)
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
    assert f" Measured: {number}, {likely}." in " ".join(box.asked.split())


def test_a_box_names_the_machine_counts_trainings_and_says_what_is_near(results: Path) -> None:
    time, most, tie = (
        measured(f"sample/{key}", directory=results) for key in ("time", "most", "tie")
    )
    assert part(time, "m-head") == f"Measured on {time.study.processor}"
    assert part(time, "m-finding") == "It is fast."
    assert part(time, "m-claim").endswith("Verdict: no verdict")
    said = " ".join(most.asked.split())
    assert "Measured: 4 of 5 trainings, likely between 28 and 99 %." in said
    assert part(tie, "m-near").startswith(
        "What is compared is close to its ceiling of 100 %, where"
    )
    assert repr(tie).count("what is compared is close to its ceiling of 100 %") == 1
    assert "m-near" not in most._repr_html_()


def test_a_box_shows_both_sides_and_says_what_was_predicted(results: Path) -> None:
    gain, loss, sides = (
        measured(f"sample/{key}", directory=results) for key in ("gain", "loss", "sides")
    )
    assert gain.asked.startswith("We had predicted: “A < B & C.” Measured: 36")
    assert gain.asked.endswith(" The prediction held.")
    assert loss.asked.endswith(" The prediction failed.")
    assert sides.asked.startswith("We had predicted a gap. Measured: 36 in 100 sentences, likely")
    drawn = ElementTree.fromstring(sides._repr_html_())
    labels = [words(one) for one in drawn.iter() if one.get("class") == "m-label"]
    assert labels == ["dot", "none", "", ""]
    assert part(sides, "m-unit") == "right, %"


def test_a_side_may_be_a_measure_of_another_study() -> None:
    drawn = measured("equal_terms/size_is_not_length")._repr_html_()
    far = load_result("bottleneck")["dot/exact_match/36-40"]
    assert f">{far.mean:.1f}<" in drawn


def test_a_box_names_the_authors_of_every_paper_that_a_claim_comes_from() -> None:
    for study in recorded_studies():
        for name, claim in load_result(study).claims.items():
            if key := claim.source:
                box = measured(f"{study}/{name}")
                cited = f"{authors(key)}, {entry(key)['year']}"
                after = "after " if claim.origin == "ours" else ""
                assert f" ({after}{cited}" in box._history(), key
                assert key not in repr(box)


def test_unknown_keys_are_answered(results: Path) -> None:
    with pytest.raises(UnknownNameError, match="claim of 'sample': got 'gian', wanted one of"):
        measured("sample/gian", directory=results)
    with pytest.raises(ValueError, match="key: got 'sample', wanted \"study/claim\""):
        measured("sample", directory=results)


def test_a_table_has_every_claim_with_number_verdict_and_section(results: Path) -> None:
    sections = {"loss": "Does it hurt?", "sample/tie": "Does it help?"}
    table = claims_table("sample", sections=sections, directory=results)
    numbers = [" ".join(str(claim).split()) for claim, _ in table.rows]
    rows = [
        ["It hurts.", numbers[0], "○ does not hold", "Does it hurt?"],
        ["It helps.", numbers[1], "◐ undecided", "Does it help?"],
        ["Below 70 %.", numbers[2], "● holds", ""],
    ]
    lines = ElementTree.fromstring(table._repr_html_()).iter("tr")
    assert [[words(cell) for cell in line] for line in lines][1:4] == [
        [cell.lstrip("●◐○ ") for cell in row] for row in rows
    ]
    for line, row in zip(repr(table).splitlines()[1:4], rows, strict=True):
        assert " ".join(line.split()) == " | ".join(cell for cell in row if cell)
    with pytest.raises(UnknownNameError, match="claim: got 'gian', wanted one of"):
        claims_table("sample", sections={"gian": "X"}, directory=results)
