"""Word links: read from attention weights, or found by aligners that know no attention."""

from companion.alignment.fast_align import FastAlign
from companion.alignment.hmm import HMMAligner
from companion.alignment.links import (
    Links,
    Shares,
    argmax_links,
    best_links,
    diagonal_links,
    oracle_links,
)
from companion.alignment.model1 import IBMModel1

__all__ = [
    "FastAlign", "HMMAligner", "IBMModel1", "Links", "Shares", "argmax_links", "best_links",
    "diagonal_links", "oracle_links",
]  # fmt: skip
