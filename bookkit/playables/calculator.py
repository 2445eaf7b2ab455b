"""A calculator: what a model of today keeps of a text, layer by layer, and computes for a token."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bookkit.playables.output import LiveOutput
from companion.contracts import contract

if TYPE_CHECKING:
    from companion.models.atlas.kept import Kept
    from companion.models.atlas.specs import LayerSpec, ModelSpec

LENGTHS = tuple(2**power for power in range(7, 21))
"""The lengths that the slider offers, in tokens."""

PRECISIONS = {"float32": 4, "bfloat16": 2, "8 bits": 1}
"""Bytes of a number of keys and values."""


@dataclass(frozen=True)
class LayerCost:
    """What a layer keeps and computes, as the script reads it.

    Attributes:
        weights: numbers of the matrices that a token passes through.
        keeps: what it keeps of the text.
        reads: what the next token reads, kept by this layer or by another.
    """

    weights: int
    keeps: tuple[Kept, ...]
    reads: tuple[Kept, ...]


@dataclass(frozen=True)
class ModelCost:
    """What a model keeps and computes.

    Attributes:
        name: model_type of its config.json.
        title: what people call it.
        layers: how many layers of each kind there are, and what one of them costs.
        outer: numbers of the matrices outside the layers, such as the one that scores the next
            token.
    """

    name: str
    title: str
    layers: tuple[tuple[int, LayerCost], ...]
    outer: int


def cost_of(name: str, title: str, spec: ModelSpec) -> ModelCost:
    """Count what a specification keeps and computes; layers that are equal are counted together.

    Args:
        name: model_type of its config.json.
        title: what people call it.
        spec: the model.
    """
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


@contract(length=">= 1", batch_size=">= 1")
def calculator(
    models: Iterable[ModelCost],
    *,
    shown: str,
    length: int = 32_768,
    batch_size: int = 1,
    caption: str = "",
) -> LiveOutput:
    """Show what a model keeps of texts, and let a reader choose the model or paste its config.json.

    Args:
        models: the models to choose from.
        shown: model_type of the one that is shown first.
        length: tokens of each text at first; one of `LENGTHS`.
        batch_size: number of texts at first.
        caption: the words below it.

    Raises:
        ValueError: no model of that name, or a length that the slider does not offer.
    """
    models = list(models)
    first = next((model for model in models if model.name == shown), None)
    if first is None:
        raise ValueError(f"shown: got {shown!r}, wanted one of {[model.name for model in models]}")
    if length not in LENGTHS:
        raise ValueError(f"length: got {length}, wanted one of {LENGTHS}")
    finding = _finding(first, length, batch_size)
    return LiveOutput(
        "calculator",
        drawing=_table(first, length, batch_size, finding),
        data={
            "models": [_plain(model) for model in models],
            "shown": models.index(first),
            "lengths": LENGTHS,
            "length": LENGTHS.index(length),
            "batch": batch_size,
            "precisions": PRECISIONS,
        },
        label="What a model keeps of a text",
        alt=finding,
        caption=caption,
        state=finding,
        parts=("config-reader",),
    )


def kept_bytes(model: ModelCost, length: int, batch_size: int, itemsize: int) -> int:
    """Return the bytes that all layers of a model keep."""
    return sum(
        count * part.bytes(length, batch_size, itemsize)
        for count, layer in model.layers
        for part in layer.keeps
    )


def in_words(size: float) -> str:
    """Say a number of bytes with three digits.

    >>> in_words(512), in_words(3_000_000), in_words(1_234_000_000)
    ('512 bytes', '3.00 MB', '1.23 GB')
    """
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.5 or unit == "TB":
            break
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{size:.{digits}f} {unit}"


def _finding(model: ModelCost, length: int, batch_size: int) -> str:
    total = kept_bytes(model, length, batch_size, 2)
    texts = "one text" if batch_size == 1 else f"{batch_size} texts"
    return f"Of {texts} of {length:,} tokens, {model.title} keeps {in_words(total)}."


def _table(model: ModelCost, length: int, batch_size: int, finding: str) -> str:
    rows = []
    for count, layer in model.layers:
        for part in layer.keeps:
            one = part.bytes(length, batch_size, 2)
            rows.append(
                f"<tr><td>{count}</td><td>{escape(part.what)}</td><td>{escape(_why(part))}</td>"
                f'<td data-am-value="{one}">{in_words(one)}</td>'
                f'<td data-am-value="{count * one}">{in_words(count * one)}</td></tr>'
            )
    head = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("layers", "keep", "as", "one layer", "all of them")
    )
    return (
        f'<p class="am-calculator-finding">{escape(finding)}</p>'
        f'<div class="am-calculator-wide"><table class="am-calculator-table"><thead><tr>{head}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
        '<p class="am-calculator-token"></p>'
    )


def _why(part: Kept) -> str:
    """Say how the bytes of a part come about."""
    numbers = f"{part.numbers:,} numbers"
    if part.tokens is None:
        how = f"{numbers}, however long the text is"
    elif part.tokens == 1:
        how = f"{numbers} a token"
    else:
        how = f"{numbers} for {part.tokens} tokens"
    if part.beyond is not None:
        how += f" behind the last {part.beyond} that are complete"
    if part.limit is not None:
        how += f", at most {part.limit:,} times"
    return how if part.itemsize is None else f"{how}, {part.itemsize} bytes each"


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
