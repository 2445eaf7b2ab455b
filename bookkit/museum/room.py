"""How an exhibit is shown: what the check says, the wrong lines beside the right ones, threads."""

from dataclasses import dataclass
from html import escape
from pathlib import Path

import yaml

from bookkit.museum import EXHIBITS, Exhibit
from bookkit.notebook.beside import Beside, beside

LINES: dict[str, dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("lines.yaml").read_text(encoding="utf-8")
)
"""The broken and the fixed lines of every exhibit."""


@dataclass(frozen=True, repr=False)
class Room:
    """An exhibit on its page, as HTML or as text."""

    exhibit: Exhibit

    @property
    def says(self) -> str:
        """What the check says of the broken variant."""
        return self.exhibit.verdict(self.exhibit.broken)

    @property
    def lines(self) -> Beside:
        """The broken lines beside the fixed ones."""
        lines = LINES[self.exhibit.name]
        return beside(
            lines["broken"], lines["fixed"], titles=("broken", "fixed")
        )

    def __repr__(self) -> str:
        return f"The check says: {self.says}\n\n{self.lines!r}"

    def _repr_html_(self) -> str:
        links = ", ".join(
            f'<a href="https://github.com/{thread}/issues/{number}">{thread} #{number}</a>'
            for thread, *numbers in (
                one.split(" #") for one in self.exhibit.threads
            )
            for number in numbers
        )
        return (
            f"<p>The check says: <i>{escape(self.says)}</i></p>{self.lines._repr_html_()}"
            f"<details><summary>Seen in</summary><p>{links}</p></details>"
        )


def room(name: str) -> Room:
    """Show an exhibit, of which the fixed variant passes the check.

    >>> room("the wrong axis")  # doctest: +ELLIPSIS
    The check says: ...
    """
    exhibit = EXHIBITS[name]
    if problem := exhibit.verdict(exhibit.sound):
        raise ValueError(f"{name}: the sound variant fails, {problem}")
    return Room(exhibit)
