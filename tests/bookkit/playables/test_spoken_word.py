"""A spoken word in Node: its maps are the package's attention, its time stamps the best path."""

from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from bookkit.figures import spoken_word
from bookkit.playables.spoken import PACE
from companion import attend, dot_score, masked_softmax
from tests.bookkit.playables.node import ask

MADE = spoken_word()


def test_every_row_is_attention_whose_keys_hold_the_letter_before_and_the_place() -> None:
    """The square of a distance is a dot product of keys (1, t, t^2), but for what all share."""
    states: list[dict[str, Any]] = [
        {"word": word, "content": content, "place": place, "given": given}
        for word, content, place, given in product(
            ("banana", "Żółw 2"), (0, 4), (0, 3), (False, True)
        )
    ]
    for state, found in zip(states, ask(MADE, *states), strict=True):
        letters, lengths = found["letters"], MADE.data["takes"][0][: len(found["letters"])]
        assert "".join(letters[:-1]) == ("banana" if state["word"] == "banana" else "żółw")
        said = np.repeat(np.arange(len(letters)), lengths)
        names = ["", *dict.fromkeys(letters)]
        before = np.array([["", *letters][at] for at in said])
        at = np.arange(len(said))
        keys = np.column_stack([before[:, None] == names, at, at**2]).astype(float)
        values = np.array(letters)[said][:, None] == names
        seen, last = -(PACE + 1) / 2, ""
        for row, letter in zip(found["rows"], found["written"], strict=True):
            near = state["place"] / PACE**2
            looks = [state["content"] * (name == last) for name in names]
            query = np.array([[*looks, near * (seen + PACE), -near / 2]])
            weights = masked_softmax(dot_score(query, keys))
            (blend,) = attend(weights, values.astype(float))
            (weights,) = weights
            np.testing.assert_allclose(row, weights, atol=1e-9)
            if not state["given"]:
                assert blend[names.index(letter)] > blend.max() - 1e-9
            seen, last = weights @ at, letter
        if state["given"]:
            assert found["written"] == letters


def test_no_path_forward_has_more_weight_than_the_time_stamps() -> None:
    states = [
        {"word": "noon", "content": content, "place": place, "given": True, "lengths": lengths}
        for content, place, lengths in product((0, 2), (1, 5), ([4] * 12, [2, 5, 1, 7, 3] * 3))
    ]
    for found in ask(MADE, *states):
        total = np.pad(np.cumsum(found["rows"], axis=1), ((0, 0), (1, 0)))
        frames = total.shape[1] - 1

        def weight(inner: tuple[int, ...], total=total, frames=frames) -> float:  # type: ignore[no-untyped-def]
            steps = zip(total, pairwise((0, *inner, frames)), strict=True)
            return float(sum(row[to] - row[since] for row, (since, to) in steps))

        best = max(map(weight, combinations(range(1, frames), len(total) - 1)))
        assert weight(tuple(found["stamps"][1:])) > best - 1e-9
        assert found["stamps"][0] == 0


def test_either_score_alone_fails_and_both_read() -> None:
    states = [{"content": 4, "place": 0}, {"content": 0, "place": 4}, {"content": 4, "place": 4}]
    said = ask(MADE, *states, {"word": "cat"}, {"word": " "}, want="said")
    for words, wanted in zip(said, ("would go on", "so it", "right", "right", "Type"), strict=True):
        assert wanted in words, words
