"""The findings of `experiments.digits.study`."""

from bookkit.records import Finding

FINDINGS = {
    "digits_are_read": Finding(
        holds="A Vision Transformer reads nearly all handwritten digits that it never saw.",
        fails="A Vision Transformer misreads more than one new digit in 25.",
        undecided="We cannot tell whether a Vision Transformer misreads fewer than one new digit "
        "in 25.",
        number="{} in 100 digits read",
    ),
    "places_are_needed": Finding(
        holds="A model that knows where each patch lies reads more digits than a bag of patches.",
        fails="A bag of patches reads more digits than a model that knows where each patch lies.",
        undecided="We cannot tell whether it helps to know where each patch lies.",
        number="{} more digits in 100",
    ),
    "attention_finds_what_counts": Finding(
        holds="Wiping out the patches with most attention hurts more than wiping out others by "
        "chance.",
        fails="Wiping out the patches with most attention hurts less than wiping out others by "
        "chance.",
        undecided="We cannot tell whether the patches with most attention count more than others.",
        number="{} more wrong digits in 100",
    ),
    "attention_beats_ink": Finding(
        holds="Attention finds the patches that count better than a rule without any model.",
        fails="A rule without any model finds the patches that count better than attention does.",
        undecided="We cannot tell attention from a rule without any model.",
        number="{size} fewer wrong digits in 100 than by the rule",
    ),
}
