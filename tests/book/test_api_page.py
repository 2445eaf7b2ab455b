"""The examples on the first page of the API reference run as they stand there."""

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


def the_cache_changes_nothing(names: Names) -> bool:
    """The most probable token of the whole text at every step is what was decoded."""
    (said,) = names["text"].sequences()
    whole = torch.tensor([[7, 3, 9, *said]])
    expected = names["model"](whole)[0, 2:-1].argmax(-1).tolist()
    return len(said) == 20 and said == expected


def an_open_future_is_noticed(names: Names) -> bool:
    with pytest.raises(AssertionError, match="the causal mask is missing"):
        names["check_causal"](
            lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x),
            names["x"],
            names["other"],
        )
    return True


EXPECTED: dict[str, Callable[[Names], Any]] = {
    "compute attention weights": lambda of: (
        of["weights"].shape + of["output"].shape == (5, 7, 5, 8)
    ),
    "train a layer": lambda of: of["losses"][-1] < of["losses"][0] / 2,
    "decode with a cache": the_cache_changes_nothing,
    "load a model": lambda of: of["logits"].shape == (1, 3, 50),
    "measure a cost": lambda of: of["layer"](of["words"]).is_meta,  # nothing is computed
    "check my own attention": an_open_future_is_noticed,
    "check all of it at once": lambda of: (
        {finding.verdict for finding in of["found"]} == {"passed", "skipped"}
    ),
}


def test_an_example_for_every_wish_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"vocab_size": 50, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2}
    config = GPT2Config(**sizes, bos_token_id=1, eos_token_id=2)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "models" / "gpt2")  # as the page names it
    monkeypatch.chdir(tmp_path)
    assert list(WANTS) == list(EXPECTED)
    for want, example in WANTS.items():
        torch.manual_seed(0)
        names: Names = {}
        exec(example, names)
        assert EXPECTED[want](names), want
