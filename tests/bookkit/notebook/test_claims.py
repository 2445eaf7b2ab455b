from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bookkit.notebook import claims_table
from bookkit.records import UnknownNameError
from experiments.engine import record
from experiments.engine.claims import History
from experiments.engine.kinds import number

BETTER, WORSE = [97.0, 98.0, 96.5, 97.5, 98.5], [60.0, 63.0, 59.0, 62.0, 66.0]

HISTORY = asdict(History("ours", "hypothesis", "before the runs"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Write two studies with made-up numbers; return where they lie."""
    claims = {
        "gain": record.claim("A < B & C.", BETTER, WORSE, number("points"), "above"),
        "loss": record.claim("It hurts.", BETTER, WORSE, number("points"), "below"),
        "tie": record.claim("It helps.", BETTER, BETTER[::-1], number(""), "above"),
    }
    for name, kept in (("first", ["gain", "loss"]), ("second", ["tie"])):
        record.write_result(
            name, title="", command="", seeds=[1, 2, 3, 4, 5], threads=1,
            code={"commit": "0123456789", "of": "code", "files": {}}, config={}, measures={},
            claims={key: claims[key] | HISTORY for key in kept}, directory=tmp_path,
        )  # fmt: skip
    return tmp_path


def cells(table: object) -> list[list[str]]:
    """Return the words of the table, row by row."""
    root = ElementTree.fromstring(table._repr_html_())  # type: ignore[attr-defined]
    assert (root.tag, root.get("class")) == ("table", "table am-claims")
    return [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in root.iter("tr")]


def test_every_claim_has_number_verdict_and_section(results: Path) -> None:
    sections = {"loss": "Does it hurt?", "second/tie": "Does it help?"}
    table = claims_table("first", "second", sections=sections, directory=results)
    numbers = [" ".join(str(claim).split()) for claim, _ in table.rows]
    assert numbers[0].startswith("35.5 points [")
    assert cells(table) == [
        ["Claim", "Number", "Verdict", "Section"],
        ["It hurts.", numbers[0], "does not hold", "Does it hurt?"],
        ["It helps.", numbers[1], "undecided", "Does it help?"],
        ["A < B & C.", numbers[2], "holds", ""],
    ]
    lines = " ".join(repr(table).replace("\n", " / ").split())
    assert lines == (
        "Claim | Number | Verdict | Section / "
        f"It hurts. | {numbers[0]} | ○ does not hold | Does it hurt? / "
        f"It helps. | {numbers[1]} | ◐ undecided | Does it help? / "
        f"A < B & C. | {numbers[2]} | ● holds"
    )


def test_a_section_is_linked(results: Path) -> None:
    table = claims_table("first", sections={"gain": "Does it help?"}, directory=results)
    links = [link.attrib["href"] for link in ElementTree.fromstring(table._repr_html_()).iter("a")]
    assert links == ["#does-it-help"]


def test_unknown_claims_are_answered(results: Path) -> None:
    for key in ("gian", "first/gian", "third/gain"):
        with pytest.raises(UnknownNameError, match=f"claim: got '{key}', wanted one of"):
            claims_table("first", sections={key: "X"}, directory=results)
