"""The estimated gradient of hard attention, against every way in which cells can be drawn."""

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from companion.data.images import CaptionBatch
from companion.models.vision import Captioner, CaptionerConfig, Reinforce, log_probability

CONFIG = CaptionerConfig(
    vocab_size=6, image_size=8, attention="hard", channels=4, embed_dim=3, hidden_dim=5
)


def setting() -> tuple[Captioner, CaptionBatch]:
    """Return a model with a map of four cells, and one caption of two words."""
    torch.manual_seed(4)
    model = Captioner(CONFIG).double()
    torch.nn.init.normal_(model.places)
    images = torch.rand(1, 3, 8, 8).double()
    batch = CaptionBatch(
        images, torch.tensor([[1, 4]]), torch.tensor([[4, 2]]), torch.ones(1, 2, dtype=torch.bool)
    )
    return model, batch


def gradient(model: Captioner, value: Tensor) -> Tensor:
    weights = list(model.parameters())
    parts = torch.autograd.grad(value, weights, retain_graph=True, materialize_grads=True)
    return torch.cat([part.flatten() for part in parts])


def path(model: Captioner, batch: CaptionBatch, cells: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return the log-probabilities of a caption given its cells, and of the cells."""
    output = model(
        batch.images, batch.target_in, choose=lambda t, weights: torch.tensor([cells[t]])
    )
    chosen = [output.weights[0, position, cell].log() for position, cell in enumerate(cells)]
    return log_probability(output, batch)[0], torch.stack(chosen).sum()


def test_the_mean_over_all_draws_is_the_exact_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enumerated: the sum over s of p(s) times the estimate is the gradient of E[log p]."""
    for baseline in (0.0, -2.5):
        model, batch = setting()
        paths = list(itertools.product(range(4), repeat=2))
        found: Any = 0
        exact: Any = 0
        total = 0.0
        for cells in paths:
            fit, chance = path(model, batch, cells)
            exact = exact + chance.exp() * fit
            total += float(chance.detach().exp())
            loss = Reinforce(blended=0.0, entropy=0.0)
            loss.baseline = baseline
            drawn = iter(torch.tensor(cells)[:, None, None])
            monkeypatch.setattr(torch, "multinomial", lambda *_, drawn=drawn: next(drawn))
            found = found - 2 * float(chance.detach().exp()) * gradient(model, loss(model, batch))
        assert total == pytest.approx(1)
        wanted = gradient(model, exact)
        assert wanted.abs().max() > 0.01
        torch.testing.assert_close(found, wanted)


def test_the_baseline_follows_the_mean() -> None:
    model, batch = setting()
    loss = Reinforce(memory=0.75)
    assert loss.baseline is None
    torch.manual_seed(1)
    loss(model, batch)
    first = loss.baseline
    assert first is not None
    loss.baseline = first + 4.0
    torch.manual_seed(1)
    loss(model, batch)
    assert loss.baseline == pytest.approx(first + 3.0)


def test_blended_pictures_are_those_of_soft_attention_and_entropy_that_of_the_weights() -> None:
    model, batch = setting()
    output = model(batch.images, batch.target_in, choose=lambda t, weights: torch.tensor([-1]))
    blended = Reinforce(blended=1.0, entropy=0.0)(model, batch)
    torch.testing.assert_close(blended, -log_probability(output, batch)[0] / 2)
    loss = Reinforce(blended=1.0, entropy=0.5)(model, batch)
    entropy = sum(-w * math.log(w) for w in output.weights.flatten().tolist())
    assert float((blended - loss).detach()) == pytest.approx(0.5 * entropy / 2)
    with pytest.raises(ValueError, match="model: got one with soft attention, wanted hard"):
        Reinforce()(Captioner(replace(CONFIG, attention="soft")), batch)
