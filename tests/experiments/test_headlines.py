"""What a page says in large type is no more than the interval of the claim rules in."""

from dataclasses import replace

import pytest

from bookkit.records import Finding, load_result
from experiments import headlines


def test_a_headline_says_no_more_than_its_interval_rules_in(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert headlines.main([]) == 0, capsys.readouterr().out
    claim = load_result("recall").claims["state_forgets"]  # 27.3 [26.6, 28.1] of 100
    said = Finding(holds="It keeps half.", fails="It keeps few.", undecided="We cannot tell.")
    for interval, finding, count in (
        ((26.6, 28.1), said, 0),
        ((26.6, 50.1), replace(said, undecided="It keeps half."), 1),
        ((19.0, 49.0), replace(said, holds="It keeps hardly any."), 1),
        ((19.0, 19.9), replace(said, holds="It keeps hardly any."), 0),
    ):
        told = replace(claim, interval=interval, finding=finding)
        assert len([*headlines.overstated(told)]) == count
    same = replace(
        claim, kind="difference", threshold=5.0, finding=replace(said, holds="It is the same.")
    )
    for lowest, count in ((-100.0, 1), (0.0, 0)):  # of a difference, and of a distance
        assert len([*headlines.overstated(replace(same, bounds=(lowest, 100.0)))]) == count
