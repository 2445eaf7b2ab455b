"""Every exhibit has its room, and the lines that a room calls fixed do mend the exhibit."""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from bookkit.museum import EXHIBITS
from bookkit.museum.room import LINES, room

BOOK = Path(__file__).parents[3] / "book"
ROOMS = (BOOK / "implementation/museum_evidence.ipynb").read_text(encoding="utf8")


def mended(source: str, broken: str, fixed: str) -> str:
    """Put lines in the place of others, which occur once; blanks and line ends do not count."""
    for wrong, right in zip(broken.split("...\n"), fixed.split("...\n"), strict=True):
        letters = (re.escape(letter) for letter in re.sub(r"\s", "", wrong))
        (found,) = re.finditer(r"(?m)(?P<indent>[ ]*)" + r"\s*".join(letters), source)
        lines = f"\n{found['indent']}".join(right.strip().splitlines())
        source = source[: found.end("indent")] + lines + source[found.end() :]
    return source


@pytest.mark.parametrize("name", EXHIBITS)
def test_fixed_lines_mend_the_broken_variant(name: str) -> None:
    module = sys.modules[EXHIBITS[name].broken.__module__]
    there: dict[str, Any] = {"__name__": module.__name__}
    exec(mended(inspect.getsource(module), **LINES[name]), there)
    exhibits = [one for value in there.values() if isinstance(value, tuple) for one in value]
    (exhibit,) = (one for one in exhibits if getattr(one, "name", "") == name)
    exhibit.check(exhibit.broken)
    assert max(len(lines.splitlines()) for lines in LINES[name].values()) <= 5


def test_a_room_says_what_the_check_says_and_links_its_threads() -> None:
    shown = room("upside down")
    assert "the mask is upside down" in repr(shown)
    html = shown._repr_html_()
    assert html.count('href="https://github.com/rasbt/LLMs-from-scratch/issues/106') == 2
    assert html.index("am-wrong") < html.index("am-right")


def test_every_exhibit_has_its_room_under_its_name_and_the_doctor_leads_there() -> None:
    for name, exhibit in EXHIBITS.items():
        assert f'room(\\"{name}\\")' in ROOMS
        assert exhibit.threads
        assert re.search(rf'(?i)"### {re.escape(name)}\\n"', ROOMS), name
    doctor = (BOOK / "appendices/doctor.ipynb").read_text(encoding="utf8")
    index = doctor.partition("| telltale sign |")[2]
    found = re.findall(r"\[(.+?)\]\(\.\./implementation/museum_evidence\.ipynb#", index)
    assert {one.lower() for one in found} == set(EXHIBITS)
