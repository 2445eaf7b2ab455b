"""English sentences, their Spanish translations, and which word comes from which.

A small grammar invents sentences and says them in both languages, so the word links are
known and not guessed. English to Spanish is a function: one sentence has one translation. To
keep it one, and free of the subjunctive, "they" and "them" are masculine (and do not come where
they could mean women), "you" and "it" do not come at all, and "when" and "while" join present or
past. There is no punctuation.

The words are in `lexicon`, what goes together in `menu`. `clauses` and `phrases` choose what is
said, as the trees of `trees`, and `render` puts a tree into words. `english_glosses` says
word by word what a Spanish sentence means.
"""

from collections.abc import Iterable
from typing import Literal

from bookkit.data.grammar.budget import DeadEndError
from bookkit.data.grammar.clauses import Speaker
from bookkit.data.grammar.dice import Dice
from bookkit.data.grammar.draft import WORD_CLASSES
from bookkit.data.grammar.glosses import english_glosses
from bookkit.data.grammar.menu import combinations as _combinations
from bookkit.data.grammar.menu import is_held_out, menu
from bookkit.data.grammar.render import render
from companion.contracts import contract
from companion.data.pairs import Pair

__all__ = [
    "LONGEST", "WORD_CLASSES", "Combinations", "english_glosses", "english_spanish", "is_held_out",
]  # fmt: skip

Combinations = Literal["seen", "held_out", "all"]

SHORTEST, LONGEST = 2, 55
"""Lengths of sentences, in English words."""

_PATIENCE = 10_000


@contract(count=">= 1", min_length=">= 1 and <= 55", max_length=">= 2")
def english_spanish(
    count: int, *, seed: int, min_length: int = 1, max_length: int = 30,
    combinations: Combinations = "seen", exclude: Iterable[Pair] = (),
) -> list[Pair]:  # fmt: skip
    """Draw distinct pairs of an English sentence and its Spanish translation, with word links.

    Lengths are spread about evenly between the bounds. One in eight combinations of adjective
    and noun and of verb and object is held out, so that it can be tested whether a model
    composes words that it knows.

    Args:
        count: number of pairs.
        seed: decides the pairs, the same on every machine.
        min_length: least number of English words.
        max_length: greatest number of English words; none has more than `LONGEST`.
        combinations: "seen" draws sentences without a held-out combination, "held_out" such
            with at least one, "all" both.
        exclude: pairs whose English sentence must not come.

    Returns:
        Pairs with links and with the class, of `WORD_CLASSES`, of every Spanish word.

    Raises:
        ValueError: there are no more sentences that fulfil the wishes.

    >>> pair = english_spanish(1, seed=2, max_length=6)[0]
    >>> len(pair.classes) == len(pair.target)
    True
    """
    if max_length < min_length:
        raise ValueError(f"max_length: got {max_length}, wanted at least {min_length}")
    shortest, longest = max(min_length, SHORTEST), min(max_length, LONGEST)
    dice = Dice(seed)
    speaker = Speaker(dice, menu(held_out=combinations != "seen"))
    known = {pair.source for pair in exclude}
    pairs: list[Pair] = []
    misses = 0
    while len(pairs) < count and misses < _PATIENCE:
        misses += 1
        try:
            # Sentences end up a little short of their room: one more chance for the longest.
            room = min(dice.between(shortest, longest + 1), longest)
            sentence = speaker.sentence(room)
        except DeadEndError:
            continue
        if combinations == "held_out" and not any(
            is_held_out(*both) for both in _combinations(sentence)
        ):
            continue
        pair = render(sentence)
        if len(pair.source) >= shortest and pair.source not in known:
            known.add(pair.source)
            pairs.append(pair)
            misses = 0
    if len(pairs) < count:
        raise ValueError(
            f"count: got {count}, wanted at most {len(pairs)}: so many distinct sentences there "
            f"are of {min_length} to {max_length} words, combinations={combinations!r}, without "
            f"those excluded"
        )
    return pairs
