"""The founding notebook's own lines, which run here on PyTorch, and what mends them.

The book grew out of one notebook, whose only code cell was written for TensorFlow and never ran.
`notebook_cell` returns that cell. The functions and layers here hold lines of it word by word;
`tf` lends them the few names of TensorFlow that they use, so that they compute what they say.
"""

from bookkit.founding.attention import FoundingAttention, RepairedAttention
from bookkit.founding.cell import notebook_cell, notebook_lines
from bookkit.founding.fitting import Trainee, reads_the_answers, reads_what_came_before
from bookkit.founding.names import tf

__all__ = [
    "FoundingAttention", "RepairedAttention", "Trainee", "notebook_cell", "notebook_lines",
    "reads_the_answers", "reads_what_came_before", "tf",
]  # fmt: skip
