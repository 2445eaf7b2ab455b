"""The findings of `experiments.bottleneck.study`."""

from bookkit.records import Finding

MORE = "{} more of 100 sentences are exactly right"

FINDINGS = {
    "attention_gain": Finding(
        holds="With attention, long sentences survive.",
        fails="Without attention, more sentences come out right.",
        undecided="We cannot tell whether attention helps.",
        number=MORE,
    ),
    "attention_gain_short": Finding(
        holds="Attention helps even if no sentence has more than five words.",
        fails="If no sentence has more than five words, attention does harm.",
        undecided="Up to five words, we cannot tell whether attention helps.",
        number=MORE,
    ),
    "less_fall_with_length": Finding(
        holds="As sentences grow from 5 words to 30, attention loses far fewer of them.",
        fails="As sentences grow from 5 words to 30, attention loses more of them.",
        undecided="We cannot tell whether attention loses fewer sentences as they grow.",
        number="{size} fewer of 100 sentences are lost",
    ),
    "longer_training_is_not_enough": Finding(
        holds="Training twice as long does not replace attention.",
        fails="Training twice as long does better than attention.",
        undecided="We cannot tell attention from training twice as long.",
        number="{} more of 100 sentences are exactly right with attention",
    ),
    "additive_or_dot": Finding(
        holds="Additive attention does slightly better than dot attention.",
        fails="Dot attention does better than additive attention.",
        undecided="We cannot tell additive attention from dot attention.",
        number=MORE,
    ),
    "held_out_gain": Finding(
        holds="With attention, combinations of words that were never seen come out right, too.",
        fails="Combinations of words that were never seen come out better without attention.",
        undecided="We cannot tell whether attention helps with new combinations of words.",
        number=MORE,
    ),
}
