"""The directive `gloss`: a sentence of another language with the English word under each word.

Its lines are the sentence, one English word for each of its words (hyphens join several), and, if
wanted, the sentence in good English. A cell shows the same by `bookkit.notebook.gloss`.
"""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.notebook import gloss


class GlossDirective(SphinxDirective):
    """`gloss`: two lines, or three with a translation."""

    has_content = True
    option_spec: ClassVar = {"language": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        lines = [line for line in self.content if line.strip()]
        if len(lines) not in (2, 3):
            raise self.error(
                f"gloss: got {len(lines)} lines, wanted a sentence, a gloss for each of its words, "
                "and perhaps a translation"
            )
        try:
            shown = gloss(*lines, language=self.options.get("language", "es"))
        except ValueError as fault:
            raise self.error(str(fault)) from None
        return [nodes.raw("", shown.html(), format="html")]


def setup(app: Sphinx) -> None:
    app.add_directive("gloss", GlossDirective)
