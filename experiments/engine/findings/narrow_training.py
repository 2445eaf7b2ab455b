"""The findings of `experiments.narrow_training.study`."""

from bookkit.records import Finding

DIFFERENCE = "{} points of difference"
FEWER = "{} fewer of 100 answers are right"

FINDINGS = {
    "float32_learns": Finding(
        holds="In float32 the model learns to look names up in the directory.",
        fails="Even in float32 the model often fails to look names up in the directory.",
        undecided="We cannot tell whether the model learns its task in float32.",
        number="{} of 100 answers are right",
    ),
    "wide_statistics_are_free": Finding(
        holds="A model in bfloat16 that keeps its softmax in float32 loses nothing here.",
        fails="A model in bfloat16 loses answers even if it keeps its softmax in float32.",
        undecided="We cannot tell whether bfloat16 with a softmax in float32 costs answers.",
        number=DIFFERENCE,
    ),
    "rounded_steps_are_free": Finding(
        holds="A model in bfloat16 that rounds every step of its softmax loses nothing here.",
        fails="A model in bfloat16 that rounds every step of its softmax loses answers.",
        undecided="We cannot tell whether rounding every step in bfloat16 costs answers.",
        number=DIFFERENCE,
    ),
    "rounded_float16_is_free": Finding(
        holds="A model in float16 loses nothing here if the largest score is subtracted.",
        fails="A model in float16 loses answers even if the largest score is subtracted.",
        undecided="We cannot tell whether float16 with the largest score subtracted costs answers.",
        number=DIFFERENCE,
    ),
    "scale_is_not_needed": Finding(
        holds="For an attention in float16, scaling the loss makes no difference here.",
        fails="For an attention in float16, it matters whether the loss is scaled.",
        undecided="We cannot tell whether scaling the loss matters for an attention in float16.",
        number=DIFFERENCE,
    ),
    "textbook_fails": Finding(
        holds="Trained in float16 without the subtraction, a model does not learn its task.",
        fails="In float16, a model without the subtraction learns nearly as well as in float32.",
        undecided="We cannot tell how much a model in float16 loses without the subtraction.",
        number=FEWER,
    ),
    "skipping_fails": Finding(
        holds="Leaving out the updates that break does not save a model without the subtraction.",
        fails="Leaving out the updates that break lets a model do without the subtraction.",
        undecided="We cannot tell whether leaving out updates saves a model in float16.",
        number=FEWER,
    ),
    "skipping_fails_longer": Finding(
        holds="Training four times as long does not make up for the updates that are left out.",
        fails="Training four times as long makes up for the updates that are left out.",
        undecided="We cannot tell whether longer training makes up for updates left out.",
        number=FEWER,
    ),
    "textbook_survives_in_bfloat16": Finding(
        holds="In bfloat16, a model without the subtraction learns as well as in float32.",
        fails="In bfloat16, too, a model without the subtraction loses answers.",
        undecided="We cannot tell whether a model in bfloat16 can do without the subtraction.",
        number=DIFFERENCE,
    ),
    "textbook_survives_longer": Finding(
        holds="In bfloat16, a model without the subtraction is right after longer training, too.",
        fails="In bfloat16, longer training breaks a model without the subtraction.",
        undecided="We cannot tell whether longer training breaks a model in bfloat16 without the "
        "subtraction.",
        number=DIFFERENCE,
    ),
    "running_sum_fails": Finding(
        holds="In bfloat16, a sum that grows key by key keeps a model from learning in time.",
        fails="A sum that grows key by key in bfloat16 costs little at a learning rate of its own.",
        undecided="We cannot tell how much a sum that grows key by key costs a model in bfloat16.",
        number=FEWER,
    ),
    "running_sum_fails_longer": Finding(
        holds="Training four times as long does not make up for a sum that stops growing.",
        fails="Training four times as long makes up for a sum that stops growing.",
        undecided="We cannot tell whether longer training makes up for a sum that stops growing.",
        number=FEWER,
    ),
    "running_sum_fails_at_the_usual_rate": Finding(
        holds="At the rate that is best in float32, few models learn with a sum that grows key by "
        "key.",
        fails="At the rate best in float32, models learn nearly as well with a sum that grows key "
        "by key.",
        undecided="We cannot tell how much a sum that grows key by key costs at the rate best in "
        "float32.",
        number=FEWER,
    ),
}
