"""What carries over from the book's small models to a real one: a table, made from records."""

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import yaml

from bookkit.records.reading import load_result

_NUMBER = re.compile(r"\{(\w+)/([^{}:]+):([^{}]+)\}")
_COLUMNS = ("Question", "In our small models", "In SmolLM2", "Carries over?")


@cache
def questions() -> list[Mapping[str, Any]]:
    """Return the rows of `experiments/carries.yaml`, with numbers still to be filled in.

    In "toy" and "real", `{study/name:format}` is the mean of a claim or of a measure, without its
    sign. "claims" are those that the answers rest on, with the verdicts they must have.
    """
    text = (files("experiments") / "carries.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load(text))


def filled_in(text: str) -> str:
    """Return a text with the numbers of the records.

    >>> filled_in("It loses {bottleneck/attention_gain:.0f} points.")
    'It loses 66 points.'
    """

    def number(found: re.Match[str]) -> str:
        study, name, form = found.groups()
        record = load_result(study)
        one = record.claims[name] if name in record.claims else record[name]
        return format(abs(one.mean), form)

    return _NUMBER.sub(number, text)


def carries_over() -> str:
    """Return the table as HTML; its links are relative to a page in a folder below this one."""
    head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    rows = "".join(f"<tr>{_cells(one)}</tr>" for one in questions())
    return f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _cells(one: Mapping[str, Any]) -> str:
    said = [escape(filled_in(one[name])) for name in ("question", "toy", "real")]
    address = f"../{one['where'].replace('.ipynb', '.html')}"
    said.append(f'<a href="{address}">{escape(one["carries"])}</a>')
    return "".join(f"<td>{cell}</td>" for cell in said)
