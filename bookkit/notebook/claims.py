"""The table that an evidence page opens with: claim, number, verdict, and where it is shown."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources.abc import Traversable

from bookkit.notebook.verdicts import VERDICTS, verdict_html
from bookkit.records import Claim, Study, UnknownNameError, load_result

_COLUMNS = ("Claim", "Number", "Verdict", "Section")


@dataclass(frozen=True, repr=False)
class ClaimsTable:
    """Claims with their numbers, verdicts and sections, as HTML or text."""

    # The claims, each with the heading of the section that shows it; "" for none
    rows: tuple[tuple[Claim, str], ...]

    def __repr__(self) -> str:
        lines = [
            " | ".join([claim.claim, str(claim), VERDICTS[claim.verdict], section]).rstrip(" |")
            for claim, section in self.rows
        ]
        return "\n".join([" | ".join(_COLUMNS), *lines])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
        return (
            f'<table class="table am-claims"><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(self._row(*row) for row in self.rows)}</tbody></table>"
        )

    def _row(self, claim: Claim, section: str) -> str:
        link = f'<a href="#{section_anchor(section)}">{escape(section)}</a>' if section else ""
        cells = (
            escape(claim.claim),
            claim._repr_html_(),
            f'<span class="m-verdict">{verdict_html(claim.verdict)}</span>',
            link,
        )
        return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def claims_table(
    study: str,
    *more: str,
    sections: Mapping[str, str] | None = None,
    others: bool = True,
    directory: Traversable | None = None,
) -> ClaimsTable:
    """Show every claim of a study, or of several: claim, number, verdict and section.

    Args:
        study: the name of the study.
        more: names of other studies whose claims follow.
        sections: for a claim, "claim" or "study/claim", the heading of the section of this page
            that shows it; these claims come first, in this order.
        others: whether the other claims of the studies follow; without them, another page has to
            show them.
        directory: where the records lie; by default those that come with the package.

    Raises:
        UnknownNameError: there is no such study or claim; the message lists those there are.

    >>> claims_table("bottleneck", sections={"attention_gain": "With and without"}).rows[0][1]
    'With and without'
    """
    studies = [load_result(name, directory=directory) for name in (study, *more)]
    claims = {(one.study, key): claim for one in studies for key, claim in one.claims.items()}
    shown = {_place(key, studies): heading for key, heading in (sections or {}).items()}
    keys = [*shown, *(key for key in claims if others and key not in shown)]
    return ClaimsTable(tuple((claims[key], shown.get(key, "")) for key in keys))


def _place(key: str, studies: list[Study]) -> tuple[str, str]:
    """Return the study and the name of a claim."""
    for study in studies:
        name = key.removeprefix(f"{study.study}/")
        if name in study.claims:
            return study.study, name
    known = [f"{study.study}/{name}" for study in studies for name in study.claims]
    raise UnknownNameError("claim", key, known)


def section_anchor(heading: str) -> str:
    """Return the anchor that the built page gives a heading.

    >>> section_anchor("2.3 Does it look where it should?")
    'does-it-look-where-it-should'
    """
    plain = unicodedata.normalize("NFKD", heading.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", plain))
