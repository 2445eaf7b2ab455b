"""Google's Gemma: norms on both sides of every part, and gains that are stored less one."""

from __future__ import annotations

from companion.models.atlas.families.dense import model_of
from companion.models.atlas.families.family import Family
from companion.models.atlas.families.shared import (
    ATTENTION,
    BOTH_NORMS,
    TEXT,
    attention_of,
    feed_forward_names,
    feed_forward_of,
    kinds,
    norm_of,
)
from companion.models.atlas.specs import LayerSpec, ModelSpec
from companion.models.options import Options

_NAMES = {**TEXT, **ATTENTION, **BOTH_NORMS, **feed_forward_names()}


def _gemma2(options: Options, *, normed: bool = False) -> ModelSpec:
    norm = norm_of(options, gain="one_plus_weight")
    layers = [
        LayerSpec(
            attention_of(
                options, kind,
                scale=options["query_pre_attn_scalar"] ** -0.5,
                softcap=None if normed else options["attn_logit_softcapping"],
                qk_norm=norm if normed else None,
            ),
            feed_forward_of(options),
            pre_norm=norm,
            post_norm=norm,
        )
        for kind in kinds(options)
    ]  # fmt: skip
    return model_of(
        options, layers, norm=norm, tied=True,
        embedding_scale=options["hidden_size"] ** 0.5,
        logit_softcap=options["final_logit_softcapping"],
    )  # fmt: skip


def _gemma3(options: Options) -> ModelSpec:
    return _gemma2(options, normed=True)


FAMILIES = {
    "gemma2": Family(_gemma2, _NAMES),
    "gemma3_text": Family(_gemma3, _NAMES),
}
