"""What the atlas says of each architecture: a few whole sentences, no amount typed by hand."""

import re
from collections.abc import Iterator
from string import Formatter

from bookkit.atlas.rows import load_atlas
from bookkit.atlas.unusual import sentences, unusual

MOST_SENTENCES, FEWEST_WORDS, MOST_WORDS = 3, 8, 75
# Names of models, of versions and of parts may have digits; amounts come from the specification.
NAMES = re.compile(r"\b[A-Z][\w.]*(?:[ -][A-Z]?\d[\w.]*)?")


def warnings() -> Iterator[str]:
    """Yield what is odd about what is said of an architecture."""
    for row in load_atlas().rows:
        said = unusual(row)
        parts = re.split(r"(?<=[.?!]) (?=[A-Z])", said)
        if len(parts) > MOST_SENTENCES:
            yield f"atlas: {row.model_type}: {len(parts)} sentences, at most {MOST_SENTENCES}"
        if not all(one[0].isupper() and one.endswith(".") for one in parts):
            yield f"atlas: {row.model_type}: not in whole sentences: {said}"
        if not FEWEST_WORDS <= len(said.split()) <= MOST_WORDS:
            yield f"atlas: {row.model_type}: {len(said.split())} words"
        plain = "".join(part for part, *_ in Formatter().parse(sentences()[row.model_type]))
        if re.search(r"\d", NAMES.sub("", plain)):
            yield f"atlas: {row.model_type}: an amount is typed: {plain}"
