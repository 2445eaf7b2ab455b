"""Does the gradient at the query vanish before training, at the widths of real heads?

Queries, keys and values are drawn as in the study of the scores. There the number of keys is 64;
here it varies, at the widths 64 and 128, because more keys make it likelier that two of them score
nearly alike, and then the softmax does not saturate.
"""

from collections.abc import Iterator
from itertools import product

from experiments.engine.claims_file import read_claims
from experiments.engine.code import ATTENTION
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number
from experiments.scores.study import Start, drawn

SEEDS = tuple(range(1, 21))
WIDTHS = (64, 128)
KEYS = (8, 16, 32, 64, 128, 256)
QUERIES = 500
STARVED = 0.01
"""A query starves if it gets less than this share of what is typical with the scale."""


def measures(width: int, start: Start, seed: int) -> Iterator[tuple[str, float]]:
    """Yield what reaches the queries of one width and number of keys, without and with the scale.

    The gradient above the attention has length 1 and a random direction for each query.
    """
    columns = drawn(width, start, seed)
    without, scaled = (columns[f"{name}/query_gradient"] for name in ("none", "root"))
    for name, lengths in (("none", without), ("root", scaled)):
        yield f"{name}/median", float(lengths.median())
        yield f"{name}/mean", float(lengths.mean())
    starved = (without < STARVED * scaled.median()).double().mean()
    yield "starved", 100 * float(starved)


def run(seed: int) -> dict[str, float]:
    """Measure every width with every number of keys."""
    return {
        f"{width}/{keys}/{name}": value
        for width, keys in product(WIDTHS, KEYS)
        for name, value in measures(width, Start(queries=QUERIES, keys=keys), seed)
    }


def smoke() -> list[float]:
    """Run the pipeline small, at two widths and with few keys."""
    start = Start(queries=40, keys=7, value_width=5, at_once=20)
    return [value for width in (6, 48) for _, value in measures(width, start, seed=7)]


STUDY = Experiment(
    name="first_gradients",
    title="Gradients at the query before training, by width and number of keys",
    seeds=SEEDS, beside=run,
    config=lambda: {
        "start": Start(queries=QUERIES), "widths": WIDTHS, "keys": KEYS, "starved": STARVED,
    },
    kinds={"*/starved": number("% of the queries", 0, 100), "*": number("", 0)},
    modules=(*ATTENTION, "experiments.scores.study"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
