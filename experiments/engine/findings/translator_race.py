"""The findings of `experiments.translator_race.study`."""

from bookkit.records import Finding

MORE = "{} more right sentences in 100"
FINDINGS = {
    "equal_updates": Finding(
        holds="After equally many updates, the Transformer translates better.",
        fails="After equally many updates, the recurrent translator is better.",
        undecided="After equally many updates, neither translator is clearly better.",
        number=MORE,
    ),
    "equal_updates_short": Finding(
        holds="After half as many updates, the Transformer translates better.",
        fails="After half as many updates, the recurrent translator is better.",
        undecided="After half as many updates, neither translator is clearly better.",
        number=MORE,
    ),
    "new_combinations": Finding(
        holds="With new combinations of words, the Transformer is right more often.",
        fails="With new combinations of words, the recurrent translator is right more often.",
        undecided="With new combinations of words, neither translator is clearly better.",
        number=MORE,
    ),
    "equal_time": Finding(
        holds="On one core, an update of the Transformer takes no longer than a recurrent one.",
        fails="On one core, an update of the Transformer takes longer than a recurrent one.",
        undecided="We cannot tell which of the two takes longer for an update.",
        number="{} times as long",
    ),
    "transformer_settled": Finding(
        holds="The Transformer has settled: twice the updates hardly help it.",
        fails="The Transformer has not settled: twice the updates still help it.",
        undecided="We cannot tell whether the Transformer has settled.",
        number="{} more right sentences in 100 after twice the updates",
    ),
    "recurrent_settled": Finding(
        holds="The recurrent translator has settled: twice the updates hardly help it.",
        fails="The recurrent translator has not settled: twice the updates still help it.",
        undecided="We cannot tell whether the recurrent translator has settled.",
        number="{} more right sentences in 100 after twice the updates",
    ),
    "equal_updates_longest": Finding(
        holds="After 6,400 updates each, the Transformer translates better.",
        fails="After 6,400 updates each, the recurrent translator is better.",
        undecided="After 6,400 updates each, neither translator is clearly better.",
        number=MORE,
    ),
    "new_combinations_longest": Finding(
        holds="After 6,400 updates, the Transformer is better with new combinations of words.",
        fails="After 6,400 updates, the recurrent translator is better with new combinations.",
        undecided="After 6,400 updates, neither is clearly better with new combinations of words.",
        number=MORE,
    ),
    "transformer_settled_longer": Finding(
        holds="After 3,200 updates the Transformer has settled.",
        fails="After 3,200 updates the Transformer has not settled.",
        undecided="We cannot tell whether the Transformer has settled after 3,200 updates.",
        number="{} more right sentences in 100 after twice the updates",
    ),
    "recurrent_settled_longer": Finding(
        holds="After 3,200 updates the recurrent translator has settled.",
        fails="After 3,200 updates the recurrent translator has not settled.",
        undecided="We cannot tell whether the recurrent one has settled after 3,200 updates.",
        number="{} more right sentences in 100 after twice the updates",
    ),
}
