"""Families without attention, and hybrids inside models that also read pictures."""

from __future__ import annotations

from companion.models.atlas.families import hybrid
from companion.models.atlas.families.family import (
    Family,
    Names,
    field_inside,
    within,
)
from companion.models.atlas.families.mamba import mamba_names
from companion.models.atlas.families.shared import (
    TEXT,
    model_of,
    norm_of,
)
from companion.models.atlas.mixers.mamba2 import Mamba2Spec
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options


def _mamba2(options: Options) -> ModelSpec:
    norm = norm_of(options, eps="layer_norm_epsilon")
    mamba = Mamba2Spec(
        options["num_heads"], options["head_dim"], options["n_groups"], options["state_size"],
        options["conv_kernel"], options.flag("use_conv_bias", True),
        options.flag("use_bias", False), norm_eps=options["layer_norm_epsilon"],
    )  # fmt: skip
    layers = [LayerSpec(mamba, None, norm)] * options["num_hidden_layers"]
    return model_of(options, layers, norm=norm)


_MAMBA2: Names = {
    **TEXT,
    **mamba_names("mixer"),
    "embedding": "model.embeddings",
    "norm": "model.norm_f",
    "layers.*.mixer_norm": "model.layers.*.norm",
}


def _beside_pictures(family: Family) -> Family:
    """Return the family of a text model whose fields and weights lie inside a larger one's."""
    prefix = "model.language_model."
    return Family(
        field_inside("text_config", family.read),
        within(prefix, family.names),
        ignored=("model.visual.*", "mtp.*"),
        mixers={
            kind: within(prefix, names)
            for kind, names in family.mixers.items()
        },
    )


FAMILIES = {
    "mamba2": Family(_mamba2, within("backbone.", _MAMBA2)),
    "qwen3_5": _beside_pictures(hybrid.FAMILIES["qwen3_5_text"]),
    "qwen3_5_moe": _beside_pictures(hybrid.FAMILIES["qwen3_5_moe_text"]),
}
