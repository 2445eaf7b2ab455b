"""The findings of `experiments.narrow_training`."""

from companion.pages.studies import Finding

MORE = "{} more of 100 answers are wrong"

FINDINGS = {
    "textbook_stops": Finding(
        holds="Without the subtraction, training in float16 ends in NaN before it is half done.",
        fails="Even without the subtraction, training in float16 gets past its half.",
        undecided="We cannot tell how long training in float16 lasts without the subtraction.",
        number="after {} of 400 updates",
    ),
    "textbook_learns_nothing": Finding(
        holds="When its training ends in NaN, the model has learned next to nothing.",
        fails="When its training ends in NaN, the model has already learned to answer.",
        undecided="We cannot tell how much the model has learned when its training ends in NaN.",
        number="{} of 100 answers are wrong",
    ),
    "range_saves_the_textbook": Finding(
        holds="In bfloat16, a model learns as well without the subtraction: no score is too large.",
        fails="In bfloat16, too, a model learns worse without the subtraction.",
        undecided="We cannot tell whether the subtraction matters to training in bfloat16.",
        number=MORE,
    ),
    "float16_trains": Finding(
        holds="With the subtraction, float16 costs a model nothing that we can see.",
        fails="Even with the subtraction, a model learns worse in float16.",
        undecided="We cannot tell whether rounding to float16 costs the model anything.",
        number=MORE,
    ),
    "bfloat16_trains": Finding(
        holds="Two or three digits at every step are enough to learn this.",
        fails="With every step rounded to bfloat16, a model learns worse.",
        undecided="We cannot tell whether rounding to bfloat16 costs the model anything.",
        number=MORE,
    ),
    "running_sum_learns_less": Finding(
        holds="With a sum that stands still at 256, a model learns far less from as many updates.",
        fails="With a sum that stands still at 256, a model learns nearly as well.",
        undecided="We cannot tell what a sum that stands still at 256 costs a model.",
        number=MORE,
    ),
    "patience_does_not_mend_the_sum": Finding(
        holds="Three times the training does not make up for the narrow sum.",
        fails="With three times the training, the model with the narrow sum catches up.",
        undecided="We cannot tell whether longer training makes up for the narrow sum.",
        number=MORE,
    ),
}
