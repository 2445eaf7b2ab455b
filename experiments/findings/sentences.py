"""The findings of `experiments.sentences`."""

from companion.pages.studies import Finding

LESS = "{} nats a letter"
FINDINGS = {
    "passes_triples": Finding(
        holds="After a short training the model predicts better than counting triples of letters.",
        fails="After a short training counting triples of letters still predicts better.",
        undecided="We cannot tell which predicts better after a short training.",
        number=LESS,
    ),
    "passes_all_counters": Finding(
        holds="On real sentences the small model predicts better than all models that count.",
        fails="On real sentences the small model does not predict better than the best counter.",
        undecided="We cannot tell whether the small model or the best counter predicts better.",
        number=LESS,
    ),
    "spells": Finding(
        holds="The model has learned to spell: most words that it writes exist.",
        fails="The model cannot spell yet: many words that it writes do not exist.",
        undecided="We cannot tell whether seven in ten words that the model writes exist.",
        number="{} of 100 words",
    ),
}
