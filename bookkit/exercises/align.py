"""The exercises of "Learning to align"."""

import random
from functools import partial
from typing import Any

import numpy as np

from bookkit.data.grammar import english_spanish
from bookkit.exercises.answers import called, fail, named
from bookkit.exercises.exercise import Function, Judged, Several, Value
from companion.alignment import Links, diagonal_links, oracle_links
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate
from companion.scores import additive_score

DICE = np.random.default_rng(0)
Q, K, D, E, A = 3, 4, 2, 5, 7


def _without_tanh(query: Any, key: Any, w: Any, u: Any, v: Any) -> Any:
    return (query @ w @ v)[:, None] + key @ u @ v


check_without_tanh = Function(
    "`score(query, key, query_weight, key_weight, vector)`, the additive score without its tanh, "
    "from queries (q, d), keys (k, e), weights (d, a) and (e, a) and a vector (a,) to (q, k).",
    right=_without_tanh,
    cases=[[DICE.normal(size=shape) for shape in ((Q, D), (K, E), (D, A), (E, A), (A,))]],
    mistakes={
        "the tanh is still there": additive_score,
        "the queries are missing: a score is a sum of both":
            lambda q, k, w, u, v: np.tile(k @ u @ v, (len(q), 1)),
        "the keys are missing: a score is a sum of both":
            lambda q, k, w, u, v: np.tile((q @ w @ v)[:, None], len(k)),
        "the vector is missing: it turns the a answers of a pair into one number":
            lambda q, k, w, u, v: (q @ w)[:, None] + k @ u,
        "rows are queries and columns are keys: transpose it":
            lambda *given: _without_tanh(*given).T,
        "add what you get from query and key, do not multiply":
            lambda q, k, w, u, v: q @ w @ (k @ u).T,
    }, why="Do the axes meet?", axes="(q, k)",
)  # fmt: skip

QUERY, VECTOR = np.array([1.0, 0.0]), np.array([1.0, -1.0])
MEMORY = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
SCORES = np.tanh(QUERY + MEMORY) @ VECTOR
POWERS = np.exp(SCORES)

check_additive = Several(
    'The additive score by hand: the query (1, 0) at the memory (0, 1) for "the", (1, 1) for "new" '
    'and (2, 0) for "house"; both matrices are the identity, and the vector is (1, -1). Two digits '
    "after the point will do.",
    scores=Value("(3,) how well each word answers.", right=SCORES, mistakes={
        "the query is missing: it is added to every memory": np.tanh(MEMORY) @ VECTOR,
        "the tanh is missing": (QUERY + MEMORY) @ VECTOR,
        "the second number counts negatively: the vector is (1, -1)":
            np.tanh(QUERY + MEMORY).sum(-1),
        "that is the dot product of the lesson before: add query and memory": MEMORY @ QUERY,
    }, axes="(3,)", atol=0.011),
    weights=Value("(3,) how much of each word.", right=POWERS / POWERS.sum(), mistakes={
        "those are the exponentials: divide each by their sum": POWERS,
        "those are the scores: take exp of each, then divide by the sum": SCORES,
        "weights are shares of exp(score), not of the scores": SCORES / SCORES.sum(),
    }, axes="(3,)", atol=0.011),
)  # fmt: skip


def _judge_step(looking: str, step: Any) -> None:
    """Call a step with a look and a cell that write down what they are given."""
    queries: list[Any] = []
    readings: list[tuple[Any, Any]] = []

    def look(query: Any) -> str:
        queries.append(query)
        return f"context of {query}"

    def cell(inputs: Any, state: Any) -> str:
        readings.append((inputs, state))
        return "new state"

    got = called(step, "word", "old state", look, cell)
    if got is None:
        fail(f"got {named(got)}")
    if len(queries) != 1 or len(readings) != 1:
        fail("a step looks once and runs the cell once")
    (inputs, state), context = readings[0], f"context of {looking}"
    wanted = ["word", context] if looking == "old state" else ["word"]
    if queries[0] != looking:
        fail(f"the {looking} has to look; here the query is {queries[0]!r}")
    if state != "old state":
        fail(f"the cell goes on from the old state; here it got {state!r}")
    if not isinstance(inputs, list | tuple) or sorted(map(str, inputs)) != sorted(wanted):
        fail(f"the cell reads {wanted}; here it got {inputs!r}")
    if got != (context, "new state"):
        fail(f"got {got!r}, wanted (context, new state)")


