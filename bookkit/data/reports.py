"""Reports of matches with made-up names, and the sentence that sums each of them up."""

import random
import zlib
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Literal

from companion.contracts import contract
from companion.data.pairs import Pair

Split = Literal["train", "validation", "test"]

_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("", "n", "r", "l", "s")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MOST = 20

# The teams, their goals, the player who shines, another one, the referee, a day and a count.
_TOLD = (
    "on {day} {winner} beat {loser} by {most} to {least} .",
    "{loser} lost to {winner} on {day} , {least} to {most} .",
    "{winner} won at {loser} on {day} by {most} to {least} .",
    "on {day} {loser} went down to {winner} , {least} to {most} .",
)
_SCORE_ALONE = ("on {day} {home} against {away} ended {h} to {v} .",)
_PENALTIES = "{loser} lost on penalties ."
_STARS = ("{star} was the best on the pitch .", "nobody played better than {star} .")
_OTHERS = ("", "{other} was hurt .", "{other} missed a penalty .")
_REFEREES = ("{referee} was the referee .", "{referee} showed {c} cards .")
_CROWDS = ("", "it rained .", "{n} thousand people came .")
_SUMMARY = (
    ("winner", "winner"), ("beat", "function"), ("loser", "loser"), ("most", "winner_score"),
    ("least", "loser_score"), (",", "function"), ("star", "player"), ("shines", "function"),
)  # fmt: skip
_FACT_SLOTS = frozenset(
    f"{{{name}}}" for name in ("winner", "loser", "home", "away", "most", "least", "h", "v", "star")
)

FACTS = ("winner", "loser", "winner_score", "loser_score", "player")
"""Classes of the words of a summary that say what happened; the others are "function"."""


@contract(count=">= 1 and <= 20000")
def made_up_names(count: int, *, seed: int, split: Split = "train") -> tuple[str, ...]:
    """Draw names of two or three syllables, all different.

    Whether a name is in the training, the validation or the test split depends on its letters
    alone, so names of two splits are never the same, whatever the seeds.

    Args:
        count: how many, at most 20,000.
        seed: decides which.
        split: where they belong; a tenth of all names each for validation and test.

    >>> made_up_names(3, seed=1)
    ('rekelar', 'ramores', 'lifuton')
    """
    generator = random.Random(f"names/{seed}")
    names: dict[str, None] = {}
    while len(names) < count:
        name = _spell(generator)
        if _split_of(name) == split:
            names[name] = None
    return tuple(names)


@contract(count=">= 1", score_alone=">= 0 and <= 1", penalties=">= 0 and <= 1")
def match_reports(
    count: int,
    *,
    seed: int,
    names: Sequence[str],
    score_alone: float = 0.3,
    penalties: float = 0.0,
) -> list[Pair]:
    """Write match reports, each with its summary.

    A report says who played and how it ended, who was the best, and other things that do not
    count. The summary is "WINNER beat LOSER 13 10 , PLAYER shines". Most reports tell who won;
    others tell the score alone, and the winner must be worked out. If asked, some end level, and
    one more sentence names the loser again; else every name stands once in its report, and the two
    scores are different.

    Args:
        count: how many.
        seed: decides what happens.
        names: what teams and people are called, at least 5 different words.
        score_alone: probability that a report does not tell who won.
        penalties: probability that it ends level, and the loser is told by a name alone.

    Returns:
        Pairs of a report and its summary. Sure links join every name and score with the words
        of the report that say them; classes are those of `FACTS`, or "function".

    Raises:
        TypeError: names are a string.
        ValueError: fewer than 5 different names.

    >>> (pair,) = match_reports(1, seed=3, names=("bak", "del", "fim", "gon", "kur"))
    >>> " ".join(pair.target)
    'fim beat gon 8 2 , bak shines'
    """
    if isinstance(names, str):
        raise TypeError("names: got a string, wanted a sequence of words")
    known = tuple(dict.fromkeys(names))
    if len(known) < 5:
        raise ValueError(f"names: got {len(known)} different words, wanted at least 5")
    generator = random.Random(f"reports/{seed}")
    return [_report(generator, known, score_alone, penalties) for _ in range(count)]


def tells_winner(pair: Pair) -> bool:
    """Say whether a report of `match_reports` tells who won; else the score alone does.

    >>> names = ("bak", "del", "fim", "gon", "kur")
    >>> [tells_winner(match_reports(1, seed=3, names=names, score_alone=p)[0]) for p in (0, 1)]
    [True, False]
    """
    return "against" not in pair.source


def ends_level(pair: Pair) -> bool:
    """Say whether a report ends level, so that a name alone tells who lost."""
    return "penalties" in pair.source


