"""The findings of `experiments.language_model.study`."""

from bookkit.records import Finding

FINDINGS = {
    "near_the_source": Finding(
        holds="The small model predicts almost as well as anything could.",
        fails="The small model is still well above what could be predicted.",
        undecided="We cannot tell how close the small model is to what could be predicted.",
        number="{} nats a word above the source",
    ),
    "llama_predicts_better": Finding(
        holds="With equal weights, Llama's block predicts better than GPT's.",
        fails="With equal weights, Llama's block does not predict better than GPT's.",
        undecided="We cannot tell whether Llama's block or GPT's predicts better.",
        number="{} nats a word",
    ),
    "llama_predicts_better_early": Finding(
        holds="Early in training, Llama's block predicts better than GPT's.",
        fails="Early in training, Llama's block does not predict better than GPT's.",
        undecided="We cannot tell which block predicts better early in training.",
        number="{} nats a word",
    ),
    "little_between_them": Finding(
        holds="With equal weights, GPT's block and Llama's end up nearly equal.",
        fails="With equal weights, GPT's block and Llama's end up clearly apart.",
        undecided="We cannot tell whether GPT's block and Llama's end up nearly equal.",
        number="{} nats a word apart",
    ),
    "stories_are_possible": Finding(
        holds="Nearly all the stories that the model writes obey every rule.",
        fails="Many of the stories that the model writes break a rule.",
        undecided="We cannot tell whether nine in ten of its stories obey every rule.",
        number="{} of 100 stories",
    ),
}