def _previous(word: Any, state: Any, look: Any, cell: Any) -> Any:
    return (context := look(state)), cell([word, context], state)


def _present(word: Any, state: Any, look: Any, cell: Any) -> Any:
    state = cell([word], state)
    return look(state), state


check_decoder_steps = Several(
    "`previous(word, state, look, cell)`, a decoder step in which the previous state looks, and "
    "`present`, in which the present one does. Both return (context, new state); `look(query)` "
    "gives a context, `cell(inputs, state)` the next state, where `inputs` is the list of vectors "
    "that the cell reads.",
    previous=Judged(
        by=partial(_judge_step, "old state"), right=(_previous,), mistakes={
            "the old state has to look": (_present,),
            "the cell reads ['word', 'context of old state']":
                (lambda word, state, look, cell: (look(state), cell([word], state)),),
            "the cell goes on from the old state": (
                lambda word, state, look, cell: _previous(
                    word, state, look, lambda inputs, _: cell(inputs, word)
                ),
            ),
            "wanted (context, new state)": (lambda *given: _previous(*given)[::-1],),
            "a step looks once":
                (lambda word, state, look, cell: (look(state), cell([look(state)], state)),),
        },
    ),
    present=Judged(
        by=partial(_judge_step, "new state"), right=(_present,),
        mistakes={"the new state has to look": (_previous,)},
    ),
)  # fmt: skip


def _all_moved(links: list[Links], pairs: list[Pair], rows: int) -> list[Links]:
    return [
        frozenset((i + rows, j) for i, j in one if 0 <= i + rows < len(pair.target))
        for one, pair in zip(links, pairs, strict=True)
    ]


def _best(links: list[Links], pairs: list[Pair], sign: int = 1) -> int:
    errors = {r: alignment_error_rate(_all_moved(links, pairs, r), pairs) for r in range(-2, 3)}
    return min(errors, key=lambda rows: sign * errors[rows])


def _noisy(pair: Pair) -> Links:
    """Draw the gold links, one a word, and one in six as the diagonal has it."""
    dice = random.Random(" ".join(pair.source))
    gold = dict(oracle_links(pair))
    diagonal = dict(diagonal_links(len(pair.target), len(pair.source)))
    return frozenset((i, diagonal[i] if dice.random() < 1 / 6 else j) for i, j in gold.items())


def _whole_rows(got: Any, *_: Any) -> int:
    if type(got) is not int:
        said = type(got).__name__
        fail(f"got {named(got)}" if got is None else f"got {said}, wanted a whole number of rows")
    return got


def _rows(rows: int) -> str:
    if rows == 0:
        return "in place"
    return f"{abs(rows)} row{'s' if abs(rows) > 1 else ''} {'down' if rows > 0 else 'up'}"


def _off(got: float, links: list[Links], pairs: list[Pair]) -> str:
    right = _best(links, pairs)
    lie = f"links that are {_rows(-right)}"
    if got == -right:
        return f"the sign: {lie} have to be moved {_rows(right)}, so the answer is {right}"
    return f"{lie}: got {got:g}, wanted {right}"


PAIRS = english_spanish(60, seed=8, max_length=9)

check_best_shift = Function(
    "`best_shift(links, pairs)`, the whole number n from -2 to 2 for which links moved from row i "
    "to row i + n, and dropped where they leave the sentence, have the smallest alignment error.",
    right=_best, cases=[
        (_all_moved([_noisy(pair) for pair in PAIRS], PAIRS, rows), PAIRS)
        for rows in (0, 1, -1, 2, -2)
    ],
    mistakes={"that is the largest error: find the smallest": partial(_best, sign=-1)}, examples={
        "the sign: links that are 1 row down have to be moved 1 row up, so the answer is -1":
            lambda links, pairs: -_best(links, pairs),
        "links that are 1 row down: got 0, wanted -1": lambda links, pairs: 0,
    }, read=_whole_rows, otherwise=_off,
)  # fmt: skip
