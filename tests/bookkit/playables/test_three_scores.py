"""Three scores in Node: they are those of the package, wherever the query points."""

import numpy as np

from bookkit.figures import three_scores
from companion import additive_score, bilinear_score, dot_score, masked_softmax
from tests.bookkit.playables.node import ask

MEMORY = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
TURN, COUNTS = np.array([[-0.6, 0.8], [-0.8, -0.6]]), np.array([1.0, 3.0])
MADE = three_scores(["the", "new", "house"], MEMORY, (1, 0), turn=TURN, counts=COUNTS)


def test_scores_and_weights_are_those_of_the_package() -> None:
    queries = [[10, 0], [-13, 21], [25, 0], [0, 0]]
    for tenths, shown in zip(queries, ask(MADE, *({"query": q} for q in queries)), strict=True):
        query, same = np.array([tenths]) / 10, np.eye(2)
        rows = [
            dot_score(query, MEMORY), bilinear_score(query, MEMORY, TURN),
            additive_score(query, MEMORY, same, same, COUNTS),
        ]  # fmt: skip
        for row, scores, weights in zip(rows, shown["scores"], shown["weights"], strict=True):
            np.testing.assert_allclose(scores, row[0], atol=1e-6)
            np.testing.assert_allclose(weights, masked_softmax(row)[0], atol=1e-6)
    assert ask(MADE)[0]["best"] == [2, 0, 1]
