"""The study of decoding: its exact search, what it counts as cut, and what it compares."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from companion.models.transformer import LanguageModel
from experiments.decoding import study as decoding
from experiments.engine.claims import Runs

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(2))
def test_the_exact_search_finds_the_best_of_all(seed: int) -> None:
    """Every continuation of up to three words is scored by one pass over the whole."""
    torch.manual_seed(seed)
    model = LanguageModel(decoding.model_config(decoding.Setting(embed_dim=16), 6)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.7)  # sharper than at its start
    prompt, eos = [1, 4], 2
    totals = {}
    for length in range(4):
        for words in itertools.product((0, 1, 3, 4, 5), repeat=length):
            text = [*prompt, *words, eos]
            with torch.no_grad():
                given = model(torch.tensor([text])).log_softmax(-1)[0]
            totals[words] = math.fsum(given[i - 1, text[i]].item() for i in range(2, len(text)))
    best = max(totals, key=totals.__getitem__)
    for bound in (-math.inf, totals[best] - 0.5, totals[best]):
        found, total = decoding.most_probable(model, prompt, eos, 4, at_least=bound)
        assert tuple(found) == best
        assert total == pytest.approx(totals[best], abs=1e-4)


def test_cuts_are_held_against_the_temperature_that_is_as_varied() -> None:
    runs: Runs = {"top_p/0.75/distinct": [21.0, 23.0], "top_p/0.75/grammatical": [70.0, 76.0]}
    for place, t in enumerate(decoding.TEMPERATURES):
        runs[f"temperature/{t}/distinct"] = [10.0 * place, 10.0 * place + 2]
        runs[f"temperature/{t}/grammatical"] = [90.0 - 5 * place] * 2
    # As varied, 22, is on average the temperature 0.1 of the way from the third to the fourth,
    # at 79.5; a point of variety costs half a point. Both cuts are as varied as it in their run.
    assert decoding.ahead_of_temperature(runs, "top_p/0.75") == pytest.approx([-9.5, -3.5])
    runs["top_p/0.75/distinct"] = [19.0, 25.0]
    assert decoding.ahead_of_temperature(runs, "top_p/0.75") == pytest.approx([-10.5, -2.5])
    runs["top_p/0.75/distinct"] = [95.0, 95.0]
    with pytest.raises(ValueError, match=r"top_p/0.75: got 95.0, wanted it among"):
        decoding.ahead_of_temperature(runs, "top_p/0.75")
    runs["temperature/1.0/distinct"] = [0.0, 9.0]
    with pytest.raises(ValueError, match=r"distinct: got .* wanted it to rise"):
        decoding.ahead_of_temperature(runs, "top_p/0.75")
