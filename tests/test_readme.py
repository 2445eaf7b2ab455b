"""The examples of README.md print what README.md says.

`test_wheel.py` runs the first one where NumPy alone is installed; this file also runs those that
need PyTorch and the language model.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

from companion.models.smollm import wheel_file

README = Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(
    r"^```python\n(.*?)^```\n.*?^```text\n(.*?)^```$",
    README.read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)


def test_examples_print_what_the_readme_says() -> None:
    assert len(EXAMPLES) == 3
    for program, expected in EXAMPLES:
        if "smollm" in program and wheel_file() is None:
            pytest.skip("no model: see test_smollm.py")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, {})
        assert printed.getvalue() == expected
