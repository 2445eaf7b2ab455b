"""The findings of `experiments.numerics`."""

from companion.pages.studies import Finding

LOSS = "{size} nats less loss on held-out text"
WRITTEN = "{size} fewer of 100 letters are right"

FINDINGS = {
    "leak_looks_better": Finding(
        holds="A mask that shows the next letter looks better than the right one.",
        fails="A mask that shows the next letter looks worse than the right one.",
        undecided="A mask that shows the next letter looks like the right one.",
        number=LOSS,
    ),
    "inverted_looks_better": Finding(
        holds="A mask that is upside down looks better than the right one.",
        fails="A mask that is upside down looks worse than the right one.",
        undecided="A mask that is upside down looks like the right one.",
        number=LOSS,
    ),
    "leak_generates_worse": Finding(
        holds="A model that was trained with the next letter in view writes badly by itself.",
        fails="A model that was trained with the next letter in view writes better by itself.",
        undecided="We cannot tell whether a leak in training spoils what the model writes.",
        number=WRITTEN,
    ),
    "inverted_generates_worse": Finding(
        holds="A model that was trained with the mask upside down writes badly by itself.",
        fails="A model that was trained with the mask upside down writes better by itself.",
        undecided="We cannot tell whether a mask upside down spoils what the model writes.",
        number=WRITTEN,
    ),
    "leak_is_a_guess": Finding(
        holds="What a model with the leak writes is hardly better than a guess.",
        fails="What a model with the leak writes is poor, but better than a guess.",
        undecided="We cannot tell what a model with the leak writes from a guess.",
        number="{} of 100 letters right",
    ),
    "leak_spoils_copies": Finding(
        holds="Even where the right letter is easy to find, a model with the leak misses it.",
        fails="Where the right letter is easy to find, a model with the leak finds it, too.",
        undecided="We cannot tell whether a model with the leak finds letters that are easy.",
        number="{} of 100 letters right",
    ),
    "padding_moves": Finding(
        holds="Padding that counts as words changes the output by a large part.",
        fails="Padding that counts as words changes the output only a little.",
        undecided="We cannot tell whether padding that counts as words matters much.",
        number="the output moves by {} %",
    ),
    "statistics_in_float32": Finding(
        holds="In bfloat16, a softmax that keeps its sums in float32 is far more exact.",
        fails="In bfloat16, sums in float32 make the softmax little more exact.",
        undecided="In bfloat16, we cannot tell how much sums in float32 help the softmax.",
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
