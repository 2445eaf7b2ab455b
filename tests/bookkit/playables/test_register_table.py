"""The register's table in Node: what failed comes first, and choices are those of the rows."""

import json

from bookkit.playables.register import claims_register
from bookkit.records.register import Entry, families, register, withdrawn
from tests.bookkit.playables.node import ask

PAGES = {
    "bottleneck": "history/bottleneck.ipynb", "scores": "mathematics/scores.ipynb",
    "translator_race": "implementation/transformer_evidence.ipynb",
}  # fmt: skip
SMALL = [*register(PAGES), *withdrawn()]
MADE = claims_register(SMALL)
DATA = json.loads(MADE.json())
VERDICTS = DATA["columns"][0]["values"]


def row_of(entry: Entry) -> int:
    (place,) = [n for n, row in enumerate(DATA["rows"]) if entry.claim.claim == row["claim"]]
    return place


def test_every_family_is_a_row_and_what_failed_comes_first() -> None:
    assert len(DATA["rows"]) == len(families(SMALL))
    leads = [row["values"][0][0] for row in DATA["rows"]]
    assert leads == sorted(leads)
    assert VERDICTS == [
        "○ does not hold", "✕ withdrawn", "◐ undecided", "– no verdict", "● holds",
    ]  # fmt: skip
    sentences = [f"{said} " for row in DATA["rows"] for said in (row["claim"], *row["notes"])]
    for entry in SMALL:
        found = [said for said in sentences if said.startswith(f"{entry.claim.claim} ")]
        assert len(found) == 1, entry.key


def test_a_row_has_its_number_unit_variants_and_page() -> None:
    entry = next(one for one in SMALL if one.key == "translator_race/transformer_settled")
    longer = next(one for one in SMALL if one.key == "translator_race/transformer_settled_longer")
    row = DATA["rows"][row_of(entry)]
    assert row["number"] == f"{entry.claim:number}"
    assert row["claimed"] == "claimed below 2"
    assert (row["unit"], row["address"]) == ("points of exact match", f"../{entry.page}")
    (note,) = row["notes"]
    assert note.startswith(f"{longer.claim.claim} {longer.claim:value} ")
    assert note.endswith(": holds, added later.")
    gone = DATA["rows"][row_of(next(one for one in SMALL if one.withdrawn))]
    assert "its verdict was" in gone["notes"][0]


def test_rows_are_chosen_by_any_of_their_claims_and_by_words() -> None:
    for place in range(len(VERDICTS)):
        (shown,) = ask(MADE, {"verdict": place + 1})
        wanted = [at for at, row in enumerate(DATA["rows"]) if place in row["values"][0]]
        assert shown == wanted
    words = " ".join(DATA["rows"][3]["claim"].upper().split()[:2])
    (shown,) = ask(MADE, {"words": words})
    has = [
        all(
            word.lower() in " ".join([row["claim"], *row["notes"]]).lower()
            for word in words.split()
        )
        for row in DATA["rows"]
    ]
    assert shown == [at for at, fits in enumerate(has) if fits]
    assert ask(MADE, {"words": "zebra"}) == [[]]
