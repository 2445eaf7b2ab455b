"""The findings of `experiments.cost.study`."""

from bookkit.records import Finding

FINDINGS = {
    "short_block_quadruples": Finding(
        holds="Even for a short text, twice the length makes a Transformer block far more than "
        "twice as slow.",
        fails="For a short text, twice the length makes a Transformer block hardly more than twice "
        "as slow.",
        undecided="We cannot tell how much slower a block becomes when a short text doubles.",
        number="{} times the time for twice the length",
    ),
    "long_block_quadruples": Finding(
        holds="For a long text, twice the length makes a Transformer block more than three times "
        "as slow.",
        fails="Even for a long text, a block takes less than three times as long for twice the "
        "length.",
        undecided="We cannot tell how much slower a block becomes when a long text doubles.",
        number="{} times the time for twice the length",
    ),
    "long_attention_quadruples": Finding(
        holds="For a long text, attention itself takes nearly four times as long when the length "
        "doubles.",
        fails="Even for a long text, attention takes far less than four times as long for twice "
        "the length.",
        undecided="We cannot tell whether attention takes four times as long when a long text "
        "doubles.",
        number="{} times the time for twice the length",
    ),
    "textbook_crosses_early": Finding(
        holds="Textbook attention becomes the slowest part of a block far sooner than counting "
        "says.",
        fails="Even textbook attention becomes the slowest part not much sooner than counting "
        "says.",
        undecided="We cannot tell how much sooner than counting says textbook attention becomes "
        "the slowest part.",
        number="{} of the length that counting gives",
    ),
    "fused_crosses_early": Finding(
        holds="Fused attention becomes the slowest part of a block a little sooner than counting "
        "says.",
        fails="Fused attention becomes the slowest part of a block later than counting says.",
        undecided="We cannot tell whether fused attention becomes the slowest part sooner than "
        "counting says.",
        number="{} of the length that counting gives",
    ),
    "flops_predict_time": Finding(
        holds="Textbook and fused attention do the same operations in about the same time.",
        fails="Textbook attention does the same operations as fused attention and takes much "
        "longer.",
        undecided="We cannot tell how much longer textbook attention takes for the same "
        "operations.",
        number="{} times as long as fused attention",
    ),
    "window_saves_what_is_counted": Finding(
        holds="A window saves about as much time as it saves operations.",
        fails="A window saves less time than it saves operations.",
        undecided="We cannot tell whether a window saves as much time as it saves operations.",
        number="{} times the time that its operations would give",
    ),
    "textbook_memory_is_quadratic": Finding(
        holds="The memory of textbook attention grows with the square of the length.",
        fails="The memory of textbook attention grows more slowly than the square of the length.",
        undecided="We cannot tell whether the memory of textbook attention grows with the square "
        "of the length.",
        number="exponent {}",
    ),
    "tiled_memory_is_small": Finding(
        holds="Attention in tiles needs next to no memory of its own.",
        fails="Even attention in tiles needs much memory of its own.",
        undecided="We cannot tell how much memory of its own attention in tiles needs.",
        number="{} of one matrix of weights",
    ),
    "decoding_is_far_from_peak": Finding(
        holds="When a model writes one text, the processor does little of what it could.",
        fails="Even when a model writes one text, the processor is well used.",
        undecided="We cannot tell how well the processor is used when a model writes one text.",
        number="{} % of the processor's peak",
    ),
    "decoding_is_near_memory": Finding(
        holds="When a model writes one text, moving bytes takes most of the time.",
        fails="When a model writes one text, moving bytes takes less than half of the time.",
        undecided="We cannot tell whether a model that writes one text mostly moves bytes.",
        number="{} % of the memory's bandwidth",
    ),
    "training_is_near_peak": Finding(
        holds="Training keeps the processor busy with what it does best.",
        fails="Training uses less than half of what the processor could do.",
        undecided="We cannot tell whether training uses half of what the processor could do.",
        number="{} % of the processor's peak",
    ),
    "training_takes_less": Finding(
        holds="A token takes less time to train on than to write.",
        fails="A token takes more time to train on than to write.",
        undecided="We cannot tell whether a token takes less time to train on than to write.",
        number="{} of the time that writing it takes",
    ),
    "batch_helps": Finding(
        holds="While the cache is short, 16 texts together take less than four times as long as "
        "one.",
        fails="Even while the cache is short, writing many texts together saves little.",
        undecided="We cannot tell how much writing many texts together saves while the cache is "
        "short.",
        number="{} of the time for each token",
    ),
    "batch_helps_with_long_caches": Finding(
        holds="With a long cache, too, writing many texts together saves most of the time.",
        fails="With a long cache, writing many texts together saves much less, because each has "
        "its own cache.",
        undecided="We cannot tell how much writing many texts together saves when caches are long.",
        number="{} of the time for each token",
    ),
}
