"""Models that look at pictures: a captioner, and a Vision Transformer."""

from companion.models.vision.captioner import (
    Captioner,
    CaptionerConfig,
    CaptionState,
    CaptionStep,
    Choose,
    Looks,
    Seen,
)
from companion.models.vision.sampling import Reinforce, log_probability
from companion.models.vision.vit import Classified, VisionConfig, VisionTransformer, to_patches

__all__ = [
    "CaptionState",
    "CaptionStep",
    "Captioner",
    "CaptionerConfig",
    "Choose",
    "Classified",
    "Looks",
    "Reinforce",
    "Seen",
    "VisionConfig",
    "VisionTransformer",
    "log_probability",
    "to_patches",
]
