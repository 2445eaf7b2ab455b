"""Two heads that copy: the reader changes a repeated text, and switches either head off."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.playables._numbers import precise
from bookkit.playables.output import LiveOutput
from companion.contracts import contract

if TYPE_CHECKING:
    from torch import Tensor

    from companion.models.transformer import LanguageModel

FILE = Path(__file__).parent / "copier.json"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH = 14
SHORTEST, LONGEST = 4, 7
BASE = 100.0
"""Of the rotary positions."""
HEADS = ("first head", "second head")


class CopierView(NamedTuple):
    """What the two heads do with a text.

    Attributes:
        weights: (2, n, n) of the first head and of the second; 0 for a head that is off.
        probabilities: (n, 26) of the next letter, at every letter.
    """

    weights: NDArray[np.float64]
    probabilities: NDArray[np.float64]


def restored(weight: Mapping[str, Any]) -> Tensor:
    """Return a stored weight of the copier.

    Args:
        weight: a matrix, as whole numbers of eight bits and a scale a row, or a vector.

    >>> restored({"shape": [1, 2], "base64": "fwA=", "scale": [0.01]})
    tensor([[1.2700, 0.0000]], dtype=torch.float64)
    """
    import torch

    if "values" in weight:
        return torch.tensor(weight["values"], dtype=torch.float64)
    levels = np.frombuffer(base64.b64decode(weight["base64"]), dtype=np.int8)
    scale = np.asarray(weight["scale"], dtype=np.float64)
    return torch.from_numpy(levels.reshape(weight["shape"]) * scale[:, None])


@cache
def stored() -> dict[str, Any]:
    """Return the copier's weights as they are stored, by name, and what is known about them."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf8"))
    return found


@cache
def copier() -> LanguageModel:
    """Return the small model that copies, in float64: two layers of one head each."""
    import torch

    from companion.models.transformer import LanguageModel, TransformerConfig

    weights = stored()["weights"]
    width = weights["decoder.norm.weight"]["values"]
    config = TransformerConfig(
        len(LETTERS), embed_dim=len(width), num_heads=1, num_layers=2, hidden_dim=1,
        positions="rotary", rotary_base=BASE, feed_forward_bias=False, embedding_scale=False,
        tied="none", dropout_p=0.0,
    )  # fmt: skip
    model = LanguageModel(config).double().eval()
    for name, parameter in model.named_parameters():
        if ".feed_forward." in name:
            torch.nn.init.zeros_(parameter)
    given = {name: restored(weight) for name, weight in weights.items()}
    model.load_state_dict({**model.state_dict(), **given})
    return model


@contract()
def copier_view(text: str, on: Sequence[bool] = (True, True)) -> CopierView:
    """Run the small copier on a text.

    Args:
        text: letters from a to z.
        on: whether the first head, and the second, is switched on; one that is off adds nothing.

    >>> seen = copier_view("cgkxpcgkxp")
    >>> LETTERS[seen.probabilities[8].argmax()], int(seen.weights[1, 8].argmax())
    ('p', 4)
    """
    import torch

    from companion.models.transformer import Block

    model = copier()
    tokens = torch.tensor([[LETTERS.index(letter) for letter in text]])
    with torch.no_grad(), ExitStack() as stack:
        for block, works in zip(model.decoder.blocks, on, strict=True):
            assert isinstance(block, Block)
            if not works:
                output = block.self_attention.output_proj
                handle = output.register_forward_hook(lambda *parts: 0 * parts[-1])
                stack.callback(handle.remove)
        logits, weights = model(tokens, need_weights=True)
    switch = np.asarray(on, dtype=np.float64)[:, None, None]
    looks = np.stack([layer[0, 0].numpy() for layer in weights]) * switch
    return CopierView(looks, logits[0].softmax(-1).numpy())


def repeated(block: str, length: int) -> str:
    """Return the first letters of a block, repeated to the length of the text.

    >>> repeated("cgkxpqa", 5)
    'cgkxpcgkxpcgkx'
    """
    return (block[:length] * LENGTH)[:LENGTH]


