"""The exercises of "Heads that copy"."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bookkit.exercises.answers import Mistakes, Numbers
from bookkit.exercises.exercise import Function, Judged, Several, Value, Verdict
from companion.attention import attend, masked_softmax
from companion.masks import causal_mask
from companion.scores import dot_score

Text = list[int]
Copier = Callable[[Text], Text]
"""From n letters to the letter that is predicted after each of them."""


def two_heads(text: Sequence[object], sharpness: float) -> tuple[Numbers, Numbers, Numbers]:
    """Run the two heads of the lesson that are made by hand.

    Args:
        text: n symbols.
        sharpness: the score of a match; all other scores are 0.

    Returns:
        The weights of the first head and of the second, (n, n), and the blend (n, kinds) that the
        second one brings, with the kinds of symbols in the order in which they come up.

    >>> two_heads("abab", 50.0)[2].round(2)[-1]
    array([1., 0.])
    """
    kinds, n = list(dict.fromkeys(text)), len(text)
    symbol = np.eye(len(kinds))[[kinds.index(one) for one in text]]
    asked = sharpness * np.eye(n, k=-1)
    back = masked_softmax(dot_score(asked, np.eye(n)), causal_mask(n, offset=-1))
    note = attend(back, symbol)
    there = masked_softmax(dot_score(sharpness * symbol, note), causal_mask(n))
    return back, there, attend(there, symbol)


SHARES: Mistakes = {
    "the latest occurrence is not preferred: both notes say a, so both have the same score": [0, 1],
    "the first occurrence is not preferred: both notes say a, so both have the same score": [1, 0],
    "the weights of a row add up to 1, and a itself gets none of it": [1 / 3, 1 / 3],
}
BLEND = two_heads("abaca", 50.0)[2][-1]


def _judge_shares(of_b: Any, of_c: Any) -> None:
    Value(right=BLEND[1:], mistakes=SHARES, axes="(2,)", rtol=0, atol=0.006).judge([of_b, of_c])


check_two_candidates = Judged(
    "What very sharp heads predict after the text a b a c a: the shares of b and of c in what the "
    "second head brings at the last a.",
    by=_judge_shares, right=(0.5, 0.5),
    mistakes={hint: tuple(shares) for hint, shares in SHARES.items()},
)  # fmt: skip


def _weight(score: float) -> Value:
    power = float(np.exp(score))
    return Value(
        f"The weight if a match has the score {score:g}.",
        right=power / (power + 7), mistakes={
            "a score of 0 counts, too: its exponential is 1": 1.0,
            "that is the exponential: divide it by the sum over all eight keys": power,
            "eight keys may be looked at: one match, and seven that are none": power / (power + 8),
            "the query may look at itself, too, so that there are eight keys": power / (power + 6),
            "take the exponentials of the scores": score / (score + 7),
        }, axes="()", rtol=0, atol=0.006,
    )  # fmt: skip


check_weights_by_hand = Several(
    "The weight of the second head on the right position, by hand: two digits will do. The text is "
    "*she works in the new house she works*, the query its last word, and the notes are taken to "
    "be exact.",
    softer=_weight(2.0), sharper=_weight(4.0),
)  # fmt: skip


def _induction(tokens: Sequence[str], shift: int = 1, *, latest: bool = True) -> Numbers:
    weights = np.zeros((len(tokens), len(tokens)))
    for i, token in enumerate(tokens):
        earlier = [j for j in range(i) if tokens[j] == token]
        position = (earlier[-1] if latest else earlier[0]) + shift if earlier else 0
        weights[i, position] = 1.0
    return weights


def _first_wrong_row(got: Numbers, tokens: list[str]) -> str:
    if np.triu(got, 1).any():
        return "a weight lies on a later position: no query may look ahead"
    row = int(np.argmax(np.abs(got - _induction(tokens)).max(1) > 1e-6))
    return f"row {row} of {''.join(tokens)!r} is {got[row].tolist()}, which is not it"


check_induction = Function(
    "`weights(tokens)`, the weights of a perfect induction head, from a list of n symbols to "
    "(n, n): row i has weight 1 at the position after the latest earlier occurrence of symbol i, "
    "and at position 0 if there is none.",
    right=_induction, cases=[(list(text),) for text in ("abcabca", "xyxxy", "abcde")], mistakes={
        "that is the position of the occurrence: the one after it says what comes next":
            partial(_induction, shift=0),
        "the latest occurrence counts, not the first": partial(_induction, latest=False),
        "rows are queries, columns are keys": lambda tokens: _induction(tokens).T,
        "a symbol is no earlier occurrence of itself": lambda tokens: np.eye(len(tokens), k=1),
    }, examples={
        "a weight lies on a later position: no query may look ahead":
            lambda t: np.ones((len(t), len(t))),
        "row 4 of 'abcabca' is [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], which is not it":
            lambda t: np.where(np.arange(len(t))[:, None] < 4, _induction(t), np.eye(len(t))),
    }, axes="(n, n)", otherwise=_first_wrong_row,
)  # fmt: skip


def follows(text: Text) -> Text:
    """Copy: predict what stood after the latest earlier occurrence of each letter, else 0.

    >>> follows([3, 5, 7, 3, 5])
    [0, 0, 0, 5, 7]
    """
    last: dict[int, int] = {}
    said: Text = []
    for i, letter in enumerate(text):
        said.append(text[last[letter] + 1] if letter in last else 0)
        last[letter] = i
    return said


def steps_back(distance: int) -> Copier:
    """Return a model that always looks the same distance back, whatever stands there.

    >>> steps_back(3)([3, 5, 7, 3, 5])
    [0, 0, 3, 5, 7]
    """

    def model(text: Text) -> Text:
        return [text[i + 1 - distance] if i + 1 >= distance else 0 for i in range(len(text))]

    return model


check_copies = Verdict(
    "`copies(model)`, whether a model copies, or else looks a fixed distance back. `model(text)` "
    "turns a list of whole numbers from 0 to 25 into a list as long: the number predicted after "
    "each of them.",
    suspects=[
        ((follows,), True, "a model that copies is refused: ask only for what the repetition "
         "decides, from the last letter of the first block on, or one later"),
        ((steps_back(8),), False, "a model that always looks 8 back passes: try blocks of more "
         "than one length"),
        ((steps_back(5),), False, "a model that always looks 5 back passes: try blocks of several "
         "lengths, and ask that all are copied"),
        ((list,), False, "a model that says the same letter again passes: do not let a block be "
         "one letter alone"),
        ((lambda text: [0] * len(text),), False, "a model that always says 0 passes: blocks must "
         "have several different letters"),
    ],
)  # fmt: skip
