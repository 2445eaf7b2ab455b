"""Files of published models, damaged: a field missing, null, of another type, negative or huge."""

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

ABSENT = "absent"
VALUES: list[Any] = [
    ABSENT, None, "4", "full_attention", True, False, 0, -1, 7, 2.5, 1e30, 10**8, 10**400, [], [3],
    ["foo"], {}, {"type": None}, "",
]  # fmt: skip


def damaged(files: Sequence[dict[str, Any]], count: int, seed: int = 0) -> Iterator[Any]:
    """Yield so many files, each with one or two fields that are not what they were."""
    drawn = random.Random(seed)
    for _ in range(count):
        file = copy.deepcopy(drawn.choice(files))
        for _ in range(drawn.choice((1, 1, 2))):
            inner = file.get("text_config")
            fields = inner if isinstance(inner, dict) and drawn.random() < 0.8 else file
            if fields:
                spoil(fields, drawn)
        yield file


def spoil(fields: dict[str, Any], drawn: random.Random) -> None:
    """Change one field of a file, or an entry of a list that it holds."""
    name = drawn.choice(sorted(fields))
    value = copy.copy(drawn.choice(VALUES))
    listed = fields[name]
    if isinstance(listed, list) and listed and drawn.random() < 0.5:
        listed[drawn.randrange(len(listed))] = None if value == ABSENT else value
    elif value == ABSENT:
        del fields[name]
    else:
        fields[name] = value
