"""The pages of the book as the reading map shows them: parts, questions, minutes, the core path.

A test holds this table to `_toc.yml` and the minutes to the pages themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Stop:
    """A page on the map.

    Attributes:
        page: its file below `book/`.
        title: what the map calls it.
        question: what it is about, in a line.
        minutes: how long it takes to read up to its exercises; None for pages to look things up.
        core: whether it belongs to the core path.
        first: whether it is one of the pages for a reader who has one hour.
        evidence: the page below it that shows how its results were measured, if there is one.
    """

    page: str
    title: str
    question: str
    minutes: int | None = None
    core: bool = False
    first: bool = False
    evidence: str = ""


@dataclass(frozen=True)
class Part:
    """A part of the book.

    Attributes:
        name: its caption in `_toc.yml`.
        about: what it is about, in a line.
        stops: its pages, in their order.
    """

    name: str
    about: str
    stops: tuple[Stop, ...]


PARTS = (
    Part("Getting started", "What helps on the way.", (
        Stop("start/before.ipynb", "Before you start",
             "Vectors, softmax, gradients, a recurrent network: do you remember them?", 12),
        Stop("start/measure.ipynb", "How we measure",
             "What do seeds, intervals and verdicts mean, and which claims were tested?", 9),
        Stop("start/notation.md", "Notation and conventions", "Which letter means what?"),
        Stop("start/teaching.md", "For teachers",
             "A syllabus, assignments without published solutions, and how to cite."),
    )),
    Part("History", "How translators learned to look back.", (
        Stop("history/bottleneck.ipynb", "The bottleneck",
             "What is lost when one vector has to hold a whole sentence?", 12, True, True,
             "history/bottleneck_evidence.ipynb"),
        Stop("history/align.ipynb", "Learning to align",
             "How does a translator find the word that it needs?", 12, True, True,
             "history/align_evidence.ipynb"),
        Stop("history/choices.ipynb", "Choices: the scores of Luong",
             "What does each choice of an attention cost, and what does it buy?", 12, True,
             evidence="history/choices_evidence.ipynb"),
        Stop("history/timeline.ipynb", "From 2013 to today",
             "What did each step keep, and what did it change?", 12, True, False,
             "history/timeline_evidence.ipynb"),
    )),
    Part("Ideas", "What attention computes, and why.", (
        Stop("mathematics/lookup.ipynb", "Soft lookup",
             "What do query, key and value have to do with a dictionary?", 12, True,
             evidence="mathematics/lookup_evidence.ipynb"),
        Stop("mathematics/scores.ipynb", "Scores, and why the square root",
             "Why are dot products divided by √d?", 12, True,
             evidence="mathematics/scores_evidence.ipynb"),
        Stop("mathematics/self_attention.ipynb", "Self-attention",
             "What does a word see that looks at all others, and what does it miss?", 12, True,
             evidence="mathematics/self_attention_evidence.ipynb"),
        Stop("mathematics/heads.ipynb", "Many heads",
             "What can several heads do that one cannot?", 12, True,
             evidence="mathematics/heads_evidence.ipynb"),
        Stop("mathematics/masks.ipynb", "Masks",
             "Who may look at whom, and what if a mask lets the answer through?", 12, True,
             evidence="mathematics/masks_evidence.ipynb"),
        Stop("mathematics/position.ipynb", "Position",
             "How does attention know the order of words?", 12, True,
             evidence="mathematics/position_evidence.ipynb"),
        Stop("mathematics/floating_point.ipynb", "Softmax in floating point",
             "How does one line of mathematics go wrong without an error?", 12, True,
             evidence="mathematics/floating_point_evidence.ipynb"),
        Stop("mathematics/tiles.ipynb", "Blocks and tiles",
             "How can a softmax be exact if its scores come in blocks?", 12, True,
             evidence="mathematics/tiles_evidence.ipynb"),
        Stop("mathematics/gradients.ipynb", "Gradients by hand",
             "If the blend was wrong, which score is to blame?", 12, True,
             evidence="mathematics/gradients_evidence.ipynb"),
    )),
    Part("Implementation", "How it is built, and how builders go wrong.", (
        Stop("implementation/from_scratch.ipynb", "From scratch",
             "If one line of attention is wrong and no error says so, who notices?", 14, True,
             evidence="implementation/from_scratch_evidence.ipynb"),
        Stop("implementation/transformer.ipynb", "The Transformer",
             "What is a translator made of that reads all words at once?", 12, True,
             evidence="implementation/transformer_evidence.ipynb"),
        Stop("implementation/language_model.ipynb", "A language model",
             "How does a model write text, and how good can it get?", 12, True,
             evidence="implementation/language_model_evidence.ipynb"),
        Stop("implementation/decoding.ipynb", "Decoding",
             "How do probabilities become a sentence?", 14, True,
             evidence="implementation/decoding_evidence.ipynb"),
        Stop("implementation/cache.ipynb", "The cache",
             "Must a model read everything again for each word that it writes?", 12, True,
             evidence="implementation/cache_evidence.ipynb"),
        Stop("implementation/induction.ipynb", "Heads that copy",
             "How do two layers copy what came before?", 12, True,
             evidence="implementation/induction_evidence.ipynb"),
    )),
    Part("Applications", "What it is used for.", (
        Stop("applications/summarization.ipynb", "Summarization",
             "How can a model write a name that it has never read?", 17),
        Stop("applications/captioning.ipynb", "Captioning and vision",
             "Where does a model look while it describes a picture?", 23),
    )),
    Part("Trade-offs", "What it is worth.", (
        Stop("tradeoffs/buys.ipynb", "What attention buys",
             "Which of seven mechanisms translates best, and where do they lose?", 23),
        Stop("tradeoffs/explanation.ipynb", "Is attention explanation?",
             "Do the weights tell why a model answers as it does?", 28, True),
        Stop("tradeoffs/cost.ipynb", "What it costs",
             "How much time and memory does a longer text take?", 33, True),
        Stop("tradeoffs/cheaper.ipynb", "Exact and cheaper",
             "What can be saved, and what is forgotten then?", 27),
    )),
    Part("Today", "What attention has become.", (
        Stop("today/atlas.ipynb", "The atlas: attention today",
             "What do the models of today have beside plain attention?", 8, True,
             evidence="today/atlas_evidence.ipynb"),
    )),
    Part("Appendices", "For browsing and looking things up.", (
        Stop("appendices/founding.ipynb", "The founding notebook, corrected",
             "How do you find a bug that does not crash?", 20),
        Stop("appendices/museum.ipynb", "The bug museum",
             "Which mistakes raise no error, and what gives them away?", 69),
        Stop("appendices/api.md", "The package", "Every function, with an example."),
        Stop("appendices/solutions.md", "Solutions", "All exercises on one page."),
        Stop("appendices/glossary.md", "Glossary", "The words of the book."),
        Stop("appendices/symbols.md", "Index of symbols", "The letters of the book."),
        Stop("appendices/bibliography.md", "Bibliography", "The papers behind it."),
    )),
)  # fmt: skip
"""Every page of the book but the first, in the order of `_toc.yml`."""


def stops(parts: Iterable[Part] = PARTS) -> Iterator[Stop]:
    """Yield the pages of some parts.

    >>> [stop.page for stop in stops(PARTS[1:2])]
    ['history/bottleneck.ipynb', 'history/align.ipynb', 'history/choices.ipynb', \
'history/timeline.ipynb']
    """
    for part in parts:
        yield from part.stops


def page_titles() -> dict[str, str]:
    """Return what each page is called, evidence pages included, by its file below `book/`.

    >>> page_titles()["history/bottleneck_evidence.ipynb"]
    'The bottleneck: the evidence'
    """
    titles = {stop.page: stop.title for stop in stops()}
    evidence = {stop.evidence: f"{stop.title}: the evidence" for stop in stops() if stop.evidence}
    return titles | evidence


def reading_time(pages: Iterable[Stop]) -> int:
    """Return how many minutes some pages take to read.

    >>> reading_time([Stop("a.ipynb", "A", "?", 20), Stop("b.md", "B", "?")])
    20
    """
    return sum(page.minutes or 0 for page in pages)