def twin(pair: Pair) -> Pair:
    """Exchange the loser in the last word on a match that ended level, and so in the summary.

    >>> (pair,) = match_reports(1, seed=3, names=("bak", "del", "fim", "gon", "kur"), penalties=1)
    >>> [" ".join(one.target) for one in (pair, twin(pair))]
    ['gon beat fim 2 2 , bak shines', 'fim beat gon 2 2 , bak shines']
    """
    winner, beat, loser, *rest = pair.target
    place = pair.source.index("penalties") - 3
    source = (*pair.source[:place], winner, *pair.source[place + 1 :])
    return Pair(source, (loser, beat, winner, *rest), classes=pair.classes)


def numbered(pair: Pair, known: Container[str]) -> tuple[Pair, dict[str, str]]:
    """Give every unknown word of a report a number, in the order in which they come.

    Args:
        pair: a report and its summary.
        known: the words that keep their letters.

    Returns:
        The pair with "name1", "name2" and so on in the place of the unknown words, and what each
        of these stands for.

    >>> numbered(Pair(("bak", "beat", "del", ",", "bak"), ("bak",)), {"beat", ","})[0].source
    ('name1', 'beat', 'name2', ',', 'name1')
    """
    unknown = dict.fromkeys(word for word in pair.source if word not in known)
    numbers = {word: f"name{number}" for number, word in enumerate(unknown, 1)}
    source, target = (
        tuple(numbers.get(word, word) for word in words) for words in (pair.source, pair.target)
    )
    return replace(pair, source=source, target=target), {one: word for word, one in numbers.items()}


def mistaken_facts(summary: Sequence[str], pair: Pair) -> frozenset[str]:
    """Name what a summary gets wrong.

    Args:
        summary: the words that were written.
        pair: the report and its right summary, from `match_reports`.

    Returns:
        {"form"} if the words are not of the form of a summary; else any of "reversed" (winner
        and loser exchanged), "winner" and "loser" (another name, when not reversed), "scores"
        (either of the two) and "player". Nothing if all is right.

    >>> (pair,) = match_reports(1, seed=3, names=("bak", "del", "fim", "gon", "kur"))
    >>> sorted(mistaken_facts("gon beat fim 8 1 , bak shines".split(), pair))
    ['reversed', 'scores']
    """
    said, right = tuple(summary), pair.target
    functions = [i for i, name in enumerate(pair.classes) if name == "function"]
    if len(said) != len(right) or any(said[i] != right[i] for i in functions):
        return frozenset({"form"})
    wrong = {
        name for mine, gold, name in zip(said, right, pair.classes, strict=True) if mine != gold
    }
    mistakes = {"scores" if name.endswith("_score") else name for name in wrong}
    if (said[0], said[2]) == (right[2], right[0]):
        mistakes = mistakes - {"winner", "loser"} | {"reversed"}
    return frozenset(mistakes)


def _report(
    generator: random.Random, names: tuple[str, ...], score_alone: float, penalties: float
) -> Pair:
    home, away, star, other, referee = generator.sample(names, 5)
    h, v = generator.sample(range(_MOST + 1), 2)
    drawn = generator.random()
    level = drawn >= 1 - penalties
    home_wins = generator.random() < 0.5 if level else h > v
    v = h if level else v
    results = _SCORE_ALONE if level or drawn < score_alone else _TOLD
    sentences = [
        generator.choice(choices) for choices in (results, _STARS, _OTHERS, _REFEREES, _CROWDS)
    ]
    if level:
        sentences.append(_PENALTIES)
    generator.shuffle(sentences)
    facts = {
        "home": home, "away": away, "star": star, "other": other, "referee": referee,
        "h": str(h), "v": str(v), "most": str(max(h, v)), "least": str(min(h, v)),
        "winner": home if home_wins else away, "loser": away if home_wins else home,
        "day": generator.choice(_DAYS), "n": str(generator.randint(2, _MOST)),
        "c": str(generator.randint(2, 6)),
    }  # fmt: skip
    slots = " ".join(sentences).split()
    source = tuple(slot.format(**facts) for slot in slots)
    positions = {facts[slot[1:-1]]: i for i, slot in enumerate(slots) if slot in _FACT_SLOTS}
    target = tuple(facts.get(word, word) for word, _ in _SUMMARY)
    classes = tuple(name for _, name in _SUMMARY)
    links = frozenset(
        (row, positions[word])
        for row, (word, name) in enumerate(zip(target, classes, strict=True))
        if name != "function"
    )
    return Pair(source, target, links, classes=classes)


def _spell(generator: random.Random) -> str:
    syllables = [
        generator.choice(_ONSETS) + generator.choice(_VOWELS)
        for _ in range(generator.choice((2, 3)))
    ]
    return "".join(syllables) + generator.choice(_CODAS)


def _split_of(name: str) -> Split:
    digit = zlib.crc32(name.encode()) % 10
    return "test" if digit == 0 else "validation" if digit == 1 else "train"
