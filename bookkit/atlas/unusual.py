"""What is unusual about each architecture, in a few sentences whose numbers come from its spec."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bookkit.atlas.kinds import kind_of, parts_of
from bookkit.atlas.rows import AtlasRow
from companion.models.atlas.specs import ModelSpec


def unusual(row: AtlasRow) -> str:
    """Return what is unusual about an architecture; nothing where nobody has written it.

    >>> from bookkit.atlas.rows import load_atlas
    >>> unusual(load_atlas().row("mistral")).partition(",")[0]
    'Every layer has a window of 4'
    """
    return sentences().get(row.model_type, "").format(**numbers_of(row.spec))


@cache
def sentences() -> dict[str, str]:
    """Return what `unusual.yaml` says, by model_type, with names in place of numbers."""
    text = Path(__file__).with_name("unusual.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def numbers_of(spec: ModelSpec) -> dict[str, Any]:
    """Return the numbers of a specification by their names.

    Those of parts of a layer are of the first layer that has them; `windows`, `full`, `states` and
    `still` count layers by what they reach and those without positions.
    """
    found: dict[str, Any] = {"layers": len(spec.layers)}
    for part in ("embed_dim", "logit_softcap", "embedding_scale", "logit_scale"):
        found[part] = getattr(spec, part)
    for layer in spec.layers:
        for whole in (layer.mixer, layer.feed_forward):
            for name, value in parts_of(whole) if whole is not None else ():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    found.setdefault(name, value)
        length_scale = getattr(layer.mixer, "length_scale", None)
        if length_scale is not None:
            found["length_step"] = length_scale[1]
        rotary = getattr(layer.mixer, "rotary", None)
        if rotary is not None:
            found.setdefault(f"base_{kind_of(layer).reach}", rotary.base)
            found.setdefault(f"rotary_{kind_of(layer).reach}", rotary.width)
    reaches = [kind_of(layer).reach for layer in spec.layers]
    names = {"windows": "window", "states": "state", "latents": "latent", "indexed": "indexed"}
    counts = {name: reaches.count(reach) for name, reach in names.items()}  # type: ignore[arg-type]
    still = sum("NoPE" in kind_of(layer).one for layer in spec.layers)
    shared = sum(layer.shares is not None for layer in spec.layers)
    return found | counts | {"full": reaches.count("full"), "still": still, "shared": shared}
