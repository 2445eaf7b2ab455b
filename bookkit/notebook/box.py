"""The Measured box: what was found, what was predicted, and on a click how we know."""

import re
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from importlib.resources.abc import Traversable

from bookkit.notebook.axis import Dot, axis
from bookkit.notebook.verdicts import VERDICTS, verdict_html
from bookkit.records import (
    Claim,
    Measure,
    Origin,
    Study,
    Verdict,
    format_number,
    load_result,
    with_unit,
)  # fmt: skip
from bookkit.records.rounding import fewest_decimals

# Where nobody has put the finding into words: true sentences that fit every claim.
_UNWORDED: dict[Verdict, str] = {
    "undecided": "The runs do not decide this question.",
    "fails": "The runs contradict this claim.",
}
_ORIGINS: dict[Origin, str] = {
    "paper": "claim from a paper", "popular": "popular claim", "ours": "claim of our own",
}  # fmt: skip
_WHO: dict[Origin, str] = {"paper": "A paper led us to expect", "popular": "It is often said"}
# After the first author, whom the key of a paper names: "et al." but for these.
_OTHERS = {
    "abnar2020": " and Zuidema", "jain2019": " and Wallace", "lake2018": " and Baroni",
    "nakanishi2025": "", "press2017": " and Wolf", "rabe2021": " and Staats",
    "serrano2019": " and Smith", "shazeer2019": "", "stahlberg2019": " and Byrne",
    "wiegreffe2019": " and Pinter",
}  # fmt: skip
_WANTS_ANSWERS = (
    "the seeds alone would decide it, but the record does not say which test items each run got "
    "right, so that both sides count as asked different ones"
)
_SEEDS_ALONE = "the interval counts the spread between the runs alone, no error of test items"
_NAMES = {"python": "Python", "torch": "PyTorch", "numpy": "NumPy"}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Inside :where() nothing outweighs the book's own style sheet; without one, these speak.
_STYLE = """
:where(.measured){max-width:36rem;margin:1rem 0;padding:.7rem 1rem;line-height:1.45;\
background:linear-gradient(var(--am-mark,#a87b0a) 0 0) top/100% 2px no-repeat,\
var(--am-wash,rgba(127,140,150,.09));\
font-variant-numeric:tabular-nums lining-nums}
:where(.measured p){margin:.15rem 0 .5rem}
:where(.measured .m-head){font-weight:700;color:var(--am-gold,#a87b0a)}
:where(.measured .m-finding){font-size:1.25em;line-height:1.3;font-weight:700}
:where(.measured .m-axis){display:grid;grid-template-columns:max-content 1fr;gap:0 1rem;\
position:relative;margin:.6rem 2rem .4rem 0;font-size:.9375em}
:where(.measured .m-track,.measured .m-ticks){position:relative;height:1.7em}
:where(.measured .m-ticks){border-top:1px solid}
:where(.measured .m-axis div>span){position:absolute;white-space:nowrap}
:where(.measured .m-span){top:.65em;height:.4em;background:var(--am-mark,#a87b0a)}
:where(.measured .m-dot){top:.4em;width:.9em;height:.9em;margin-left:-.45em;border-radius:50%;\
background:var(--am-petrol,#2f8593)}
:where(.measured .m-line){top:0;height:100%;border-left:1px dashed}
:where(.measured .m-said){padding:0 .7em}
:where(.measured .m-tick){transform:translateX(-50%)}
:where(.measured .m-how){margin-top:.5rem;padding-top:.45rem;font-size:.875em;\
border-top:1px solid var(--am-hair,rgba(127,140,150,.4))}
:where(.measured summary){cursor:pointer}
""".strip().replace("\n", "")


def _measure(study: Study, key: str) -> Measure:
    """Return a measure of a study, or of the one whose name stands before it."""
    other, _, name = key.rpartition(":")
    return (load_result(other) if other else study)[name]


