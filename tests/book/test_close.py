"""nbval's tolerance: last digits of a playable pass, and nothing else does."""

import base64
import json
from collections.abc import Sequence

import numpy as np
import pytest

from tests.book.close import close


def packed(values: Sequence[float]) -> dict[str, object]:
    stored = base64.b64encode(np.array(values, "<f4").tobytes()).decode()
    return {"shape": [len(values)], "bits": "float32", "base64": stored}


def figure(*, before: str = "", caption: str = "drawn 3 times", **data: object) -> str:
    payload = json.dumps({"width": 4, "words": ["a1", "b"]} | data, separators=(",", ":"))
    return (
        f'<p>{before}</p><figure class="am-play" data-play="tiles">'
        f'<script type="application/json">{payload}</script>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (figure(heights=[0.25, 1e-9]), figure(heights=[0.25000003, 3e-9])),
        (figure(heights=[-1234.5]), figure(heights=[-1234.6])),
        (figure(weights=packed([0.5, 0.25])), figure(weights=packed([0.5000001, 0.25]))),
        (figure(), figure()),
    ],
)
def test_last_digits_pass(first: str, second: str) -> None:
    assert close(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (figure(heights=[0.25]), figure(heights=[0.26])),
        (figure(heights=[0.25]), figure(heights=[-0.25])),
        (figure(heights=[0.25]), figure(heights=[0.25, 0.25])),
        (figure(weights=packed([0.5, 0.25])), figure(weights=packed([0.5, 0.26]))),
        (figure(weights=packed([0.5, 0.25])), figure(weights=packed([0.5]))),
        (figure(words=["a1"]), figure(words=["a2"])),
        (figure(width=4), figure(width=5)),
        (figure(before="30.0001 words"), figure(before="30.0002 words")),
        (figure(), figure() + figure()),
    ],
)
def test_nothing_else_passes(first: str, second: str) -> None:
    assert not close(first, second)
