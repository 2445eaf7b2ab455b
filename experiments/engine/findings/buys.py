"""The findings of `experiments.buys.study`."""

from bookkit.records import Finding

FINDINGS = {
    "additive_gain": Finding(
        holds="With additive attention, more sentences come out right than without any attention.",
        fails="With additive attention, fewer sentences come out right than without any attention.",
        undecided="We cannot tell whether additive attention makes more sentences come out right.",
        number="{} more right sentences in 100",
    ),
    "dot_gain": Finding(
        holds="With dot attention, more sentences come out right than without any attention.",
        fails="With dot attention, fewer sentences come out right than without any attention.",
        undecided="We cannot tell whether dot attention makes more sentences come out right.",
        number="{} more right sentences in 100",
    ),
    "general_gain": Finding(
        holds="With a learned matrix in the score, more sentences come out right than without any "
        "attention.",
        fails="With a learned matrix in the score, fewer sentences come out right than without any "
        "attention.",
        undecided="We cannot tell whether a learned matrix in the score makes more sentences come "
        "out right.",
        number="{} more right sentences in 100",
    ),
    "concat_gain": Finding(
        holds="With concat attention, more sentences come out right than without any attention.",
        fails="With concat attention, fewer sentences come out right than without any attention.",
        undecided="We cannot tell whether concat attention makes more sentences come out right.",
        number="{} more right sentences in 100",
    ),
    "local_gain": Finding(
        holds="With a predicted window, more sentences come out right than without any attention.",
        fails="With a predicted window, fewer sentences come out right than without any attention.",
        undecided="We cannot tell whether a predicted window makes more sentences come out right.",
        number="{} more right sentences in 100",
    ),
    "transformer_gain": Finding(
        holds="A Transformer gets more sentences right than a translator without attention.",
        fails="A Transformer gets fewer sentences right than a translator without attention.",
        undecided="We cannot tell a Transformer from a translator without attention.",
        number="{} more right sentences in 100",
    ),
    "general_or_dot": Finding(
        holds="A score with a learned matrix gets more sentences right than one without.",
        fails="The score with nothing to learn beats the one with a learned matrix.",
        undecided="A learned matrix in the score makes no clear difference.",
        number="{} sentences in 100",
    ),
    "concat_or_additive": Finding(
        holds="The additive score does better when the decoder has read its last word.",
        fails="The additive score does better before the decoder reads its last word.",
        undecided="We cannot tell whether the additive score should look before or after the last "
        "word.",
        number="{} sentences in 100, after minus before",
    ),
    "local_or_general": Finding(
        holds="Looking at a predicted window gets more sentences right than looking at all words.",
        fails="Looking at all words gets more sentences right than looking at a predicted window.",
        undecided="Within the lengths of training, a predicted window makes no clear difference.",
        number="{} sentences in 100",
    ),
    "local_far_beyond": Finding(
        holds="On sentences longer than in training, a predicted window helps.",
        fails="On sentences longer than in training, the predicted window misses what it needs.",
        undecided="On sentences longer than in training, a window makes no clear difference.",
        number="{} sentences in 100",
    ),
    "transformer_or_additive": Finding(
        holds="After as many updates, a Transformer is right more often than additive attention.",
        fails="After as many updates, additive attention is right more often than a Transformer.",
        undecided="After as many updates, we cannot tell a Transformer from additive attention.",
        number="{} sentences in 100, Transformer minus additive",
    ),
    "transformer_or_dot": Finding(
        holds="After as many updates, a Transformer is right more often than dot attention.",
        fails="After as many updates, dot attention is right more often than a Transformer.",
        undecided="After as many updates, we cannot tell a Transformer from dot attention.",
        number="{} sentences in 100, Transformer minus dot",
    ),
    "transformer_beyond": Finding(
        holds="A little beyond the lengths of training, a Transformer does better than additive "
        "attention.",
        fails="A little beyond the lengths of training, a Transformer fails where additive "
        "attention does not.",
        undecided="A little beyond the lengths of training, we cannot tell a Transformer from "
        "additive attention.",
        number="{size} fewer right sentences in 100",
    ),
    "transformer_far_beyond": Finding(
        holds="Far beyond the lengths of training, a Transformer still beats no attention at all.",
        fails="Far beyond the lengths of training, a Transformer does worse than no attention at "
        "all.",
        undecided="Far beyond the lengths of training, we cannot tell a Transformer from no "
        "attention at all.",
        number="{} sentences in 100",
    ),
    "transformer_new_pairs": Finding(
        holds="On new combinations of words, a Transformer is right more often than additive "
        "attention.",
        fails="On new combinations of words, additive attention is right more often than a "
        "Transformer.",
        undecided="On new combinations of words, we cannot tell a Transformer from additive "
        "attention.",
        number="{} sentences in 100, Transformer minus additive",
    ),
}
