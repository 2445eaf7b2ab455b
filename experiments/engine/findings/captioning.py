"""The findings of `experiments.captioning.study`."""

from bookkit.records import Finding

FINDINGS = {
    "soft_captions": Finding(
        holds="With soft attention, nearly every caption of a new scene is exact.",
        fails="Even with soft attention, many captions of new scenes have a mistake.",
        undecided="We cannot tell whether soft attention gets nearly every caption exact.",
        number="{} in 100 captions exact",
    ),
    "soft_points": Finding(
        holds="Before it names a colour or a shape, soft attention points at the right thing.",
        fails="Before it names a colour or a shape, soft attention often points elsewhere.",
        undecided="We cannot tell whether soft attention nearly always points at what it names.",
        number="{} in 100 times into the right box",
    ),
    "attention_is_needed": Finding(
        holds="A captioner that chooses where to look is exact more often than one that looks "
        "everywhere.",
        fails="A captioner that looks everywhere at once is exact more often than one that "
        "chooses.",
        undecided="We cannot tell whether a captioner needs to choose where it looks.",
        number="{} more captions in 100 are exact",
    ),
    "soft_beats_hard": Finding(
        holds="A soft glance, which gradients can train, beats a hard choice of one place.",
        fails="A hard choice of one place beats a soft glance at all of them.",
        undecided="We cannot tell soft attention from a hard choice of one place.",
        number="{} more captions in 100 are exact",
    ),
    "right_place": Finding(
        holds="Attention points at combinations it never saw as surely as at those it knows.",
        fails="Attention points less surely at combinations that it never saw.",
        undecided="We cannot tell whether attention points less surely at combinations it never "
        "saw.",
        number="{} in 100 fewer glances into the right box",
    ),
    "wrong_word": Finding(
        holds="A combination that was never seen is often named wrongly.",
        fails="A combination that was never seen is named about as well as a known one.",
        undecided="We cannot tell whether a combination that was never seen is named wrongly more "
        "often.",
        number="{} more wrong words in 100",
    ),
    "right_place_wrong_word": Finding(
        holds="When a word is wrong, attention mostly points at the right place all the same.",
        fails="When a word is wrong, attention mostly points at a wrong place, too.",
        undecided="We cannot tell whether wrong words come with a wrong glance.",
        number="{} points between right and wrong places",
    ),
    "shape_right_after_seen_colour": Finding(
        holds="A wrong shape often comes right when the captioner is given a colour that it knows "
        "with it.",
        fails="A wrong shape mostly stays wrong, whichever colour the captioner has just written.",
        undecided="We cannot tell how much a wrong shape depends on the colour written before it.",
        number="{} more right shapes in 100",
    ),
}
