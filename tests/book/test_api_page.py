"""The examples on the first page of the API reference run as they stand there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.book.built import ROOT

WANTS = dict(
    re.findall(
        r"^## I want to (.+?)\n\n```python\n(.*?)^```$",
        (ROOT / "book" / "appendices" / "api.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
)
Names = dict[str, Any]


def weights_add_up(names: Names) -> bool:
    return bool(names["weights"].shape == (5, 7) and names["output"].shape == (5, 8))


def the_loss_falls(names: Names) -> bool:
    return bool(names["losses"][-1] < names["losses"][0] / 2)


def the_cache_changes_nothing(names: Names) -> bool:
    """The most probable token of the whole text at every step is what was decoded."""
    (said,) = names["text"].sequences()
    whole = torch.tensor([[7, 3, 9, *said]])
    expected = names["model"](whole)[0, 2:-1].argmax(-1).tolist()
    return len(said) == 20 and said == expected


def a_token_has_a_logit(names: Names) -> bool:
    return bool(names["logits"].shape == (1, 3, 50))


def nothing_is_computed(names: Names) -> bool:
    return bool(names["layer"](names["words"]).is_meta)


def an_open_future_is_noticed(names: Names) -> bool:
    with pytest.raises(AssertionError, match="the causal mask is missing"):
        names["check_causal"](
            lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x),
            names["x"],
            names["other"],
        )
    return True


def nothing_is_found_in_torchs_function(names: Names) -> bool:
    verdicts = {finding.verdict for finding in names["found"]}
    return verdicts == {"passed", "skipped"} and len(names["found"]) in range(25, 30)


EXPECTED: dict[str, Callable[[Names], bool]] = {
    "compute attention weights": weights_add_up,
    "train a layer": the_loss_falls,
    "decode with a cache": the_cache_changes_nothing,
    "load a model": a_token_has_a_logit,
    "measure a cost": nothing_is_computed,
    "check my own attention": an_open_future_is_noticed,
    "check all of it at once": nothing_is_found_in_torchs_function,
}


@pytest.fixture
def folder_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny GPT-2 in the folder that the page names."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"vocab_size": 50, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2}
    config = GPT2Config(**sizes, bos_token_id=1, eos_token_id=2)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "models" / "gpt2")
    monkeypatch.chdir(tmp_path)


def test_the_page_has_an_example_for_every_wish() -> None:
    assert list(WANTS) == list(EXPECTED)


@pytest.mark.usefixtures("folder_of_a_model")
@pytest.mark.parametrize("want", WANTS)
def test_examples_run(want: str) -> None:
    torch.manual_seed(0)
    names: Names = {}
    exec(WANTS[want], names)
    assert EXPECTED[want](names)
