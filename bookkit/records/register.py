"""The register of claims: every claim of every stored study, with the page that shows it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import NamedTuple

from bookkit.records.reading import load_result
from bookkit.records.records import Claim, Study, Verdict

PAGES: Mapping[str, str] = {
    "bottleneck": "history/bottleneck_evidence.ipynb",
    "real_sentences": "history/bottleneck_evidence.ipynb",
    "alignment": "history/align_evidence.ipynb",
    "choices": "history/choices_evidence.ipynb",
    "lookup": "mathematics/lookup_evidence.ipynb",
    "scores": "mathematics/scores_evidence.ipynb",
    "first_gradients": "mathematics/scores_evidence.ipynb",
    "hops": "mathematics/self_attention_evidence.ipynb",
    "heads": "mathematics/heads_evidence.ipynb",
    "masks": "mathematics/masks_evidence.ipynb",
    "positions": "mathematics/position_evidence.ipynb",
    "numerics": "mathematics/floating_point_evidence.ipynb",
    "narrow_training": "mathematics/floating_point_evidence.ipynb",
    "from_scratch": "implementation/from_scratch_evidence.ipynb",
    "translator_race": "implementation/transformer_evidence.ipynb",
    "parallelism": "implementation/transformer_evidence.ipynb",
    "transformer": "implementation/transformer_evidence.ipynb",
    "language_model": "implementation/language_model_evidence.ipynb",
    "decoding": "implementation/decoding_evidence.ipynb",
    "induction": "implementation/induction_evidence.ipynb",
    "speculative": "implementation/decoding_evidence.ipynb",
    "summarization": "applications/summarization.ipynb",
    "captioning": "applications/captioning.ipynb",
    "digits": "applications/captioning.ipynb",
    "buys": "tradeoffs/buys.ipynb",
    "explanation": "tradeoffs/explanation.ipynb",
    "explanation_seeds": "tradeoffs/explanation.ipynb",
    "cost": "tradeoffs/cost.ipynb",
    "kv_heads": "tradeoffs/cheaper.ipynb",
    "recall": "tradeoffs/cheaper.ipynb",
    "founding": "appendices/founding.ipynb",
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


def register(
    pages: Mapping[str, str] = PAGES, *, directory: Traversable | None = None
) -> list[Entry]:
    """Return every claim of every stored study, once.

    Args:
        pages: the page that shows each study; its order is that of the register.
        directory: where the records lie; by default those that come with the package.

    Raises:
        UnknownNameError: there is no record of a study.

    >>> entries = register({"bottleneck": "history/bottleneck.ipynb"})
    >>> entries[1].key, entries[1].verdict
    ('bottleneck/attention_gain', 'holds')
    """
    return [
        Entry(f"{name}/{key}", study, claim, page)
        for name, page in pages.items()
        for study in [load_result(name, directory=directory)]
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
    """Count the decided hypotheses, and those that a bound on false discoveries leaves decided.

    Raises:
        ValueError: there is no hypothesis.
    """
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
