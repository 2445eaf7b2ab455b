"""Playables: drawings that a reader can touch, each one ES module that says and draws everything.

A page stores a figure with its data as JSON, and no script: editing a module never makes a notebook
run again. The build of the site runs the module in Node, which writes the first drawing into the
page, and ships it (`book_site.play`). In a live notebook the figure brings its module along, from
the package that is installed; `BOOKKIT_STORED=1`, which `make notebooks` sets, leaves it away.

`kit.js` says what a module consists of.
"""

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
KIT = "kit"
STORED = "BOOKKIT_STORED"
"""Set in the environment of a kernel whose outputs are kept: they hold no script."""

_SHARED = {
    "atlas": ("reach", "rows"), "atlas-models": ("reach", "atlas"), "register": ("rows",),
    "real-translator": ("sentence",), "translator": ("sentence",),
}  # fmt: skip
_DIGITS = 9  # more than are shown, and fewer than differ from processor to processor
_LONGEST_LIST = 512  # numbers; longer arrays are packed as float32
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|class) (\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?:/\*.*?\*/|//[^\n]*)\s*?$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, repr=False)
class Playable:
    """A drawing that a reader can touch; a notebook cell that ends with it shows it."""

    name: str  # of its module, `<name>.js` beside this file
    label: str  # what it is, in a few words
    caption: str  # the words below it; none by default
    data: Mapping[str, Any]  # what its module reads, as JSON

    def __post_init__(self) -> None:
        """Refuse what could not be shown."""
        if not (FOLDER / f"{self.name}.js").is_file():
            raise ValueError(f"name: got {self.name!r}, wanted that of a module in {FOLDER.name}")
        if not self.label.strip():
            raise ValueError(f"label: got {self.label!r}, wanted words")
        self.json()

    def json(self) -> str:
        """Return the data as a page holds it."""
        try:
            said = json.dumps(
                plain(self.data), ensure_ascii=False, allow_nan=False, separators=(",", ":")
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"data: {error}; wanted JSON or arrays") from None
        return said.replace("<", r"\u003c")  # or a word "</script>" would end it

    def __repr__(self) -> str:
        return f"{self.label}: a drawing to play with."

    def _repr_html_(self) -> str:
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        figure = (
            f'<figure class="am-play" data-play="{self.name}" aria-label="{escape(self.label)}">'
            f'<script type="application/json">{self.json()}</script>{caption}</figure>'
        )
        if os.environ.get(STORED):
            return figure
        script = f"{script_of(KIT)}\n{script_of(self.name)}"
        return f"{style_in_place(self.name)}{figure}<script>{script}</script>"


def playable(name: str, label: str, *, caption: str = "", **data: Any) -> Playable:
    """Return a playable: its module, a few words on what it is, a caption, and its data.

    >>> playable("shifted-map", "A map of attention to move", weights=[[1.0]])
    A map of attention to move: a drawing to play with.
    """
    return Playable(name, label, caption, data)


def fetched(path: Path, embedded: bool) -> dict[str, Any]:
    """Say where a page finds a file below `static`, how large it is, and which version is meant.

    Args:
        path: the file.
        embedded: give its bytes themselves, for an output around which there is no site.
    """
    content = path.read_bytes()
    if embedded:
        return {"base64": base64.b64encode(content).decode("ascii"), "bytes": len(content)}
    digest = hashlib.sha256(content).hexdigest()[:10]
    return {"address": f"{path.parent.name}/{path.name}?v={digest}", "bytes": len(content)}


def plain(value: Any) -> Any:
    """Turn arrays into lists of rounded numbers, and long ones into what `unpack` in kit.js reads.

    >>> plain({"x": np.array([1 / 3, 2.0]), "words": ("a", "b")})
    {'x': [0.333333333, 2.0], 'words': ['a', 'b']}
    """
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray) and value.size > _LONGEST_LIST and value.dtype.kind == "f":
        stored = base64.b64encode(value.astype("<f4").tobytes()).decode("ascii")
        return {"shape": list(value.shape), "bits": "float32", "base64": stored}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


@cache
def script_of(name: str) -> str:
    """Return a module as a classic script, with the modules that it imports but for the kit.

    A page that was opened from a folder may load a script, and no module. The script puts what the
    module exports into `amPlay`, one name for all, and lets the figures of its name live.
    """
    modules: dict[str, str] = {}

    def take(one: str) -> None:
        source = _COMMENT.sub("", (FOLDER / f"{one}.js").read_text(encoding="utf-8"))
        found = _IMPORT.findall(source)
        for _, other in found:
            if other != KIT and other not in modules:
                take(other)
        names = ", ".join(match[1] for match in _EXPORT.findall(source))
        uses = "".join(
            f'const {{{names.replace(" as ", ": ")}}} = amPlay["{other}"];\n'
            for names, other in found
        )
        body = _EXPORT.sub(r"\1 \2", _IMPORT.sub("", source))
        modules[one] = f'amPlay["{one}"] = (() => {{\n"use strict";\n{uses}{body}\n'
        modules[one] += f"return {{ {names} }};\n}})();"

    take(name)
    start = "" if name == KIT else f'\namPlay.kit.begin("{name}", amPlay["{name}"]);'
    text = "\n".join(["globalThis.amPlay ??= {};", *modules.values()]) + start
    return "\n".join(line for line in map(str.strip, text.splitlines()) if line)


@cache
def style_of(*names: str) -> str:
    """Return the style of the kit, and those of these playables that have one of their own."""
    shared = dict.fromkeys(one for name in names for one in _SHARED.get(name, ()))
    files = [FOLDER / f"{name}.css" for name in (KIT, *shared, *names)]
    texts = [_COMMENT.sub("", one.read_text(encoding="utf-8")) for one in files if one.is_file()]
    lines = (line.strip() for line in "\n".join(texts).splitlines())
    return "\n".join(line for line in lines if line)


def style_in_place(name: str) -> str:
    """Return the style that an output brings along; nothing for one that is kept."""
    return "" if os.environ.get(STORED) else f"<style>{style_of(name)}</style>"
