"""Stories: what they tell, that their chances are those of their words, and what is refused."""

import math
from collections import Counter

import pytest

from bookkit.data.stories import END, STOP, next_words, stories, surprisals
from bookkit.playables.finishing import MOST_WORDS

HEROES = {"boy": "he", "man": "he", "king": "he", "girl": "she", "woman": "she", "queen": "she"}


@pytest.fixture(scope="module")
def many() -> list[tuple[str, ...]]:
    return stories(3000, seed=4)


def sentences(story: tuple[str, ...]) -> list[list[str]]:
    return [part.split() for part in " ".join(story).split(STOP)[:-1]]


def test_a_story_keeps_hero_tense_and_thing(many: list[tuple[str, ...]]) -> None:
    assert stories(20, seed=4) == many[:20] != stories(20, seed=5)
    assert {len(sentences(story)) for story in many} == {4, 5, 6, 7}
    assert max(map(len, many)) < MOST_WORDS
    for story in many:
        assert story[-1] == STOP
        opening, meeting, *later = sentences(story)
        hero = next(word for word in opening if word in HEROES)
        assert meeting[0] == HEROES[hero]
        assert later[0][0] == {"he": "his", "she": "her"}[HEROES[hero]]
        past = opening[opening.index(hero) + 1] in ("slept", "worked", "sang", "ran")
        assert later[-1][-2] == ("was" if past else "is")
        article = max(place for place, word in enumerate(meeting) if word in ("a", "an"))
        thing = meeting[article + 1 :]
        for sentence in later:
            if thing[-1] in sentence:
                place = sentence.index(thing[-1])
                assert sentence[place - len(thing) : place + 1] == ["the", *thing]


def test_chances_sum_to_one_before_every_word(many: list[tuple[str, ...]]) -> None:
    for story in many[:30]:
        for length in range(len(story) + 1):
            chances = next_words(story[:length])
            assert math.isclose(sum(chances.values()), 1)
            assert (story[length] if length < len(story) else END) in chances
    assert next_words((*many[0], END)) == {}


def whole(said: list[str]) -> float:
    if said[-1] == STOP and said.count(STOP) == 2:
        return 1.0
    return sum(chance * whole([*said, word]) for word, chance in next_words(said).items())


def test_chances_are_how_often_a_word_comes_and_share_the_probability_of_one(
    many: list[tuple[str, ...]],
) -> None:
    first = Counter(story[1] for story in many if story[0] == "a")
    total = sum(first.values())
    for word, chance in next_words(["a"]).items():
        assert first[word] / total == pytest.approx(chance, abs=4 * math.sqrt(0.25 / total))
    # Over all that can be said in a second sentence.
    assert whole(["a", "king", "sings", "in", "the", "city", "."]) == pytest.approx(1)


def test_surprisals_are_those_of_the_words_and_the_end(many: list[tuple[str, ...]]) -> None:
    found = surprisals(many[0])
    assert len(found) == len(many[0]) + 1
    assert found[0] == pytest.approx(-math.log(next_words([])[many[0][0]]))
    assert found[-1] == 0 < sum(found) - 10


def test_what_is_no_story_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'she' as word 7, wanted he"):
        surprisals(["a", "king", "sings", "in", "the", "city", ".", "she"])
