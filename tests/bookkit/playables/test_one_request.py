"""One request in Node: times are summed, and the cache has what was read."""

import numpy as np
import pytest

from bookkit.figures import one_request
from bookkit.playables.requests import Request
from tests.bookkit.playables.node import ask

FIRST = Request("first", "Who?", 7, 0, 0.5, 2.0, [("I", 1.0), (" am", 0.25)])
AGAIN = Request("again", "Why?", 12, 8, 0.25, 0.5, [("So", 0.75)])
MADE = one_request([FIRST, AGAIN], token_bytes=10, weight_bytes=1000)


@pytest.mark.parametrize("place", [0, 1])
def test_times_and_tokens_are_added_up(place: int) -> None:
    request = (FIRST, AGAIN)[place]
    count = len(request.words)
    spans = [0, request.split, request.read, *(seconds for _, seconds in request.words)]
    shown = ask(MADE, *({"request": place, "step": step} for step in range(count + 3)))
    cached = [request.reused] * 2 + [request.tokens - 1 + n for n in range(count + 1)]
    assert [one["cached"] for one in shown] == cached
    assert [one["bytes"] for one in shown] == [10 * tokens for tokens in cached]
    np.testing.assert_allclose([one["now"] for one in shown], np.cumsum(spans))
