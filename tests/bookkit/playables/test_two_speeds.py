"""Two speeds in Node: a step, the roof and the memory as the package counts them."""

import math
import re
from typing import Any

import pytest

from bookkit.figures import two_speeds
from bookkit.playables.calculator import published
from bookkit.playables.speeds import BITS, SMOLLM, TEXTS, TOKENS, known_machines
from companion.cost import Roofline, kv_cache_bytes, token_cost
from companion.models.atlas import read_config
from tests.bookkit.playables.node import ask

MADE = two_speeds()
FILES = (SMOLLM, published()["Llama 3.1 8B"])
SPECS = [read_config(file) for file in FILES]
TRIED: list[dict[str, int]] = [
    {"machine": machine, "which": which, "texts": texts, "tokens": tokens, "bits": bits}
    for machine, which, texts, tokens, bits in (
        (0, 0, 0, 2, 0), (0, 0, 9, 8, 0), (1, 0, 4, 0, 1), (1, 1, 0, 7, 2), (2, 1, 9, 12, 3),
        (3, 1, 5, 4, 1), (3, 0, 9, 8, 3), (4, 1, 9, 12, 1), (4, 1, 0, 0, 0),
    )
]  # fmt: skip


@pytest.mark.parametrize("state", TRIED)
def test_a_step_is_what_the_package_counts(state: dict[str, int]) -> None:
    (shown,) = ask(MADE, state)
    spec, machine = SPECS[state["which"]], known_machines()[state["machine"]]
    texts, tokens, size = TEXTS[state["texts"]], TOKENS[state["tokens"]], BITS[state["bits"]] / 8
    one = token_cost(spec, tokens, batch_size=texts, itemsize=1)
    flops, moved = texts * one.operations, size * (one.weights + one.bytes)
    roof = Roofline(machine.flops, machine.bandwidth)
    seconds = roof.seconds(flops, moved)
    wanted: dict[str, Any] = {
        "flops": flops, "moved": moved, "intensity": flops / moved, "ridge": roof.ridge,
        "rate": texts / seconds, "busy": roof.attainable(flops / moved) / roof.flops,
        "seconds": {"arithmetic": flops / roof.flops, "memory": moved / roof.bandwidth},
    }  # fmt: skip
    for name, value in wanted.items():
        assert shown[name] == pytest.approx(value, rel=1e-6), name
    cache = kv_cache_bytes(
        1, spec.layers[0].mixer.num_kv_heads, tokens,  # type: ignore[union-attr]
        spec.layers[0].mixer.head_dim, num_layers=len(spec.layers),  # type: ignore[union-attr]
    ) * size / 4  # fmt: skip
    assert shown["needed"]["caches"] == pytest.approx(texts * cache, rel=1e-6)
    room = shown["needed"]["room"] - shown["needed"]["weights"]
    assert shown["most"] * cache <= max(room, 0)
    assert (shown["most"] + 1) * cache > room
    # A million texts stay short of the dashed line, and not by much.
    many = token_cost(spec, tokens, batch_size=10**6, itemsize=1)
    reached = 10**6 * many.operations / (size * (many.weights + many.bytes))
    assert 0.99 * shown["endless"] < reached < shown["endless"]


def test_the_small_model_is_the_one_in_the_wheel_but_for_its_norms() -> None:
    assert token_cost(SPECS[0], 0).weights == 134_515_008 - 61 * 576


def test_with_long_caches_no_number_of_texts_fills_the_core() -> None:
    short, long = ask(MADE, {"tokens": 2}, {"tokens": 8})
    assert short["path"][-1] > short["ridge"] > long["endless"]


def test_below_its_ridge_every_roof_rises_as_the_operations_do() -> None:
    (drawn,) = ask(MADE, want="still")
    roofs = re.findall(r'<path class="am-speeds-\w+" d="M(\S+) (\S+)L(\S+) (\S+)L', drawn)
    assert len(roofs) == 1 + len(known_machines())
    for left, low, ridge, high in (map(float, roof) for roof in roofs):
        octaves = (ridge - left) / 422 * math.log2(2048 / 0.25)
        assert (low - high) / 186 * math.log2(1000) == pytest.approx(octaves, abs=0.01)
