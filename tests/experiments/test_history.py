"""No claim that a committed record ever held is forgotten."""

import json

import pytest

from bookkit.records import recorded_studies
from experiments.history import is_whole, recorded, untold


def test_a_claim_that_nobody_tells_of_is_named() -> None:
    record = json.loads(recorded_studies()["lookup"].read_text(encoding="utf-8"))
    name, claim = next(iter(record["claims"].items()))
    assert not [said for said in untold([record]) if "in no record" not in said]
    forgotten = {**record, "claims": {"forgotten": claim, name: {**claim, "claim": "It differs."}}}
    first, second, *_ = untold([forgotten, record])
    assert first.startswith("lookup/forgotten: ")
    assert second.startswith(f"lookup/{name}: It differs. (")


@pytest.mark.slow
def test_the_register_tells_of_every_claim_of_the_history() -> None:
    if not is_whole():
        pytest.skip("only a part of the history is here: git fetch --unshallow")
    assert list(untold(recorded())) == []
