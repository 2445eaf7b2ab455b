"""The findings of `experiments.choices.study`."""

from bookkit.records import Finding

FINDINGS = {
    "feeding": Finding(
        holds="A decoder that is told what it looked at translates more sentences right.",
        fails="Being told what it looked at makes this translator worse.",
        undecided="Input feeding changes little in how many sentences come out right.",
        number="{} sentences in 100",
    ),
    "feeding_long": Finding(
        holds="On the longest sentences, a decoder that is told what it looked at is right more "
        "often.",
        fails="On the longest sentences, being told what it looked at makes this translator worse.",
        undecided="On the longest sentences, we cannot tell whether input feeding helps.",
        number="{} sentences in 100",
    ),
    "feeding_aligns": Finding(
        holds="With input feeding, attention looks at the right word more often.",
        fails="With input feeding, attention looks at the right word less often.",
        undecided="Input feeding does not clearly change where attention looks.",
        number="{} links in 100",
    ),
}
