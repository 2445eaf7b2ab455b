"""The register of claims: every claim of every stored study, with the page that shows it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bookkit.records.reading import load_result
from bookkit.records.records import Claim, Study, Verdict

_SHOWN = """
history/bottleneck_evidence: bottleneck real_sentences
history/align_evidence: alignment
history/choices_evidence: choices
mathematics/lookup_evidence: lookup
mathematics/scores_evidence: scores first_gradients
mathematics/self_attention_evidence: hops
mathematics/heads_evidence: heads
mathematics/masks_evidence: masks
mathematics/position_evidence: positions
mathematics/floating_point_evidence: numerics narrow_training
implementation/from_scratch_evidence: from_scratch
implementation/transformer_evidence: translator_race parallelism transformer
implementation/language_model_evidence: language_model
implementation/decoding_evidence: decoding
implementation/induction_evidence: induction
implementation/decoding_evidence: speculative
applications/summarization: summarization
applications/captioning: captioning digits
tradeoffs/buys: buys
tradeoffs/explanation: explanation explanation_seeds
tradeoffs/cost: cost
tradeoffs/cheaper: kv_heads recall
appendices/founding: founding
"""
PAGES: Mapping[str, str] = {
    study: f"{page}.ipynb"
    for page, studies in (line.split(": ") for line in _SHOWN.strip().splitlines())
    for study in studies.split()
}
"""The page that shows each study, below `book/`, in the order of the book."""

LEVEL = 0.05
"""How often an interval of 95 % misses the true mean."""


@dataclass(frozen=True)
class Entry:
    """A claim as the register lists it.

    Attributes:
        key: "study/claim", as `measured` takes it.
        study: where it was measured.
        claim: the sentence, its number, and where it comes from.
        page: the page that shows the study, below `book/`.
    """

    key: str
    study: Study
    claim: Claim
    page: str

    @property
    def verdict(self) -> Verdict:
        """What the interval says of the claim."""
        return self.claim.verdict

    @property
    def is_hypothesis(self) -> bool:
        """Whether it could have been wrong: no bug is shown with it, and no study checked."""
        return self.claim.sort == "hypothesis"


def register(pages: Mapping[str, str] = PAGES) -> list[Entry]:
    """Return every claim of every stored study, once.

    Args:
        pages: the page that shows each study; its order is that of the register.

    Raises:
        UnknownNameError: there is no record of a study.

    >>> entries = register({"bottleneck": "history/bottleneck.ipynb"})
    >>> entries[1].key, entries[1].verdict
    ('bottleneck/attention_gain', 'holds')
    """
    return [
        Entry(f"{name}/{key}", study, claim, page)
        for name, page in pages.items()
        for study in [load_result(name)]
        for key, claim in study.claims.items()
    ]


def hypotheses(entries: Sequence[Entry]) -> list[Entry]:
    """Return the claims that are hypotheses, each number and threshold once.

    Two studies may ask the same of the same runs; the first of them counts. Runs that are all
    alike, such as five times 100 %, are no sign of that.

    >>> len(hypotheses(register({"bottleneck": "history/bottleneck.ipynb"})))
    5
    """
    found: dict[object, Entry] = {}
    for entry in entries:
        if entry.is_hypothesis:
            runs = entry.claim.runs
            asked = (runs, entry.claim.threshold) if len(set(runs)) > 1 else entry.key
            found.setdefault(asked, entry)
    return list(found.values())


def p_value(claim: Claim) -> float:
    """Return how often chance alone takes the number as far from the threshold, or farther.

    It takes seeds and test items into account, as the claim's interval does.

    >>> claim = Claim(claim="A beats B.", side="above", unit="", runs=(1.0, 2.0, 3.0), mean=2.0,
    ...               interval=(-0.48, 4.48), prediction=(-3.0, 7.0))
    >>> round(p_value(claim), 3)
    0.074
    """
    from bookkit.records import intervals  # SciPy takes half a second to load

    return intervals.p_value(claim.runs, claim.threshold, *intervals.error_terms(claim, claim.runs))


class Tally(NamedTuple):
    """How many hypotheses were decided, and how many of them may be due to chance.

    Attributes:
        claims: how many hypotheses there are, each once.
        decided: how many hold or fail.
        by_chance: how many of all would be decided if every true mean lay on its threshold.
        surviving: how many are still decided when at most 5 % of the decided ones may be wrong,
            by the procedure of Benjamini and Hochberg.
    """

    claims: int
    decided: int
    by_chance: float
    surviving: int


def tally(entries: Iterable[Entry]) -> Tally:
    """Count the decided hypotheses, and those that a bound on false discoveries leaves decided."""
    from scipy import stats

    found = hypotheses(list(entries))
    if not found:
        raise ValueError("entries: got none, wanted at least one hypothesis")
    adjusted = stats.false_discovery_control([p_value(entry.claim) for entry in found]).tolist()
    decided = [entry.verdict in ("holds", "fails") for entry in found]
    return Tally(
        claims=len(found),
        decided=sum(decided),
        by_chance=LEVEL * len(found),
        surviving=sum(yes and p <= LEVEL for yes, p in zip(decided, adjusted, strict=True)),
    )
