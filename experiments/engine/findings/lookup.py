"""The findings of `experiments.lookup.study`."""

from bookkit.records import Finding

LESS, MORE = "{size} % less error", "{} % more error"

FINDINGS = {
    "learned_beats_rule": Finding(
        holds="A width that is learned from 64 samples beats the rule of thumb by far.",
        fails="The rule of thumb beats a width that is learned from 64 samples.",
        undecided="With 64 samples, we cannot tell a learned width from the rule of thumb.",
        number=LESS,
    ),
    "learned_beats_rule_16": Finding(
        holds="With 16 samples, too, it pays to learn the width.",
        fails="With 16 samples, the rule of thumb is the better width.",
        undecided="With 16 samples, we cannot tell a learned width from the rule of thumb.",
        number=LESS,
    ),
    "collapsed_is_worse_than_rule": Finding(
        holds="If every sample may look at itself, learning ends with a worse width than the rule.",
        fails="Even if every sample may look at itself, the learned width beats the rule of thumb.",
        undecided="We cannot tell whether looking at oneself spoils the learned width.",
        number=MORE,
    ),
    "soft_beats_nearest": Finding(
        holds="With noise, a blend of many samples beats the nearest one.",
        fails="Even with noise, the nearest sample beats a blend of many.",
        undecided="With noise, we cannot tell a blend of many samples from the nearest one.",
        number=LESS,
    ),
    "soft_beats_nearest_noiseless": Finding(
        holds="Softness wins even when there is no noise at all.",
        fails="Without noise, the nearest sample is the better answer.",
        undecided="Without noise, we cannot tell softness from the nearest sample.",
        number=LESS,
    ),
    "soft_beats_k_nearest": Finding(
        holds="Weights that fade with distance beat the plain mean of the k nearest samples.",
        fails="The plain mean of the k nearest samples beats weights that fade with distance.",
        undecided="We cannot tell fading weights from the plain mean of the k nearest samples.",
        number=LESS,
    ),
    "soft_beats_k_nearest_uneven": Finding(
        holds="Where samples crowd together, fading weights still beat the mean of the k nearest.",
        fails="Where samples crowd together, the mean of the k nearest beats fading weights.",
        undecided="Where samples crowd together, we cannot tell the two methods apart.",
        number=LESS,
    ),
    "softness_at_fixed_width": Finding(
        holds="In a window of fixed width, weights that fade beat equal ones.",
        fails="In a window of fixed width, equal weights beat weights that fade.",
        undecided="In a window of fixed width, we cannot tell fading weights from equal ones.",
        number=LESS,
    ),
    "softness_at_k": Finding(
        holds="Among the k nearest samples, too, weights that fade beat equal ones.",
        fails="Among the k nearest samples, equal weights beat weights that fade.",
        undecided="Among the k nearest samples, we cannot tell fading weights from equal ones.",
        number=LESS,
    ),
    "width_per_query_uneven": Finding(
        holds="Where samples crowd together, a width for every query helps.",
        fails="A width for every query makes more errors, even where samples crowd together.",
        undecided="Where samples crowd together, we cannot tell whether a width per query helps.",
        number=MORE,
    ),
    "line_at_the_ends": Finding(
        holds="Near the ends of the curve, it is better to fit a line than to blend.",
        fails="Near the ends of the curve, it is better to blend than to fit a line.",
        undecided="Near the ends of the curve, we cannot tell fitting a line from blending.",
        number=LESS,
    ),
    "line_in_the_middle": Finding(
        holds="In the middle of the curve, too, it is better to fit a line than to blend.",
        fails="In the middle of the curve, it is better to blend than to fit a line.",
        undecided="In the middle of the curve, we cannot tell fitting a line from blending.",
        number=LESS,
    ),
}
