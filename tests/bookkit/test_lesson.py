import subprocess
import sys

import matplotlib as mpl
import pytest

from bookkit import figures as plot
from bookkit.exercises import align
from bookkit.lesson import begin


def test_one_call_sets_the_style_and_finds_the_exercises() -> None:
    mpl.rcdefaults()
    lesson = begin("align")
    assert mpl.rcParams["image.cmap"] == "am_depth"
    assert lesson.exercises is align
    assert lesson.plot is plot


def test_a_page_may_have_no_exercises() -> None:
    assert begin().exercises is None
    with pytest.raises(ModuleNotFoundError, match="no_such_page"):
        begin("no_such_page")


def test_a_lesson_opens_without_torch() -> None:
    begun = "from bookkit.lesson import begin\nbegin()\n"
    code = f"import sys\n{begun}print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
