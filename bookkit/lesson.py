"""One call that opens a lesson: the book's figures, and at hand whatever its cells show."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import bookkit.figures as plot
import bookkit.notebook as notebook


@dataclass(frozen=True)
class Lesson:
    """What a lesson's cells use beside the functions that it teaches.

    Attributes:
        exercises: the exercises of the lesson; None where it has none.
        plot: the figures, `bookkit.figures`.
    """

    exercises: ModuleType | None
    plot: ModuleType = plot

    beside = staticmethod(notebook.beside)
    measured = staticmethod(notebook.measured)
    show_source = staticmethod(notebook.show_source)
    claims_table = staticmethod(notebook.claims_table)
    gloss = staticmethod(notebook.gloss)
    load_result = staticmethod(notebook.load_result)
    page_seed = staticmethod(notebook.page_seed)
    trained = staticmethod(notebook.trained)


def begin(name: str | None = None) -> Lesson:
    """Open a lesson: set the book's style for figures, and find its exercises.

    Args:
        name: of the module in `bookkit.exercises`; None for a page without exercises.

    Raises:
        ModuleNotFoundError: there is no such module.

    >>> lesson = begin("align")
    >>> lesson.exercises.check_additive([0.0, 0.20, 1.00], [0.20, 0.25, 0.55])
    Right.
    """
    plot.use_style()
    module = None if name is None else import_module(f"bookkit.exercises.{name}")
    return Lesson(module)
