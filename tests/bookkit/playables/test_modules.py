"""What every playable keeps: data as JSON, safe words, and a module that reaches for nothing."""

import base64
import json
import re

import numpy as np
import pytest

from bookkit.playables.playable import FOLDER, STORED, playable, script_of, style_of

NASTY = "</script><b onclick=alert(1)>\"'&"
MODULES = sorted(
    path.stem for path in FOLDER.glob("*.js") if "export const" in path.read_text(encoding="utf-8")
)
FETCHES = {"fetched", "phrase-finger", "real-translator", "translator"}
"""Those that get weights from the site, after a click."""


def test_an_output_brings_its_module_along_unless_it_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = playable("tiles", NASTY, caption=NASTY, words=[NASTY])
    monkeypatch.delenv(STORED, raising=False)
    alone = made._repr_html_()
    assert alone.startswith("<style>")
    assert alone.endswith('amPlay.kit.begin("tiles", amPlay["tiles"]);</script>')
    monkeypatch.setenv(STORED, "1")
    kept = made._repr_html_()
    assert kept in alone
    assert "<b" not in kept
    assert kept.count("<script") == kept.count("</script") == 1
    found = re.search(r'<script type="application/json">(.*?)</script>', kept)
    assert found is not None
    assert json.loads(found[1]) == {"words": [NASTY]}


def test_long_arrays_are_packed() -> None:
    values = np.linspace(-1, 1, 600).reshape(20, 30)
    packed = json.loads(playable("tiles", "x", values=values).json())["values"]
    stored = np.frombuffer(base64.b64decode(packed["base64"]), "<f4").reshape(packed["shape"])
    np.testing.assert_allclose(stored, values, atol=1e-7)


def test_a_module_reaches_for_nothing_and_runs_no_strings() -> None:
    forbidden = r"\beval\b|new Function|\bfetch\b|XMLHttp|\bimport\b|\bexport\b|</|innerHTML|://"
    for name in MODULES:
        script = script_of(name).replace("http://www.w3.org/2000/svg", "")
        found = set(re.findall(forbidden, script.replace("</${tag}>", "")))
        assert found <= ({"fetch"} if name in FETCHES else set()), name
        assert 'style="' not in script, name


def test_a_style_touches_playables_alone() -> None:
    for style in map(style_of, MODULES):
        assert re.findall(r"url\(|@import|/\*|!important|<", style) == []
        for selectors in re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", style):
            for one in re.split(r",(?![^(]*\))", selectors):
                assert one.strip().startswith(".am-play"), one
