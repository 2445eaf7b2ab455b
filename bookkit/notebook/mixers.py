"""The code of the mixers that the atlas draws: each kind once, folded."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pkgutil import resolve_name
from typing import Any

from bookkit.atlas.kinds import mixers_of, spoken
from bookkit.atlas.rows import Atlas, load_atlas
from bookkit.notebook.source import Source, show_source
from companion.models.atlas.model import MIXERS

_RECURRENCE = (
    "companion.linear.recurrent_linear_attention",
    "companion.models.atlas.mixers.recurrent.RecurrentMixer.forward",
)

DEFINITIONS: Mapping[str, tuple[str, ...]] = {
    "AttentionSpec": (
        "companion.attention.scaled_dot_product_attention",
        "companion.attention.masked_scores",
        "companion.attention.softmax",
    ),
    "DifferentialSpec": ("companion.differential.differential_attention",),
    "GatedDeltaSpec": _RECURRENCE,
    "KimiDeltaSpec": _RECURRENCE,
    "LatentSpec": (
        "companion.latent.latent_attention",
        "companion.latent._unfold",
        "companion.latent.absorbed_latent_attention",
        "companion.indexed.indexer_scores",
        "companion.indexed.top_keys",
    ),
    "LightningSpec": ("companion.linear.recurrent_linear_attention",),
    "Mamba2Spec": _RECURRENCE,
    "ShortConvSpec": ("companion.convolution.short_convolution",),
}
"""By kind of specification, the functions that define what its layer computes."""


@dataclass(frozen=True, repr=False)
class MixerCode:
    """The code of several kinds of mixers; a cell that ends with it shows each folded."""

    sources: Mapping[str, Source]

    def __repr__(self) -> str:
        return "\n\n".join(f"{name}\n{source!r}" for name, source in self.sources.items())

    def _repr_html_(self) -> str:
        return "".join(
            f'<details class="hide am-mixer"><summary>{escape(name)}</summary>'
            f"{source._repr_html_()}</details>"
            for name, source in self.sources.items()
        )


def mixer_code(atlas: Atlas | None = None) -> MixerCode:
    """Return the code of every kind of mixer that an architecture of the atlas has.

    First the function that reads like the formula, where it is not repeated from a kind before;
    then what the layer does around it.

    >>> list(mixer_code().sources)[0]
    'Attention: AttentionSpec'
    """
    atlas = load_atlas() if atlas is None else atlas
    mixers = [one for row in atlas.rows for layer in row.spec.layers for one in mixers_of(layer)]
    shown: set[str] = set()
    sources: dict[str, Source] = {}
    for kind, mixer in {type(mixer): mixer for mixer in mixers}.items():
        names = [name for name in DEFINITIONS.get(kind.__name__, ()) if name not in shown]
        shown.update(names)
        title = f"{spoken(mixer).capitalize()}: {kind.__name__}"
        layer: Any = MIXERS[kind]
        sources[title] = show_source(
            *map(resolve_name, names), getattr(layer, "mix", layer.forward)
        )
    return MixerCode(sources)
