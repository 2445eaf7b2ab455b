"""Links back from the bibliography: every entry names the pages that cite it, and leads there."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> None:
    app.connect("env-updated", _write_again)
    app.connect("doctree-resolved", _lead_back)


def _write_again(_: Sphinx, env: BuildEnvironment) -> set[str]:
    """Name the bibliography's pages: where a page cites may change while they do not."""
    cite: Any = env.get_domain("cite")
    return {bibliography.docname for bibliography in cite.bibliographies}


def _lead_back(app: Sphinx, doctree: nodes.document, page: str) -> None:
    entries = {name: entry for entry in doctree.findall(nodes.citation) for name in entry["ids"]}
    if not entries:
        return
    citing = first_citations(app.env)
    bibliography: Any = app.env.get_domain("cite")
    for citation in bibliography.citations:
        entry = entries.get(citation.citation_id)
        if entry is not None and citation.key in citing:
            entry += _line(app, page, citing[citation.key])


def first_citations(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    """Return for every key the anchor of its first citation on each page, as the book goes."""
    order = {page: number for number, page in enumerate(_in_order(env, env.config.root_doc))}
    citing: dict[str, dict[str, str]] = {}
    cite: Any = env.get_domain("cite")
    for reference in sorted(cite.citation_refs, key=lambda one: (order[one.docname], one.line)):
        for target in reference.targets:
            pages = citing.setdefault(target.key, {})
            pages.setdefault(reference.docname, reference.citation_ref_id)
    return citing


def _in_order(env: BuildEnvironment, page: str) -> list[str]:
    below = [one for child in env.toctree_includes.get(page, ()) for one in _in_order(env, child)]
    return [page, *below]


def _line(app: Sphinx, page: str, anchors: dict[str, str]) -> nodes.paragraph:
    line = nodes.paragraph("", "Cited in ", classes=["am-cited"])
    for number, (citing, anchor) in enumerate(anchors.items()):
        address = f"{app.builder.get_relative_uri(page, citing)}#{anchor}"
        title = app.env.titles[citing].astext()
        line += nodes.Text(", " if number else "")
        line += nodes.reference("", title, refuri=address, internal=True)
    return line
