"""The findings of `experiments.alignment.study`."""

from bookkit.records import Finding

FINDINGS = {
    "additive_beats_diagonal": Finding(
        holds="Attention finds most of the right words, and nobody showed it a link.",
        fails="Attention finds fewer of the right words than the straight diagonal.",
        undecided="Five runs cannot tell attention from the straight diagonal.",
        number="{size} fewer wrong links in 100 than on the diagonal",
    ),
    "additive_beats_model1": Finding(
        holds="In Bahdanau's order, attention aligns better than a model of 1993 that counts.",
        fails="A model of 1993 that only counts aligns better than attention in Bahdanau's order.",
        undecided="Five runs cannot tell Bahdanau's attention from a model that counts.",
        number="{} points of alignment error, attention minus counting",
    ),
    "dot_beats_model1": Finding(
        holds="Dot attention aligns better than a model of 1993 that only counts.",
        fails="A model of 1993 that only counts aligns better than dot attention.",
        undecided="Five runs cannot tell dot attention from a model of 1993 that only counts.",
        number="{} points of alignment error, attention minus counting",
    ),
    "fast_align_beats_model1": Finding(
        holds="A counting model that prefers the diagonal aligns better than one that does not.",
        fails="A counting model that prefers the diagonal aligns worse than one that does not.",
        undecided="Five runs cannot tell whether a counting model gains by preferring the "
        "diagonal.",
        number="{} points of alignment error, fast_align minus Model 1",
    ),
    "hmm_beats_model1": Finding(
        holds="A counting model that follows the word before aligns better than one that does not.",
        fails="A counting model that follows the word before aligns worse than one that does not.",
        undecided="Five runs cannot tell whether a counting model gains by following the word "
        "before.",
        number="{} points of alignment error, HMM minus Model 1",
    ),
    "additive_present_beats_fast_align": Finding(
        holds="In Luong's order, additive attention aligns better than fast_align's model.",
        fails="Even in Luong's order, additive attention aligns worse than fast_align's model.",
        undecided="Five runs cannot tell additive attention in Luong's order from fast_align's "
        "model.",
        number="{size} fewer wrong links in 100",
    ),
    "additive_present_beats_hmm": Finding(
        holds="In Luong's order, additive attention aligns better than a hidden Markov model.",
        fails="Even in Luong's order, additive attention aligns worse than a hidden Markov model.",
        undecided="Five runs cannot tell additive attention in Luong's order from a hidden Markov "
        "model.",
        number="{size} fewer wrong links in 100",
    ),
    "present_query_aligns_additive": Finding(
        holds="Let the decoder read its last word before it looks, and nearly every link is right.",
        fails="If the decoder reads its last word before it looks, fewer links are right.",
        undecided="Five runs cannot tell whether looking before or after the last word aligns "
        "better.",
        number="{size} fewer wrong links in 100 than before",
    ),
    "present_query_aligns_dot": Finding(
        holds="Dot attention, too, aligns better when it looks after reading the last word.",
        fails="Dot attention aligns worse when it looks after reading the last word.",
        undecided="Five runs cannot tell whether dot attention should look before or after the "
        "last word.",
        number="{size} fewer wrong links in 100",
    ),
    "present_query_aligns_unfed": Finding(
        holds="Without the context in the cell, looking after the last word aligns better, too.",
        fails="Without the context in the cell, looking after the last word aligns worse.",
        undecided="Without the context in the cell, five runs cannot tell when it is better to "
        "look.",
        number="{size} fewer wrong links in 100",
    ),
    "present_query_aligns_fed": Finding(
        holds="With the context in the cell, looking after the last word aligns better, too.",
        fails="With the context in the cell, looking after the last word aligns worse.",
        undecided="With the context in the cell, five runs cannot tell when it is better to look.",
        number="{size} fewer wrong links in 100",
    ),
    "previous_query_aligns_unfed": Finding(
        holds="In Bahdanau's order, a cell that does not read the context aligns better.",
        fails="In Bahdanau's order, a cell that does not read the context aligns worse.",
        undecided="In Bahdanau's order, five runs cannot tell whether the cell should read the "
        "context.",
        number="{} points of alignment error, without minus with",
    ),
    "present_query_aligns_without_feeding": Finding(
        holds="In Luong's order, a cell that does not read the context aligns better.",
        fails="In Luong's order, a cell that does not read the context aligns worse.",
        undecided="In Luong's order, five runs cannot tell whether the cell should read the "
        "context.",
        number="{} points of alignment error, without minus with",
    ),
    "the_state_matters_more": Finding(
        holds="What the query knows matters more than where the context goes.",
        fails="Where the context goes matters more than what the query knows.",
        undecided="Five runs cannot tell whether the query or the way of the context matters more.",
        number="{} points between the two effects",
    ),
    "wrong_determiners_point_at_their_noun": Finding(
        holds="Most wrong links of determiners lead to their noun.",
        fails="Wrong links of determiners do not lead to their noun.",
        undecided="Five runs cannot tell whether most wrong links of determiners lead to their "
        "noun.",
        number="{} wrong determiners: at their noun minus elsewhere, in one run",
    ),
}
