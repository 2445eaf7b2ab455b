"""The kit finds each of many mistakes by the check that names it, and nothing in what is right."""

import re
from pathlib import Path
from typing import Any

import pytest
from docutils.nodes import make_id
from torch import nn

from companion.conformance.kit import KIT, Finding, examine
from companion.conformance.signature import NotOfferedError, subject
from tests.conformance.broken import FAULTS, attention, broken
from tests.conformance.right import RIGHT

ROOT = Path(__file__).parents[2]


def findings(function: Any, **options: Any) -> dict[str, Finding]:
    return {found.check.name: found for found in examine(subject(function, **options))}


def named(found: dict[str, Finding], verdict: str) -> set[str]:
    return {name for name, finding in found.items() if finding.verdict == verdict}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found_in_what_is_right(name: str) -> None:
    function, options, without = RIGHT[name]
    found = findings(function, **{"arrays": "torch", **options})
    assert named(found, "failed") == set()
    assert found.keys() - named(found, "passed") == set(without.split())
    assert found.keys() == {check.name for check in KIT}


FIRST = {row["check"]: fault for fault, row in reversed(FAULTS.items())}


@pytest.mark.parametrize(
    "fault",
    [pytest.param(one, marks=[] if one in FIRST.values() else pytest.mark.slow) for one in FAULTS],
)
def test_a_mistake_is_the_only_finding_of_the_check_that_names_it(fault: str) -> None:
    row = FAULTS[fault]
    either = "torch" if "of" in row or list(FAULTS).index(fault) % 2 else "numpy"
    found = findings(broken(fault), arrays=row.get("arrays", either))
    failed = named(found, "failed")
    assert row["check"] in failed
    assert re.search(row["says"], found[row["check"]].says)
    assert failed - {row["check"]} == set(row.get("also", []))


def test_every_check_finds_something() -> None:
    assert {check.name for check in KIT} - FIRST.keys() <= {"cached", "bfloat16", "float32"}


class Inverted(nn.Module):
    def forward(self, query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
        return attention(query, key, value, None if attn_mask is None else ~attn_mask)


def forgets(*args: Any, **kwargs: Any) -> Any:
    return attention(*args, **{**kwargs, "is_causal": False})


def drops(query: Any, key: Any, value: Any, mask: Any = None, causal: bool = False) -> Any:
    return attention(query, key, value, mask)


def mistyped(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    return attention(query, key, value) if attn_mask is None else maskd(attn_mask)  # type: ignore[name-defined]  # noqa: F821


def stops(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    raise RuntimeError("no kernel")


def positions_first(query: Any, key: Any, value: Any) -> Any:
    return attention(*(x.transpose(1, 2) for x in (query, key, value))).transpose(1, 2)


@pytest.mark.parametrize(
    ("function", "check", "said"),
    [
        (Inverted(), "mask", "read upside down"),
        (Inverted, "mask", "read upside down"),
        (forgets, "causal", "the causal mask is missing"),
        (drops, "causal", "the causal mask is missing"),
        (mistyped, "mask", "the call stopped with NameError"),
        (stops, "inputs", "the call stopped with RuntimeError: no kernel"),
        (positions_first, "heads", "bnhd"),
    ],
)
def test_a_mistake_is_found_whatever_the_signature(function: Any, check: str, said: str) -> None:
    found = findings(function, arrays="torch")
    assert said in found[check].says
    assert named(found, "failed") == {check}


def test_what_is_offered_is_read_off_the_signature() -> None:
    examined = subject(attention, arrays="numpy")
    assert examined.offers("window")
    assert examined.first_of("left", "window") == "window"
    with pytest.raises(NotOfferedError, match="none of `left`, `right`"):
        examined.first_of("left", "right")
    assert subject(drops).names == {"attn_mask": "mask", "is_causal": "causal"}
    assert subject(RIGHT["other names"][0]).unknown == ("allowed", "past")
    for given, said in (
        ({"arrays": "jax"}, "arrays: got 'jax'"),
        ({"names": {"mask": "msk"}}, "msk one of attn_mask"),
        ({"names": {"msk": "attn_mask"}}, "msk one of mask, causal"),
    ):
        with pytest.raises(ValueError, match=said):
            subject(drops, **given)


def test_every_check_leads_to_a_heading_of_the_museum() -> None:
    page = (ROOT / "book/implementation/museum_evidence.ipynb").read_text(encoding="utf8")
    headings = {make_id(title): title for title in re.findall(r'"#{2,3} (.+?)(?:\\n)?"', page)}
    for check in KIT:
        address, _, anchor = check.page.partition("#")
        assert (address, headings.get(anchor)) == (
            "implementation/museum_evidence.html",
            check.exhibit,
        )
