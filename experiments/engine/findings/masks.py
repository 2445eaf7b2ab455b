"""The findings of `experiments.masks.study`."""

from bookkit.records import Finding

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
    "leak_is_a_guess_longer": Finding(
        holds="Training three times as long does not mend a model with the leak.",
        fails="After three times the training, the model with the leak writes poorly, but better "
        "than a guess.",
        undecided="We cannot tell what a model with the leak that trained longer writes from a "
        "guess.",
        number="{} of 100 letters right",
    ),
    "leak_spoils_copies_longer": Finding(
        holds="Even where the right letter is easy to find, longer training does not mend a leak.",
        fails="Where the right letter is easy to find, longer training finds it despite a leak.",
        undecided="We cannot tell whether longer training mends a leak where letters are easy.",
        number="{} of 100 letters right",
    ),
    "last_letter_is_learned": Finding(
        holds="A model with the leak has learned the one letter that nothing gave away.",
        fails="A model with the leak has not even learned the letter that nothing gave away.",
        undecided="We cannot tell whether the letter that nothing gave away was learned better.",
        number="{} points more than for the other letters",
    ),
    "padding_moves": Finding(
        holds="Padding that counts as words changes the output by a large part.",
        fails="Padding that counts as words changes the output only a little.",
        undecided="We cannot tell whether padding that counts as words matters much.",
        number="the output moves by {} %",
    ),
}
