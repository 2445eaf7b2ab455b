"""Scores of translations that are too good, or not comparable."""

import math
from collections import Counter
from collections.abc import Sequence

from bookkit.museum.exhibit import Exhibit
from companion.conformance import check_bleu, check_spacing
from companion.data.pairs import words
from companion.metrics import bleu

Sentences = Sequence[Sequence[str]]


def precision_alone(hypotheses: Sentences, references: Sentences) -> float:
    """Score by the precisions of 1- to 4-grams, with nothing for what was left out."""
    logs = []
    for n in range(1, 5):
        right = total = 0
        for found, wanted in zip(hypotheses, references, strict=True):
            has, wants = (
                Counter(
                    tuple(side[i : i + n]) for i in range(len(side) - n + 1)
                )
                for side in (found, wanted)
            )
            right, total = right + (has & wants).total(), total + has.total()
        logs.append(math.log(right / total))
    return 100 * math.exp(sum(logs) / 4)


def split_at_blanks(
    hypotheses: Sequence[str], references: Sequence[str]
) -> float:
    """Score texts, cut into tokens where they have blanks."""
    return bleu(
        [text.split() for text in hypotheses],
        [text.split() for text in references],
    )


def split_by_rule(
    hypotheses: Sequence[str], references: Sequence[str]
) -> float:
    """Score texts, cut into words and punctuation."""
    return bleu(
        [words(text) for text in hypotheses],
        [words(text) for text in references],
    )


SCORING = (
    Exhibit(
        "half a text", "A translation that stops half-way scores 100", broken=precision_alone,
        sound=bleu, check=check_bleu, hint="brevity penalty is missing",
        threads=("nltk/nltk #922 #926", "pytorch/torcheval #195", "promptfoo/promptfoo #9717"),
    ),
    Exhibit(
        "blanks", "One translation, two scores", broken=split_at_blanks, sound=split_by_rule,
        check=check_spacing, hint="blanks around punctuation",
        threads=("tensorflow/tensor2tensor #317",),
    ),
)  # fmt: skip
