"""A verdict as a sign and in words: the same in the boxes and in the tables of claims."""

from bookkit.records import Verdict

VERDICTS: dict[Verdict, str] = {
    "holds": "● holds",
    "undecided": "◐ undecided",
    "fails": "○ does not hold",
    "no verdict": "– no verdict",
}
"""Each verdict as a sign and in words."""

_RING = "M6 1a5 5 0 0 1 0 10a5 5 0 0 1 0-10z"
_BAR = "M1 6H11"
_INSIDE: dict[Verdict, str] = {"holds": _RING, "undecided": "M6 1a5 5 0 0 1 0 10z"}


def verdict_html(verdict: Verdict) -> str:
    """Write a verdict, its sign drawn: as a letter its size would depend on the reader's fonts.

    >>> verdict_html("fails").partition("</svg> ")[2]
    'does not hold'
    """
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 12 12" aria-hidden="true"'
        ' style="width: .8em; height: .8em; max-width: none; vertical-align: -.05em">'
        f'<path d="{_BAR if verdict == "no verdict" else _RING}" fill="none"'
        ' stroke="currentColor" stroke-width="1.5"/>'
        f'<path d="{_INSIDE.get(verdict, "")}" fill="currentColor"/></svg> {VERDICTS[verdict][2:]}'
    )
