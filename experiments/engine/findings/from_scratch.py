"""The findings of `experiments.from_scratch.study`, as reported and as in use.

Each mistake has two after a brief training and two after a long one.
"""

from dataclasses import replace

from bookkit.records import Finding

MISTAKES = {
    "no_scale": "a missing scale",
    "swapped": "swapping query and key",
    "query_axis": "a softmax over the queries",
    "view": "cutting and joining the heads by a view",
    "view_out": "joining the heads by a view",
    "no_mask": "a missing mask",
    "inverted": "a mask upside down",
    "one_more": "a mask that allows one position too many",
    "one_less": "a mask that allows one position too few",
    "tiny": "writing 1e-9 for -1e9 in the mask",
    "late": "a mask after the softmax",
}

FLATTERING = {MISTAKES[name] for name in ("no_mask", "inverted", "one_more", "tiny", "late")}
"""Mistakes that let the model see answers, so that it reports more of them right."""


def reported(mistake: str) -> Finding:
    """Say what a mistake does to the accuracy that the program reports."""
    return Finding(
        holds=f"The reported accuracy hides {mistake}.",
        fails=f"The reported accuracy shows {mistake}.",
        undecided=f"We cannot tell if the score hides {mistake}.",
        number="{size} more of 100 answers right in the report"
        if mistake in FLATTERING
        else "{} of 100 answers lost in the report",
    )


def in_use(mistake: str) -> Finding:
    """Say what a mistake does to the accuracy in use, where no future is there to be seen."""
    first = mistake[0].upper() + mistake[1:]
    return Finding(
        holds=f"{first} costs almost nothing in use.",
        fails=f"{first} costs the model right answers in use.",
        undecided=f"We cannot say if {mistake} costs answers in use.",
        number="{} of 100 answers lost in use",
    )


def after_long(finding: Finding) -> Finding:
    """Say the same of a model that was trained five times as long."""

    def said(sentence: str) -> str:
        return f"Trained longer: {sentence[0].lower()}{sentence[1:]}"

    return replace(
        finding,
        holds=said(finding.holds),
        fails=said(finding.fails),
        undecided=said(finding.undecided),
    )


BRIEF = {
    f"{name}/{what}": say(mistake)
    for name, mistake in MISTAKES.items()
    for what, say in (("reported", reported), ("in_use", in_use))
}
LONG = {name: after_long(finding) for name, finding in BRIEF.items()}
LONG["query_axis/reported"] = replace(
    LONG["query_axis/reported"], number="{size} more of 100 answers right in the report"
)
"""A long training learns to read the future from the denominators."""
FINDINGS = BRIEF | {name.replace("/", "-long/"): finding for name, finding in LONG.items()}
