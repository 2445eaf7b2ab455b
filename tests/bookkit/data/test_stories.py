"""Stories: what they tell, that their chances are those of their words, and what is refused."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from bookkit.data.stories import END, STOP, next_words, stories, surprisals
from bookkit.playables.finishing import MOST_WORDS

MANY = stories(3000, seed=4)
HEROES = {"boy": "he", "man": "he", "king": "he", "girl": "she", "woman": "she", "queen": "she"}


def sentences(story: tuple[str, ...]) -> list[list[str]]:
    return [part.split() for part in " ".join(story).split(STOP)[:-1]]


def test_a_seed_gives_the_same_stories_and_more_of_them() -> None:
    assert stories(20, seed=4) == MANY[:20]
    assert stories(20, seed=5) != MANY[:20]


def test_a_story_has_four_to_seven_sentences_and_fits_the_page() -> None:
    counts = Counter(len(sentences(story)) for story in MANY)
    assert set(counts) == {4, 5, 6, 7}
    assert max(map(len, MANY)) < MOST_WORDS
    assert all(story[-1] == STOP for story in MANY)


def test_the_hero_keeps_gender_and_tense() -> None:
    for story in MANY[:500]:
        opening, meeting, answer, *_ = sentences(story)
        hero = next(word for word in opening if word in HEROES)
        assert meeting[0] == HEROES[hero]
        assert answer[0] == {"he": "his", "she": "her"}[HEROES[hero]]
        past = opening[opening.index(hero) + 1] in ("slept", "worked", "sang", "ran")
        assert sentences(story)[-1][-2] == ("was" if past else "is")


def test_the_thing_keeps_its_adjective() -> None:
    for story in MANY[:500]:
        _, meeting, *later = sentences(story)
        article = max(place for place, word in enumerate(meeting) if word in ("a", "an"))
        thing = meeting[article + 1 :]
        for sentence in later:
            if thing[-1] in sentence:
                place = sentence.index(thing[-1])
                assert sentence[place - len(thing) : place + 1] == ["the", *thing]


def test_chances_sum_to_one_before_every_word() -> None:
    for story in MANY[:30]:
        for length in range(len(story) + 1):
            chances = next_words(story[:length])
            assert math.isclose(sum(chances.values()), 1)
            assert (story[length] if length < len(story) else END) in chances
    assert next_words((*MANY[0], END)) == {}


def test_chances_are_how_often_a_word_comes() -> None:
    first = Counter(story[1] for story in MANY if story[0] == "a")
    total = sum(first.values())
    for word, chance in next_words(["a"]).items():
        assert first[word] / total == pytest.approx(chance, abs=4 * math.sqrt(0.25 / total))


def test_surprisals_are_those_of_the_words_and_the_end() -> None:
    story = MANY[0]
    found = surprisals(story)
    assert len(found) == len(story) + 1
    assert found[0] == pytest.approx(-math.log(next_words([])[story[0]]))
    assert found[-1] == 0
    assert sum(found) > 10


def test_all_the_stories_share_the_probability_of_one() -> None:
    """The chance of a second sentence, over all that can be said in it, is 1."""
    beginning = ["a", "king", "sings", "in", "the", "city", "."]
    assert whole(beginning) == pytest.approx(1)


def whole(said: list[str]) -> float:
    if said[-1] == STOP and said.count(STOP) == 2:
        return 1.0
    return sum(chance * whole([*said, word]) for word, chance in next_words(said).items())


def test_what_is_no_story_is_refused() -> None:
    rows: list[tuple[str, str]] = [
        ("a king sings in the zebra", r"got 'zebra' as word 5, wanted city, garden, house"),
        ("a king sings in the city . she", r"got 'she' as word 7, wanted he"),
        ("a king sings", r"got '<eos>' as word 3, wanted in"),
    ]
    for story, message in rows:
        with pytest.raises(ValueError, match=message):
            surprisals(story.split())
