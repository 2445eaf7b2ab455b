"""The findings of `experiments.founding.study`."""

from bookkit.records import Finding

RIGHT = "{} in 100 phrases exactly right"

FINDINGS = {
    "memorised": Finding(
        holds="The translator knows the phrases that it learned by heart.",
        fails="The translator has not learned its phrases by heart.",
        undecided="We cannot tell whether the translator knows its phrases by heart.",
        number=RIGHT,
    ),
    "unseen": Finding(
        holds="The translator gets the phrases wrong that it never saw.",
        fails="The translator gets some of the phrases right that it never saw.",
        undecided="We cannot tell whether one in ten phrases that it never saw comes out right.",
        number=RIGHT,
    ),
    "shuffled_memorised": Finding(
        holds="A book of wrong translations is learned by heart just as well.",
        fails="A book of wrong translations is harder to learn by heart.",
        undecided="We cannot tell whether a book of wrong translations is learned by heart.",
        number=RIGHT,
    ),
    "looks_at_good": Finding(
        holds="While it writes “buenos”, it looks at “good” more than at the rest.",
        fails="While it writes “buenos”, it looks at “good” less than an even spread would.",
        undecided="We cannot tell whether it looks at “good” while it writes “buenos”.",
        number="{} % of its attention is on “good”",
    ),
    "beats_lookup": Finding(
        holds="The translator does better than looking up the most similar phrase.",
        fails="Looking up the most similar phrase does better than the translator.",
        undecided="We cannot tell the translator from looking up the most similar phrase.",
        number="a difference of {} letters in 100",
    ),
    "beats_lookup_by_errors": Finding(
        holds="Per letter, the translator makes fewer errors than looking up a similar phrase.",
        fails="Per letter, the translator makes more errors than looking up a similar phrase.",
        undecided="Per letter, we cannot tell the translator from looking up a similar phrase.",
        number="{} more errors in 100 letters",
    ),
    "beats_shuffled": Finding(
        holds="Right translations teach it something that wrong ones do not.",
        fails="Wrong translations teach it more than right ones.",
        undecided="We cannot tell whether right translations teach it more than wrong ones.",
        number="{size} fewer of 100 letters are wrong",
    ),
    "attention_gain": Finding(
        holds="On phrases that it never saw, attention helps.",
        fails="On phrases that it never saw, attention does harm.",
        undecided="On phrases that it never saw, we cannot tell whether attention helps.",
        number="a difference of {} letters in 100",
    ),
}
