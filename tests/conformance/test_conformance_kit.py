"""The kit finds each of many mistakes by the check that names it, and nothing in what is right."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from docutils.nodes import make_id

import companion
from companion.conformance.kit import KIT, Finding, examine
from companion.conformance.signature import NotOfferedError, offers, subject
from tests.conformance.broken import FAULTS, attention, broken

ROOT = Path(__file__).parents[2]


def findings(function: Any, **options: Any) -> dict[str, Finding]:
    with np.errstate(all="ignore"):
        return {found.check.name: found for found in examine(subject(function, **options))}


def named(found: dict[str, Finding], verdict: str) -> set[str]:
    return {name for name, finding in found.items() if finding.verdict == verdict}


RIGHT = {
    "ours": (companion.scaled_dot_product_attention, {"window", "weights", "lse"}),
    "tiled": (companion.tiled_attention, {"weights", "lse"}),
    "broken, without a fault": (attention, set()),
}


@pytest.mark.parametrize(
    ("arrays", "dtype"), [("numpy", "float64"), ("torch", "float32")], ids=["numpy", "torch"]
)
@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found_in_what_is_right(name: str, arrays: str, dtype: str) -> None:
    function, without = RIGHT[name]
    found = findings(function, arrays=arrays, dtype=dtype)
    assert named(found, "failed") == set()
    bfloat16 = {"bfloat16"} if arrays == "numpy" else set()
    assert named(found, "skipped") == without | bfloat16
    assert found.keys() == {check.name for check in KIT}


def test_nothing_is_found_in_torchs_own() -> None:
    found = findings(F.scaled_dot_product_attention, arrays="torch", dtype="float64")
    assert named(found, "failed") == set()
    assert {"offset", "window", "softcap", "sinks", "weights", "lse"} <= named(found, "skipped")
    assert found["sinks"].says == "its signature has no `sinks`"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mistake_is_found_by_the_check_that_names_it(fault: str) -> None:
    right, hint, others = FAULTS[fault]
    found = findings(broken(fault), arrays=("numpy", "torch")[list(FAULTS).index(fault) % 2])
    assert found[right].verdict == "failed"
    assert re.search(hint, found[right].says)
    if others is not None:
        assert named(found, "failed") - {right} <= others


def plain(query: Any, key: Any, value: Any) -> Any:
    return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1) @ value


def test_a_function_of_three_arguments_is_asked_for_no_more() -> None:
    found = findings(plain, arrays="torch")
    assert named(found, "failed") == set()
    assert named(found, "passed") == {
        "definition", "scale", "large-scores", "batch", "heads", "permutation",
        "float16", "bfloat16", "float32", "float64",
    }  # fmt: skip
    assert found["causal"].says == "its signature has no `is_causal`"


def slanted(query: Any, key: Any, value: Any) -> Any:
    slope = torch.arange(key.shape[-2], dtype=query.dtype)
    return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5 + slope, -1) @ value


def fails(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    raise RuntimeError("no kernel")


def one_mask(
    query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False
) -> Any:
    assert attn_mask is None or not is_causal
    return attention(query, key, value, attn_mask, is_causal=is_causal)


def double_only(query: Any, key: Any, value: Any) -> Any:
    assert query.dtype == torch.float64
    return plain(query, key, value)


def test_an_error_is_a_finding_and_a_refusal_is_none() -> None:
    assert "permutation" in named(findings(slanted, arrays="torch"), "failed")
    found = findings(fails, arrays="torch")
    assert found["mask"].says == "the call stopped with RuntimeError: no kernel"
    for function, check, said in (
        (one_mask, "both-masks", "it refuses both at once: AssertionError"),
        (double_only, "float16", "it refuses float16: AssertionError"),
    ):
        found = findings(function, arrays="torch", dtype="float64")
        assert found[check].says == said
        assert named(found, "failed") == set()


def test_what_is_offered_is_read_off_the_signature() -> None:
    assert offers(companion.tiled_attention) >= {"left", "softcap", "sinks"}
    examined = subject(attention, arrays="numpy")
    assert examined.first_of("left", "window") == "window"
    with pytest.raises(NotOfferedError, match="none of `left`, `right`"):
        examined.first_of("left", "right")
    with pytest.raises(ValueError, match="arrays: got 'jax'"):
        subject(attention, arrays="jax")  # type: ignore[arg-type]


def test_every_check_leads_to_a_heading_of_the_museum() -> None:
    page = (ROOT / "book/appendices/museum.ipynb").read_text(encoding="utf8")
    headings = {make_id(title): title for title in re.findall(r'"#{2,3} (.+?)(?:\\n)?"', page)}
    for check in KIT:
        address, _, anchor = check.page.partition("#")
        assert (address, headings.get(anchor)) == ("appendices/museum.html", check.exhibit)
