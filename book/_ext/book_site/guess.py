"""The directive `guess`: a question with buttons, answered on the click."""

import re
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

_OPTION = re.compile(r"-\s+(?P<right>\*\s+)?(?P<words>\S.*)")


class Option(nodes.General, nodes.TextElement):  # type: ignore[misc]  # docutils is untyped
    """A button; `right` says whether it is the answer."""


class Answer(nodes.General, nodes.Element):  # type: ignore[misc]  # docutils is untyped
    """The answer: a click opens it, and without scripts a reader unfolds it."""


class Guess(SphinxDirective):
    """A question, then a list with a star before the right option, then "---" and the answer."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        lines = list(self.content)
        if "---" not in lines:
            raise self.error('guess: no line "---", wanted one between the options and the answer')
        end = lines.index("---")
        found = [_OPTION.fullmatch(line.strip()) for line in lines[:end] if line.strip()]
        options = [match for match in found if match]
        right = sum(bool(match["right"]) for match in options)
        if len(options) < max(2, len(found)) or right != 1:
            raise self.error(
                f"guess: got {len(found)} lines of options and {right} with a star, wanted at "
                'least two as "- words", one of them as "- * words"'
            )
        asked = nodes.paragraph("", "", nodes.strong("", "Guess first. "), classes=["guess-asked"])
        asked += self._inline(self.arguments[0])
        listed = nodes.bullet_list("", classes=["guess-options"])
        for match in options:
            button = Option("", "", *self._inline(match["words"]), right=bool(match["right"]))
            listed += nodes.list_item("", button)
        answer = Answer("")
        self.state.nested_parse(self.content[end + 1 :], self.content_offset + end + 1, answer)
        return [nodes.container("", asked, listed, answer, classes=["guess"])]

    def _inline(self, words: str) -> list[nodes.Node]:
        parsed = nodes.Element()
        self.state.nested_parse(StringList([words], "guess"), self.content_offset, parsed)
        return list(parsed.children[0].children)


def visit_option(translator: HTML5Translator, node: Option) -> None:
    right = " data-right" if node["right"] else ""
    translator.body.append(f'<button type="button" class="guess-option"{right}>')


def visit_answer(translator: HTML5Translator, _node: Answer) -> None:
    translator.body.append(
        '<p class="guess-said" role="status"></p>'
        '<details class="guess-answer"><summary>The answer</summary>\n'
    )


def setup(app: Sphinx) -> None:
    app.add_directive("guess", Guess)
    app.add_js_file("guess.js")
    for node, visit, end in ((Option, visit_option, "button"), (Answer, visit_answer, "details")):
        app.add_node(node, html=(visit, _close(end)))


def _close(tag: str) -> Any:
    return lambda translator, _node: translator.body.append(f"</{tag}>\n")
