import re
from xml.etree import ElementTree

import numpy as np
import pytest

from bookkit.notebook.ruler import ruler, ticks
from bookkit.records import Claim, Side

SVG = "{http://www.w3.org/2000/svg}"


def claim(low: float, high: float, side: Side = "above", threshold: float = 0.0) -> Claim:
    return Claim(
        claim="", side=side, threshold=threshold, unit="points", runs=(low, high),
        mean=(low + high) / 2, interval=(low, high), prediction=(low, high),
    )  # fmt: skip


@pytest.mark.parametrize("side", ["above", "below"])
def test_ticks_are_round_and_span_interval_threshold_and_claimed_side(side: Side) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        threshold = float(rng.choice([0.0, 0.1, 37.5, -2.0]))
        center = float(rng.normal() * 10 ** rng.uniform(-3, 4))
        half = float(abs(rng.normal()) * 10 ** rng.uniform(-3, 3))
        case = claim(center - half, center + half, side, threshold)
        marks = ticks(case)
        steps = np.diff(marks)
        assert 2 <= len(marks) <= 5, case
        assert steps.max() == pytest.approx(steps.min()), case
        assert re.fullmatch(r"[125](\.0*)?e.*", f"{round(steps[0], 12):e}"), case
        assert marks[0] <= min(case.interval[0], threshold), case
        assert marks[-1] >= max(case.interval[1], threshold), case
        assert marks[-1] > threshold if side == "above" else marks[0] < threshold, case
        assert threshold != 0 or 0.0 in marks, case


@pytest.mark.parametrize(("side", "threshold"), [("above", 0.0), ("below", 0.0), ("below", 3.3)])
def test_everything_stands_where_its_number_is(side: Side, threshold: float) -> None:
    case = claim(2.0, 7.0, side, threshold)
    root = ElementTree.fromstring(ruler(case))
    labels = {
        (text.text or "").replace("\N{MINUS SIGN}", "-"): float(text.attrib["x"])
        for text in root.iter(f"{SVG}text")
        if text.text != "claimed"
    }
    marks = ticks(case)
    left, right = labels[f"{marks[0]:g}"], labels[f"{marks[-1]:g}"]

    def x(value: float) -> float:
        return left + (right - left) * (value - marks[0]) / (marks[-1] - marks[0])

    for text, place in labels.items():
        assert place == pytest.approx(x(float(text)), abs=0.06)
    assert f"{threshold:g}" in labels
    paths = {path.attrib["d"]: path.attrib for path in root.iter(f"{SVG}path")}
    (span,) = (d for d in paths if d.startswith("M") and " 24H" in d)
    assert [float(n) for n in re.findall(r"M([\d.]+) 24H([\d.]+)", span)[0]] == pytest.approx(
        [x(2), x(7)], abs=0.06
    )
    (dashed,) = (d for d, attributes in paths.items() if "stroke-dasharray" in attributes)
    assert float(dashed[1:].split()[0]) == pytest.approx(x(threshold), abs=0.06)
    wash, mark = root.iter(f"{SVG}rect")
    start = float(wash.attrib["x"])
    stop = start + float(wash.attrib["width"])
    assert (start, stop) == pytest.approx(
        (x(threshold), right) if side == "above" else (left, x(threshold)), abs=0.11
    )
    assert float(mark.attrib["x"]) + 5 == pytest.approx(x(4.5), abs=0.06)
