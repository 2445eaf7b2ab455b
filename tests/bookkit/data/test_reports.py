"""Match reports: names of the splits, facts, links, and what is counted as a mistake."""

import pytest

from bookkit.data.reports import FACTS, made_up_names, match_reports, mistaken_facts, tells_winner

NAMES = made_up_names(40, seed=5)


def test_names_of_two_splits_are_never_the_same() -> None:
    drawn = {
        split: {name for seed in range(3) for name in made_up_names(400, seed=seed, split=split)}
        for split in ("train", "validation", "test")
    }  # fmt: skip
    assert sum(map(len, drawn.values())) == len(set().union(*drawn.values()))
    names = made_up_names(400, seed=1)
    assert len(names) == len(set(names)) == 400
    assert made_up_names(50, seed=1) == names[:50] != made_up_names(50, seed=2)


def facts_of(source: tuple[str, ...]) -> tuple[str, ...]:
    """Read a report as a person would, by its words, and sum it up."""
    text = " ".join(source)
    sentences = [sentence.split() for sentence in text.split(" . ")]
    won = lost = star = ""
    scores: list[int] = []
    for words in sentences:
        names = [word for word in words if word in NAMES]
        digits = [int(word) for word in words if word.isdigit()]
        if "best" in words or "better" in words:
            (star,) = names
        elif len(names) < 2:
            continue
        elif "against" in words:
            won, lost = names if digits[0] > digits[1] else names[::-1]
        else:
            won, lost = names if "beat" in words or "won" in words else names[::-1]
        if len(names) == 2:
            scores = sorted(digits)
    return won, "beat", lost, str(scores[1]), str(scores[0]), ",", star, "shines"


def test_every_summary_follows_from_its_report_and_links_say_from_where() -> None:
    reports = match_reports(600, seed=2, names=NAMES)
    for pair in reports:
        assert facts_of(pair.source) == pair.target
        names = [word for word in pair.source if word in NAMES]
        assert len(names) == len(set(names)) in (4, 5)
        assert tells_winner(pair) == ("against" not in pair.source)
        facts = {row for row, name in enumerate(pair.classes) if name in FACTS}
        assert {row for row, _ in pair.sure} == facts
        for row, column in pair.sure:
            assert pair.target[row] == pair.source[column]
            if pair.classes[row].endswith("_score"):  # and no count of cards
                assert "to" in (pair.source[column - 1], pair.source[column + 1])
    home_wins = {pair.source.index(pair.target[0]) for pair in reports}
    assert len(home_wins) > 3, "the place of the winner varies"
    assert match_reports(600, seed=2, names=NAMES) == reports
    assert match_reports(9, seed=2, names=NAMES) == reports[:9]


def test_some_reports_tell_the_score_alone() -> None:
    for share, low, high in ((0.0, 0, 0), (0.3, 240, 360), (1.0, 1000, 1000)):
        reports = match_reports(1000, seed=3, names=NAMES, score_alone=share)
        assert low <= sum(not tells_winner(pair) for pair in reports) <= high
    first = [pair.source.index(pair.target[0]) < pair.source.index("against") for pair in reports]
    assert 400 < sum(first) < 600, "the first team does not always win"


def test_mistakes_have_their_names() -> None:
    (pair,) = match_reports(1, seed=6, names=NAMES)
    right = list(pair.target)
    other = next(name for name in NAMES if name not in pair.source)

    def with_(**words: str) -> list[str]:
        changed = list(right)
        for name, word in words.items():
            changed[pair.classes.index(name)] = word
        return changed

    winner, loser = right[0], right[2]
    cases: list[tuple[list[str], set[str]]] = [
        (right, set()),
        (with_(winner=loser, loser=winner), {"reversed"}),
        (with_(winner=loser), {"winner"}),
        (with_(loser=other, player=winner), {"loser", "player"}),
        (with_(winner_score="99"), {"scores"}),
        (with_(winner_score="99", loser_score="98"), {"scores"}),
        (right[:-1], {"form"}),
        ([*right[:1], "held", *right[2:]], {"form"}),
        ([], {"form"}),
    ]
    for said, wrong in cases:
        assert mistaken_facts(said, pair) == wrong


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="names: got 4 different words"):
        match_reports(1, seed=1, names=("a", "b", "c", "d", "d"))
    with pytest.raises(ValueError, match="count: got 20001, wanted at least 1 and at most 20000"):
        made_up_names(20_001, seed=1)
