"""The only code cell of the founding notebook, as it was written."""

from importlib.resources import files


def notebook_cell() -> str:
    """Return the only code cell of the founding notebook, which needs TensorFlow.

    >>> notebook_cell().splitlines()[0]
    'import tensorflow as tf'
    """
    path = files("bookkit.founding") / "notebook.txt"
    return path.read_text(encoding="utf-8")


def notebook_lines(first: str, last: str) -> str:
    r"""Return the lines of that cell from one that begins like this to one that begins like that.

    >>> notebook_lines("# Encoder", "encoder_inputs")
    '# Encoder\nencoder_inputs = layers.Input(shape=(max_len_input,))'
    """
    lines = notebook_cell().splitlines()
    start = _place(lines, first, 0)
    return "\n".join(lines[start : _place(lines, last, start) + 1])


def _place(lines: list[str], beginning: str, start: int) -> int:
    for number, line in enumerate(lines[start:], start=start):
        if line.lstrip().startswith(beginning):
            return number
    raise ValueError(f"got {beginning!r}, wanted the beginning of a line of the cell")
