"""Decoder-only models of 2024 to 2026, each of them a pattern of layers that is written down.

A `ModelSpec` says what a model is made of: for every layer how tokens are mixed, what computes at
each position, and where the norms stand. `DecoderModel` builds it. `read_config` makes the
specification from the config.json of Hugging Face's library, and `read_weights` takes weights over
by their names, so that a model here can be held against the library's.
"""

from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.families import FAMILIES, read_config, read_weights
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.mixers.differential import DifferentialSpec
from companion.models.atlas.mixers.latent import LatentSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.model import DecoderModel
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.rotation import RotarySpec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.atlas.token_input import TokenInputSpec

__all__ = [
    "FAMILIES", "AttentionSpec", "DecoderModel", "DifferentialSpec", "ExpertsSpec",
    "FeedForwardSpec", "LatentSpec", "LayerSpec", "ModelSpec", "NormSpec", "RotarySpec",
    "TokenInputSpec", "read_config", "read_weights",
]  # fmt: skip
