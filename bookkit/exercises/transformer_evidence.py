"""The exercises of the evidence of "The Transformer"."""

from functools import partial

from bookkit.exercises.exercise import Function


def _count(
    words: int, e: int, hidden: int, layers: int, *, matrices: int = 12, biased: int = 2,
    norms: float = 5, embeddings: int = 1,
) -> float:  # fmt: skip
    """Count weights; what a pair of blocks has of each kind may be wrong."""
    products, biases = 2 * 2 * e * hidden, biased * (e + hidden)
    pair = matrices * e * e + products + biases + norms * 2 * e
    return embeddings * words * e + layers * pair


SHARED = "one matrix serves both embeddings and the output: the words count once, not"

check_weights = Function(
    "`count(words, e, hidden, layers)`, the weights of the paper's model: blocks in encoder and "
    "decoder each, one matrix for both embeddings and the output, biases in the feed-forward "
    "layers alone, a norm with gain and bias after every sub-layer.",
    right=lambda *sizes: int(_count(*sizes)), cases=[(11, 6, 17, 3), (37_000, 512, 2048, 6)],
    mistakes={
        "the embedding has weights, too": partial(_count, embeddings=0),
        f"{SHARED} twice": partial(_count, embeddings=2),
        f"{SHARED} three times": partial(_count, embeddings=3),
        "a block of the decoder has two attentions: itself and the memory":
            partial(_count, matrices=8),
        "the feed-forward layers have biases: hidden of them in the middle, e at the end":
            partial(_count, biased=0),
        "every sub-layer has a norm, with e gains and e biases": partial(_count, norms=0),
        "a norm has e gains and e biases": partial(_count, norms=5 / 2),
        "the decoder's block has three sub-layers, so three norms": partial(_count, norms=4),
        "an attention has four matrices: query, key, value, output": partial(_count, matrices=9),
        "there are `layers` blocks in the encoder and as many in the decoder":
            lambda words, e, hidden, layers: _count(words, e, hidden, 1),
    }, otherwise="count({}, {}, {}, {}): got {got:g}, which is not it",
)  # fmt: skip
