"""The findings of `experiments.numerics.study`."""

from bookkit.records import Finding

FINDINGS = {
    "statistics_in_float32": Finding(
        holds="In bfloat16, a softmax that keeps its steps in float32 is far more exact.",
        fails="In bfloat16, steps in float32 make the softmax little more exact.",
        undecided="In bfloat16, we cannot tell how much steps in float32 help the softmax.",
        number="{} times the error if every step is rounded",
    ),
    "running_sum_drowns": Finding(
        holds="In bfloat16, a sum that grows key by key loses most of its terms.",
        fails="In bfloat16, a sum that grows key by key does little harm.",
        undecided="In bfloat16, we cannot tell how much harm a sum that grows key by key does.",
        number="{} times the error of a sum in float32",
    ),
    "length_hurts_stepwise": Finding(
        holds="A softmax that rounds every step gets much worse with more keys.",
        fails="A softmax that rounds every step gets only a little worse with more keys.",
        undecided="We cannot tell how much more keys hurt a softmax that rounds every step.",
        number="{} times the error with 4096 keys as with 64",
    ),
    "spread_hurts_stepwise": Finding(
        holds="A softmax that rounds every step gets much worse with larger scores.",
        fails="A softmax that rounds every step gets only a little worse with larger scores.",
        undecided="We cannot tell how much larger scores hurt a softmax that rounds every step.",
        number="{} times the error at spread 16 as at spread 1",
    ),
    "float16_is_finer": Finding(
        holds="Where nothing overflows, float16 is far more exact than bfloat16.",
        fails="Even where nothing overflows, float16 is little more exact than bfloat16.",
        undecided="We cannot tell how much more exact float16 is than bfloat16.",
        number="{} of bfloat16's error",
    ),
    "textbook_overflows": Finding(
        holds="In float16, the softmax written as its formula overflows in most rows.",
        fails="In float16, the softmax written as its formula overflows in few rows.",
        undecided="We cannot tell how often the softmax written as its formula overflows.",
        number="{} of 100 rows are lost",
    ),
    "companion_is_near_the_floor": Finding(
        holds="With sums in float32, the softmax is almost as exact as bfloat16 can say.",
        fails="Even with sums in float32, the softmax is less exact than bfloat16 allows.",
        undecided="We cannot tell how close sums in float32 come to what bfloat16 allows.",
        number="{} times the error of rounding the exact result",
    ),
}
