"""Two speeds: what writing a token asks of arithmetic and of memory, and what machines can do."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import yaml

from bookkit.notebook.machines import gpu_readings
from bookkit.playables.calculator import published
from bookkit.playables.playable import FOLDER, Playable, playable
from bookkit.records import load_result

TEXTS = tuple(2**power for power in range(10))
"""How many texts may be written at once."""

TOKENS = tuple(2**power for power in range(5, 18))
"""How many tokens each cache may hold."""

BITS = (32, 16, 8, 4)
"""Bits of a stored number."""

SMOLLM = {
    "model_type": "llama", "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30,
    "num_attention_heads": 9, "num_key_value_heads": 3, "vocab_size": 49152,
    "max_position_embeddings": 8192, "tie_word_embeddings": True,
}  # fmt: skip
"""The shape of SmolLM2-135M, as `companion.models.smollm` reads it."""


class Machine(NamedTuple):
    """What computes: operations a second, bytes a second, GiB of memory, and bits of a number."""

    name: str
    flops: float
    bandwidth: float
    memory: float
    bits: int
    source: str = ""  # a key of the bibliography; "" for what this book measured


@cache
def known_machines() -> list[Machine]:
    """Return the machines to choose from: what we measured first and last, what is quoted between.

    >>> [one.source for one in known_machines()]
    ['', 'hubner2025', 'google2025', 'nvidia2024', '']
    """
    study, gpu = load_result("cost"), gpu_readings()
    found = {row["setting"]: row for row in gpu["rows"]}
    card, memory, _ = found["the card, whose own clock is read"]["note"].split(", ")
    peak, bandwidth = (1e9 * study[f"roof/{what}"].mean for what in ("peak", "bandwidth"))
    product, copy = (1e12 * found[what]["value"] for what in ("a product", "a copy"))
    quoted = yaml.safe_load((FOLDER / "machines.yaml").read_text("utf-8"))
    return [
        Machine(f"{study.processor} core, measured", peak, bandwidth, 16, 32),
        *(Machine(**one) for one in quoted),
        Machine(f"{card}, measured", product, copy, float(memory.removesuffix(" GiB")), 16),
    ]


def written_token(file: dict[str, Any]) -> dict[str, int]:
    """Return what a token costs a model whose layers all keep every token.

    These are the numbers of the matrices that it meets and of all that are in memory, the
    operations for one key in all heads, the numbers that a cache keeps of a token, and the longest
    text.

    Args:
        file: the model's published config.json.
    """
    from companion.cost import token_cost
    from companion.models.atlas import read_config

    spec = read_config(file)
    first, longest = token_cost(spec, 0), file["max_position_embeddings"]
    table = 0 if file["tie_word_embeddings"] else spec.vocab_size * spec.embed_dim
    return {
        "weights": first.weights, "held": first.weights + table, "pair": first.reading,
        "kept": token_cost(spec, 1, itemsize=1).bytes, "longest": longest,
    }  # fmt: skip


def two_speeds(*, caption: str = "") -> Playable:
    """Show how busy a processor can be when a model writes, and what fits into its memory.

    >>> two_speeds()
    Two speeds: a drawing to play with.
    """
    models = {"SmolLM2-135M": SMOLLM, "Llama 3.1 8B": published()["Llama 3.1 8B"]}
    return playable(
        "two-speeds", "Two speeds", caption=caption, texts=TEXTS, tokens=TOKENS, bits=BITS,
        machines=[one._asdict() for one in known_machines()],
        models=[{"name": name, **written_token(file)} for name, file in models.items()],
    )  # fmt: skip
