"""What the pages say in large type of the claims of a study, a module for each study.

A finding is no part of what was claimed, so it may be written after the runs. After a change,
`python -m experiments reword NAME` puts the findings into the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from bookkit.records import Finding

ClaimT = TypeVar("ClaimT")


def with_findings(
    findings: Mapping[str, Finding], claims: Mapping[str, ClaimT]
) -> dict[str, ClaimT]:
    """Give every claim of a study its finding.

    Args:
        findings: by the names of the claims.
        claims: by name.

    Raises:
        ValueError: a claim has no finding, or a finding no claim.
    """
    if findings.keys() != claims.keys():
        others = ", ".join(sorted(findings.keys() ^ claims.keys()))
        raise ValueError(f"findings: wanted one for each claim and no other, differs in {others}")
    return {
        name: cast(ClaimT, replace(cast(Any, claim), finding=findings[name]))
        for name, claim in claims.items()
    }
