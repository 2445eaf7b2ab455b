"""Reading English: everything the grammar says, and nothing that it would not."""

import itertools
import random
import re
from contextlib import suppress
from pathlib import Path

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


RULES = Path(__file__).with_name("rules.txt")
"""What can be said, and sentences that each break one rule."""


def test_every_rule_is_asked_for() -> None:
    for line in RULES.read_text(encoding="utf8").splitlines():
        sentence, *sounds = re.split(": |, ", line)
        assert read(sentence.split()) is not None, sentence
        for sound in (*sounds, "", "the dog snores"):
            assert read(sound.split()) is None, sound
    with pytest.raises(TypeError, match="words: got the string 'the dog', wanted a sequence"):
        read("the dog")
