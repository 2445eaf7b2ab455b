"""Folded code comes after what it draws: a page shows the figure, and then how it was made."""

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class CodeBelow(SphinxPostTransform):
    """Move the code that myst-nb has just folded to the end of its cell."""

    default_priority = 200
    formats = ("html",)

    def run(self, **_options: object) -> None:
        for code in list(self.document.findall(HideCodeCellNode)):
            cell = code.parent
            if "above-input" in code["classes"] and isinstance(cell, nodes.Element) and cell[1:]:
                cell.remove(code)
                cell.append(code)


def setup(app: Sphinx) -> None:
    app.add_post_transform(CodeBelow)
