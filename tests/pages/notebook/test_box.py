import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

from companion.pages.notebook import MeasuredBox, measured
from companion.pages.studies import UnknownNameError
from experiments import record
from experiments.history import History
from experiments.kinds import number

SVG = "{http://www.w3.org/2000/svg}"


def with_history(claims: dict[str, record.Entry]) -> dict[str, record.Entry]:
    history = asdict(History("ours", "hypothesis", "before the runs"))
    return {name: {**claim, **history} for name, claim in claims.items()}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Write a study with made-up numbers; return where it lies."""
    better, worse = [97.0, 98.0, 96.5, 97.5, 98.5], [60.0, 63.0, 59.0, 62.0, 66.0]
    record.write_result(
        "sample",
        title="A sample",
        command="python -m experiments.sample",
        seeds=[1, 2, 3, 4, 5],
        threads=2,
        config={},
        measures={"dot/exact_match": record.measure(better, number("%"))},
        claims=with_history(
            {
                "gain": record.claim(
                    "A < B & C.", better, worse, kind=number("points"), side="above"
                ),
                "loss": record.claim(
                    "It hurts.", better, worse, kind=number("points"), side="below"
                ),
                "tie": record.claim(
                    "It helps.", better, better[::-1], kind=number(""), side="above"
                ),
                "bound": record.claim(
                    "Below 70 %.", worse, None, kind=number("%"), side="below", threshold=70.5
                ),
            }
        ),
        data={"credit": "A. Author", "licence": "CC BY 4.0"},
        directory=tmp_path,
    )
    return tmp_path


def part(box: MeasuredBox, name: str) -> str:
    """Return the text of the element of a class, white space set right."""
    root = ElementTree.fromstring(box._repr_html_())
    (element,) = (e for e in root.iter() if e.get("class") == name)
    return " ".join("".join(element.itertext()).split())


@pytest.mark.parametrize(
    ("key", "verdict"),
    [("gain", "holds"), ("loss", "does not hold"), ("tie", "mixed"), ("bound", "holds")],
)
def test_the_verdict_stands_in_every_form(results: Path, key: str, verdict: str) -> None:
    box = measured(f"sample/{key}", directory=results)
    sign = {"holds": "●", "mixed": "◐", "does not hold": "○"}[verdict]
    assert repr(box).splitlines()[0] == f"Measured {sign} {verdict}"
    assert part(box, "m-head") == f"Measured {verdict}"
    assert rf"\textbf{{Measured}} --- {verdict}\\" in box._repr_latex_()


def test_the_box_tells_claim_number_interval_and_origin(results: Path) -> None:
    box = measured("sample/gain", directory=results)
    low, high = box.claim.interval
    assert part(box, "m-claim") == "A < B & C."
    assert part(box, "m-value") == f"{box.claim.mean:.1f} points" == "35.5 points"
    facts = part(box, "m-meta")
    assert facts.startswith(f"95 % interval {low:.1f} to {high:.1f} · 5 seeds (1, 2, 3, 4, 5)")
    for fact in (
        "data: A. Author, CC BY 4.0",
        f"{box.study.processor}, 2 threads",
        f"Python {box.study.versions['python']}",
        f"PyTorch {box.study.versions['torch']}",
        "again: python -m experiments.sample",
    ):
        assert fact in facts
        assert fact in " ".join(repr(box).split())
    assert re.search(r"· \d{1,2} [A-Z][a-z]{2} 20\d\d ·", facts)


@pytest.mark.parametrize("key", ["gain", "loss", "tie", "bound"])
def test_the_html_is_one_well_formed_element(results: Path, key: str) -> None:
    root = ElementTree.fromstring(measured(f"sample/{key}", directory=results)._repr_html_())
    assert (root.tag, root.get("class")) == ("div", "measured")
    drawings = [svg for svg in root.iter(f"{SVG}svg") if svg.get("role") == "img"]
    assert len(drawings) == 1
    assert drawings[0].attrib["aria-label"]


def test_the_style_outweighs_nothing(results: Path) -> None:
    root = ElementTree.fromstring(measured("sample/gain", directory=results)._repr_html_())
    style = root.find("style")
    assert style is not None
    assert style.text is not None
    selectors = re.findall(r"([^{}]+)\{", style.text)
    assert selectors
    assert all(selector.startswith(":where(") for selector in selectors)


def test_latex_is_one_formula_without_signs_that_break_it(results: Path) -> None:
    latex = measured("sample/gain", directory=results)._repr_latex_()
    assert (latex[0], latex[-1]) == ("$", "$")
    assert "$" not in latex[1:-1]
    assert latex.count("{") == latex.count("}")
    assert r"A < B \& C." in latex
    assert not re.search(r"(?<!\\)[%&#_]", latex)
    assert not re.search("[●◐○−·\N{NO-BREAK SPACE}]", latex)


def test_every_form_is_the_same_each_time_and_names_no_place(results: Path) -> None:
    forms = [
        (repr(box), box._repr_html_(), box._repr_latex_())
        for box in (measured("sample/tie", directory=results) for _ in range(2))
    ]
    assert forms[0] == forms[1]
    assert not any(str(results) in form or "/home" in form for form in forms[0])


def test_unknown_keys_are_answered(results: Path) -> None:
    with pytest.raises(UnknownNameError, match="study: got 'smaple', wanted one of 'sample'"):
        measured("smaple/gain", directory=results)
    with pytest.raises(UnknownNameError, match="claim of 'sample': got 'gian', wanted one of"):
        measured("sample/gian", directory=results)
    with pytest.raises(ValueError, match="key: got 'sample', wanted \"study/claim\""):
        measured("sample", directory=results)


def test_a_page_loads_neither_torch_nor_matplotlib() -> None:
    code = "import sys, companion.pages.notebook\nprint({'matplotlib', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
