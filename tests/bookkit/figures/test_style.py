import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import font_manager
from matplotlib import pyplot as plt

import bookkit
from bookkit import figures as plot

FIGURE = """
import matplotlib; matplotlib.use("agg")
from matplotlib import pyplot as plt
from bookkit.figures import *
use_style()
fig, (left, right) = plt.subplots(1, 2)
mesh = attention_map(left, [[0.1, 0.9], [0.7, 0.3]], rows=["sí", "→"], columns=["a", "b"])
gold_links(left, {(0, 1)}, {(1, 0), (1, 1)})
weight_key(fig, left, mesh, sure=True, possible=True)
label_ends(right, [band(right, [1, 2], [3, 4], [[2, 4], [3, 5]], label="additive")])
"""


@pytest.fixture(autouse=True)
def style() -> Iterator[None]:
    with mpl.rc_context():
        plot.use_style()
        yield
        plt.close("all")


def test_the_face_comes_from_the_package() -> None:
    faces: list[dict[str, Any]] = [{"weight": 400}, {"weight": 700}, {"style": "italic"}]
    for face, file in zip(faces, ("400-normal", "700-normal", "400-italic"), strict=True):
        wanted = font_manager.FontProperties(family="Atkinson Hyperlegible Next", **face)
        found = Path(font_manager.findfont(wanted, fallback_to_default=False))
        assert found == Path(bookkit.__file__).parent / f"fonts/ahn-{file}.ttf"


@pytest.mark.filterwarnings("error")
def test_no_sign_of_the_book_is_missing_in_the_fonts() -> None:
    fig, ax = plt.subplots()
    ax.set_title("¿Está el niño aquí? × − → ≤ ␣ √ α ½")
    ax.set_xlabel(r"length $n \leq 10$, $\ell$, $\sqrt{d}$, $10^{-3}$")
    fig.savefig(os.devnull, format="svg")


def test_the_same_figure_has_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    contents = []
    for seed in ("1", "2"):
        file = tmp_path / f"{seed}.svg"
        save = f"fig.savefig({str(file)!r}, metadata=SVG_METADATA)"
        command = [sys.executable, "-c", FIGURE + save]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
        contents.append(file.read_bytes())
    assert contents[0] == contents[1]
    assert b"<dc:date>" not in contents[0]
