import re
from xml.etree import ElementTree

import numpy as np
import pytest

from bookkit import figures as plot

SVG = "{http://www.w3.org/2000/svg}"
SOURCE, TARGET = ["the", "red", "house"], ["casa", "roja"]
WEIGHTS = np.array([[0.05, 0.01, 0.94], [0.1, 0.7, 0.2]])


def drawing(**arguments: object) -> ElementTree.Element:
    svg = plot.sentence_ribbons(SOURCE, TARGET, WEIGHTS, **arguments)  # type: ignore[arg-type]
    return ElementTree.fromstring(svg)


def words(root: ElementTree.Element) -> dict[str, float]:
    return {text.text or "": float(text.attrib["x"]) for text in root.iter(f"{SVG}text")}


def ends(path: ElementTree.Element) -> tuple[float, float]:
    """Where a curve begins, above, and where it ends, below."""
    numbers = [float(number) for number in re.findall(r"[\d.]+", path.attrib["d"])]
    return numbers[0], numbers[-2]


def test_ribbons_join_the_words_and_are_as_thick_as_the_weights() -> None:
    root = drawing()
    place = words(root)
    widths = {
        ends(path): float(path.attrib["stroke-width"])
        for path in root.iter(f"{SVG}path")
        if path.get("class") == "rib"
    }
    expected = {
        (place[SOURCE[column]], place[TARGET[row]]): 1 + 13 * weight
        for (row, column), weight in np.ndenumerate(WEIGHTS)
        if weight >= 0.02
    }
    assert widths.keys() == expected.keys()
    for link, width in widths.items():
        assert width == pytest.approx(expected[link], abs=0.05)


def test_golden_dots_lie_on_the_link_from_target_to_source() -> None:
    root = drawing(links={(0, 2)})
    place = words(root)
    dots = [p for p in root.iter(f"{SVG}path") if p.get("stroke-dasharray")]
    assert {ends(path) for path in dots} == {(place["house"], place["casa"])}


def test_a_screen_reader_hears_title_and_finding() -> None:
    root = drawing(title="A title & more")
    labels = root.attrib["aria-labelledby"].split()
    found = {child.attrib["id"]: child.text for child in root if "id" in child.attrib}
    assert root.attrib["role"] == "img"
    assert [found[label] for label in labels] == [
        "A title & more",
        "Source words above, target words below. casa looks most at house, 0.94; "
        "roja looks most at red, 0.70.",
    ]


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"links: got link \(2, 0\), wanted \(target, source\)"):
        plot.sentence_ribbons(SOURCE, TARGET, WEIGHTS, [(2, 0)])
