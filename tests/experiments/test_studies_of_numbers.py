"""What the studies of scores, of narrow numbers and of costs measure."""

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Generator, Tensor

from companion.attention import scaled_dot_product_attention
from companion.cost import Roofline, measure_flops, step_cost
from experiments.cost import study as cost
from experiments.lookup import study as lookup
from experiments.lookup.study import Descent, Design
from experiments.narrow_training import study as narrow
from experiments.numerics import study as numerics
from experiments.scores import study as scores

pytestmark = pytest.mark.slow

# The study of costs: what it times is what it counts, and what it says is what it measured.

GROWTH = cost.Growth(8, 2, 3, (16, 32, 64), 16, (64,))
TINY = cost.Writing(8, 2, 2, 11, (1, 2), ((4, 2),), 2, 3)


def test_the_exact_mixers_compute_the_same() -> None:
    calls: Any = cost.mixers(GROWTH, 37, 5)
    generator = torch.Generator().manual_seed(5)
    query, key, value = torch.randn(3, 1, 2, 37, 4, generator=generator)
    wanted = F.scaled_dot_product_attention(query, key, value)
    for name in ("textbook", "fused", "tiled"):
        torch.testing.assert_close(calls[name](), wanted)
    near = (torch.arange(37)[:, None] - torch.arange(37)).abs() <= 3
    banded = F.scaled_dot_product_attention(query, key, value, near)
    torch.testing.assert_close(calls["window"](), banded)
    mapped_query, mapped_key = F.elu(query) + 1, F.elu(key) + 1
    scores = mapped_query @ mapped_key.mT
    torch.testing.assert_close(calls["linear"](), scores / scores.sum(-1, keepdim=True) @ value)
    assert calls["recurrent"]().shape == (1, 37, 8)


def test_times_cross_between_the_lengths_at_which_their_order_changes() -> None:
    other = {n: 100.0 * n for n in (10, 100, 1000, 10_000)}
    for exponent, scale, wanted in ((2.0, 1.0, 100.0), (2.0, 0.2, 500.0), (3.0, 1.0, 10.0)):
        rising = {n: scale * n**exponent for n in other}
        assert cost.crossed(list(other), rising, other) == pytest.approx(wanted)
    assert cost.crossed([10, 100], {10: 1.0, 100: 2.0}, other) == 100.0
    assert cost.crossed([10, 100], {10: 1e4, 100: 1e5}, other) == 10.0


def test_rates_are_shares_of_the_roof() -> None:
    roof = Roofline(flops=1e9, bandwidth=1e8)
    found = cost.writing_of(TINY, 3, roof, rounds=1, steps=3000)
    for b in (1, 2):
        name = f"decode/4/{b}"
        step = step_cost(TINY.config, cached=4, batch_size=b)
        seconds = found[f"{name}/time"] * b / 1e3
        assert found[f"{name}/of_peak"] == pytest.approx(100 * step.flops / seconds / 1e9)
        assert found[f"{name}/of_memory"] == pytest.approx(100 * step.moved / seconds / 1e8)
        assert found[f"{name}/of_roof"] == pytest.approx(
            max(found[f"{name}/of_peak"], found[f"{name}/of_memory"])
        )
    assert found["decode/4/1/share"] == 1.0
    assert measure_flops(cost.trainer(TINY, 3)) == cost.training_cost(TINY)
    share = found["train/time"] / found["decode/4/1/time"]
    assert found["train/to_decode"] == pytest.approx(share)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux alone")
def test_memory_is_that_of_whole_matrices() -> None:
    growth = replace(GROWTH, memory_lengths=(2100, 2900))
    # A process of its own, because one that has freed much before grows by less.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(cost.memory_of, growth, 3).result()
    assert 1.9 < found["peak/textbook/matrices"] < 3.3
    assert found["peak/tiled/matrices"] < 0.5
    assert found["peak/textbook/exponent"] == pytest.approx(2.0, abs=0.15)


# The study of soft lookup: its methods against loops that nobody can misread.

Vector = NDArray[np.float64]
DICE = np.random.default_rng(5)
KEY, VALUE, QUERY = DICE.uniform(size=11), DICE.normal(size=11), DICE.uniform(size=7)


