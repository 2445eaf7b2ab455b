"""The findings of `experiments.induction.study`."""

from bookkit.records import Finding

FINDINGS = {
    "learned_to_copy": Finding(
        holds="Two layers of attention learn to copy almost without a mistake.",
        fails="Two layers of attention learn to copy, but still make mistakes.",
        undecided="We cannot tell whether two layers of attention copy almost without a mistake.",
        number="{} % of the repeated symbols",
    ),
    "at_a_plateau": Finding(
        holds="When the training ends, two layers have stopped improving.",
        fails="When the training ends, two layers still improve.",
        undecided="We cannot tell whether two layers have stopped improving when the training "
        "ends.",
        number="{} points in the last quarter of the training",
    ),
    "two_copy": Finding(
        holds="Two layers copy what came before, and one layer hardly can.",
        fails="Two layers copy little more of what came before than one layer.",
        undecided="We cannot tell whether the second layer is worth half of the repetition.",
        number="{} more repeated symbols in 100",
    ),
    "patience_does_not_help": Finding(
        holds="Training one layer for twice as long does not make it copy.",
        fails="One layer goes on to improve when it is trained for longer.",
        undecided="We cannot tell whether one layer improves when it is trained for longer.",
        number="{} more repeated symbols in 100",
    ),
    "half_within_a_tenth": Finding(
        holds="Two layers learn to copy in one sudden step.",
        fails="Two layers learn to copy step by step, with no sudden jump.",
        undecided="We cannot tell whether two layers learn to copy in one sudden step.",
        number="{} % of what is learned, within a tenth of the training",
    ),
    "previous_comes_first": Finding(
        holds="The head that looks one back is learned before the head that copies.",
        fails="The head that looks one back is not learned before the head that copies.",
        undecided="We cannot tell which of the two heads is learned first.",
        number="{} updates between the two heads",
    ),
    "previous_is_split": Finding(
        holds="No single head does all the looking back.",
        fails="A single head does nearly all the looking back.",
        undecided="We cannot tell whether a single head does nearly all the looking back.",
        number="{} of the best head's weight lies on the previous position",
    ),
    "previous_is_needed": Finding(
        holds="If the first layer may not look one back, the model can hardly copy any more.",
        fails="Even if the first layer may not look one back, the model still copies.",
        undecided="We cannot tell how much copying is lost if the first layer may not look one "
        "back.",
        number="{} fewer repeated symbols in 100",
    ),
    "previous_head_matters": Finding(
        holds="Take the best previous-token head away, and much of the copying goes with it.",
        fails="A model can spare its best previous-token head almost as well as its worst.",
        undecided="We cannot tell how much of the copying goes with the best previous-token head.",
        number="{} more repeated symbols in 100 lost than with the worst head",
    ),
    "copying_is_shared": Finding(
        holds="Take the best copying head away, and the others still copy.",
        fails="Take the best copying head away, and most of the copying goes with it.",
        undecided="We cannot tell how much of the copying goes with the best copying head.",
        number="{} fewer repeated symbols in 100",
    ),
    "copying_heads_matter": Finding(
        holds="Take the three best copying heads away, and hardly any copying is left.",
        fails="Even without its three best copying heads, the model still copies.",
        undecided="We cannot tell how much of the copying goes with the three best copying heads.",
        number="{} fewer repeated symbols in 100",
    ),
}
