"""Every exhibit is a test: its check fails on the broken variant and passes on the package's."""

import re
from typing import Any

import pytest
import torch
from transformers import DeepseekV3Config

from bookkit.museum import EXHIBITS, Exhibit
from bookkit.museum.states import LATENT, LAYERS, ROTARY


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


def test_an_error_is_no_verdict() -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        EXHIBITS["upside down"].verdict(fails)


def test_widths_of_the_latent_are_those_of_the_reference() -> None:
    config = DeepseekV3Config()
    assert (config.num_hidden_layers, config.kv_lora_rank) == (LAYERS, LATENT)
    assert config.qk_rope_head_dim == ROTARY
