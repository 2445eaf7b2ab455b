"""The findings of `experiments.summarization.study`."""

from bookkit.records import Finding

FINDINGS = {
    "new_names_are_copied": Finding(
        holds="A model that can copy gets names right that it has never seen.",
        fails="Even a model that can copy often gets names wrong that it has never seen.",
        undecided="We cannot tell how often a model that can copy gets new names right.",
        number="{} in 100 summaries exact",
    ),
    "copying_beats_replacing": Finding(
        holds="Copying while it writes beats replacing unknown words afterwards.",
        fails="Replacing unknown words afterwards beats copying while it writes.",
        undecided="We cannot tell copying from replacing unknown words afterwards.",
        number="{} more exact summaries in 100",
    ),
    "copying_beats_spelling": Finding(
        holds="Copying a new name beats spelling it letter by letter.",
        fails="Spelling a new name letter by letter beats copying it.",
        undecided="We cannot tell copying a new name from spelling it.",
        number="{} more exact summaries in 100",
    ),
    "spelling_knows_names": Finding(
        holds="A model that spells does better on names that it was trained on.",
        fails="A model that spells does worse on names that it was trained on.",
        undecided="The model that spells is hardly ever exact, so there is nothing to compare.",
        number="{} more exact summaries in 100",
    ),
    "coverage_helps": Finding(
        holds="Keeping account of where it has looked makes more summaries exact.",
        fails="Keeping account of where it has looked makes fewer summaries exact.",
        undecided="We cannot tell whether keeping account of where it has looked makes summaries "
        "better.",
        number="{} more exact summaries in 100",
    ),
    "coverage_looks_elsewhere": Finding(
        holds="A model that keeps account of where it has looked returns there less.",
        fails="A model that keeps account of where it has looked returns there more.",
        undecided="We cannot tell whether a model that keeps account of its glances returns less.",
        number="{size} less weight on places looked at before",
    ),
    "working_out_is_harder": Finding(
        holds="A winner whom the report names is easier than one whom only the score tells.",
        fails="A winner whom only the score tells is easier than one whom the report names.",
        undecided="We cannot tell whether working out the winner from the score is harder.",
        number="{} more exact summaries in 100",
    ),
}
