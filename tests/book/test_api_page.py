"""The examples on the first page of the API reference run as they stand there."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.book.built import ROOT

WANTS = dict(
    re.findall(
        r"^## I want (?:to )?(.+?)\n\n```python\n(.*?)^```$",
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


def a_sink_takes_a_share_in_a_window(names: Names) -> bool:
    row = names["weights"][0, 0, -1]
    one, two = names["layer"].num_heads, names["layer"].num_kv_heads
    return (one, two, int((row > 0).sum())) == (8, 2, 5) and 0 < float(row.sum()) < 1


EXPECTED: dict[str, Callable[[Names], Any]] = {
    "compute attention weights": lambda of: (
        of["weights"].shape + of["output"].shape == (5, 7, 5, 8)
    ),
    "mask padding": lambda of: (
        np.array_equal(of["output"][1, :3], of["again"][1, :3]) and of["x"][1, 3:].min() == 100
    ),
    "see the weights of a model": lambda of: (
        {tuple(one.shape) for one in of["weights"]} == {(1, 4, 4, 4)}
        and not of["weights"][0].triu(1).any()
    ),
    "a window, grouped heads or sinks": a_sink_takes_a_share_in_a_window,
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
