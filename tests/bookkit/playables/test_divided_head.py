"""The divided head in Node: what it hands over is what the package's attention does."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bookkit.figures import divided_head
from bookkit.playables.divided import STEPS
from companion import attend
from tests.bookkit.playables.node import ask

WORDS = ["she", "works", "in", "the", "new", "house"]
ANSWERS = np.array(list(product((0.0, 1.0), repeat=2)))
MADE = divided_head(WORDS, {0: "they", 5: "houses"}, 2, ["Who?", "What?"])


def test_the_numbers_are_those_of_the_package() -> None:
    shares = [*product((0,), range(STEPS + 1), (20,)), *product((1,), (0, 30, 45, 60), (0, 7, 30))]
    states = [{"heads": heads, "first": one, "second": two} for heads, one, two in shares]
    best: dict[int, float] = {}
    for (heads, *both), shown in zip(shares, ask(MADE, *states), strict=True):
        weights = np.array([[share / STEPS, 1 - share / STEPS] for share in both])
        np.testing.assert_allclose(shown["weights"], weights, atol=1e-6)
        points = attend(weights, ANSWERS[..., None])[..., 0]
        points[:, heads + 1 :] = 0
        np.testing.assert_allclose(shown["points"], points, atol=1e-6)
        for question, gap in enumerate(shown["gaps"]):
            one, other = (points[ANSWERS[:, question] == answer] for answer in (0, 1))
            far = np.linalg.norm(one[:, None] - other, axis=-1)
            assert gap == pytest.approx(far.min(), abs=1e-6)
        if heads == 0:
            best[both[0]] = min(shown["gaps"])
    # No division keeps both further apart than two thirds do.
    assert [share for share, gap in best.items() if gap > max(best.values()) - 1e-6] == [20, 40]


@pytest.mark.parametrize(
    ("state", "verdicts", "clashes"),
    [
        ({"first": 30}, ["lost", "lost"], 2),
        ({"first": 60}, ["whole", "lost"], 4),
        ({"first": 40}, ["can be read", "can be read"], 0),
        ({"first": 60, "heads": 2}, ["whole", "whole"], 0),
        ({"first": 30, "second": 30, "heads": 2}, ["lost", "lost"], 2),
    ],
)
def test_what_can_be_read(state: dict[str, int], verdicts: list[str], clashes: int) -> None:
    first = {"heads": state.get("heads", 1), "shares": (state["first"], state.get("second", 0))}
    (drawn,) = ask(replace(MADE, data={**MADE.data, **first}), want="still")
    for question, verdict in zip(("Who?", "What?"), verdicts, strict=True):
        row = drawn.partition(f'<th scope="row">{question}</th>')[2].partition("</tr>")[0]
        assert row.endswith(f"<td>{verdict}</td>")
    assert drawn.count("am-divided-clash") == clashes
