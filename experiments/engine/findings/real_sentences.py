"""The findings of `real_sentences`: one for each attention, training and length."""

from bookkit.records import Finding

TRAININGS = {"small": "short", "large": "long"}
SENTENCES = {
    "all": "real sentences",
    "short": "short real sentences",
    "long": "long real sentences",
}


def finding(kind: str, training: str, sentences: str) -> Finding:
    """Say whether one kind of attention helps with some real sentences after some training."""
    after = f"After a {training} training"
    return Finding(
        holds=f"{after}, {kind} attention translates {sentences} better than none.",
        fails=f"{after}, {kind} attention translates {sentences} worse than none.",
        undecided=f"{after}, {kind} attention makes no clear difference to {sentences}.",
        number="{} BLEU more than without attention",
    )


FINDINGS = {
    f"{kind}_gain_{budget}_{name}": finding(kind, training, sentences)
    for kind in ("dot", "additive")
    for budget, training in TRAININGS.items()
    for name, sentences in SENTENCES.items()
}