@contract(length=">= 4 and <= 7", position=">= 0 and < 14")
def heads_that_copy(
    block: str, *, length: int = 7, position: int = 9, caption: str = ""
) -> LiveOutput:
    """Show where two trained heads look in a repeated text, and what they predict.

    The reader picks a letter, changes it, changes the length of the block, and switches heads off.

    Args:
        block: seven different letters; the text repeats the first of them.
        length: how many of them are repeated at first.
        position: the letter that is picked at first.
        caption: the words below.

    Raises:
        ValueError: the block is none.

    >>> heads_that_copy("kitchen")
    Two heads that copy. Picked: letter 10, t. The first head gives 0.46 to the letter before. The \
second head looks most at c, letter 4. Predicted next: c. Of the 6 letters that the repetition \
decides, 6 are predicted.
    """
    if len(set(block)) != LONGEST or len(block) != LONGEST or not set(block) <= set(LETTERS):
        raise ValueError(f"block: got {block!r}, wanted {LONGEST} different letters from a to z")
    text = repeated(block, length)
    view = copier_view(text)
    said = _sentence(text, view, length, position)
    return LiveOutput(
        "copying-heads",
        drawing=_table(text, view, length, position),
        data={
            "block": [LETTERS.index(letter) for letter in block],
            "length": length, "position": position, "size": LENGTH,
            "shortest": SHORTEST, "longest": LONGEST, "letters": LETTERS, "base": BASE,
            "weights": stored()["weights"],
        },
        label="Two heads that copy",
        alt=said,
        caption=caption,
        state=said,
    )  # fmt: skip


def _sentence(text: str, view: CopierView, length: int, position: int) -> str:
    first, second = (weights[position] for weights in view.weights)
    guesses = _guesses(view)
    known = range(length, len(text) - 1)
    hits = sum(guesses[i] == text[i + 1] for i in known)
    before = f"{first[position - 1]:.2f}" if position else "nothing"
    return (
        f"Picked: letter {position + 1}, {text[position]}. The first head gives {before} to the"
        f" letter before. The second head looks most at {text[int(second.argmax())]}, letter"
        f" {int(second.argmax()) + 1}. Predicted next: {guesses[position]}. Of the {len(known)}"
        f" letters that the repetition decides, {hits} are predicted."
    )


def _guesses(view: CopierView) -> list[str]:
    return [LETTERS[i] for i in view.probabilities.argmax(-1).tolist()]


def _table(text: str, view: CopierView, length: int, position: int) -> str:
    rows = [
        _row("The text", "letter", [escape(letter) for letter in text]),
        *(
            _row(f"Where the {name} looks", "look", [_ink(weight) for weight in line[position]])
            for name, line in zip(HEADS, view.weights, strict=True)
        ),
        _row("What comes next, predicted at each letter", "guess", _marked(text, view, length)),
    ]
    return f'<table class="am-copying-table"><tbody>{"".join(rows)}</tbody></table>'


def _row(name: str, kind: str, cells: Sequence[str]) -> str:
    inner = "".join(f'<td class="am-copying-{kind}">{cell}</td>' for cell in cells)
    head = f'<th scope="rowgroup" colspan="{len(cells)}">{name}</th>'
    return f'<tr class="am-copying-name">{head}</tr><tr>{inner}</tr>'


def _ink(weight: float) -> str:
    return (
        f'<span class="am-copying-ink am-ink-{round(10 * weight)}"><span class="am-live-unseen"'
        f' data-am-value="{precise(weight)}">{weight:.2f}</span></span>'
    )


def _marked(text: str, view: CopierView, length: int) -> list[str]:
    cells = []
    for i, (guess, chances) in enumerate(zip(_guesses(view), view.probabilities, strict=True)):
        mark = ""
        if length <= i < len(text) - 1:
            mark = " am-copying-right" if guess == text[i + 1] else " am-copying-wrong"
        value = precise(float(chances.max()))
        cells.append(f'<span class="am-copying-said{mark}" data-am-value="{value}">{guess}</span>')
    return cells