def by_distance(q: float, key: Vector, value: Vector) -> list[tuple[float, float, float]]:
    return sorted((abs(q - k), k, v) for k, v in zip(key, value, strict=True))


def soft(q: float, key: Vector, value: Vector, h: float) -> float:
    kernels = [math.exp(-((q - k) ** 2) / (2 * h * h)) for k in key]
    return float(np.dot(kernels, value) / sum(kernels))


def box(q: float, key: Vector, value: Vector, width: float) -> float:
    pairs = by_distance(q, key, value)
    inside = [v for distance, _, v in pairs if distance <= width * math.sqrt(3)]
    return sum(inside) / len(inside) if inside else pairs[0][2]


def k_nearest(q: float, key: Vector, value: Vector, k: float) -> float:
    return sum(v for _, _, v in by_distance(q, key, value)[: int(k)]) / k


def k_soft(q: float, key: Vector, value: Vector, k: float) -> float:
    radius = by_distance(q, key, value)[int(k) - 1][0]
    return soft(q, key, value, radius / math.sqrt(3))


def line(q: float, key: Vector, value: Vector, h: float) -> float:
    root = np.sqrt([math.exp(-((q - k) ** 2) / (2 * h * h)) for k in key])
    columns = np.column_stack([np.ones_like(key), key]) * root[:, None]
    intercept, slope = np.linalg.lstsq(columns, value * root, rcond=None)[0]
    return float(intercept + slope * q)


ORACLES: dict[str, Callable[[float, Vector, Vector, float], float]] = {
    "soft": soft, "k_nearest": k_nearest, "box": box, "k_soft": k_soft, "line": line,
}  # fmt: skip
CHOICES = {"width": np.array([0.03, 0.1, 0.7]), "neighbours": np.array([1.0, 3.0, 10.0])}


def test_methods_are_what_they_say() -> None:
    for name in lookup.METHODS:
        table, kind = lookup.METHODS[name]
        wanted = [[ORACLES[name](q, KEY, VALUE, c) for q in QUERY] for c in CHOICES[kind]]
        assert table(QUERY, KEY, VALUE, CHOICES[kind], None) == pytest.approx(np.array(wanted))


def test_descent_finds_the_least_error_of_a_fine_grid() -> None:
    key, value = Design(samples=23, datasets=1).draw(3)
    (found,) = lookup.learn_bandwidths(key, value, Descent(steps=1000))
    fine = np.geomspace(0.01, 0.3, 500)
    others = ~np.eye(23, dtype=bool)

    def left_out(h: float) -> float:
        return float(np.mean((lookup.soft(key[0], key[0], value[0], h, others) - value) ** 2))

    assert left_out(found) <= min(map(left_out, fine)) + 1e-9


# The study of training in narrow numbers: its task, its attention, and what its arms share.

DIRECTORY = narrow.Directory(bits=3, classes=3, asked=5, tests=2)


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
    model = narrow.Reader(setting("float16/textbook"), DIRECTORY)
    with torch.no_grad():
        model.name.weight.fill_(100.0)  # the scores of equal names are inf
    tests = [DIRECTORY.draw(Generator().manual_seed(8))]
    right, loss = narrow.judged(model, tests)
    assert model(*tests[0]).isnan().any(-1).all()
    assert right == 0
    assert loss == pytest.approx(math.log(3))


def test_what_is_measured_of_an_arm() -> None:
    found = narrow.outcome(setting("float32", steps=60), DIRECTORY, seed=3)
    assert found["accuracy"] == found["in_float32"] > 80
    assert found["skipped"] == found["broke"] == 0
    assert 1 < found["half_way"] < 60
    model = narrow.fit(setting("float32", steps=60), DIRECTORY, seed=3)[0]
    names = model.name(model.names).detach()
    largest = max(float(a @ b) for a in names for b in names) / math.sqrt(8)
    assert found["largest_score"] == pytest.approx(largest, rel=1e-5)


# The study of narrow numbers: what it measures.


def one_row(*scores: float, dtype: torch.dtype = torch.float16) -> tuple[Tensor, Tensor, Tensor]:
    """Return query, keys and values of one query with those scores; values are the identity."""
    query = torch.ones(1, 1, dtype=dtype)
    key = torch.tensor(scores, dtype=dtype)[:, None]
    return query, key, torch.eye(len(scores), dtype=dtype)


