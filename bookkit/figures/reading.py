"""The reading map: the parts of the book as lines with stops, as HTML that follows the page."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bookkit.contents import PARTS, Part, Stop

# Inside :where() nothing outweighs the page's own style; without one, these colours speak.
_STYLE = """
.am-map{--line:var(--am-petrol,#2f8593);--soft:var(--am-muted,currentColor);line-height:1.4}
.am-map :is(ol,li,p){margin:0;padding:0;list-style:none}
.am-map-parts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr));\
gap:1.5rem 2rem}
.am-map-name{font-weight:700;font-size:1.125em}
.am-map .am-map-about{margin-bottom:.7rem;color:var(--soft)}
.am-map .am-map-line{margin-left:.5rem;border-left:3px solid var(--line)}
.am-map .am-map-stop{position:relative;padding:0 0 1rem 1.35rem}
.am-map-stop::before{content:"";position:absolute;left:-.6rem;top:.2rem;box-sizing:border-box;\
width:1.05rem;height:1.05rem;border:3px solid var(--line);border-radius:50%;\
background:var(--am-paper,Canvas)}
.am-map-core::before{background:var(--line)}
.am-map-title{display:inline-block;min-height:24px;font-weight:700}
.am-map-time,.am-map-more{white-space:nowrap;font-size:.9375em;color:var(--soft)}
.am-map-first{padding:0 .35em;border:1px solid var(--am-mark,#a87b0a);border-radius:2px;\
white-space:nowrap;font-size:.875em}
.am-map-asks{display:block;font-size:.9375em;color:var(--soft)}
.am-map-unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.am-map-key{margin-top:1.2rem;font-size:.9375em;color:var(--soft)}
.am-map-key .am-map-stop{display:inline-block;padding:0 1rem 0 1.5rem}
.am-map-key .am-map-stop::before{left:0;top:.15rem}
""".strip().replace("\n", "")


@dataclass(frozen=True, repr=False)
class ReadingMap:
    """The parts of a book as lines on which every page is a stop."""

    parts: tuple[Part, ...]  # what it shows
    here: str  # the page on which it stands, below `book/`

    def __repr__(self) -> str:
        return "\n".join(
            f"{part.name}: {', '.join(map(_in_words, part.stops))}." for part in self.parts
        )

    def _repr_html_(self) -> str:
        parts = "".join(map(self._part, self.parts))
        return (
            f'<nav class="am-map" aria-label="Reading map"><style>{_STYLE}</style>'
            f'<ol class="am-map-parts">{parts}</ol>{_KEY}</nav>'
        )

    def _part(self, part: Part) -> str:
        stops = "".join(map(self._stop, part.stops))
        return (
            f'<li><p class="am-map-name">{escape(part.name)}</p>'
            f'<p class="am-map-about">{escape(part.about)}</p>'
            f'<ol class="am-map-line">{stops}</ol></li>'
        )

    def _stop(self, stop: Stop) -> str:
        parts = [
            f'<a class="am-map-title" href="{self._address(stop.page)}">{escape(stop.title)}</a>'
        ]
        if stop.minutes is not None:
            parts.append(f'<span class="am-map-time">{stop.minutes} min</span>')
        if stop.first:
            parts.append('<span class="am-map-first">first hour</span>')
        if stop.core:
            parts.append('<span class="am-map-unseen">core path</span>')
        parts.append(f'<span class="am-map-asks">{escape(stop.question)}</span>')
        if stop.evidence:
            link = f'<a href="{self._address(stop.evidence_page)}">how we measured it'
            parts.append(
                f'<span class="am-map-more">{link}'
                f'<span class="am-map-unseen">: {escape(stop.title)}</span></a></span>'
            )
        kind = "am-map-stop am-map-core" if stop.core else "am-map-stop"
        return f'<li class="{kind}">{" ".join(parts)}</li>'

    def _address(self, page: str) -> str:
        return escape(posixpath.relpath(page, posixpath.dirname(self.here)))


_KEY = (
    '<p class="am-map-key" aria-hidden="true">'
    '<span class="am-map-stop am-map-core">core path</span>'
    '<span class="am-map-stop">a detour</span>'
    '<span class="am-map-first">first hour</span> if you have one hour</p>'
)


def reading_map(parts: Sequence[Part] = PARTS, *, here: str = "start/start.ipynb") -> ReadingMap:
    """Draw the pages of the book as a map: a line for every part, a stop for every page.

    Filled stops belong to the core path. The links lead to the files of the pages, so that they
    work in JupyterLab; the build of the book turns them into links to the built pages.

    Args:
        parts: what is shown, in its order.
        here: the page on which the map stands, from which links are relative.

    >>> stop = Stop("history/a.ipynb", "The bottleneck", "Why?", minutes=12, core=True)
    >>> reading_map([Part("History", "How it began.", (stop,))])
    History: The bottleneck (12 min, core).
    """
    pages = [stop.page for part in parts for stop in part.stops]
    twice = sorted({page for page in pages if pages.count(page) > 1})
    if twice:
        raise ValueError(f"parts: got {', '.join(twice)} twice, wanted every page once")
    return ReadingMap(tuple(parts), here)


def _in_words(stop: Stop) -> str:
    facts = [f"{stop.minutes} min"] if stop.minutes is not None else []
    facts += ["core"] if stop.core else []
    return f"{stop.title} ({', '.join(facts)})" if facts else stop.title
