"""The findings of `experiments.induction`."""

from companion.pages.studies import Finding

FINDINGS = {
    "two_copy": Finding(
        holds="Two layers copy what came before, and one layer hardly can.",
        fails="Two layers copy little more of what came before than one layer.",
        undecided="We cannot tell whether the second layer is worth half of the repetition.",
        number="{} more repeated tokens in 100",
    ),
    "half_within_a_sixth": Finding(
        holds="Two layers learn to copy in one sudden step.",
        fails="Two layers learn to copy step by step, with no sudden jump.",
        undecided="We cannot tell whether two layers learn to copy in one sudden step.",
        number="{} % of what is learned, within a sixth of the training",
    ),
    "previous_comes_first": Finding(
        holds="The head that looks one back is learned before the head that copies.",
        fails="The head that copies is learned before the head that looks one back.",
        undecided="We cannot tell which of the two heads is learned first.",
        number="{} updates between the two heads",
    ),
    "previous_is_needed": Finding(
        holds="If the first layer may not look one back, the model can hardly copy any more.",
        fails="Even if the first layer may not look one back, the model still copies.",
        undecided="We cannot tell how much copying is lost if the first layer may not look one "
        "back.",
        number="{} fewer repeated tokens in 100",
    ),
}
