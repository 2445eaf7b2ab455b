"""Which attention fits, in Node: bytes as the package counts them, and what is left when."""

import json
from typing import Any

import pytest

from bookkit.atlas.kinds import kind_of
from bookkit.figures import choose_attention
from bookkit.playables.calculator import published
from bookkit.playables.choosing import BITS, ROOMS, SHAPE, TEXTS, atlas_kinds, count_of, ways
from companion.cost import token_cost
from companion.models.atlas import read_config
from tests.bookkit.playables.node import ask

MADE = choose_attention()
DATA: dict[str, Any] = json.loads(MADE.json())
NAMES = [way.name for way in ways()]


def left(**state: int) -> set[str]:
    (shown,) = ask(MADE, state)
    return {name for name, way in zip(NAMES, shown["ways"], strict=True) if way["left"]}


@pytest.mark.parametrize(
    ("length", "texts", "precision"), [(0, 0, 0), (7, 3, 0), (7, 3, 2), (10, 7, 1), (2, 4, 2)]
)
def test_bytes_are_those_of_the_specification(length: int, texts: int, precision: int) -> None:
    (shown,) = ask(MADE, {"length": length, "texts": texts, "precision": precision})
    tokens = DATA["lengths"][length]
    for way, found in zip(ways(), shown["ways"], strict=True):
        one, two = (way.spec().state_bytes(tokens, TEXTS[texts], itemsize=n) for n in (1, 2))
        size = BITS[precision][1]
        assert found["kept"] == one + (size - 1) * (two - one), way.name  # half bytes, too


def test_the_model_as_it_is_is_the_published_one() -> None:
    spec = read_config(published()[SHAPE])
    grouped = ways()[NAMES.index("grouped heads (GQA)")].spec()
    assert spec.state_bytes(131_072) == grouped.state_bytes(131_072) == 2**34
    table = spec.vocab_size * spec.embed_dim
    assert DATA["weights"] == 2 * (token_cost(spec, 0).weights + table)


def test_every_control_decides() -> None:
    assert left() == set()
    assert left(back=1) == {"windows + first tokens"}
    assert left(texts=0, precision=1) == {"grouped heads (GQA)"}
    assert left(trained=1) == set()
    trained = left(trained=1, precision=1)
    assert trained == {"one head (MQA)", "3 states : 1 MLA"}
    assert left(trained=1, precision=2) == set()  # four bits forget
    assert left(trained=1, memory=ROOMS.index(48)) >= trained | {"3 states : 1 full"}
    assert "states" in left(trained=1, back=0)
    assert not {"states"} & left(trained=1, back=1, memory=len(ROOMS) - 1)


def test_whatever_brings_anything_back_grows_with_the_text() -> None:
    for way in ways():
        grows = way.spec().state_bytes(2**21) > way.spec().state_bytes(2**20)
        assert grows == (way.back == 2), way.name


def test_published_models_are_counted_once() -> None:
    counted = {way.name: count_of(way) for way in ways()}
    assert counted["all heads (MHA)"] == 0 < counted["grouped heads (GQA)"]
    others = [kinds for kinds, _ in atlas_kinds() if "short" in kinds]
    assert sum(counted.values()) + len(others) == len(atlas_kinds())
    assert all(kind_of(layer).reach == "state" for layer in ways()[8].spec().layers)
