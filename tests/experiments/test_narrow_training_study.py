"""The study of training in narrow numbers: its task, its attention, and what its arms share."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Generator

from companion.attention import scaled_dot_product_attention
from experiments.narrow_training import study as narrow
from experiments.numerics import study as numerics

pytestmark = pytest.mark.slow

SMALL = narrow.Directory(bits=3, classes=3, asked=5, tests=2)


def setting(name: str, **changes: object) -> narrow.Setting:
    """Return an arm as a small model that trains for a few updates."""
    small = replace(narrow.arms()[name], width=8, learning_rate=0.05, steps=6)
    return replace(small, **changes)  # type: ignore[arg-type]


def test_in_float32_every_way_to_attend_gives_the_same() -> None:
    generator = Generator().manual_seed(6)
    query, key, value = (torch.randn(n, 4, generator=generator) for n in (5, 8, 8))
    wanted = scaled_dot_product_attention(query, key, value, scale=1.0)
    for steps_in in ("wide", "rounded", "running", "textbook"):
        found = narrow.attention(query, key, value, narrow.Setting("float32", steps_in))
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_what_goes_back_is_rounded_too(kind: narrow.Type) -> None:
    """The gradient of a value of the attention is one of the type, but for the loss's scale."""
    generator = Generator().manual_seed(7)
    query, key, value = (torch.randn(n, 4, generator=generator) for n in (5, 8, 8))
    value.requires_grad_()
    loss = narrow.attention(query, key, value, narrow.Setting(kind, "rounded")).square().sum()
    loss.backward()  # type: ignore[no-untyped-call]
    assert value.grad is not None
    torch.testing.assert_close(
        value.grad.to(numerics.TYPES[kind]).float(), value.grad, rtol=0, atol=0
    )


def test_a_tiny_gradient_needs_a_scaled_loss_in_float16() -> None:
    query, key = torch.zeros(1, 4), torch.zeros(8, 4)
    half = narrow.Setting("float16", "rounded")
    for scale, lost in ((1.0, True), (2.0**20, False)):
        value = torch.ones(8, 4, requires_grad=True)
        loss = 1e-9 * narrow.attention(query, key, value, half).sum()
        (scale * loss).backward()  # type: ignore[no-untyped-call]
        assert value.grad is not None
        assert bool((value.grad == 0).all()) == lost


def test_an_answer_that_is_no_number_is_wrong_and_counts_as_a_guess() -> None:
    model = narrow.Reader(setting("float16/textbook"), SMALL)
    with torch.no_grad():
        model.name.weight.fill_(100.0)  # the scores of equal names are inf
    tests = [SMALL.draw(Generator().manual_seed(8))]
    right, loss = narrow.judged(model, tests)
    assert model(*tests[0]).isnan().any(-1).all()
    assert right == 0
    assert loss == pytest.approx(math.log(3))


def test_what_is_measured_of_an_arm() -> None:
    found = narrow.outcome(setting("float32", steps=60), SMALL, seed=3)
    assert found["accuracy"] == found["in_float32"] > 80
    assert found["skipped"] == found["broke"] == 0
    assert 1 < found["half_way"] < 60
    model = narrow.fit(setting("float32", steps=60), SMALL, seed=3)[0]
    names = model.name(model.names).detach()
    largest = max(float(a @ b) for a in names for b in names) / math.sqrt(8)
    assert found["largest_score"] == pytest.approx(largest, rel=1e-5)
