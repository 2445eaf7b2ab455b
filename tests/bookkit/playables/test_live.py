"""What every live output keeps: one piece of HTML, safe words, exact numbers, the same bytes."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bookkit import playables as live
from bookkit.playables import output
from bookkit.playables.output import LiveOutput, pack

FILES = sorted(Path(live.__file__).parent.glob("*.*s"))
MODULES = {path.stem for path in FILES if "export const" in path.read_text(encoding="utf-8")}
SCRIPTS = [path.name for path in FILES if path.suffix == ".js" and path.stem not in MODULES]
STYLES = [path.name for path in FILES if path.suffix == ".css" and path.stem not in MODULES]
NASTY = "</script><b onclick=alert(1)>\"'&"


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an output that has no files but the shared ones."""
    monkeypatch.setattr(output, "_names", lambda: frozenset({"live"}))
    return "live"


def shown(name: str, **changes: Any) -> LiveOutput:
    given: dict[str, Any] = {
        "drawing": "<table><tr><td>1</td></tr></table>",
        "data": {"tokens": ["a"]},
        "label": "A table",
        "alt": "One cell, 1.",
    }
    return LiveOutput(name, **given | changes)


def test_an_output_is_html_and_words(name: str) -> None:
    made = shown(name, caption="Touch it.")
    assert repr(made) == "A table. One cell, 1."
    page = made._repr_html_()
    assert page.startswith('<figure class="am-live am-live" data-am-live="live"')
    assert "<td>1</td>" in page
    assert "<figcaption>Touch it.</figcaption>" in page
    assert page == shown(name, caption="Touch it.")._repr_html_()
    assert '"am-live-state">' not in page
    stated = '<p class="am-live-state">a &lt; b</p><div class="am-live-drawing">'
    assert stated in shown(name, state="a < b")._repr_html_()


def test_words_cannot_leave_their_place(name: str) -> None:
    page = shown(name, label=NASTY, caption=NASTY, data={"tokens": [NASTY]})._repr_html_()
    assert "<b" not in page
    assert page.count("</script>") == 2
    found = re.search(r'<script type="application/json">(.*?)</script>', page)
    assert found is not None
    assert json.loads(found[1]) == {"tokens": [NASTY]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drawing": ""}, "drawing: got '', wanted words"),
        ({"label": " "}, "label: got ' ', wanted words"),
        ({"alt": ""}, "alt: got '', wanted words"),
        ({"data": {"x": float("nan")}}, "data: .*wanted JSON"),
        ({"data": {"x": np.zeros(2)}}, "data: .*wanted JSON, arrays by pack"),
    ],
    ids=["drawing", "label", "alt", "nan", "array"],
)
def test_wrong_calls(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shown(name, **changes)


def test_a_name_needs_files() -> None:
    with pytest.raises(ValueError, match="name: got 'nothing', wanted one of"):
        shown("nothing")


@pytest.mark.parametrize("bits", ["float32", "float64"])
def test_packed_numbers_keep_their_bits(bits: Any) -> None:
    values = np.linspace(-1, 1, 6).reshape(2, 3).astype(bits)
    packed = pack(values, bits)
    stored = np.frombuffer(base64.b64decode(packed["base64"]), bits)
    assert packed["shape"] == [2, 3]
    np.testing.assert_array_equal(stored.reshape(2, 3), values)


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_ask_for_nothing_and_run_no_strings(script: str) -> None:
    text = output._read(script.removesuffix(".js"), "js")
    forbidden = (
        r"\beval\b|new Function|\bfetch\b|XMLHttp|import|//|window\.|globalThis|</|innerHTML"
    )
    text = text.replace('"http://www.w3.org/2000/svg"', "SVG")
    allowed = ["fetch"] if script == "translator.js" else []
    assert re.findall(forbidden, text) == allowed
    assert "/*" not in text
    if f"{script.removesuffix('.js')}.css" in STYLES and script != "live.js":
        assert f'upgrade("{script.removesuffix(".js")}", ' in text.splitlines()[-1]
    else:
        assert "upgrade(" not in text.replace("function upgrade(", "")


def test_a_script_may_have_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_read", lambda name, kind: f"// {name}.{kind}")
    assert output._script.__wrapped__("part", "whole").splitlines()[2:5] == [
        "// live.js",
        "// part.js",
        "// whole.js",
    ]


@pytest.mark.parametrize("style", STYLES)
def test_styles_touch_live_outputs_alone(style: str) -> None:
    text = output._read(style.removesuffix(".css"), "css")
    assert re.findall(r"url\(|@import|/\*|!important|<", text) == []
    for selectors in re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", text):
        assert selectors.lstrip().startswith(".am-"), selectors
