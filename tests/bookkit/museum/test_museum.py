"""Every exhibit is a test: its check fails on the broken variant and passes on the package's."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DeepseekV3Config

from bookkit.museum import EXHIBITS, Exhibit
from bookkit.museum.states import LATENT, LAYERS, ROTARY

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("exhibit", EXHIBITS.values(), ids=list(EXHIBITS))
def test_the_check_finds_the_broken_variant_and_passes_the_sound_one(exhibit: Exhibit) -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    with pytest.raises(AssertionError, match=exhibit.hint):
        exhibit.check(exhibit.broken)
    assert re.search(exhibit.hint, exhibit.verdict(exhibit.broken))
    exhibit.check(exhibit.sound)
    assert exhibit.verdict(exhibit.sound) == "", "the check leaves something behind"
    assert torch.equal(before, torch.get_rng_state())


def test_the_page_shows_every_exhibit_and_its_threads_and_its_index_leads_there() -> None:
    page = (ROOT / "book/appendices/museum.ipynb").read_text(encoding="utf8")
    for name, exhibit in EXHIBITS.items():
        assert f'look_at(\\"{name}\\")' in page
        assert exhibit.threads
        assert exhibit.links in page, name
    sources = ("".join(cell["source"]) for cell in json.loads(page)["cells"])
    (index,) = (source for source in sources if source.startswith("## By what you see"))
    assert {name.lower() for name in re.findall(r"\[(.+?)\]\(#", index)} == set(EXHIBITS)


def test_an_error_is_no_verdict() -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        EXHIBITS["upside down"].verdict(fails)


def test_widths_of_the_latent_are_those_of_the_reference() -> None:
    config = DeepseekV3Config()
    assert (config.num_hidden_layers, config.kv_lora_rank) == (LAYERS, LATENT)
    assert config.qk_rope_head_dim == ROTARY
