"""A story to finish: a small language model in the page says what may come next."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookkit.playables.playable import Playable, playable

if TYPE_CHECKING:
    from torch import Tensor

MODEL = Path(__file__).with_name("static") / "stories" / "model.safetensors"
"""The model's weights, eight bits each; `experiments.tools.page_language_model` trains it."""

SHOWN = 6
"""How many of the likeliest next words are shown."""

MOST_WORDS = 60
"""Words at which a story is cut; the longest of the grammar's has 58."""

END_SIGN = "(end)"
"""How the end of a story is written in the list of next words."""

BEGINNINGS = (
    "a young queen works in the city . she finds a new house . her brother waits for her . "
    "she works in the",
    "a young queen works in the city . she finds a new house . her brother waits for her . she",
    "an old man slept in the garden . he bought a red apple . his sister looked at",
    "a king runs in the city . he sees a black dog . his sister listens to the black dog . she",
    "a strong girl sang in the house . she looked for a",
    "a",
)


def finish_story(
    beginnings: Sequence[str] = BEGINNINGS, *, written: int = 0, caption: str = ""
) -> Playable:
    """Show the beginning of a story, and the chances of the next word by a small model.

    The model, a `LanguageModel` of two blocks in eight bits a weight, is part of the output. The
    reader clicks a next word, takes the likeliest one or draws one, and may let the model finish.

    Args:
        beginnings: words with a space between them, all known to the model; the first is shown.
        written: how many of the likeliest words the model has added at first.

    >>> finish_story(["a king sings"])
    A story to finish: a drawing to play with.
    """
    if isinstance(beginnings, str):
        raise TypeError(f"beginnings: got the string {beginnings!r}, wanted a sequence of them")
    from bookkit.playables.weights import load_language_model

    known = list(load_language_model(MODEL)[1].tokens)
    for beginning in beginnings:
        unknown = [word for word in beginning.split() if word not in known]
        if unknown or not beginning.split():
            raise ValueError(f"beginnings: got {beginning!r}, wanted words that the model knows")
    if not beginnings:
        raise ValueError("beginnings: got none, wanted at least one")
    return playable(
        "story-finisher",
        "A story to finish",
        caption=caption,
        words=known,
        beginnings=list(beginnings),
        written=written,
        shown=SHOWN,
        longest=MOST_WORDS,
        end=END_SIGN,
        **_model(),
    )


def _model() -> dict[str, Any]:
    """Return the stored weights, and what a script has to know of the model's shape."""
    from bookkit.playables.weights import SCALE, read_about, read_stored

    stored, config = read_stored(MODEL), read_about(MODEL)["config"]
    names = [name for name in stored if not name.endswith(SCALE)]
    return {
        "shape": {
            "layers": config["num_layers"],
            "heads": config["num_heads"],
            "groups": config["num_kv_heads"],
            "base": config["rotary_base"],
            "eps": config["norm_eps"],
        },
        "weights": {name: _packed(stored[name], stored.get(name + SCALE)) for name in names},
    }


def _packed(weight: Tensor, scale: Tensor | None) -> Any:
    """Pack a matrix of eight bits with the scales of its rows, and a vector as it is."""
    if scale is None:
        return _numbers(weight, "float32")
    return _numbers(weight, "int8") | {"scale": _numbers(scale, "float32")}


def _numbers(tensor: Tensor, bits: str) -> dict[str, Any]:
    stored = base64.b64encode(tensor.numpy().tobytes()).decode("ascii")
    return {"shape": list(tensor.shape), "bits": bits, "base64": stored}
