"""How well does soft lookup find a curve in noisy samples, and how wide should it look?

One run draws many sets of samples of one curve and averages the squared error over them. Soft
lookup is Nadaraya-Watson regression with a Gaussian kernel. It and its rivals are tuned alike: each
chooses among equally many candidates by its error on samples that it predicts from the others.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from companion.attention import attend, masked_softmax
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import ATTENTION
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number

SEEDS = tuple(range(1, 21))

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """How samples are drawn."""

    samples: int = 64  # keys, each with its value, in one set
    noise: float = 0.3  # standard deviation of what is added to the curve, Gaussian
    # Keys are uniform numbers from 0 to 1 to this power; above 1 they crowd near 0
    crowding: float = 1.0
    datasets: int = 50  # sets of samples in one run

    def draw(self, seed: int) -> tuple[Vector, Vector]:
        """Return keys and values, (datasets, samples) each."""
        dice = np.random.default_rng([seed, self.samples])
        shape = self.datasets, self.samples
        key = dice.uniform(size=shape) ** self.crowding
        return key, curve(key) + self.noise * dice.normal(size=shape)


@dataclass(frozen=True)
class Descent:
    """Gradient descent on the logarithm of the bandwidth: chosen on seeds 101 and 102."""

    start: float = 0.3
    rate: float = 2.0
    steps: int = 300


PLAIN = Design()
SIZES = (16, 32, 64, 128, 256, 512)
DESCENDED = (16, 64)
CANDIDATES = 40
WIDTHS = np.geomspace(0.005, 1.0, CANDIDATES)
"""Standard deviations of a kernel, for every method that has a fixed width."""
DRAWN = np.geomspace(0.005, 0.5, 21)
"""Bandwidths of the curve of error against bandwidth."""
GRID = np.linspace(0.0, 1.0, 201)
ENDS = (GRID < 0.1) | (GRID > 0.9)
MIDDLE = (GRID >= 0.25) & (GRID <= 0.75)
BOX = math.sqrt(3)
"""Half the width of a box over its standard deviation."""


def curve(x: Vector) -> Vector:
    """Return what the samples are samples of; it is as steep at the ends as anywhere."""
    return 2 * x + np.sin(2 * np.pi * x)


def error(estimate: Vector, where: Any = slice(None)) -> float:
    """Return the mean squared distance from the curve, on the grid or a part of it."""
    return float(np.mean((estimate - curve(GRID))[..., where] ** 2))


# The methods: queries (q,), keys and values (k,) -> (q,), for each of the candidates in turn


def weights(query: Any, key: Any, bandwidth: Any, mask: Any = None) -> Any:
    """Return softmax(-(q - k)^2 / 2 h^2) over the keys: (..., q), (..., k) -> (..., q, k)."""
    distance = query[..., :, None] - key[..., None, :]
    return masked_softmax(-(distance**2) / (2 * bandwidth**2), mask)


def soft(query: Any, key: Any, value: Any, bandwidth: Any, mask: Any = None) -> Any:
    """Look up the values (..., k) of all allowed keys together: (..., q)."""
    return attend(weights(query, key, bandwidth, mask), value[..., None])[..., 0]


def box(query: Vector, key: Vector, value: Vector, width: float, mask: Any = None) -> Vector:
    """Return the mean value of the keys in a box around the query, at least of the nearest."""
    distance = _distance(query, key, mask)
    half = np.maximum(BOX * width, distance.min(axis=1, keepdims=True))
    alpha = masked_softmax(np.zeros_like(distance), distance <= half)
    return np.asarray(attend(alpha, value[:, None])[:, 0])


def line(query: Vector, key: Vector, value: Vector, width: float, mask: Any = None) -> Vector:
    """Fit a line with the weights of soft lookup, and read it at the query (Cleveland, 1979)."""
    alpha = weights(query, key, width, mask)
    key_mean, value_mean = alpha @ key, alpha @ value
    apart = key - key_mean[:, None]
    spread = np.sum(alpha * apart**2, axis=1)
    together = np.sum(alpha * apart * value, axis=1)
    slope = np.divide(together, spread, out=np.zeros_like(spread), where=spread > 0)
    return np.asarray(value_mean + slope * (query - key_mean))


def neighbours_soft(
    query: Vector, key: Vector, value: Vector, neighbours: float, mask: Any = None
) -> Vector:
    """Look up softly, with a bandwidth for every query from its distance to the k-th neighbour."""
    half = np.sort(_distance(query, key, mask), axis=1)[:, int(neighbours) - 1, None]
    return np.asarray(soft(query, key, value, np.maximum(half, 1e-12) / BOX, mask))


def neighbours_mean(
    query: Vector, key: Vector, value: Vector, neighbours: Vector, mask: Any = None
) -> Vector:
    """Return the mean value of the k nearest keys, for every given k: (candidates, q)."""
    order = np.argsort(_distance(query, key, mask), axis=1)
    sums = np.cumsum(value[order], axis=1)[:, neighbours.astype(int) - 1]
    return np.asarray((sums / neighbours).T)


def _distance(query: Vector, key: Vector, mask: Any) -> Vector:
    distance = abs(query[:, None] - key)
    return distance if mask is None else np.where(mask, distance, math.inf)


Table = Callable[[Vector, Vector, Vector, Vector, Any], Vector]


def each(method: Callable[..., Vector]) -> Table:
    """Return the method for one candidate after the other, (candidates, q)."""

    def table(query: Vector, key: Vector, value: Vector, candidates: Vector, mask: Any) -> Vector:
        return np.array([method(query, key, value, one, mask) for one in candidates])

    return table


METHODS: dict[str, tuple[Table, str]] = {
    "soft": (each(soft), "width"), "k_nearest": (neighbours_mean, "neighbours"),
    "box": (each(box), "width"), "k_soft": (each(neighbours_soft), "neighbours"),
    "line": (each(line), "width"),
}  # fmt: skip
"""How a method looks, and what it is tuned by."""
RIVALS = ("soft", "k_nearest")


def candidates(kind: str, samples: int) -> Vector:
    """Return what a method may choose from: equally many for all, unless there are fewer k."""
    if kind == "width":
        return WIDTHS
    return np.unique(np.geomspace(1, samples - 1, CANDIDATES).round())


def tuned(name: str, key: Vector, value: Vector) -> tuple[float, Vector]:
    """Return the candidate that predicts every sample best from the others, and its curve."""
    table, kind = METHODS[name]
    choices, others = candidates(kind, len(key)), ~np.eye(len(key), dtype=bool)
    left_out = table(key, key, value, choices, others)
    best = np.argmin(np.mean((left_out - value) ** 2, axis=1))
    return float(choices[best]), table(GRID, key, value, choices[best : best + 1], None)[0]


def rule_of_thumb(key: Vector) -> float:
    """Return the normal reference rule, 1.06 s n^(-1/5), made for densities (Silverman, 1986)."""
    return float(1.06 * np.std(key, ddof=1) * len(key) ** -0.2)


# What one seed measures


def compare(design: Design, names: tuple[str, ...], seed: int) -> dict[str, float]:
    """Return the errors of the methods, and of what needs no tuning; mean over the datasets."""
    rows = []
    for key, value in zip(*design.draw(seed), strict=True):
        row: dict[str, float] = {}
        for name in names:
            row[f"{name}_choice"], estimate = tuned(name, key, value)
            row[name] = error(estimate)
            row[f"{name}_ends"] = error(estimate, ENDS)
            row[f"{name}_middle"] = error(estimate, MIDDLE)
        row["nearest"] = error(neighbours_mean(GRID, key, value, np.ones(1)))
        row["mean"] = error(np.full_like(GRID, value.mean()))
        row["rule"] = error(soft(GRID, key, value, rule_of_thumb(key)))
        row["oracle"] = min(error(soft(GRID, key, value, width)) for width in WIDTHS)
        rows.append(row)
    return {name: fmean(row[name] for row in rows) for name in rows[0]}


def learn_bandwidths(
    key: Vector, value: Vector, descent: Descent, *, leave_one_out: bool = True
) -> Vector:
    """Return a bandwidth for every set of samples (datasets, samples), by gradient descent."""
    keys, values = torch.from_numpy(key), torch.from_numpy(value)
    others = ~torch.eye(keys.shape[-1], dtype=torch.bool) if leave_one_out else None
    logarithm = torch.full((len(keys), 1, 1), math.log(descent.start), dtype=torch.float64)
    logarithm.requires_grad_()
    for _ in range(descent.steps):
        estimate = soft(keys, keys, values, logarithm.exp(), others)
        loss = ((estimate - values) ** 2).mean(-1).sum()  # no set shares its bandwidth
        (gradient,) = torch.autograd.grad(loss, logarithm)
        logarithm = (logarithm - descent.rate * gradient).detach().requires_grad_()
    return np.asarray(logarithm.detach().exp().flatten())


def descend(design: Design, descent: Descent, seed: int) -> dict[str, float]:
    """Return the error after gradient descent, each sample left out of its own prediction or in."""
    key, value = design.draw(seed)
    measures = {}
    for name, leave_one_out in (("learned", True), ("collapsed", False)):
        h = learn_bandwidths(key, value, descent, leave_one_out=leave_one_out)
        measures[f"{name}_choice"] = float(np.median(h))
        measures[name] = error(soft(GRID[None], key, value, h[:, None, None]))
    return measures


def against_bandwidth(design: Design, seed: int) -> dict[str, list[float]]:
    """Return the error of every bandwidth in `DRAWN`, its two parts, and what the samples say.

    The parts are exact for the keys that were drawn: the square of the bias,
    sum_j a_j f(k_j) - f(q), and the variance, noise^2 sum_j a_j^2.
    """
    key, value = design.draw(seed)
    others = ~np.eye(design.samples, dtype=bool)
    parts = ("bias", "variance", "error", "left_out", "itself")
    curves: Runs = {name: [] for name in parts}
    for h in DRAWN:
        alpha = weights(GRID[None], key, h)
        curves["bias"].append(error(attend(alpha, curve(key)[..., None])[..., 0]))
        curves["variance"].append(design.noise**2 * float(np.mean(np.sum(alpha**2, -1))))
        curves["error"].append(error(attend(alpha, value[..., None])[..., 0]))
        for name, mask in (("left_out", others), ("itself", None)):
            residual = soft(key, key, value, h, mask) - value
            curves[name].append(float(np.mean(residual**2)))
    return curves


def exponent(errors: dict[int, float]) -> float:
    """Return the slope of log error over log n."""
    return float(np.polyfit(np.log(list(errors)), np.log(list(errors.values())), 1)[0])


def run(
    seed: int, sizes: tuple[int, ...] = SIZES, descended: tuple[int, ...] = DESCENDED,
    plain: Design = PLAIN, descent: Descent = Descent(),
) -> dict[str, float]:  # fmt: skip
    """Return everything that one seed measures, by name."""
    everything, measures = tuple(METHODS), {}
    for n in sizes:
        names = everything if n == plain.samples else RIVALS
        measures[str(n)] = compare(replace(plain, samples=n), names, seed)
    for n in descended:
        measures[str(n)] |= descend(replace(plain, samples=n), descent, seed)
    measures["noiseless"] = compare(replace(plain, noise=0.0), RIVALS, seed)
    measures["uneven"] = compare(replace(plain, crowding=3.0), everything, seed)
    large = [n for n in sizes if n >= plain.samples]
    measures["exponent"] = {
        name: exponent({n: measures[str(n)][name] for n in large}) for name in (*RIVALS, "oracle")
    }
    for name, numbers in against_bandwidth(plain, seed).items():
        measures[f"bandwidth/{name}"] = {f"{i:02d}": n for i, n in enumerate(numbers)}
    return {f"{where}/{name}": n for where, row in measures.items() for name, n in row.items()}


def smoke() -> list[float]:
    """Run the whole pipeline on a few small sets of samples."""
    small = Design(samples=13, datasets=2)
    measures = run(0, (8, 13, 21), (13,), small, Descent(steps=20))
    return [measures[name] for name in sorted(measures)]


def percent(runs: Runs, first: str, second: str) -> list[float]:
    """Return by how many percent one error is above another."""
    return [100 * (a / b - 1) for a, b in zip(runs[first], runs[second], strict=True)]


STUDY = Experiment(
    name="lookup", title="Soft lookup on a curve: bandwidth, samples, neighbours",
    seeds=SEEDS, beside=run,
    config=lambda: {
        "curve": "2 x + sin(2 pi x)", "design": PLAIN, "descent": Descent(),
        "widths": WIDTHS.tolist(), "drawn": DRAWN.tolist(), "sizes": SIZES, "grid": len(GRID),
    },
    kinds={"exponent/*": number(""), "*": number("", 0)},
    modules=ATTENTION,
    claims=read_claims(__file__, percent), smoke=smoke, tolerance=1e-6,
)  # fmt: skip
