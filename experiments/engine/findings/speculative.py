"""The findings of `experiments.speculative.study`."""

from bookkit.records import Finding

FINDINGS = {
    "most_are_kept": Finding(
        holds="The model keeps most of the words that a mere table of word pairs proposes.",
        fails="The model refuses most of the words that a table of word pairs proposes.",
        undecided="We cannot tell whether most words of a table of word pairs are kept.",
        number="{} in 100 checked words kept",
    ),
    "passes_are_saved": Finding(
        holds="With a table of word pairs as its draft, the model writes the same in far fewer "
        "passes.",
        fails="A table of word pairs saves the model few passes.",
        undecided="We cannot tell how many passes a table of word pairs saves.",
        number="{} words a pass",
    ),
    "eight_add_little": Finding(
        holds="To propose eight words instead of four gains little.",
        fails="To propose eight words instead of four gains more than a quarter of a word.",
        undecided="We cannot tell whether it is worth proposing eight words instead of four.",
        number="{} words a pass gained",
    ),
    "rate_is_overlap": Finding(
        holds="What is kept is what the two distributions share.",
        fails="What is kept is not what the two distributions share.",
        undecided="We cannot tell whether what is kept is what the two distributions share.",
        number="{} points apart",
    ),
}
