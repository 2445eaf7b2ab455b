"""The findings of `experiments.transformer.study`."""

from bookkit.records import Finding

FINDINGS = {
    "mostly_right": Finding(
        holds="Fewer than one sentence in twenty comes out wrong.",
        fails="More than one sentence in twenty comes out wrong.",
        undecided="We cannot tell whether fewer than one sentence in twenty comes out wrong.",
        number="{} in 100 sentences exactly right",
    ),
    "rotary_reaches_farther": Finding(
        holds="Rotary positions help with sentences that are longer than any in training.",
        fails="Rotary positions do harm on sentences that are longer than any in training.",
        undecided="We cannot tell whether rotary positions help with sentences longer than in "
        "training.",
        number="{} more right sentences in 100",
    ),
    "pre_or_post": Finding(
        holds="A translator with norms before its sub-layers is right more often than with norms "
        "after.",
        fails="A translator with norms after its sub-layers is right more often than with norms "
        "before.",
        undecided="We cannot tell whether norms should stand before the sub-layers or after them.",
        number="{} more right sentences in 100",
    ),
    "warmup_pre": Finding(
        holds="With norms before the sub-layers, warm-up helps.",
        fails="With norms before the sub-layers, warm-up does harm.",
        undecided="With norms before the sub-layers, we cannot tell whether warm-up helps.",
        number="{} more right sentences in 100",
    ),
    "warmup_post": Finding(
        holds="With norms after the sub-layers, training needs its warm-up.",
        fails="With norms after the sub-layers, warm-up does harm.",
        undecided="With norms after the sub-layers, we cannot tell whether warm-up helps.",
        number="{} more right sentences in 100",
    ),
    "smoothing": Finding(
        holds="Label smoothing makes more sentences come out right.",
        fails="Label smoothing makes fewer sentences come out right.",
        undecided="We cannot tell whether label smoothing helps.",
        number="{} more right sentences in 100",
    ),
    "dropout": Finding(
        holds="Dropout makes more sentences come out right.",
        fails="Dropout makes fewer sentences come out right.",
        undecided="We cannot tell whether dropout helps.",
        number="{} right sentences in 100, with dropout minus without",
    ),
    "scale": Finding(
        holds="Embeddings must be scaled up before positions are added to them.",
        fails="Embeddings that are scaled up make fewer sentences come out right.",
        undecided="We cannot tell whether it helps to scale the embeddings up.",
        number="{} more right sentences in 100",
    ),
    "tied": Finding(
        holds="One matrix for embedding and output makes more sentences come out right than two.",
        fails="Two matrices for embedding and output make more sentences come out right than one.",
        undecided="We cannot tell whether embedding and output should share one matrix.",
        number="{} right sentences in 100, shared minus separate",
    ),
    "heads_specialise": Finding(
        holds="The best head of a block aligns better than all its heads together.",
        fails="All heads of a block together align better than the best of them.",
        undecided="We cannot tell the best head from all heads of its block together.",
        number="{} points of alignment error, best minus all",
    ),
}
