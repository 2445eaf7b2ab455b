"""A story to finish: a small language model in the page says what may come next."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bookkit.playables._numbers import precise
from bookkit.playables.output import LiveOutput, pack

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
) -> LiveOutput:
    """Show the beginning of a story, and the chances of the next word by a small model.

    The model, a `LanguageModel` of two blocks in eight bits a weight, is part of the output. The
    reader clicks a next word, takes the likeliest one or draws one, and may let the model finish.

    Args:
        beginnings: words with a space between them, all known to the model; the first is shown.
        written: how many of the likeliest words the model has added at first.
        caption: the words below.

    Raises:
        TypeError: `beginnings` is a string.
        ValueError: there is no beginning, an empty one, or a word that the model does not know.

    >>> finish_story(["a king sings"])
    A story to finish. a king sings: the model expects in (1.00).
    """
    if isinstance(beginnings, str):
        raise TypeError(f"beginnings: got the string {beginnings!r}, wanted a sequence of them")
    known = _vocabulary()
    for beginning in beginnings:
        unknown = [word for word in beginning.split() if word not in known]
        if unknown or not beginning.split():
            raise ValueError(f"beginnings: got {beginning!r}, wanted words that the model knows")
    if not beginnings:
        raise ValueError("beginnings: got none, wanted at least one")
    given = beginnings[0].split()
    added: list[str] = []
    for _ in range(written):
        added.append(_likeliest([*given, *added])[0][0])
    likeliest = _likeliest([*given, *added])
    words = " ".join([*given, *added])
    found = f"{words}: the model expects {likeliest[0][0]} ({likeliest[0][1]:.2f})."
    return LiveOutput(
        "story-finisher",
        drawing=_story(given, added) + _list(likeliest),
        data={
            "words": known,
            "beginnings": list(beginnings),
            "written": written,
            "shown": SHOWN,
            "longest": MOST_WORDS,
            **_as_data(),
        },
        label="A story to finish",
        alt=found,
        caption=caption,
        state="The next words that the model expects, with their chances.",
        parts=("story-model",),
    )


def _story(given: Sequence[str], added: Sequence[str]) -> str:
    return (
        f'<p class="am-finisher-story"><span class="am-finisher-given">{escape(" ".join(given))}'
        f'</span> <span class="am-finisher-added">{escape(" ".join(added))}</span></p>'
    )


def _list(likeliest: Sequence[tuple[str, float]]) -> str:
    rows = "".join(_row(word, chance) for word, chance in likeliest[:SHOWN])
    return f'<ol class="am-finisher-next">{rows}</ol>'


def _row(word: str, chance: float) -> str:
    return (
        f'<li><span class="am-finisher-word">{escape(word)}</span>'
        '<svg class="am-finisher-bar" viewBox="0 0 100 10" preserveAspectRatio="none"'
        f' aria-hidden="true"><rect width="{100 * chance:.1f}" height="10"/></svg>'
        f'<span class="am-finisher-chance" data-am-value="{precise(chance)}">{chance:.2f}</span>'
        "</li>"
    )


# The model


@cache
def _model() -> Any:
    """Return the model, in float64, so that no processor rounds otherwise."""
    from bookkit.playables.weights import load_language_model

    return load_language_model(MODEL)[0].double()


@cache
def _vocabulary() -> list[str]:
    from bookkit.playables.weights import load_language_model

    return list(load_language_model(MODEL)[1].tokens)


def _likeliest(words: Sequence[str]) -> list[tuple[str, float]]:
    """Return all next words with their chances, the likeliest first."""
    import torch

    known = _vocabulary()
    ids = [known.index("<bos>"), *(known.index(word) for word in words)]
    with torch.no_grad():
        chances = _model()(torch.tensor([ids]))[0, -1].softmax(-1).tolist()
    ranked = sorted(range(len(known)), key=lambda number: -chances[number])
    return [(_shown(known[number]), chances[number]) for number in ranked]


def _shown(word: str) -> str:
    return END_SIGN if word == "<eos>" else word


def _as_data() -> dict[str, Any]:
    """Return the stored weights, and what a script has to know of the model's shape."""
    from bookkit.playables.weights import SCALE, read_about, read_stored

    stored, config = read_stored(MODEL), read_about(MODEL)["config"]
    names = [name for name in stored if not name.endswith(SCALE)]
    return {
        "end": END_SIGN,
        "shape": {
            "layers": config["num_layers"],
            "heads": config["num_heads"],
            "groups": config["num_kv_heads"],
            "base": config["rotary_base"],
            "eps": config["norm_eps"],
        },
        "weights": {name: _packed(stored[name], stored.get(name + SCALE)) for name in names},
    }


def _packed(weight: Tensor, scale: Tensor | None) -> dict[str, Any]:
    if scale is None:
        return pack(weight.numpy())
    levels = base64.b64encode(weight.numpy().tobytes()).decode("ascii")
    return {"shape": list(weight.shape), "base64": levels, "scale": pack(scale.numpy())}
