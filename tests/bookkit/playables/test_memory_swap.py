"""A memory in Node: each vector that is exchanged is a bit of the number of what is written."""

import pytest

from bookkit.figures import memory_swap
from tests.bookkit.playables.node import ask


def test_every_mixture_has_its_text() -> None:
    made = memory_swap(["new", "house"], "new garden", ["0", "1", "2", "3"])
    states = [{"taken": taken} for taken in ([False, False], [True, False], [False, True])]
    assert [shown["written"] for shown in ask(made, *states)] == ["0", "1", "2"]
    with pytest.raises(ValueError, match="wanted 4"):
        memory_swap(["new", "house"], "new garden", ["0"])
