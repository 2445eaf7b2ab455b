"""The Measured box: a claim, the number that decides it, and where the number came from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from html import escape
from importlib.resources.abc import Traversable

from companion.pages.notebook.ruler import ruler
from companion.pages.studies import Claim, Study, Verdict, format_number, load_result

_VERDICTS = {"holds": "● holds", "mixed": "◐ mixed", "fails": "○ does not hold"}
_NAMES = {"python": "Python", "torch": "PyTorch", "numpy": "NumPy"}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Inside :where() nothing outweighs the book's own style sheet; without one, these speak.
_STYLE = """
:where(.measured){max-width:36rem;margin:1rem 0;padding:.7rem 1rem;line-height:1.45;\
background:linear-gradient(var(--am-mark,#a87b0a) 0 0) top/100% 2px no-repeat,\
var(--am-wash,rgba(127,140,150,.09));\
font-variant-numeric:tabular-nums lining-nums}
:where(.measured .m-head){font-weight:700;color:var(--am-gold,#a87b0a)}
:where(.measured .m-verdict){font-weight:400;color:var(--am-muted,inherit)}
:where(.measured .m-claim){margin:.15rem 0 .5rem}
:where(.measured .m-read){display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1.5rem}
:where(.measured .m-value){flex:0 0 10.5rem;font-size:1.9em;line-height:1.15;font-weight:700}
:where(.measured .m-value small){display:block;font-size:.53em;line-height:1.3;font-weight:400}
:where(.measured svg){flex:1 1 16rem;max-width:22rem;height:auto;overflow:visible}
:where(.measured .m-meta){margin-top:.5rem;padding-top:.45rem;font-size:.875em;\
border-top:1px solid var(--am-hair,rgba(127,140,150,.4))}
""".strip().replace("\n", "")


_LATEX_SIGNS = str.maketrans(
    {
        **{sign: rf"\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\N{NO-BREAK SPACE}": "~",
        "\N{MINUS SIGN}": r"\textminus{}",
        "·": r"\textperiodcentered{}",
    }
)


@dataclass(frozen=True, repr=False)
class MeasuredBox:
    """A claim with its evidence, as HTML, LaTeX or text.

    Attributes:
        study: where it was measured.
        claim: what was claimed, and the number.
    """

    study: Study
    claim: Claim

    @property
    def verdict(self) -> str:
        """The verdict in a sign and a word."""
        return _VERDICTS[self.claim.verdict]

    def __repr__(self) -> str:
        return "\n".join(
            [
                f"Measured {self.verdict}",
                self.claim.claim,
                f"{self.claim:value} (claimed: {self.claim.claimed})",
                *self._evidence(),
            ]
        )

    def _repr_html_(self) -> str:
        claim, facts = self.claim, " · ".join(map(escape, self._evidence()))
        unit = f" <small>{escape(claim.unit)}</small>" if claim.unit else ""
        return (
            f'<div class="measured" role="group" aria-label="Measured"><style>{_STYLE}</style>'
            f'<div class="m-head">Measured <span class="m-verdict">{_sign(claim.verdict)} '
            f"{self.verdict[2:]}</span></div>"
            f'<div class="m-claim">{escape(claim.claim)}</div>'
            f'<div class="m-read"><div class="m-value">{claim:number}{unit}</div>'
            f"{ruler(claim)}</div>"
            f'<div class="m-meta">{facts}</div></div>'
        )

    def _repr_latex_(self) -> str:
        """Return the box as one formula: the only LaTeX that every converter lets through."""
        claim, verdict = self.claim, self.verdict.partition(" ")[2]
        lines = [
            rf"\textbf{{Measured}} --- {_latex(verdict)}",
            _latex(claim.claim),
            rf"\textbf{{{_latex(f'{claim:value}')}}} (claimed: {_latex(claim.claimed)})",
            rf"{{\footnotesize {_latex(' · '.join(self._evidence()))}}}",
        ]
        body = r"\\[2pt] ".join(lines)
        return rf"$\displaystyle\fbox{{\parbox{{0.9\linewidth}}{{\raggedright {body}}}}}$"

    def _evidence(self) -> list[str]:
        study, claim = self.study, self.claim
        low, high = (format_number(end, claim.digits) for end in claim.interval)
        versions = (f"{_NAMES.get(key, key)} {study.versions[key]}" for key in study.versions)
        threads = f"{study.threads} thread{'s' if study.threads != 1 else ''}"
        day = date.fromisoformat(study.date)
        facts = [
            claim.interval_in_words or f"95\N{NO-BREAK SPACE}% interval {low} to {high}",
            f"{len(study.seeds)} seeds ({', '.join(map(str, study.seeds))})",
            f"{study.processor}, {threads}",
            ", ".join(sorted(versions, key=str.lower)),
            f"{day.day} {_MONTHS[day.month - 1]} {day.year}",
            f"again: {study.command}",
        ]
        if study.data is not None:
            facts.insert(2, f"data: {study.data['credit']}, {study.data['licence']}")
        return facts


def measured(key: str, *, directory: Traversable | None = None) -> MeasuredBox:
    """Show a recorded claim: its number, interval, verdict, and where it was measured.

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


def _sign(verdict: Verdict) -> str:
    """Draw the verdict's sign; as a letter its size would depend on the reader's fonts."""
    full = "M6 1a5 5 0 0 1 0 10a5 5 0 0 1 0-10z"
    inside = {"holds": full, "mixed": "M6 1a5 5 0 0 1 0 10z", "fails": ""}[verdict]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 12 12" aria-hidden="true"'
        ' style="width: .8em; height: .8em; max-width: none; vertical-align: -.05em">'
        f'<path d="{full}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
        f'<path d="{inside}" fill="currentColor"/></svg>'
    )


def _latex(text: str) -> str:
    return text.translate(_LATEX_SIGNS)
