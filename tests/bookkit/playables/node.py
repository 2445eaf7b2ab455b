"""Run a playable's module in Node: JSON in, JSON out, and no browser."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from book_site.play import run

from bookkit.playables.playable import FOLDER, Playable


def ask(
    made: Playable, *states: Mapping[str, Any], want: Literal["model", "said", "still"] = "model"
) -> list[Any]:
    """Return what a module answers for its first state with these changes, one process for all.

    Whatever a module has words for, it says in each of these states without a gap.
    """
    data, asked = json.loads(made.json()), [dict(state) for state in states or [{}]]
    wanted = [(made.name, kind, data, state) for kind in (want, "said") for state in asked]
    answers: list[Any] = run(FOLDER / "node.mjs", wanted)
    for said in answers[len(asked) :]:
        assert said
        assert not re.search(r"undefined|null|\[object", said), said
    return answers[: len(asked)]
