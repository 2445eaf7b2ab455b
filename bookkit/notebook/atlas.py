"""What the atlas says in lists and tables: how each row compares, and what is missing."""

from collections.abc import Sequence
from decimal import Decimal
from html import escape
from itertools import groupby

from bookkit.atlas.rows import SAME, Atlas, AtlasRow, load_atlas


class AtlasList:
    """Lines as a table; a notebook cell that ends with it shows them.

    Attributes:
        name: the class of the table, without the book's prefix.
        head: what its columns are called.
        lines: of words, one for each column.
    """

    def __init__(self, name: str, head: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> None:
        self.name, self.head, self.lines = name, head, lines

    def __repr__(self) -> str:
        return "\n".join("  ".join(line) for line in (self.head, *self.lines))

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(words)}</th>' for words in self.head)
        body = "".join(
            f'<tr><th scope="row">{escape(first)}</th>'
            + "".join(f"<td>{escape(words)}</td>" for words in others)
            + "</tr>"
            for first, *others in self.lines
        )
        return (
            f'<table class="table am-{self.name}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )


def parity_table(atlas: Atlas | None = None) -> AtlasList:
    """Return how every architecture compares with its reference.

    >>> parity_table().head[0]
    'Architecture'
    """
    atlas = load_atlas() if atlas is None else atlas
    head = (
        "Architecture", "Layers checked", "Largest logit", "Ours − reference", "Leak",
        "Cached − whole", "Bytes",
    )  # fmt: skip
    return AtlasList("parity", head, [_parity(row) for row in atlas.rows])


def _parity(row: AtlasRow) -> tuple[str, ...]:
    gave = row.parity
    alike = gave.bytes == gave.reference_bytes
    return (
        f"{row.name} ({row.model_type})",
        row.checked,
        f"{gave.size:g}",
        _small(gave.difference),
        _small(gave.leak),
        _small(gave.cached),
        f"{gave.bytes:,}" if alike else f"{gave.bytes:,}; reference {gave.reference_bytes:,}",
    )


def _small(number: float) -> str:
    """Write a difference that was rounded up to one digit.

    >>> _small(5e-06), _small(0.0), _small(0.2)
    ('0.000005', '0', '0.2')
    """
    return f"{Decimal(repr(number)).normalize():f}"


def disagreements(atlas: Atlas | None = None) -> AtlasList:
    """Return the architectures whose reference differs from itself, and by how much.

    >>> disagreements().head
    ('Architecture', 'Reference, cached − whole', 'Reference, leak')
    """
    atlas = load_atlas() if atlas is None else atlas
    lines = [
        (row.name, _small(row.parity.reference_cached), _small(row.parity.reference_leak))
        for row in atlas.rows
        if max(row.parity.reference_cached, row.parity.reference_leak) > SAME
    ]
    head = ("Architecture", "Reference, cached − whole", "Reference, leak")
    return AtlasList("disagree", head, lines or [("none", "", "")])


def missing_list(atlas: Atlas | None = None) -> AtlasList:
    """Return the library's architectures that are no rows, with the reason where we know it.

    A name comes once: what is known of one of the kinds that share it is said of all.

    >>> missing_list().head
    ('Architecture', 'Why it is missing')
    """
    atlas = load_atlas() if atlas is None else atlas
    kinds = {
        name: list(members) for name, members in groupby(atlas.missing, key=lambda one: one.name)
    }
    said = {name: " ".join(filter(None, (one.reason for one in kinds[name]))) for name in kinds}
    lines = [
        (f"{name} ({', '.join(one.model_type for one in kinds[name])})", reason)
        for name, reason in said.items()
        if reason
    ]
    others = ", ".join(name for name, reason in said.items() if not reason)
    head = ("Architecture", "Why it is missing")
    return AtlasList("missing", head, [*lines, ("not looked at", others)])
