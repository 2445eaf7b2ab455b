"""Live outputs: drawings that a reader can touch, as one piece of HTML.

The contract, which every live output keeps:

- **Static first.** Python makes the whole drawing (SVG or a table) in its first state; it is read
  without scripts, printed, and converted. The script only adds controls and redraws. Neither paper
  nor a reader without a script has the controls: `state` tells there what they are set to, and
  the script keeps it true (`stateOf` in `live.js`).
- **Self-contained.** The HTML holds its drawing, its data as JSON, its style and its script.
  Nothing is fetched, no kernel is asked, nothing becomes global, nothing is evaluated from a
  string: no `eval`, no `on...=` and no `style=` attributes (a script sets styles as properties).
  One output alone, the translator, fetches something: its weights, from the site itself, after a
  click on a button that says how large they are.
- **Two files of a name.** The style is `live.css` and then `<name>.css`, the script one function
  around `live.js` and then `<name>.js`. A script that computes more than it draws may be divided:
  `parts` names the files that come between. All lie beside this module. In a script, a comment has
  lines of its own, and a template string ends on the line on which it begins.
- **Several on one page.** `<name>.js` ends with `upgrade("<name>", start)`. That calls
  `start(root)` once for every `[data-am-live="<name>"]` in the document that has not been upgraded
  yet, and `root` gets `data-am-on`. So it works in the built book, in JupyterLab's outputs and in
  exported pages. `start` looks for its parts inside of `root` alone. No part has an id: labels
  enclose their inputs, and `aria-label` names the rest.
- **Numbers.** `pack` stores an array with all its bits (`float32` or `float64`), `unpack` in
  `live.js` reads it. What is shown is rounded; the exact value stands in `data-am-value` on the
  element that shows it, where the tests in the browser read it.
- **Deterministic.** The same arguments give the same bytes.
- **Access.** Every control works by mouse, touch and keyboard and is at least 24 pixels high and
  wide. `announcer` speaks politely, on release and not while a slider moves. Colours are those of
  `live.css` (`--am-live-ink`, `-muted`, `-petrol`, `-gold`, `-mark`, `-wine`, `-paper`, `-wash`,
  `-hair`): in the book they are the page's, elsewhere they follow the system. Class names begin
  with `am-`. Motion only inside `@media (prefers-reduced-motion: no-preference)`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Literal

import numpy as np

Bits = Literal["float32", "float64"]

_SHARED = "live"
_COMMENT = re.compile(r"^\s*(?:/\*.*?\*/|//[^\n]*)\s*?$", re.DOTALL | re.MULTILINE)
_LITTLE_ENDIAN: dict[Bits, str] = {"float32": "<f4", "float64": "<f8"}


@dataclass(frozen=True, repr=False)
class LiveOutput:
    """A drawing that a reader can touch; a notebook cell that ends with it shows it.

    Attributes:
        name: which style and script it has: the files `<name>.css` and `<name>.js`.
        drawing: complete HTML (SVG or a table) that shows the first state without a script.
        data: what the script reads: JSON, arrays by `pack`.
        label: what this is, in a few words, for screen readers.
        alt: what the drawing shows, in words; the plain text of the output.
        caption: the words below it, as text; none by default.
        state: what the drawing shows at first, in a line above it that is seen where controls are
            not; none by default.
        parts: scripts without a style, which the script of this name builds on.

    Raises:
        ValueError: there is no style or script of this name, a text is empty, or `data` is no JSON.
    """

    name: str
    drawing: str
    data: Mapping[str, Any]
    label: str
    alt: str
    caption: str = ""
    state: str = ""
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what could not be shown."""
        for text in ("drawing", "label", "alt"):
            if not getattr(self, text).strip():
                raise ValueError(f"{text}: got {getattr(self, text)!r}, wanted words")
        if self.name not in _names():
            wanted = ", ".join(sorted(_names()))
            raise ValueError(f"name: got {self.name!r}, wanted one of {wanted}")
        self._payload()

    def __repr__(self) -> str:
        return f"{self.label}. {self.alt}"

    def _repr_html_(self) -> str:
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        state = f'<p class="am-live-state">{escape(self.state)}</p>' if self.state else ""
        return (
            f'<figure class="am-live am-{self.name}" data-am-live="{self.name}"'
            f' aria-label="{escape(self.label)}"><style>{_style(self.name)}</style>'
            f'{state}<div class="am-live-drawing">{self.drawing}</div>'
            f'<script type="application/json">{self._payload()}</script>{caption}</figure>'
            f"<script>{_script(*self.parts, self.name)}</script>"
        )

    def _payload(self) -> str:
        try:
            said = json.dumps(self.data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise ValueError(f"data: {error}; wanted JSON, arrays by pack") from None
        return said.replace("<", r"\u003c")  # or a token "</script>" would end it


def pack(values: Any, bits: Bits = "float32") -> dict[str, Any]:
    """Store an array with all its bits, for `unpack` in the browser.

    Args:
        values: numbers of any shape.
        bits: how they are stored; float32 keeps a weight to 6e-8.

    >>> pack([[0.5, 0.25]])
    {'shape': [1, 2], 'bits': 'float32', 'base64': 'AAAAPwAAgD4='}
    """
    array = np.asarray(values, dtype=_LITTLE_ENDIAN[bits])
    said = base64.b64encode(array.tobytes()).decode("ascii")
    return {"shape": list(array.shape), "bits": bits, "base64": said}


def style_of(name: str) -> str:
    """Return the style of a live output, for a drawing that has no script.

    >>> ".am-live {" in style_of("atlas")
    True
    """
    return _style(name)


@cache
def _names() -> frozenset[str]:
    beside = {path.name for path in files(__package__).iterdir()}
    stems = {name.removesuffix(".js") for name in beside if name.endswith(".js")} - {_SHARED}
    return frozenset(stem for stem in stems if f"{stem}.css" in beside)


def _read(name: str, kind: str) -> str:
    """Read a file beside this module, without comments, indentation and blank lines."""
    said = files(__package__).joinpath(f"{name}.{kind}").read_text(encoding="utf8")
    lines = (line.strip() for line in _COMMENT.sub("", said).splitlines())
    return "\n".join(line for line in lines if line)


@cache
def _style(name: str) -> str:
    return f"{_read(_SHARED, 'css')}\n{_read(name, 'css')}"


@cache
def _script(*names: str) -> str:
    parts = "\n".join(_read(name, "js") for name in (_SHARED, *names))
    return f'(() => {{\n"use strict";\n{parts}\n}})();'
