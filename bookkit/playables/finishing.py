"""The model of stories: a small language model, which the page itself runs to finish a story."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any

from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from torch import Tensor

    from companion.data.vocabulary import Vocabulary
    from companion.models.transformer import LanguageModel

SHOWN = 6
"""How many of the likeliest next words are shown."""

LEVELS = 45
"""Weights in a page are whole numbers from -45 to 45, each a letter: less to load than base64."""

MOST_WORDS = 60
"""Words at which a story is cut; the longest of the grammar's has 58."""

END_SIGN = "(end)"
"""How the end of a story is written in the list of next words."""

BEGINNINGS = (
    "a young queen works in the city . she finds a",
    "a young queen works in the city . she finds a new house . her brother waits for her . "
    "she works in the",
    "an old man slept in the garden . he bought a red apple . his sister looked at",
    "a king runs in the city . he sees a black dog . his sister listens to the black dog . she",
    "a",
)


@cache
def story_model() -> tuple[LanguageModel, Vocabulary]:
    """Return the model that the page "A language model" trains on stories, and its vocabulary.

    Its weights are those that `lesson.trained("stories", ...)` stored.
    """
    from safetensors.torch import load_file

    from bookkit.data.stories import stories
    from bookkit.notebook.trained import FOLDER
    from companion.data.vocabulary import Vocabulary
    from companion.models.transformer import LanguageModel, TransformerConfig

    vocab = Vocabulary(sorted({word for story in stories(500, seed=81_001) for word in story}))
    model = LanguageModel(
        TransformerConfig(
            len(vocab), embed_dim=32, num_layers=2, num_heads=4, num_kv_heads=2, hidden_dim=88,
            positions="rotary", norm="rms", activation="silu", gated=True,
            feed_forward_bias=False, embedding_scale=False, dropout_p=0.0,
        )
    )  # fmt: skip
    stored = load_file(FOLDER / "stories.safetensors")
    model.load_state_dict({name: stored[f"model.{name}"] for name in model.state_dict()})
    return model.eval(), vocab


def finish_story(*, caption: str = "") -> Playable:
    """Show the beginning of a story, and the chances of the next word by the model of stories.

    The model, its weights rounded, is part of the output. The reader clicks a next word, takes
    the likeliest one or draws one, and may let the model finish.

    >>> finish_story()
    A story to finish: a drawing to play with.
    """
    return playable(
        "story-finisher", "A story to finish", caption=caption, beginnings=list(BEGINNINGS),
        written=0, shown=SHOWN, longest=MOST_WORDS, end=END_SIGN, **_model(),
    )  # fmt: skip


def writing_clock(*, caption: str = "") -> Playable:
    """Let the reader time the model of stories while it writes, with a cache and without.

    Before that, the drawing shows how many words either way has to read.

    >>> writing_clock()
    Writing with a cache and without: a drawing to play with.
    """
    return playable(
        "writing-clock", "Writing with a cache and without", caption=caption,
        count=MOST_WORDS, **_model(),
    )  # fmt: skip


def _model() -> dict[str, Any]:
    """Return the model for a script: its words, its shape, and its weights, rounded."""
    from bookkit.playables.weights import quantize

    model, vocab = story_model()
    config = model.config

    def packed(weight: Tensor) -> dict[str, Any]:
        if weight.ndim < 2:
            return _floats(weight)
        levels, scale = quantize(weight, LEVELS)
        letters = "".join(chr(ord("P") + level) for level in levels.flatten().tolist())
        return {"shape": list(weight.shape), "letters": letters, "scale": _floats(scale)}

    return {
        "words": list(vocab.tokens),
        "shape": {"layers": config.num_layers, "heads": config.num_heads,
                  "groups": config.num_kv_heads, "base": config.rotary_base,
                  "eps": config.norm_eps},
        "weights": {name: packed(weight) for name, weight in model.state_dict().items()},
    }  # fmt: skip


def _floats(tensor: Tensor) -> dict[str, Any]:
    stored = base64.b64encode(tensor.numpy().tobytes()).decode("ascii")
    return {"shape": list(tensor.shape), "bits": "float32", "base64": stored}
