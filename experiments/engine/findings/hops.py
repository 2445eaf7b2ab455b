"""The findings of `experiments.hops.study`."""

from bookkit.records import Finding

FEWER = "{} fewer of 100 answers are right"

FINDINGS = {
    "one_layer_takes_one_step": Finding(
        holds="One layer of self-attention follows a note to the person whom it names.",
        fails="One layer of self-attention often fails to follow a note to whom it names.",
        undecided="We cannot tell whether one layer of self-attention follows a note reliably.",
        number="{} of 100 answers are right",
    ),
    "two_layers_take_two_steps": Finding(
        holds="Two layers of self-attention follow a note to a note.",
        fails="Even two layers of self-attention often fail to follow a note to a note.",
        undecided="We cannot tell whether two layers of self-attention follow a note to a note.",
        number="{} of 100 answers are right",
    ),
    "one_layer_stays_behind": Finding(
        holds="One layer does not learn to follow a note to a note, and two layers do.",
        fails="One layer follows a note to a note nearly as well as two layers, or better.",
        undecided="We cannot tell how far one layer stays behind two layers.",
        number=FEWER,
    ),
    "patience_does_not_help": Finding(
        holds="Training four times as long does not teach one layer to follow a note to a note.",
        fails="Trained four times as long, one layer comes close to two layers.",
        undecided="We cannot tell whether longer training brings one layer close to two.",
        number=FEWER,
    ),
    "first_layer_first_step": Finding(
        holds="Of two layers, the first looks at the person whom the own note names.",
        fails="Of two layers, the first looks elsewhere than at whom the own note names.",
        undecided="We cannot tell whether the first of two layers looks where the own note leads.",
        number="a weight of {}",
    ),
    "second_layer_second_step": Finding(
        holds="Of two layers, the second looks at the person at the end of both steps.",
        fails="Of two layers, the second does not look at the person at whom both steps end.",
        undecided="We cannot tell whether the second of two layers looks at the end of both steps.",
        number="a weight of {}",
    ),
}
