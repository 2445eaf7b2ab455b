"""The reading map: the parts of the book as lines with stops, as HTML that follows the page."""

import posixpath
from collections.abc import Iterable
from html import escape

from bookkit.contents import PARTS, Part, Stop, stops

# Inside :where() nothing outweighs the page's own style; without one, these colours speak.
_STYLE = """
.am-map{--line:var(--am-petrol,#2f8593);--soft:var(--am-muted,currentColor);line-height:1.4}
.am-map :is(ol,li,p){margin:0;padding:0;list-style:none}
.am-map .am-map-part{margin-bottom:1.1rem}
.am-map-name{font-weight:700;font-size:1.125em}
.am-map :is(.am-map-about,.am-map-asks,.am-map-time,.am-map-key){font-weight:400;\
font-size:.9375rem;color:var(--soft)}
.am-map .am-map-line{margin:.3rem 0 0 .5rem;border-left:3px solid var(--line)}
.am-map .am-map-stop{position:relative;display:grid;grid-template-columns:15.5rem 1fr max-content;\
gap:0 1rem;align-items:baseline;padding:.15rem 0 .15rem 1.35rem}
.am-map-stop::before{content:"";position:absolute;left:-.6rem;top:.3rem;box-sizing:border-box;\
width:1.05rem;height:1.05rem;border:3px solid var(--line);border-radius:50%;\
background:var(--am-paper,Canvas)}
.am-map-core::before{background:var(--line)}
.am-map-title{min-height:24px;font-weight:700;font-size:.9375rem}
.am-map-first{padding:0 .35em;border:1px solid var(--am-mark,#a87b0a);border-radius:2px;\
white-space:nowrap;font-size:.875rem}
.am-map-more{margin:.3rem 0 0 1.85rem!important}
.am-map-more a{display:inline-block;margin-right:1em}
.am-map-unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.am-map .am-map-key{margin-top:.6rem}
.am-map-key .am-map-stop{display:inline-block;padding:0 1rem 0 1.5rem}
.am-map-key .am-map-stop::before{left:0;top:.1rem}
@media (max-width:48rem){.am-map .am-map-line .am-map-stop{grid-template-columns:1fr max-content;\
padding-bottom:.5rem}.am-map-asks{grid-row:2;grid-column:1/-1}}
""".strip().replace("\n", "")


class ReadingMap:
    """The pages of the book as a map, for a page of the first part.

    Every part is a line, and every page a stop, which is filled on the core path. Pages for looking
    things up share a line. Links lead to the files of the pages, so that they work in JupyterLab;
    the build of the book turns them into links to the built pages, and counts the minutes anew.

    >>> ReadingMap()
    A map of the pages.
    """

    def __repr__(self) -> str:
        return "A map of the pages."

    def _repr_html_(self) -> str:
        return (
            f'<nav class="am-map" aria-label="Reading map"><style>{_STYLE}</style>'
            f"<ol>{''.join(map(_part, PARTS))}</ol>{_key()}</nav>"
        )


def _part(part: Part) -> str:
    rows = "".join(_row(stop) for stop in part.stops if stop.question)
    more = " ".join(_link(stop) for stop in part.stops if not stop.question)
    return (
        f'<li class="am-map-part"><p class="am-map-name">{escape(part.name)} '
        f'<span class="am-map-about">{escape(part.about)}</span></p>'
        f'<ol class="am-map-line">{rows}</ol>'
        + f'<p class="am-map-more">{more}</p>' * bool(more)
        + "</li>"
    )


def _row(stop: Stop) -> str:
    first = ' <span class="am-map-first">first hour</span>' * stop.first
    core = '<span class="am-map-unseen"> (core path)</span>' * stop.core
    time = f"{stop.minutes} min" if stop.minutes else ""
    return (
        f'<li class="am-map-stop{" am-map-core" * stop.core}">'
        f"<span>{_link(stop)}{first}{core}</span> "
        f'<span class="am-map-asks">{escape(stop.question)}</span> '
        f'<span class="am-map-time">{time}</span></li>'
    )


def _link(stop: Stop) -> str:
    address = posixpath.relpath(stop.page, "start")
    return f'<a class="am-map-title" href="{escape(address)}">{escape(stop.title)}</a>'


def _key() -> str:
    core, first = (_in_all(s for s in stops() if s.core), _in_all(s for s in stops() if s.first))
    return (
        f'<p class="am-map-key"><span class="am-map-stop am-map-core">core path, {core}</span>'
        f'<span class="am-map-stop">detours; with them {_in_all(stops())}</span>'
        f'<span class="am-map-first">first hour</span> {first} and a few exercises</p>'
    )


def _in_all(pages: Iterable[Stop]) -> str:
    minutes = sum(stop.minutes or 0 for stop in pages)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
