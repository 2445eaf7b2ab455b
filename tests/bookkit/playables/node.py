"""Run a playable's module in Node: JSON in, JSON out, and no browser."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from book_site.play import run

from bookkit.playables.playable import FOLDER, Playable


def ask(
    made: Playable, *states: Mapping[str, Any], want: Literal["model", "said", "still"] = "model"
) -> list[Any]:
    """Return what a module answers for its first state with these changes, one process for all."""
    data = json.loads(made.json())
    answers: list[Any] = run(
        FOLDER / "node.mjs", [(made.name, want, data, dict(state)) for state in states or [{}]]
    )
    return answers
