"""Models that look at pictures: a captioner, and a Vision Transformer."""

from companion.models.vision.captioner import (
    Captioner,
    CaptionerConfig,
    CaptionOutput,
    CaptionState,
    CaptionStep,
    Choose,
    Seen,
)
from companion.models.vision.sampling import Reinforce, log_probability
from companion.models.vision.vit import (
    Classified,
    VisionConfig,
    VisionTransformer,
    to_patches,
)

__all__ = [
    "CaptionOutput", "CaptionState", "CaptionStep", "Captioner", "CaptionerConfig", "Choose",
    "Classified", "Reinforce", "Seen", "VisionConfig", "VisionTransformer", "log_probability",
    "to_patches",
]  # fmt: skip
