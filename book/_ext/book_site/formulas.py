"""Set formulas as MathML while the pages are written: no script, no CDN.

A math renderer of Sphinx's own kind, so numbers, labels and references stay Sphinx's. Temml, a
JavaScript library, does the setting: one Node.js process serves the whole build, a line a formula.
"""

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from book_site.node import find_node

EXTENSIONS = Path(__file__).parents[1]
MODULES = EXTENSIONS / "node_modules"

_CLOSING = ",.;:!?)]’”%-–"
_SHORT = 40
_logger = logging.getLogger(__name__)
_NUMBERED = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather|multline)\}")


class FormulaError(ValueError):
    """A formula that Temml does not understand."""


class Temml:
    r"""A running Temml, with macros as {"R": r"\mathbb{R}"}."""

    def __init__(self, macros: dict[str, str] | None = None) -> None:
        if not (MODULES / "temml").is_dir():
            raise ExtensionError("Temml is not installed: npm ci --prefix book/_ext")
        named = {f"\\{name}": body for name, body in (macros or {}).items()}
        command = [find_node(), EXTENSIONS / "temml.mjs", json.dumps(named)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asked, self._answers = self._process.stdin, self._process.stdout
        self._known: dict[tuple[str, bool], str] = {}

    def render(self, tex: str, *, display: bool = False) -> str:
        if (tex, display) not in self._known:
            starred = _NUMBERED.sub(r"\\\1{\2*}", tex)  # numbers are Sphinx's
            self._known[tex, display] = self._ask({"tex": starred, "display": display})
        return self._known[tex, display]

    def _ask(self, formula: dict[str, Any]) -> str:
        self._asked.write(json.dumps(formula) + "\n")
        self._asked.flush()
        answer = json.loads(self._answers.readline() or '{"error": "Temml has stopped"}')
        if "error" in answer:
            raise FormulaError(" ".join(answer["error"].split()))
        return str(answer["mathml"])

    def close(self) -> None:
        self._asked.close()
        self._process.wait()


def display_tex(text: str) -> str:
    """Join the lines of a displayed formula as Sphinx does: a blank line starts a new one."""
    parts = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    if len(parts) <= 1:
        return "".join(parts)
    return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    mathml = _mathml(translator, node, node.astext(), display=False)
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate"))
    translator.body.append(mathml + "</span>")
    raise nodes.SkipNode


class PunctuationBeside(SphinxPostTransform):
    """Keep the punctuation after a formula on its line."""

    default_priority = 210
    formats = ("html",)

    def run(self, **_options: object) -> None:
        for formula in list(self.document.findall(nodes.math)):
            after = formula.next_node(descend=False, siblings=True)
            short = len(formula.astext()) < _SHORT  # or it may not fit a line of a phone
            if short and isinstance(after, nodes.Text) and after[:1] in _CLOSING:
                rest = after.lstrip(_CLOSING)
                kept = nodes.Text(after[: len(after) - len(rest)])
                parent, place = formula.parent, formula.parent.index(formula)
                parent[place : place + 2] = [
                    nodes.inline("", "", formula, kept, classes=["nobr"]),
                    nodes.Text(rest),
                ]


def visit_math_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    tex = node.astext() if node["nowrap"] else display_tex(node.astext())
    mathml = _mathml(translator, node, tex, display=True)
    number = get_node_equation_number(translator, node) if node["number"] else None
    unnamed = "amsmath" in node["classes"]
    if unnamed:
        node["ids"] = []  # random: nothing can refer to it, and no two builds would be the same
    write = translator.body.append
    write(translator.starttag(node, "div", "", CLASS="math notranslate"))
    if number is not None:  # the theme sets it at the right
        write(f'<span class="eqno">({number})')
        if not unnamed:
            translator.add_permalink_ref(node, "Link to this equation")
        write("</span>")
    write(f'<div class="formula">{mathml}</div></div>\n')
    raise nodes.SkipNode


def _mathml(translator: HTML5Translator, node: nodes.Element, tex: str, *, display: bool) -> str:
    temml: Temml = translator.builder.app.book_temml  # type: ignore[attr-defined]
    try:
        return temml.render(tex, display=display)
    except FormulaError as error:
        _logger.warning("formula %r: %s", tex, error, location=node, type="formula")
        return f'<code class="formula-error">{html.escape(tex)}</code>'


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("temml", (visit_math, None), (visit_math_block, None))
    app.add_post_transform(PunctuationBeside)
    app.add_config_value("book_macros", {}, "html", types=(dict,))
    app.connect("builder-inited", _start)
    app.connect("build-finished", _stop)


def _start(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.book_temml = Temml(app.config.book_macros)  # type: ignore[attr-defined]


def _stop(app: Sphinx, _error: Exception | None) -> None:
    temml: Temml | None = getattr(app, "book_temml", None)
    if temml is not None:
        temml.close()
