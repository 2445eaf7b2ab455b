"""The published models that make the history of the lesson, each with its specification."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bookkit.atlas.published import table
from bookkit.atlas.rows import load_atlas
from companion.models.atlas import ModelSpec
from companion.models.pattern import pattern_of
from companion.models.transformer import TransformerConfig


@dataclass(frozen=True)
class Model:
    """A model of the lesson."""

    name: str
    date: str  # of publication
    weights: str  # how many it has, as its makers say
    context: int  # tokens of the longest text that its configuration allows
    paper: str  # its title
    url: str  # of the paper
    file: str  # the model's repository on the Hugging Face Hub
    words: tuple[str, ...]  # what people call its parts
    spec: ModelSpec  # made of its published configuration
    learned: bool = False  # positions are vectors added to the words, which no specification has


@cache
def history() -> Mapping[str, Model]:
    """Return the models, from the oldest to the newest, by model_type.

    >>> [model.name for model in history().values()][:2]
    ['GPT-2', 'Mistral 7B']
    """
    return {kind: _model(kind, **entry) for kind, entry in table("history").items()}


def _model(
    model_type: str, *, words: list[str], config: Mapping[str, int] | None = None, **said: Any
) -> Model:
    if config is not None:
        return Model(words=tuple(words), spec=_gpt2(**config), learned=True, **said)
    row = load_atlas().row(model_type)
    kept: dict[str, Any] = {"name": row.published.model, "file": row.published.file}
    return Model(words=tuple(words), spec=row.spec, **kept, **said)


def _gpt2(vocab_size: int, n_embd: int, n_head: int, n_layer: int) -> ModelSpec:
    return pattern_of(
        TransformerConfig(
            vocab_size, embed_dim=n_embd, num_heads=n_head, num_layers=n_layer, positions="none",
            activation="gelu_tanh", attention_bias=True, embedding_scale=False,
        )
    )  # fmt: skip
