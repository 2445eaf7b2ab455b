"""The findings of `experiments.parallelism.study`."""

from bookkit.records import Finding

FINDINGS = {
    "at_once_is_faster": Finding(
        holds="All positions at once take a fraction of the time, even on one core.",
        fails="On one core, all positions at once are not three times as fast.",
        undecided="On one core, we cannot tell whether all positions at once are three times as "
        "fast.",
        number="{} times as long, one position after the other",
    ),
    "at_once_is_faster_with_two": Finding(
        holds="All positions at once take a fraction of the time on two cores.",
        fails="On two cores, all positions at once are not three times as fast.",
        undecided="On two cores, we cannot tell whether all positions at once are three times as "
        "fast.",
        number="{} times as long, one position after the other",
    ),
    "second_thread_helps_the_transformer_more": Finding(
        holds="A second core speeds the Transformer up more than the recurrent translator.",
        fails="A second core speeds the recurrent translator up more than the Transformer.",
        undecided="We cannot tell which of the two a second core speeds up more.",
        number="{} between the two factors",
    ),
}
