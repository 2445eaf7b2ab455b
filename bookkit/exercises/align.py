"""Check functions of "Learning to align".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from bookkit.data.grammar import english_spanish
from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, check_call, compare, fail
from companion.alignment import Links, diagonal_links, oracle_links
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate
from companion.scores import additive_score

MOST_ROWS = 2
"""Rows by which links are moved at most, up or down, in `check_best_shift`."""


def check_without_tanh(score: Answer) -> None:
    """Check the additive score without its tanh.

    Args:
        score: `score(query, key, query_weight, key_weight, vector)`, from queries (q, d), keys
            (k, e), weights (d, a) and (e, a) and a vector (a,) to scores (q, k).
    """
    q, k, d, e, a = 3, 4, 2, 5, 7
    dice = np.random.default_rng(0)
    given = tuple(dice.normal(size=shape) for shape in ((q, d), (k, e), (d, a), (e, a), (a,)))
    query, key, query_weight, key_weight, vector = given
    asked, told = query @ query_weight, key @ key_weight
    joined = asked[:, None] + told[None]
    mistakes = {
        "the tanh is still there": additive_score(*given),
        "the queries are missing: add what comes of both": np.tile(told @ vector, (q, 1)),
        "the keys are missing: add what comes of both": np.tile((asked @ vector)[:, None], (1, k)),
        "the vector is missing: it makes one number of the a of a pair": joined,
        "rows are queries and columns are keys: turn it round": (joined @ vector).T,
        "add what comes of query and key, do not multiply it": asked @ told.T,
    }
    check_call(score, given, joined @ vector, mistakes, why="Do the axes meet?", axes="(q, k)")


def check_additive(scores: Any, weights: Any) -> None:
    """Check the additive score by hand: the query (1, 0) at the memory of three words.

    The memory is (0, 1) for "the", (1, 1) for "new" and (2, 0) for "house"; both matrices are the
    identity, and the vector is (1, -1). Two digits after the point will do.

    Args:
        scores: (3,) how well each word answers.
        weights: (3,) how much of each word.
    """
    query, memory = np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    vector = np.array([1.0, -1.0])
    right = np.tanh(query + memory) @ vector
    powers = np.exp(right)
    given = {
        "the query is missing: it is added to every memory": np.tanh(memory) @ vector,
        "the tanh is missing": (query + memory) @ vector,
        "the second number counts negatively: the vector is (1, -1)": np.tanh(query + memory).sum(
            -1
        ),
        "that is the dot product of the page before: add query and memory": memory @ query,
    }
    shares = {
        "those are the exponentials: divide each by their sum": powers,
        "those are the scores: take exp of each, then divide by the sum": right,
        "weights are shares of exp(score), not of the scores": right / right.sum(),
    }
    compare(scores, right, given, where="scores: ", axes="(3,)", atol=0.011)
    compare(weights, powers / powers.sum(), shares, where="weights: ", axes="(3,)", atol=0.011)
    print("Right.")


def check_decoder_steps(previous: Answer, present: Answer) -> None:
    """Check two decoder steps that differ in which state looks.

    Args:
        previous: `previous(word, state, look, cell)`, in which the previous state looks.
        present: `present(word, state, look, cell)`, in which the present state looks. Both return
            (context, new state); `look(query)` gives a context, `cell(inputs, state)` the next
            state, where `inputs` is the list of vectors that the cell reads.
    """
    for name, step in (("previous", previous), ("present", present)):
        _check_step(name, step)
    print("Right.")


def _check_step(name: str, step: Answer) -> None:
    """Call a step with a look and a cell that write down what they are given."""
    queries: list[Any] = []
    readings: list[tuple[Any, Any]] = []

    def look(query: Any) -> str:
        queries.append(query)
        return f"context of {query}"

    def cell(inputs: Any, state: Any) -> str:
        readings.append((inputs, state))
        return "new state"

    got = answers.called(step, "word", "old state", look, cell)
    if got is None:
        fail(f"{name}: got {answers.named(got)}")
    if len(queries) != 1 or len(readings) != 1:
        fail(f"{name}: a step looks once and runs the cell once")
    inputs, state = readings[0]
    query = "old state" if name == "previous" else "new state"
    context = f"context of {query}"
    wanted = ["word", context] if name == "previous" else ["word"]
    if queries[0] != query:
        fail(f"{name}: the {query} has to look; here the query is {queries[0]!r}")
    if state != "old state":
        fail(f"{name}: the cell goes on from the old state; here it got {state!r}")
    if not isinstance(inputs, list | tuple) or sorted(map(str, inputs)) != sorted(wanted):
        fail(f"{name}: the cell reads {wanted}; here it got {inputs!r}")
    if got != (context, "new state"):
        fail(f"{name}: got {got!r}, wanted (context, new state)")


def check_best_shift(best_shift: Answer) -> None:
    """Check a function that finds by how many rows an alignment is off.

    Args:
        best_shift: `best_shift(links, pairs)` gives the whole number n from -2 to 2 for which
            links moved from row i to row i + n, and dropped where they leave the sentence, have
            the least alignment error rate.
    """
    pairs = english_spanish(60, seed=8, max_length=9)
    for wrong in (0, 1, -1, 2, -2):
        links = [_moved(_noisy(pair), wrong, len(pair.target)) for pair in pairs]
        got = answers.called(best_shift, links, pairs)
        if got is None:
            fail(f"got {answers.named(got)}")
        if type(got) is not int:
            fail(f"got {type(got).__name__}, wanted a whole number of rows")
        if got == -wrong:
            continue
        if got == wrong:
            moved = f"links that lie {_rows(wrong)} have to be moved {_rows(-wrong)}"
            fail(f"the sign: {moved}, so the answer is {-wrong}")
        if got == _worst(links, pairs):
            fail("that is the greatest error: look for the least")
        fail(f"links that lie {_rows(wrong)}: got {got}, wanted {-wrong}")
    print("Right.")


def _noisy(pair: Pair) -> Links:
    """Draw the gold links, one a word, and one in six as the diagonal has it."""
    dice = random.Random(" ".join(pair.source))
    gold = dict(oracle_links(pair))
    diagonal = dict(diagonal_links(len(pair.target), len(pair.source)))
    return frozenset((i, diagonal[i] if dice.random() < 1 / 6 else j) for i, j in gold.items())


def _moved(links: Links, rows: int, q_len: int) -> Links:
    return frozenset((i + rows, j) for i, j in links if 0 <= i + rows < q_len)


def _worst(links: list[Links], pairs: list[Pair]) -> int:
    def error(rows: int) -> float:
        moved = [_moved(a, rows, len(pair.target)) for a, pair in zip(links, pairs, strict=True)]
        return alignment_error_rate(moved, pairs)

    return max(range(-MOST_ROWS, MOST_ROWS + 1), key=error)


def _rows(rows: int) -> str:
    if rows == 0:
        return "in place"
    return f"{abs(rows)} row{'s' if abs(rows) > 1 else ''} {'down' if rows > 0 else 'up'}"
