"""A calculator: what a published model keeps of a text, of which kinds, and layer by layer."""

from __future__ import annotations

from functools import cache
from typing import Any

from bookkit.atlas.published import published as architectures
from bookkit.atlas.published import table
from bookkit.inputs import one_of
from bookkit.playables.playable import Playable, playable

LENGTHS = tuple(2**power for power in range(7, 21))
"""The lengths that the slider offers, in tokens."""

MEMORIES = (1, 2, 4, 8, 16, 24, 48, 80, 141, 192, 320, 640, 1128)
"""The memories that the slider offers, in GiB: those of processors, and of eight of the largest."""

PRECISIONS = {"float32": 4, "bfloat16": 2, "8 bits": 1}
"""Bytes of a number of keys and values."""


@cache
def published() -> dict[str, dict[str, Any]]:
    """Return the published files to choose from, by the names of their models."""
    files = {"GPT-2": {"model_type": "gpt2", **table("history")["gpt2"]["config"]}}
    for name, one in architectures().items():
        if one.model:
            files[one.model] = {"model_type": name, **one.config}
    return files


def calculator(*, shown: str, caption: str = "") -> Playable:
    """Show what a model keeps of a text; a reader chooses the model or pastes its config.json.

    Args:
        shown: name of the published model that is shown first.
        caption: the words below it.
    """
    from companion.models.atlas.table import page_table

    return playable(
        "calculator",
        "What a model keeps of a text",
        caption=caption,
        table=page_table(),
        models=[{"title": name, "file": file} for name, file in published().items()],
        shown=one_of(shown, "shown", list(published())),
        lengths=LENGTHS,
        length=LENGTHS.index(32_768),
        memories=MEMORIES,
        memory=MEMORIES.index(80),
        precisions=list(PRECISIONS.items()),
        precision=list(PRECISIONS).index("bfloat16"),
    )
