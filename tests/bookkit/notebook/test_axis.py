import re
from xml.etree import ElementTree

import numpy as np
import pytest

from bookkit.notebook.axis import Dot, axis, ticks


def test_ticks_are_few_round_and_span_the_range() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        low = float(rng.normal() * 10 ** rng.uniform(-3, 4))
        high = low + float(abs(rng.normal()) * 10 ** rng.uniform(-3, 3))
        marks = ticks(low, high)
        steps = np.diff(marks)
        assert 2 <= len(marks) <= 5, (low, high)
        assert steps.max() == pytest.approx(steps.min()), (low, high)
        assert re.fullmatch(r"[125](\.0*)?e.*", f"{round(steps[0], 12):e}"), (low, high)
        assert marks[0] <= low <= high <= marks[-1], (low, high)


def places(html: str) -> list[tuple[str, str, dict[str, float]]]:
    """Return class, text and places, in per cent, of everything that stands on the axis."""
    found = []
    for part in ElementTree.fromstring(html).iter("span"):
        style = dict(re.findall(r"(left|right|width):([-\d.]+)%", part.get("style", "")))
        where = {name: float(value) for name, value in style.items()}
        found.append((part.get("class", ""), part.text or "", where))
    return found


def test_everything_stands_where_its_number_is() -> None:
    dots = [Dot("one head", 52.0, (50.0, 54.0), 0), Dot("two heads", 99.0, (98.0, 100.0), 0)]
    drawn = places(axis(dots, "right answers, %", mark=60.0))
    numbers = {text: where["left"] for kind, text, where in drawn if kind == "m-tick"}
    assert numbers == {"40": 0, "60": 33.3, "80": 66.7, "100": 100}
    spans = [where for kind, _, where in drawn if kind == "m-span"]
    assert spans == [{"left": 16.7, "width": 6.7}, {"left": 96.7, "width": 3.3}]
    assert [where["left"] for kind, _, where in drawn if kind == "m-dot"] == [20, 98.3]
    assert [where["left"] for kind, _, where in drawn if kind == "m-line"] == [33.3, 33.3]
    said = [(text, where) for kind, text, where in drawn if kind == "m-said"]
    assert said == [("52", {"left": 23.3}), ("99", {"right": 3.3})]
    assert [text for kind, text, _ in drawn if kind == "m-label"][1:3] == ["one head", "two heads"]
    assert "one head: 52, likely between 50 and 54" in axis(dots, "")


def test_the_axis_makes_no_little_thing_look_large() -> None:
    near = [Dot("a", 99.9, (99.8, 100.0), 1)]
    marks = [text for kind, text, _ in places(axis(near, "%", least=10.0)) if kind == "m-tick"]
    assert (marks[0], marks[-1]) == ("90", "100")
