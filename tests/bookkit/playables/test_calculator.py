"""The calculator in Node: every model and every config.json as the package counts them."""

import json
from functools import cache
from typing import Any

import pytest
from book_site.play import run

from bookkit.figures import calculator, cost_of
from bookkit.playables.calculator import LENGTHS
from bookkit.playables.playable import FOLDER, Playable
from companion.cost import token_cost
from companion.models.atlas import ModelSpec, read_config
from experiments.atlas.check import default_config, toy_config
from experiments.atlas.record import stored_spec
from experiments.atlas.rows import ROWS
from tests.bookkit.playables.node import ask

SETTINGS = [(0, 0, 1), (8, 3, 0), (len(LENGTHS) - 1, 8, 2)]  # length, texts, precision


@cache
def specs() -> dict[str, ModelSpec]:
    return {row.name: stored_spec(row)[0] for row in ROWS}


@cache
def made() -> Playable:
    costs = [cost_of(name, name.title(), spec) for name, spec in specs().items()]
    return calculator(costs, shown="qwen3")


def states(**chosen: Any) -> list[dict[str, Any]]:
    return [{"length": a, "batch": b, "precision": c} | chosen for a, b, c in SETTINGS]


def counted(spec: ModelSpec) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for length, texts, precision in SETTINGS:
        sizes = {"batch_size": 2**texts, "itemsize": (4, 2, 1)[precision]}
        cost = token_cost(spec, LENGTHS[length], **sizes)
        found.append((cost.bytes, cost.operations, cost.weights))
    return found


def numbers(shown: list[Any]) -> list[tuple[int, ...]]:
    return [(one["kept"], one["operations"], one["weights"]) for one in shown]


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_models_are_counted_as_the_package_counts_them(every: int) -> None:
    asked = [state for at in range(0, len(specs()), every) for state in states(model=at)]
    chosen = list(specs().values())[::every]
    assert numbers(ask(made(), *asked)) == [one for spec in chosen for one in counted(spec)]


@pytest.mark.slow
def test_every_pasted_file_is_counted_as_the_package_counts_it() -> None:
    whole = [row for row in ROWS if not stored_spec(row)[1]]  # whose class has sizes by default
    files = [default_config(row).to_dict() for row in whole]
    files += [toy_config(row).to_dict() for row in ROWS]
    plain = [json.loads(json.dumps(file), parse_constant=lambda _: None) for file in files]
    read = run(FOLDER / "node.mjs", [("config-reader", "readConfig", file) for file in plain])
    asked = [state for one in read for state in states(model=-1, pasted=one)]
    wanted = [one for file in files for one in counted(read_config(file))]
    assert numbers(ask(made(), *asked)) == wanted
