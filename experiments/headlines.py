"""Hold what pages say of claims in large type against the intervals of their records.

    python -m experiments headlines [STUDY...]

What is undecided must be told as unknown. Where the line only says that one is not much worse, it
may be better, and must not be told as equal. And where the number is a share, "most" and "half"
need an interval that leaves out one half, and "nearly", "almost", "hardly" and "few" one that lies
in the lowest or the highest fifth. Claims about times have no verdict and are passed over.
"""

import re
from collections.abc import Iterator, Sequence

from bookkit.records import Claim, load_result, recorded_studies

UNKNOWN = re.compile("cannot (tell|say)|do not (decide|tell)|too (few to say|wide to decide)")
EQUAL = re.compile(
    r"(?<!about )(?<!nearly )(?<!almost )\bas (well|surely|often) (as|on)\b|\bmakes? up for\b"
    r"|\bstill\b|\bcosts? little\b|\bno difference\b|\bthe same\b"
)
HALF = re.compile(r"\b(most|mostly|half)\b", re.IGNORECASE)
EXTREME = re.compile(r"\b(nearly|almost|hardly|few)\b", re.IGNORECASE)
FIFTH = 20.0


def overstated(claim: Claim) -> Iterator[str]:
    """Yield every sentence of a claim's finding that says more than its verdict or its interval."""
    said, (low, high) = claim.finding, claim.interval
    assert said
    if not UNKNOWN.search(said.undecided):
        yield f"{said.undecided} It should say that we cannot tell."
    if claim.kind != "share" and claim.bounds[0] != 0 and claim.threshold:
        least = claim.threshold if claim.side == "below" else -claim.threshold
        little = said.holds if least > 0 else said.fails
        if EQUAL.search(little):
            yield f"{little} It may be better, so it should not be told as equal."
    if claim.kind != "share" or claim.verdict == "undecided":
        return
    headline = said.headline(claim.verdict)
    if HALF.search(headline) and low <= 50 <= high:
        yield f"{headline} But its interval, {claim:interval}, includes 50."
    if EXTREME.search(headline) and high > FIFTH and low < 100 - FIFTH:
        yield f"{headline} But its interval, {claim:interval}, leaves the outer fifth."


def main(words: Sequence[str]) -> int:
    """Print the headlines that say too much; return 1 if there is any."""
    claims = {
        f"{study}/{key}": claim
        for study in words or sorted(recorded_studies())
        for key, claim in load_result(study).claims.items()
        if claim.finding and not claim.timed
    }
    faults = [f"{name}: {said}" for name, claim in claims.items() for said in overstated(claim)]
    held = f"{len(claims)} headlines were held against their intervals."
    print(*faults, held if faults else f"{held} None says more.", sep="\n")
    return bool(faults)
