"""Two heads that copy: the reader changes a repeated text, and switches either head off."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.playables.playable import Playable, playable
from companion.contracts import contract
from companion.masks import causal_mask

if TYPE_CHECKING:
    from torch import Tensor

    from companion.models.transformer import LanguageModel

FILE = Path(__file__).parent / "copier.json"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH = 14
SHORTEST, LONGEST = 4, 7
BASE = 100.0
"""Of the rotary positions."""


class CopierView(NamedTuple):
    """What the two heads do with a text."""

    # (2, n, n) of the first head and of the second; 0 for a head that is off
    weights: NDArray[np.float64]
    probabilities: NDArray[np.float64]  # (n, 26) of the next letter, at every letter
    notes: NDArray[np.float64]  # (n, e) what the first layer adds at every letter


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


def packed() -> dict[str, Any]:
    """Return the copier's weights as its modules read them."""
    return {
        name: weight.get("values") or {**weight, "bits": "int8"}
        for name, weight in stored()["weights"].items()
    }


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
def copier_view(
    text: str,
    on: Sequence[bool] = (True, True),
    *,
    cut: Collection[tuple[int, int, int]] = (),
    notes: Mapping[int, Any] | None = None,
) -> CopierView:
    """Run the small copier on a text.

    Args:
        text: letters from a to z.
        on: whether the first head, and the second, is switched on; one that is off adds nothing.
        cut: looks that are forbidden, each as its layer, the place that looks, and the other place.
        notes: what the first layer adds instead, by place: vectors (e,).

    >>> seen = copier_view("cgkxpcgkxp")
    >>> LETTERS[seen.probabilities[8].argmax()], int(seen.weights[1, 8].argmax())
    ('p', 4)
    """
    import torch

    model = copier()
    x = model.embedding(torch.tensor([[LETTERS.index(letter) for letter in text]]))
    weights, added = [], []
    with torch.no_grad():
        for layer, block in enumerate(model.decoder.blocks):
            mask = causal_mask(len(text), like=x)
            for _, place, other in (one for one in cut if one[0] == layer):
                mask[place, other] = False
            found = block(x, attn_mask=mask, need_weights=True)
            given = {} if layer else notes or {}
            note = (found.x - x)[0]
            note[list(given)] = torch.tensor(np.array([*given.values()])).reshape(-1, x.shape[-1])
            weights.append(on[layer] * found.self_weights[0, 0].numpy())
            added.append(note.numpy())
            x = x + on[layer] * note
        assert model.decoder.norm is not None
        logits = model.output(model.decoder.norm(x), model.embedding.words)
    return CopierView(np.stack(weights), logits[0].softmax(-1).numpy(), added[0])


def heads_that_copy(block: str, *, caption: str = "") -> Playable:
    """Show where two trained heads look in a repeated text, and what they predict.

    The reader picks a letter, changes it, changes the length of the block, and switches heads off.

    Args:
        block: seven different letters; the text repeats the first of them.

    >>> heads_that_copy("kitchen")
    Two heads that copy: a drawing to play with.
    """
    if len(set(block)) != LONGEST or len(block) != LONGEST or not set(block) <= set(LETTERS):
        raise ValueError(f"block: got {block!r}, wanted {LONGEST} different letters from a to z")
    return playable(
        "copying-heads", "Two heads that copy", caption=caption,
        block=[LETTERS.index(letter) for letter in block], length=LONGEST, position=9,
        size=LENGTH, shortest=SHORTEST, longest=LONGEST, letters=LETTERS, base=BASE,
        weights=packed(),
    )  # fmt: skip
