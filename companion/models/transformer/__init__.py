"""The Transformer: encoder, decoder, both, and the models that are made of one of them."""

from companion.models.transformer.bias import (
    AlibiBias,
    RelativeBias,
    ScoreBias,
)
from companion.models.transformer.blocks import (
    Block,
    PostNorm,
    PreNorm,
    Residual,
)
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.decoder import Decoder
from companion.models.transformer.embedding import Embedding, Output
from companion.models.transformer.encoder import Encoder
from companion.models.transformer.encoder_decoder import (
    AttentionWeights,
    Transformer,
)
from companion.models.transformer.language_model import LanguageModel
from companion.models.transformer.text_encoder import (
    MaskedLanguageModel,
    TextEncoder,
)
from companion.models.transformer.weights import load, save

__all__ = [
    "AlibiBias", "AttentionWeights", "Block", "Decoder", "Embedding", "Encoder", "LanguageModel",
    "MaskedLanguageModel", "Output", "PostNorm", "PreNorm", "RelativeBias", "Residual", "ScoreBias",
    "TextEncoder", "Transformer", "TransformerConfig", "load", "save",
]  # fmt: skip
