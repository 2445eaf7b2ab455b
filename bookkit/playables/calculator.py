"""A calculator: what a model of today keeps of a text, layer by layer, and computes for a token."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bookkit.inputs import one_of
from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from companion.models.atlas.kept import Kept
    from companion.models.atlas.specs import LayerSpec, ModelSpec

LENGTHS = tuple(2**power for power in range(7, 21))
"""The lengths that the slider offers, in tokens."""

PRECISIONS = {"float32": 4, "bfloat16": 2, "8 bits": 1}
"""Bytes of a number of keys and values."""


@dataclass(frozen=True)
class LayerCost:
    """What a layer keeps and computes, as the script reads it."""

    weights: int  # numbers of the matrices that a token passes through
    keeps: tuple[Kept, ...]  # what it keeps of the text
    reads: tuple[Kept, ...]  # what the next token reads, kept by this layer or by another


@dataclass(frozen=True)
class ModelCost:
    """What a model keeps and computes."""

    name: str  # model_type of its config.json
    title: str  # what people call it
    # How many layers of each kind there are, and what one of them costs
    layers: tuple[tuple[int, LayerCost], ...]
    # Numbers of the matrices outside the layers, such as the one that scores the next token
    outer: int


def cost_of(name: str, title: str, spec: ModelSpec) -> ModelCost:
    """Count what a specification keeps and computes; layers that are equal are counted together."""
    from companion.cost import layer_weights, outer_weights

    counts: dict[LayerCost, int] = {}
    known: dict[LayerSpec, LayerCost] = {}
    for layer in spec.layers:
        if layer not in known:
            weights = layer_weights(spec.embed_dim, layer)
            known[layer] = LayerCost(weights, layer.keeps(), layer.reads())
        counts[known[layer]] = counts.get(known[layer], 0) + 1
    layers = tuple((count, cost) for cost, count in counts.items())
    return ModelCost(name, title, layers, outer_weights(spec))


def calculator(models: Iterable[ModelCost], *, shown: str, caption: str = "") -> Playable:
    """Show what a model keeps of texts, and let a reader choose the model or paste its config.json.

    Args:
        models: the models to choose from.
        shown: model_type of the one that is shown first.
    """
    models = list(models)
    return playable(
        "calculator",
        "What a model keeps of a text",
        caption=caption,
        models=[_plain(model) for model in models],
        shown=one_of(shown, "shown", [model.name for model in models]),
        lengths=LENGTHS,
        length=LENGTHS.index(32_768),
        batch=1,
        precisions=list(PRECISIONS.items()),
        precision=list(PRECISIONS).index("bfloat16"),
    )


def _plain(model: ModelCost) -> dict[str, Any]:
    return {
        "name": model.name,
        "title": model.title,
        "outer": model.outer,
        "layers": [
            {
                "count": count,
                "weights": layer.weights,
                "keeps": [_part(part) for part in layer.keeps],
            }
            | ({} if layer.reads == layer.keeps else {"reads": [*map(_part, layer.reads)]})
            for count, layer in model.layers
        ],
    }


def _part(part: Kept) -> list[Any]:
    """Return a part as a row, which the script reads by the places of its numbers."""
    return [
        part.what, part.numbers, part.tokens, part.read, part.limit, part.itemsize, part.read_limit,
        part.beyond,
    ]  # fmt: skip