def test_every_step_is_rounded() -> None:
    """By hand: exp(-1) is 0.36788, in bfloat16 0.3671875; the sum 1.3671875 becomes 1.3671875."""
    found = numerics.stepwise(*one_row(1.0, 0.0, dtype=torch.bfloat16))
    first, second = (
        float(torch.tensor(x).bfloat16()) for x in (1 / 1.3671875, 0.3671875 / 1.3671875)
    )
    assert found.tolist() == [[first, second]]


def test_the_textbook_overflows_in_two_ways() -> None:
    assert numerics.stepwise(*one_row(12.0, 0.0), safe=False).isnan().any()
    many = numerics.stepwise(*one_row(*[10.5] * 3), safe=False)  # each fits, the sum does not
    assert many.tolist() == [[0.0, 0.0, 0.0]]
    assert numerics.stepwise(*one_row(12.0, 0.0)).isfinite().all()


def test_a_running_sum_stops_growing() -> None:
    """In bfloat16, 256 + 1 is 256: of 1024 equal keys each gets a weight four times too large."""
    query, key, _ = one_row(*[0.0] * 1024, dtype=torch.bfloat16)
    value = torch.ones(1024, 1, dtype=torch.bfloat16)
    assert numerics.stepwise(query, key, value).item() == 1
    assert numerics.stepwise(query, key, value, running=True).item() == 4


def test_the_leak_of_a_late_softcap() -> None:
    """Forbidden keys have the score -c; the allowed ones are squashed."""
    found = numerics.leaked(3.0, 5, seed=2, queries=7, keys=4)
    generator = Generator().manual_seed(2)
    query = torch.randn(7, 64, generator=generator).double()
    key = torch.randn(9, 64, generator=generator).double()
    scores = 3 * torch.tanh(query @ key[:4].T / 8 / 3)
    bad = 5 * math.exp(-3)
    wanted = 100 * float((bad / (bad + scores.exp().sum(-1))).mean())
    assert found == pytest.approx(wanted, rel=1e-5)
    assert numerics.leaked(50.0, 5, seed=2, queries=7, keys=4) < 1e-15


# The study of scores: what its arms are, what is tuned, and what it measures.


def test_a_scale_is_a_start_and_a_rate() -> None:
    """Both made small without the scale: the losses are those with it."""
    rates: dict[scores.Optimizer, float] = {"adam": 0.01, "momentum": 0.1}
    for optimizer, rate in rates.items():
        plain = scores.Setting(optimizer, 48, "none", learning_rate=rate, steps=25)
        small = replace(plain, start="small", rate="small")
        with_scale, without = (
            scores.fit(setting, scores.TASK, seed=3)[1]
            for setting in (replace(plain, scale="root"), small)
        )
        assert without == pytest.approx(with_scale, abs=1e-3)
        assert scores.fit(plain, scores.TASK, seed=3)[1] != pytest.approx(with_scale, abs=0.02)


def test_before_training_is_what_plain_formulas_give() -> None:
    """One query, its gradient from the Jacobian written out."""
    start = scores.Start(queries=1, keys=5, value_width=3, at_once=1)
    found = scores.before_training(4, start, seed=2)
    generator = Generator().manual_seed(2)
    query, key, value, above = (
        torch.randn(shape, generator=generator).double() for shape in ((1, 4), (5, 4), (5, 3), (3,))
    )
    above = above / above.norm()
    for name, scale in (("none", 1.0), ("root", 0.5), ("width", 0.25)):
        weights = torch.softmax(scale * (key @ query[0]), 0)
        jacobian = torch.diag(weights) - torch.outer(weights, weights)
        at_query = scale * key.T @ jacobian @ value @ above
        wanted = {
            "trace": jacobian.trace(), "largest": weights.max(),
            "entropy": torch.special.entr(weights).sum(),
            "query_gradient": at_query.norm(), "value_gradient": weights.norm(),
        }  # fmt: skip
        for part, number in wanted.items():
            assert found[f"{name}/{part}/mean"] == pytest.approx(float(number), rel=1e-5)
