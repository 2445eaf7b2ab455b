"""nbval's tolerance: last digits of a playable pass, and nothing else does."""

import base64
import json
from collections.abc import Sequence

import numpy as np

from tests.book.close import close


def packed(values: Sequence[float]) -> dict[str, object]:
    stored = base64.b64encode(np.array(values, "<f4").tobytes()).decode()
    return {"shape": [len(values)], "bits": "float32", "base64": stored}


def figure(*, before: str = "", **data: object) -> str:
    payload = json.dumps({"width": 4, "words": ["a1", "b"]} | data, separators=(",", ":"))
    return (
        f'<p>{before}</p><figure class="am-play" data-play="tiles">'
        f'<script type="application/json">{payload}</script>'
        "<figcaption>drawn 3 times</figcaption></figure>"
    )


def test_last_digits_of_a_playable_pass_and_nothing_else_does() -> None:
    for first, second in (
        (figure(heights=[0.25, 1e-9]), figure(heights=[0.25000003, 3e-9])),
        (figure(heights=[-1234.5]), figure(heights=[-1234.6])),
        (figure(weights=packed([0.5, 0.25])), figure(weights=packed([0.5000001, 0.25]))),
    ):
        assert close(first, second)
    for first, second in (
        (figure(heights=[0.25]), figure(heights=[0.26])),
        (figure(heights=[0.25]), figure(heights=[-0.25])),
        (figure(heights=[0.25]), figure(heights=[0.25, 0.25])),
        (figure(weights=packed([0.5, 0.25])), figure(weights=packed([0.5, 0.26]))),
        (figure(weights=packed([0.5, 0.25])), figure(weights=packed([0.5]))),
        (figure(words=["a1"]), figure(words=["a2"])),
        (figure(before="30.0001 words"), figure(before="30.0002 words")),
        (figure(), figure() + figure()),
    ):
        assert not close(first, second), (first, second)
