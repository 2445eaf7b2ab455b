"""The findings of `experiments.scores.study`."""

from bookkit.records import Finding

FINDINGS = {
    "softmax_saturates": Finding(
        holds="At width 1024, a softmax without the scale lets hardly any gradient through.",
        fails="At width 1024, a softmax without the scale still lets gradient through.",
        undecided="We cannot tell how much gradient a softmax without the scale lets through.",
        number="{} of at most 1 gets through the softmax",
    ),
    "query_gradient_vanishes": Finding(
        holds="Without the scale, the mean gradient at the queries shrinks with the width.",
        fails="Without the scale, the mean gradient at the queries grows with the width.",
        undecided="We cannot tell whether the mean gradient at the queries shrinks or grows.",
        number="{} added to the mean gradient from width 16 to width 1024",
    ),
    "typical_query_starves": Finding(
        holds="At width 1024, the typical query gets almost no gradient without the scale.",
        fails="At width 1024, the typical query gets gradient without the scale, too.",
        undecided="We cannot tell whether the typical query gets gradient without the scale.",
        number="{} of the gradient that it gets with the scale",
    ),
    "few_queries_learn": Finding(
        holds="At width 1024, a few queries get nearly all of the gradient without the scale.",
        fails="At width 1024, the gradient is spread over many queries without the scale, too.",
        undecided="We cannot tell how many queries share the gradient without the scale.",
        number="{} in 100 queries have nine tenths of the gradient",
    ),
    "value_gradient_grows": Finding(
        holds="Without the scale, the values get more gradient, not less.",
        fails="Without the scale, the values get less gradient.",
        undecided="We cannot tell whether the values get more gradient without the scale.",
        number="{} more gradient at the values",
    ),
    "slower_at_256": Finding(
        holds="At width 256, a model without the scale learns more slowly.",
        fails="At width 256, a model without the scale learns faster.",
        undecided="At width 256, we cannot tell whether the scale speeds up learning.",
        number="{} nats more loss, on average over the training",
    ),
    "no_difference_at_4": Finding(
        holds="At width 4, the scale makes hardly any difference.",
        fails="Even at width 4, the scale makes a difference.",
        undecided="At width 4, we cannot tell whether the scale makes a difference.",
        number="{} nats of loss, one way or the other",
    ),
    "adam_hides": Finding(
        holds="With Adam, the missing scale costs less than half of what it costs with momentum.",
        fails="With Adam, the missing scale costs more than half of what it costs with momentum.",
        undecided="We cannot tell whether Adam hides half of what the missing scale costs.",
        number="{} nats of loss beyond that half",
    ),
    "over_width_is_faster": Finding(
        holds="At width 256, dividing by d trains a little faster than dividing by its root.",
        fails="At width 256, dividing by the root of d trains faster than dividing by d.",
        undecided="At width 256, we cannot tell dividing by d from dividing by its root.",
        number="{size} nats less loss",
    ),
    "slower_at_same_rate": Finding(
        holds="At one small learning rate, a model without the scale learns more slowly.",
        fails="At one small learning rate, a model without the scale learns faster.",
        undecided="At one small learning rate, we cannot tell whether the missing scale does harm.",
        number="{} nats more loss without the scale",
    ),
    "smaller_start_suffices": Finding(
        holds="Smaller first weights make up for the missing scale.",
        fails="Smaller first weights do not make up for the missing scale.",
        undecided="We cannot tell whether smaller first weights make up for the missing scale.",
        number="{} nats more loss than with the scale",
    ),
    "scores_shrink": Finding(
        holds="Without the scale, training makes the scores smaller.",
        fails="Without the scale, training makes the scores larger, not smaller.",
        undecided="We cannot tell whether training makes the scores smaller without the scale.",
        number="{} added to the spread of the scores",
    ),
    "scales_meet": Finding(
        holds="After training, the scores are about as spread without the scale as with it.",
        fails="After training, the scores are still far more spread without the scale.",
        undecided="We cannot tell whether training brings the scores together.",
        number="{} times as spread as with the scale",
    ),
    "adam_hides_longer": Finding(
        holds="Over 1,000 updates, Adam hides more than half of what the missing scale costs.",
        fails="Over 1,000 updates, too, Adam hides less than half of what the missing scale costs.",
        undecided="We cannot tell whether Adam hides half of that cost over 1,000 updates.",
        number="{} nats of loss beyond that half",
    ),
    "smaller_start_suffices_longer": Finding(
        holds="Over 1,000 updates, smaller first weights make up for the missing scale.",
        fails="Over 1,000 updates, smaller first weights do not make up for the missing scale.",
        undecided="We cannot tell whether smaller first weights suffice over 1,000 updates.",
        number="{} nats more loss than with the scale",
    ),
    "scores_shrink_longer": Finding(
        holds="Without the scale, 1,000 updates make the scores smaller.",
        fails="Without the scale, 1,000 updates make the scores larger, not smaller.",
        undecided="We cannot tell whether 1,000 updates make the scores smaller.",
        number="{} added to the spread of the scores",
    ),
    "scales_meet_longer": Finding(
        holds="After 1,000 updates, the scores are about as spread without the scale as with it.",
        fails="After 1,000 updates, the scores are still far more spread without the scale.",
        undecided="We cannot tell whether 1,000 updates bring the scores together.",
        number="{} times as spread as with the scale",
    ),
}
