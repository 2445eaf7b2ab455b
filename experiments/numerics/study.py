"""What do narrow numbers do to a softmax, and what does a softcap in the wrong order?

Errors of four softmaxes in narrow numbers, by length and by the spread of the scores; and the
weight that forbidden keys get if a softcap follows the mask.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import torch
from torch import Generator, Tensor

from companion.attention import (
    attend,
    attention_with_lse,
    masked_softmax,
    scaled_dot_product_attention,
)
from companion.scores import dot_score, scaled_dot_score
from experiments.engine.claims_file import read_claims
from experiments.engine.code import ATTENTION
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number, share

SEEDS = tuple(range(1, 21))


# Precision


@dataclass(frozen=True)
class Draws:
    """Queries and keys whose scores have mean 0 and a standard deviation, the spread."""

    queries: int = 256
    width: int = 64
    lengths: tuple[int, ...] = (64, 256, 1024, 4096)
    spreads: tuple[float, ...] = (1.0, 4.0, 16.0)


DRAWS = Draws()
TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


def errors(draws: Draws, dtype: str, length: int, spread: float, seed: int) -> dict[str, float]:
    """Measure the error of each computation of attention in one type, against float64.

    All get the same numbers, rounded to the type beforehand. `rounding` is the least possible
    error: the float64 output, rounded to the type. `lost` is the share of rows for which the
    textbook's formula gives no finite number, or zeros throughout.
    """
    generator = Generator().manual_seed(seed)
    kind, d = TYPES[dtype], draws.width
    query = spread / math.sqrt(d) * torch.randn(draws.queries, d, generator=generator)
    key, value = torch.randn(2, length, d, generator=generator)
    q, k, v = (x.to(kind) for x in (query, key, value))
    exact, _ = attention_with_lse(q.double(), k.double(), v.double(), scale=1.0)
    outputs = {
        "rounding": exact.to(kind),
        "companion": scaled_dot_product_attention(q, k, v, scale=1.0),
        "definition": attention_with_lse(q, k, v, scale=1.0)[0],
        "stepwise": stepwise(q, k, v),
        "running": stepwise(q, k, v, running=True),
    }
    textbook = stepwise(q, k, v, safe=False)
    kept = textbook.isfinite().all(-1) & (textbook != 0).any(-1)
    lost = 100.0 * float((~kept).double().mean())
    percent = {name: 100 * distance(output, exact) for name, output in outputs.items()}
    floor = percent["rounding"]
    return {
        **{f"{name}/error": error for name, error in percent.items()},
        **{f"{name}/ratio": error / floor for name, error in percent.items() if name != "rounding"},
        "lost": lost,
    }


def distance(output: Tensor, wanted: Tensor) -> float:
    """Return the root mean square of the difference over that of what is wanted.

    >>> distance(torch.tensor([1.0, 5.0]), torch.tensor([1.0, 4.0])) ** 2 * 17
    1.0
    """
    output, wanted = output.double(), wanted.double()
    return float(((output - wanted).square().sum() / wanted.square().sum()).sqrt())


def stepwise(
    query: Tensor, key: Tensor, value: Tensor, *, safe: bool = True, running: bool = False
) -> Tensor:
    """Compute attention with every operation's result rounded to the type of the arguments.

    The gradients that flow back are rounded in the same places. Inside one operation, as in a
    matrix product, sums are wide; so do the processors that compute in narrow numbers. The result
    does not depend on which of them does.

    Args:
        safe: subtract the largest score first; the textbook's formula does not.
        running: add the denominator up key by key, each partial sum rounded.
    """
    dtype = query.dtype

    def rounded(x: Tensor) -> Tensor:
        return x.to(dtype).float()

    query, key, value = (x.float() for x in (query, key, value))
    scores = rounded(dot_score(query, key))
    if safe:
        scores = rounded(scores - scores.amax(-1, keepdim=True))
    powers = rounded(scores.exp())
    total = rounded(powers.sum(-1))
    if running:
        total = total + (_added_up(powers.detach(), rounded) - total).detach()
    return rounded(attend(rounded(powers / total[:, None]), value)).to(dtype)


def _added_up(powers: Tensor, rounded: Callable[[Tensor], Tensor]) -> Tensor:
    """Add (q, k) up key by key; no rounding changes its gradient, so nothing is kept for it."""
    total = torch.zeros_like(powers[:, 0])
    for power in powers.unbind(-1):
        total = rounded(total + power)
    return total


# Order of operations


def leaked(cap: float, forbidden: int, seed: int, *, queries: int = 200, keys: int = 16) -> float:
    """Return the per cent of weight on forbidden keys if a softcap follows the mask.

    Scores are those of random queries and keys of width 64; the forbidden keys come on top.
    """
    generator = Generator().manual_seed(seed)
    query = torch.randn(queries, 64, generator=generator)
    key = torch.randn(keys + forbidden, 64, generator=generator)
    allowed = torch.arange(keys + forbidden) < keys
    scores = scaled_dot_score(query, key).where(allowed, -math.inf)
    weights = masked_softmax(cap * torch.tanh(scores / cap))
    return 100.0 * float(weights[:, keys:].sum(-1).mean())


CAPS = (5.0, 10.0, 20.0, 30.0, 50.0)
FORBIDDEN = (16, 1024, 16384)


def outcome(seed: int) -> dict[str, float]:
    """Measure the leak of a late softcap, and the errors of narrow numbers."""
    measures = {f"softcap/{cap:g}/{n}": leaked(cap, n, seed) for cap, n in product(CAPS, FORBIDDEN)}
    for dtype, length, spread in product(TYPES, DRAWS.lengths, DRAWS.spreads):
        for what, value in errors(DRAWS, dtype, length, spread, seed).items():
            measures[f"{dtype}/{length}/{spread:g}/{what}"] = value
    return measures


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    trace: list[float] = []
    draws = Draws(queries=20, width=8)
    for dtype, spread in product(("float16", "bfloat16"), (1.0, 8.0)):
        measures = errors(draws, dtype, 300, spread, seed=7)
        trace += [measures[name] for name in ("stepwise/error", "running/error", "lost")]
    return [*trace, leaked(3.0, 30, 7, queries=20)]


STUDY = Experiment(
    name="numerics", title="Narrow numbers, and the order of operations",
    seeds=SEEDS, beside=outcome,
    config=lambda: {"draws": DRAWS, "caps": CAPS, "forbidden": FORBIDDEN},
    kinds={
        "*ratio": number("", 0), "*/lost": share(DRAWS.queries, own=True),
        "softcap/*": number("%", 0, 100), "*": number("%", 0),
    },
    modules=ATTENTION,
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
