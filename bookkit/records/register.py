"""The register of claims: every claim of every stored study, with the page that shows it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from bookkit.records.reading import load_result
from bookkit.records.records import Claim, Verdict

_SHOWN = """
history/bottleneck_evidence: bottleneck bottleneck_width real_sentences sentence_gain
history/align_evidence: alignment memory_context memory_context_longer memory_context_large
history/choices_evidence: choices tuned_choices choices_dropout choices_longer predicted_window
mathematics/lookup_evidence: lookup
mathematics/scores_evidence: scores first_gradients
mathematics/self_attention_evidence: hops
mathematics/heads_evidence: heads heads_longer real_heads kv_heads kv_heads_once
mathematics/masks_evidence: masks
mathematics/position_evidence: positions first_mark alibi_mark alibi_mark_longer
mathematics/floating_point_evidence: numerics narrow_training
implementation/from_scratch_evidence: from_scratch
implementation/learned_by_heart_evidence: founding
implementation/inside_evidence: inside
implementation/transformer_evidence: translator_race race_with_room race_with_room_longer
implementation/transformer_evidence: race_with_room_longest
implementation/transformer_evidence: parallelism transformer transformer_details
implementation/language_model_evidence: language_model
implementation/decoding_evidence: decoding decoding_length
implementation/cache_evidence: real_text
implementation/induction_evidence: induction copy_loss real_copying
implementation/decoding_evidence: speculative
applications/real_evidence: sentences
applications/names_evidence: names names_seeds summarization
applications/looking_evidence: looking captioning
applications/patches_evidence: digits
applications/needle_evidence: needle dilution
tradeoffs/buys_evidence: buys equal_terms
tradeoffs/explanation_evidence: explanation wider_lookup explanation_seeds explanation_rates
tradeoffs/explanation_evidence: missing_marker
tradeoffs/length_evidence: cost
tradeoffs/state_evidence: recall recall_longer hybrids
tradeoffs/devices_evidence: devices
tradeoffs/choose_evidence: less_kept
"""
PAGES: Mapping[str, str] = {
    study: f"{page}.ipynb"
    for page, studies in (line.split(": ") for line in _SHOWN.strip().splitlines())
    for study in studies.split()
}
"""The page that shows each study, below `book/`, in the order of the book."""

LEVEL = 0.05
"""How often an interval of 95 % misses the true mean."""


_VARIANT = re.compile(
    r"_seeds(?=/)|(?<=/)patient_|_(?:longer|longest|early|small|large)(?![a-z])|-long(?=/)"
)


@dataclass(frozen=True)
class Entry:
    """A claim as the register lists it.

    Attributes:
        key: "study/claim", as `measured` takes it.
        claim: the sentence, its number, and where it comes from.
        page: the page that shows the study, below `book/`.
        withdrawn: why no study makes it any more; "" for a claim of today.
    """

    key: str
    claim: Claim
    page: str
    withdrawn: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the interval says of the claim."""
        return self.claim.verdict

    @property
    def is_hypothesis(self) -> bool:
        """Whether it counts as one: not a demonstration, not a check of a study, not a time."""
        return self.claim.sort == "hypothesis" and self.verdict in ("holds", "undecided", "fails")

    @property
    def asked(self) -> object:
        """What tells its question from others: its runs and its threshold.

        Where all runs are alike, such as five times 100 %, they tell nothing, and its name has to.
        """
        runs = self.claim.runs
        alike = len(set(runs)) < 2
        return (self.key, self.withdrawn) if alike else (runs, self.claim.threshold)


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
        Entry(f"{name}/{key}", claim, page)
        for name, page in pages.items()
        for key, claim in load_result(name).claims.items()
    ]


@cache
def changes() -> Mapping[str, Any]:
    """Return what `experiments/register.yaml` says of claims that are no more as they were."""
    text = (files("experiments") / "register.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def withdrawn() -> list[Entry]:
    """Return the claims that a record once held and no study makes any more, with their numbers.

    >>> [(entry.key, entry.verdict) for entry in withdrawn()][-1]
    ('recall/patient_delta_beats_sum', 'undecided')
    """
    return [
        Entry(one["name"], _last(one), PAGES[one["name"].partition("/")[0]], one["why"])
        for one in changes()["withdrawn"]
    ]


def _last(one: Mapping[str, Any]) -> Claim:
    fields = {name: value for name, value in one.items() if name not in ("name", "record", "why")}
    ends = tuple(one["interval"])
    return Claim(**fields | {"interval": ends, "prediction": ends, "runs": ()})


def families(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Gather the claims that ask the same after another training, or with other seeds.

    So do those of two studies that ask the same of the same runs.

    >>> [len(one) for one in families(register({"translator_race": "page.ipynb"}))]
    [1, 3, 2, 2, 2]
    """
    found: dict[object, list[Entry]] = {}
    first: dict[object, tuple[str, object]] = {}
    for entry in entries:
        study = entry.key.partition("/")[0]
        name = changes()["variants"].get(entry.key, entry.key)
        own = _VARIANT.sub("", name), entry.withdrawn
        other, family = first.setdefault(entry.asked, (study, own))
        found.setdefault(own if other == study else family, []).append(entry)
    return list(found.values())


def hypotheses(entries: Sequence[Entry]) -> list[Entry]:
    """Return the claims that are hypotheses, each number and threshold once.

    Two studies may ask the same of the same runs; the first of them counts.

    >>> len(hypotheses(register({"bottleneck": "history/bottleneck.ipynb"})))
    5
    """
    found: dict[object, Entry] = {}
    for entry in entries:
        if entry.is_hypothesis:
            found.setdefault(entry.asked, entry)
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
