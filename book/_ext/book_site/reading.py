"""The role `reading`: a page with its title and its minutes, as the reading map counts them."""

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from bookkit.contents import stops


class ReadingRole(SphinxRole):
    """A link to a page, named as in the role `doc`, and its minutes, where they are counted."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        minutes = {f"/{one.page.rpartition('.')[0]}": one.minutes for one in stops()}
        link = addnodes.pending_xref(
            "", nodes.inline(self.text, self.text), refdomain="std", reftype="doc",
            reftarget=self.text, refexplicit=False, refwarn=True, refdoc=self.env.docname,
        )  # fmt: skip
        counted = minutes.get(self.text)
        return [link, nodes.Text(f" ({counted} min)" if counted else "")], []


def setup(app: Sphinx) -> None:
    app.add_role("reading", ReadingRole())
