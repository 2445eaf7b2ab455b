"""The study of training in narrow numbers: its task, its attention, and what its arms share."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import torch
from torch import Generator

from bookkit.notebook import load_result
from companion.attention import scaled_dot_product_attention
from experiments.engine.trials import tuned_file
from experiments.narrow_training import study as narrow
from experiments.numerics import study as numerics

SMALL = narrow.Directory(bits=3, classes=3, asked=5, tests=2)


def setting(name: str, **changes: object) -> narrow.Setting:
    """Return an arm as a small model that trains for a few updates."""
    small = replace(narrow.arms()[name], width=8, learning_rate=0.05, steps=6)
    return replace(small, **changes)  # type: ignore[arg-type]


def test_names_are_all_the_numbers_of_so_many_bits() -> None:
    names = SMALL.names
    assert names.shape == (8, 3)
    assert set(names.flatten().tolist()) == {-1.0, 1.0}
    assert len({tuple(name) for name in names.tolist()}) == 8
    classes, asked = SMALL.draw(Generator().manual_seed(5))
    assert classes.shape == (8,)
    assert classes.max() < 3
    assert asked.shape == (5,)
    assert asked.max() < 8


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


def test_a_scale_that_is_a_power_of_two_changes_nothing_in_float32() -> None:
    plain = narrow.fit(setting("float32"), SMALL, seed=3)[1].losses
    scaled = narrow.fit(setting("float32", loss_scale=narrow.SCALE), SMALL, seed=3)[1].losses
    assert plain == scaled
    assert len(plain) == 6


def test_arms_of_a_seed_start_alike_and_see_the_same_directories() -> None:
    first = {narrow.fit(setting(name), SMALL, seed=3)[1].losses[0] for name in narrow.arms()}
    assert max(first) - min(first) < 0.02


def test_a_model_breaks_or_leaves_updates_out() -> None:
    """Weights a hundred times as large overflow float16 in the first update."""
    for name, broke, skipped in (
        ("float16/textbook", True, 0), ("float16/skipping", False, 6), ("float16/rounded", False, 0)
    ):  # fmt: skip
        model, course = _large(setting(name))
        assert (course.broke, course.skipped) == (broke, skipped)
        assert len(course.losses) == (6 if name == "float16/rounded" else 0)
        assert all(weight.isfinite().all() for weight in model.parameters())


def _large(arm: narrow.Setting) -> tuple[narrow.Reader, narrow.Course]:
    """Train an arm whose names are written a hundred times as large."""

    class Large(narrow.Directory):
        @property
        def names(self) -> torch.Tensor:
            return 100 * super().names

    return narrow.fit(arm, Large(bits=3, classes=3, asked=5, tests=2), seed=4)


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


def test_the_learning_rates_were_chosen_inside_their_grid() -> None:
    trials = json.loads(tuned_file("narrow_training").read_text(encoding="utf8"))["trials"]
    for name in narrow.arms():
        tried = {t["setting"]["learning_rate"] for t in trials if t["name"] == name}
        assert tried == set(narrow.LEARNING_RATES)
        rate = narrow.reported()[name].learning_rate
        assert narrow.LEARNING_RATES[0] < rate < narrow.LEARNING_RATES[-1], name


def test_the_recorded_settings_are_the_tuned_ones() -> None:
    recorded = load_result("narrow_training").config["arms"]
    reported = narrow.reported()
    assert list(recorded) == sorted(reported)
    for name, arm in reported.items():
        assert narrow.Setting(**recorded[name]) == arm
    for name in ("bfloat16/running", "bfloat16/textbook", "float16/skipping"):
        longer = replace(reported[name], steps=narrow.LONGER * reported[name].steps)
        assert reported[f"{name}/longer"] == longer
    usual = reported["bfloat16/running/usual"]
    assert usual.learning_rate == reported["float32"].learning_rate
    assert replace(reported["bfloat16/running"], learning_rate=usual.learning_rate) == usual
