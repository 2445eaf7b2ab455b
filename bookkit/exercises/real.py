"""The exercises of "Real sentences"."""

import math
from collections.abc import Sequence

from bookkit.exercises.exercise import Function, Several, Value

Merges = Sequence[tuple[str, str]]

check_predict = Several(
    "Pieces are learned until there are 500 or 20,000: which cut a sentence into more pieces, and "
    "of which are more seldom seen in training.",
    more_pieces=Value("more pieces", right=500, mistakes={
        "more_pieces: each merge joins two pieces into one, so more merges leave fewer": 20_000,
    }, otherwise="more_pieces: got {got:g}, wanted 500 or 20,000"),
    seldom_seen=Value("seldom seen", right=20_000, mistakes={
        "seldom_seen: the last merges join what is seldom together, and the first what is often":
            500,
    }, otherwise="seldom_seen: got {got:g}, wanted 500 or 20,000"),
)  # fmt: skip

check_by_hand = Several(
    "The shares of words and of pairs, and the factor for shortness, in the exercise.",
    words=Value("words", right=1, mistakes={
        "words: BLEU asks for a share of the translation's words, not of the reference's": 4 / 7,
        "words: the full stop counts as a word, and it is in the reference": 3 / 4,
    }, otherwise="words: got {got:g}, which is not it", rtol=0, atol=0.005),
    pairs=Value("pairs", right=2 / 3, mistakes={
        "pairs: four words have three pairs of neighbours, not four": 2 / 4,
        "pairs: regalos and the full stop are no neighbours in the reference": 1.0,
        "pairs: that is a share of the reference's pairs": 2 / 6,
    }, otherwise="pairs: got {got:g}, which is not it", rtol=0, atol=0.005),
    shortness=Value("shortness", right=math.exp(1 - 7 / 4), mistakes={
        "shortness: the reference comes first, or else a short translation would be rewarded":
            math.exp(1 - 4 / 7),
        "shortness: that is the ratio of the lengths; the factor is an exponential": 4 / 7,
        "shortness: that is the exponent; the factor is its exponential": 1 - 7 / 4,
    }, otherwise="shortness: got {got:g}, which is not it", rtol=0, atol=0.005),
)  # fmt: skip


def _merged(word: Sequence[str], a: str, b: str) -> list[str]:
    done: list[str] = []
    for piece in word:
        if done and (done[-1], piece) == (a, b):
            done[-1] = a + b
        else:
            done.append(piece)
    return done


def _cut(word: str, merges: Merges) -> list[str]:
    parts = list(word)
    for a, b in merges:
        parts = _merged(parts, a, b)
    return parts


_ABLE = [("a", "b"), ("ab", "l"), ("abl", "e"), ("t", "able")]

check_cut = Function(
    "`cut(word, merges)`: the pieces of a word, with merges of which the first comes first.",
    right=_cut,
    cases=[("unbeatable", _ABLE), ("banana", [("a", "n"), ("an", "a")]), ("table", [])],
    mistakes={
        "begin with the single letters, not with the whole word": lambda word, merges: [word],
        "the merges are taken from the last to the first; later ones need what earlier ones made":
            lambda word, merges: _cut(word, merges[::-1]),
        "each merge has to start from what the merge before it left": lambda word, merges: (
            _merged(list(word), *merges[-1]) if merges else list(word)
        ),
    },
    otherwise="{0} with {1}: got {got}, wanted {wanted}",
)  # fmt: skip

check_words_of = Function(
    "`words_of(tokens)`: the words of pieces, in which ▁ marks where a word begins.",
    right=lambda tokens: "".join(tokens).replace("▁", " ").split(),
    cases=[(["▁un", "b", "el", "ie", "v", "able"],), (["▁No", "▁es", "▁pos", "ible"],)],
    mistakes={
        "each piece is still a word of its own; join those without a ▁ to the one before":
            lambda tokens: [token.strip("▁") for token in tokens],
        "the words still have their ▁": lambda tokens: "".join(tokens).replace("▁", " ▁").split(),
        "a ▁ separates words; without it they all become one":
            lambda tokens: ["".join(tokens).replace("▁", "")],
        "that is one text; BLEU needs a list of words":
            lambda tokens: "".join(tokens).replace("▁", " ").strip(),
    },
    otherwise="{0}: got {got}, wanted {wanted}",
)  # fmt: skip
