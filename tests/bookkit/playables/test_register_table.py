"""The register's table in Node: one row a claim, choices that are those of the rows."""

import json

from bookkit.playables.register import claims_register
from bookkit.records.register import register
from tests.bookkit.playables.node import ask

SMALL = register({"bottleneck": "history/bottleneck.ipynb", "scores": "mathematics/scores.ipynb"})
MADE = claims_register(SMALL)
DATA = json.loads(MADE.json())


def test_every_claim_is_a_row_with_its_number_verdict_and_page() -> None:
    for row, entry in zip(DATA["rows"], SMALL, strict=True):
        assert row["claim"] == entry.claim.claim
        assert row["number"].startswith(f"{entry.claim:number}")
        assert row["more"].endswith(f"claimed {entry.claim.claimed}")
        assert row["address"] == f"../{entry.page}"
    near = json.loads(claims_register(SMALL, here="history/timeline.ipynb").json())
    assert near["rows"][0]["address"] == "bottleneck.ipynb"


def test_rows_are_chosen_by_column_and_by_words() -> None:
    verdicts = sorted({entry.verdict for entry in SMALL})
    for place, verdict in enumerate(verdicts):
        (shown,) = ask(MADE, {"verdict": place + 1})
        wanted = [at for at, entry in enumerate(SMALL) if entry.verdict == verdict]
        assert shown == wanted
    words = " ".join(SMALL[0].claim.claim.upper().split()[:2])
    (shown,) = ask(MADE, {"words": words})
    has = [all(word.lower() in one.claim.claim.lower() for word in words.split()) for one in SMALL]
    assert shown == [at for at, fits in enumerate(has) if fits]
    assert ask(MADE, {"words": "zebra"}) == [[]]