@dataclass(frozen=True, repr=False)
class MeasuredBox:
    """A finding with its evidence, as HTML or text."""

    study: Study  # where it was measured
    claim: Claim  # what was claimed, and the number

    @property
    def verdict(self) -> str:
        """The verdict in a sign and a word."""
        return VERDICTS[self.claim.verdict]

    @property
    def headline(self) -> str:
        """What was found: the finding's sentence, else the claim's if it holds."""
        claim = self.claim
        found = replace(claim, timed=False).verdict  # that of times is of this one machine
        if claim.finding is not None:
            return self._filled(claim.finding.headline(found))
        return _UNWORDED.get(found, claim.claim)

    @property
    def near(self) -> str:
        """The limit that both sides are close to, where differences are hard to see, or ""."""
        limits = list(self.claim.near.values())
        return max(limits, key=limits.count) if len(set(limits)) < len(limits) else ""

    @property
    def likely(self) -> str:
        """The interval in round numbers, as a reader would say it."""
        low, high = self.claim.interval
        if "{size}" in self._pictured and high <= 0:
            low, high = -high, -low
        ends = [format_number(end, self.claim.plain_digits) for end in (low, high)]
        said = f"likely between {ends[0]} and {ends[1]}" + " %" * self.claim.counts_trainings
        return "the same in every run" if low == high else said

    @property
    def asked(self) -> str:
        """What was claimed and by whom, what came out, and whether the claim was right."""
        claim = self.claim
        predicted = claim.finding.predicted if claim.finding else ""
        foreseen = claim.planned in ("before the runs", "extended later")
        who = _WHO.get(claim.origin) or ("We had predicted" if foreseen else "We claimed")
        said = f"{who} {predicted}." if predicted else f"{who}: “{claim.claim}”"
        noun = "prediction" if who == "We had predicted" else "claim"
        ended = {
            "holds": f"The {noun} held.",
            "fails": f"The {noun} failed.",
            "undecided": "The runs leave it open.",
        }.get(claim.verdict, "")
        return f"{said} Measured: {self._filled(self._pictured)}, {self.likely}. {ended}".rstrip()

    def __repr__(self) -> str:
        claimed = f"{self._claimed()} {self.verdict}"
        return "\n".join([self._head, self.headline, self.asked, claimed, *self._evidence()])

    @property
    def _head(self) -> str:
        """Times are those of one machine, so that its name comes first."""
        return f"Measured on {self.study.processor}" if self.claim.timed else "Measured"

    def _repr_html_(self) -> str:
        return (
            f'<div class="measured" role="group" aria-label="Measured"><style>{_STYLE}</style>'
            f'<div class="m-head">{escape(self._head)}</div>'
            f'<p class="m-finding">{escape(self.headline)}</p>{self._axis()}'
            f'<p class="m-asked">{escape(self.asked)}</p>'
            + f'<p class="m-near">What is compared is close to its {self.near}, where '
            "differences are hard to see.</p>"
            * bool(self.near)
            + f'<details class="m-how"><summary>How we know</summary>'
            f'<p class="m-claim">{escape(self._claimed())} '
            f'<span class="m-verdict">{verdict_html(self.claim.verdict)}</span></p>'
            + "".join(f'<p class="m-meta">{escape(line)}</p>' for line in self._evidence())
            + "</details></div>"
        )

    def _axis(self) -> str:
        """Draw what is compared, or else the number itself, with its threshold."""
        claim, finding = self.claim, self.claim.finding
        if finding is None or not finding.sides:
            dot = Dot("", claim.mean, claim.interval, claim.plain_digits)
            return axis([dot], claim.unit, side=claim.side, mark=claim.threshold)
        measures = [_measure(self.study, key) for key in finding.sides.values()]
        share = measures[0].unit.startswith("%")
        marks = (0.0, 100.0) if share else ()
        decimals = max(
            fewest_decimals(one.mean, one.interval, marks, most=one.digits) for one in measures
        )
        dots = [
            Dot(label, one.mean, one.interval, decimals)
            for label, one in zip(finding.sides, measures, strict=True)
        ]
        return axis(dots, finding.axis or measures[0].unit, least=10.0 * share)

    def _filled(self, text: str) -> str:
        claim = self.claim
        number = format_number(claim.mean, claim.plain_digits)
        if claim.counts_trainings:
            number = f"{claim.runs.count(100)} of {len(claim.runs)}"
        return text.replace("{}", number).replace("{size}", number.lstrip("\N{MINUS SIGN}"))

    @property
    def _pictured(self) -> str:
        """The number as a reader pictures it, with "{}" in its place."""
        finding = self.claim.finding
        given = finding.number if finding is not None else ""
        unit = self.claim.unit
        if self.claim.counts_trainings:  # "{}" is "19 of 20"
            unit = unit.removeprefix("% of ")
        return given or with_unit("{}", unit)

    def _claimed(self) -> str:
        return (
            f"The study states: “{self.claim.claim}” This holds if the number is "
            f"{self.claim.claimed}. Verdict:"
        )

    def _evidence(self) -> list[str]:
        """Say where the claim comes from, how sure the number is, and what runs it again."""
        study, claim = self.study, self.claim
        low, high = (format_number(end, claim.digits) for end in claim.interval)
        versions = (f"{_NAMES.get(key, key)} {study.versions[key]}" for key in study.versions)
        threads = f"{study.threads} thread{'s' if study.threads != 1 else ''}"
        day = date.fromisoformat(study.date)
        sure = [
            claim.interval_in_words or f"95\N{NO-BREAK SPACE}% interval {low} to {high}",
            f"{len(study.seeds)} rounds on one machine"
            if claim.timed
            else f"{len(study.seeds)} {study.over}"
            + f" ({', '.join(map(str, study.seeds))})" * (study.over == "seeds"),
        ]
        runs_alone = study.over == "seeds" and claim.kind == "number"
        if runs_alone and not (claim.item_error or claim.timed):
            sure.append(_SEEDS_ALONE)
        if claim.wants_answers:
            sure.append(_WANTS_ANSWERS)
        sides = claim.finding.sides if claim.finding else {}
        names = {key.rpartition(":")[2]: f"“{label}”" for label, key in sides.items()}
        some = "what is compared" if self.near else "one of the numbers"
        close = [f"{names.get(key, some)} is close to its {end}" for key, end in claim.near.items()]
        sure += dict.fromkeys(close)
        ran = [
            f"{study.processor}, {threads}",
            ", ".join(sorted(versions, key=str.lower)),
            f"{day.day} {_MONTHS[day.month - 1]} {day.year}",
            self._code(),
            f"again: {study.command}",
        ]
        if study.data is not None:
            digest = study.data.get("sha256", "")
            file = f", SHA-256 {digest[:12]}" if digest else ""
            ran.insert(0, f"data: {study.data['credit']}, {study.data['licence']}{file}")
        return [self._history(), " · ".join(sure), " · ".join(ran)]

    def _code(self) -> str:
        commit = (self.study.code["commit"] or "unknown")[:7]
        if self.study.code["of"] == "code":
            return f"code of commit {commit}"
        return f"stored with commit {commit}, before records named their code"

    def _history(self) -> str:
        claim = self.claim
        after = "after " if claim.origin == "ours" and claim.source else ""
        source = ", ".join(filter(None, (after + claim.source, claim.quoted)))
        said = _ORIGINS[claim.origin] + f" ({source})" * bool(source)
        return f"{_cited(said)}, {claim.planned}. {claim.before}".rstrip()


def _cited(text: str) -> str:
    """Put authors and year in the place of a paper's key.

    >>> _cited("after lake2018"), _cited("jain2022, section 3")
    ('after Lake and Baroni, 2018', 'Jain et al., 2022, section 3')
    """

    def named(key: re.Match[str]) -> str:
        return f"{key[1].title()}{_OTHERS.get(key[0], ' et al.')}, {key[2]}"

    return re.sub(r"\b([a-z]+)(\d{4})\b", named, text)


def measured(key: str, *, directory: Traversable | None = None) -> MeasuredBox:
    """Show what a study found: a sentence, a number, its interval, and on a click how we know.

    Args:
        key: "study/claim"; all that is shown comes from the record.
        directory: where the records lie; by default those that come with the package.

    Raises:
        UnknownNameError: there is no such study or claim; the message lists those there are.
        ValueError: `key` is not of that form.

    >>> measured("bottleneck")
    Traceback (most recent call last):
    ValueError: key: got 'bottleneck', wanted "study/claim"
    """
    study, slash, claim = key.partition("/")
    if not slash:
        raise ValueError(f'key: got {key!r}, wanted "study/claim"')
    record = load_result(study, directory=directory)
    return MeasuredBox(record, record.claim(claim))
