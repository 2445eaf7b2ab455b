"""Reading English: everything the grammar says, and nothing that it would not."""

from __future__ import annotations

import itertools
import random
import re
from contextlib import suppress

import pytest

from bookkit.data.grammar import english_spanish
from bookkit.data.grammar.budget import DeadEndError
from bookkit.data.grammar.clauses import Speaker
from bookkit.data.grammar.dice import Dice
from bookkit.data.grammar.menu import menu
from bookkit.data.grammar.reading import read
from bookkit.data.grammar.render import render

SAID = english_spanish(1500, seed=11, combinations="all")
WORDS = sorted({word for pair in SAID for word in pair.source})


def test_everything_that_is_said_can_be_read() -> None:
    """Also the meaning comes back: the tree says the same in Spanish, but for known doubts."""
    doubtful = 0
    for pair in SAID:
        found = read(pair.source)
        assert found is not None, " ".join(pair.source)
        again = render(found)
        assert again.source == pair.source
        doubtful += again.target != pair.target
    assert doubtful < 0.02 * len(SAID)
    for pair in english_spanish(60, seed=3, min_length=40, max_length=55):
        assert read(pair.source) is not None, " ".join(pair.source)


def test_two_words_that_can_be_read_are_those_that_are_said() -> None:
    """Every row of two words is tried."""
    speaker = Speaker(Dice(1), menu(held_out=True))
    said = set()
    for _ in range(4000):
        with suppress(DeadEndError):
            said.add(render(speaker.sentence(2)).source)
    assert {row for row in itertools.product(WORDS, repeat=2) if read(row)} == said


def test_most_sentences_in_disorder_cannot_be_read() -> None:
    generator = random.Random(5)
    kept = 0
    for pair in SAID:
        words = list(pair.source)
        generator.shuffle(words)
        kept += read(words) is not None
    assert kept < 0.02 * len(SAID)


RULES = """
the dog sleeps: the dog sleep
they sleep: they sleeps
these dogs sleep: this dogs sleep
every dog sleeps: every dogs sleep
an old dog sleeps: a old dog sleeps
a dog sleeps: an dog sleeps
she does not sleep: she does not sleeps
they do not sleep: they does not sleep
i will sleep tomorrow: i will sleep yesterday
i am sleeping now: i am seeing him now
the king sings: the cow sings
the king buys the tree: the dog buys the tree
he eats the cake: he eats the window, he eats, he eats him
he sleeps: he sleeps him
i see him: i see me
the dog sees the cat: the dog sees the dog
the red house is old: the young house is old
the good old king sleeps: the old good king sleeps
the very old king sleeps: the very red flower sleeps
the red car is very old: the old car is very red
the old car is red: the old car is new
she is young: she is great
she is old: i am old
the king is old: a king is old
he sees a man: he looks for a man, he does not see a man
the house of the king is old: the king of the house is old, the house of a king is old
my sister sleeps: my king sleeps
the man who sings sees him: the man that sings sees him, a man who sings sees him
the cow that sleeps sees him: the cow who sleeps sees him
the man who sings sees him: the man who sees her sees him
the man who sees her sings: the man who sings sleeps
i see the book that i bought: i see the book that he bought
i work with the boy: i sleep with the boy
i look at the book near the car: i look at the city near the car
the dog runs and sees him: the dog runs but sees him
the dog sees him and sleeps: the dog sees him and slept
i see him because he runs: i see him because he will run
he sleeps while i sing: he slept while i sang
he slept when i saw her: he slept when i worked
i sleep and he runs: i sleep and i run
"""
"""What can be said, and sentences that each break one rule."""


def test_every_rule_is_asked_for() -> None:
    for line in RULES.strip().splitlines():
        sentence, *sounds = re.split(": |, ", line)
        assert read(sentence.split()) is not None, sentence
        for sound in (*sounds, "", "the dog snores"):
            assert read(sound.split()) is None, sound
    with pytest.raises(TypeError, match="words: got the string 'the dog', wanted a sequence"):
        read("the dog")
