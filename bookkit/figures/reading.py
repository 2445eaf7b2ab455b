"""The reading map: the parts of the book as lines with stops, as HTML that follows the page."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bookkit.contents import PARTS, Part, Stop, stops

# Inside :where() nothing outweighs the page's own style; without one, these colours speak.
_STYLE = """
.am-map{--line:var(--am-petrol,#2f8593);--soft:var(--am-muted,currentColor);line-height:1.4}
.am-map :is(ol,li,p){margin:0;padding:0;list-style:none}
.am-map-part{margin-bottom:1.1rem}
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
.am-map-title{min-height:24px;font-weight:700}
.am-map-first{padding:0 .35em;border:1px solid var(--am-mark,#a87b0a);border-radius:2px;\
white-space:nowrap;font-size:.875rem}
.am-map-more{margin:.3rem 0 0 1.85rem!important}
.am-map-more a{margin-right:1.2em;white-space:nowrap}
.am-map-unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.am-map .am-map-key{margin-top:.6rem}
.am-map-key .am-map-stop{display:inline-block;padding:0 1rem 0 1.5rem}
.am-map-key .am-map-stop::before{left:0;top:.1rem}
@media (max-width:48rem){.am-map .am-map-line .am-map-stop{grid-template-columns:1fr max-content;\
padding-bottom:.5rem}.am-map-asks{grid-row:2;grid-column:1/-1}}
""".strip().replace("\n", "")


@dataclass(frozen=True, repr=False)
class ReadingMap:
    """The parts of a book as lines on which every page is a stop."""

    parts: tuple[Part, ...]  # what it shows
    here: str  # the page on which it stands, below `book/`

    def __repr__(self) -> str:
        return "\n".join(
            f"{part.name}: {', '.join(stop.title for stop in part.stops)}." for part in self.parts
        )

    def _repr_html_(self) -> str:
        parts = "".join(map(self._part, self.parts))
        return (
            f'<nav class="am-map" aria-label="Reading map"><style>{_STYLE}</style>'
            f"<ol>{parts}</ol>{self._key()}</nav>"
        )

    def _part(self, part: Part) -> str:
        stops = "".join(self._stop(stop) for stop in part.stops if stop.question)
        more = "".join(self._link(stop) for stop in part.stops if not stop.question)
        return (
            f'<li class="am-map-part"><p class="am-map-name">{escape(part.name)} '
            f'<span class="am-map-about">{escape(part.about)}</span></p>'
            f'<ol class="am-map-line">{stops}</ol>'
            + (f'<p class="am-map-more">{more}</p>' if more else "")
            + "</li>"
        )

    def _stop(self, stop: Stop) -> str:
        first = ' <span class="am-map-first">first hour</span>' if stop.first else ""
        core = '<span class="am-map-unseen">core path</span>' if stop.core else ""
        time = f"{stop.minutes} min" if stop.minutes else ""
        return (
            f'<li class="am-map-stop{" am-map-core" if stop.core else ""}">'
            f"<span>{self._link(stop)}{first}{core}</span> "
            f'<span class="am-map-asks">{escape(stop.question)}</span> '
            f'<span class="am-map-time">{time}</span></li>'
        )

    def _key(self) -> str:
        pages = list(stops(self.parts))
        first, core = [s for s in pages if s.first], [s for s in pages if s.core]
        return (
            '<p class="am-map-key"><span class="am-map-stop am-map-core">core path: '
            f'{_in_all(core)}</span><span class="am-map-stop">detours; with them {_in_all(pages)}'
            f'</span><span class="am-map-first">first hour</span> {_in_all(first)}</p>'
        )

    def _link(self, stop: Stop) -> str:
        address, title = self._address(stop.page), escape(stop.title)
        return f'<a class="am-map-title" href="{address}">{title}</a>'

    def _address(self, page: str) -> str:
        return escape(posixpath.relpath(page, posixpath.dirname(self.here)))


def _in_all(pages: Sequence[Stop]) -> str:
    minutes = sum(stop.minutes or 0 for stop in pages)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def reading_map(parts: Sequence[Part] = PARTS, *, here: str = "start/start.ipynb") -> ReadingMap:
    """Draw the pages of the book as a map: a line for every part, a stop for every page.

    Filled stops belong to the core path. Pages for looking things up share a line. The links lead
    to the files of the pages, so that they work in JupyterLab; the build of the book turns them
    into links to the built pages, and counts the minutes anew.

    Args:
        parts: what is shown, in its order.
        here: the page on which the map stands, from which links are relative.

    >>> stop = Stop("history/a.ipynb", "The bottleneck", "Why?", core=True)
    >>> reading_map([Part("History", "How it began.", (stop,))])
    History: The bottleneck.
    """
    pages = [stop.page for part in parts for stop in part.stops]
    twice = sorted({page for page in pages if pages.count(page) > 1})
    if twice:
        raise ValueError(f"parts: got {', '.join(twice)} twice, wanted every page once")
    return ReadingMap(tuple(parts), here)
