"""What a playable draws from is compared with a tolerance: its last digits are the processor's.

A plugin for nbval: `-p tests.book.close`. Everything else is compared letter by letter.
"""

import base64
import re
from copy import deepcopy
from typing import Any

import numpy as np
from nbval.plugin import IPyNbCell

RELATIVE, ABSOLUTE = 1e-3, 1e-4

_PLAYABLE = re.compile(r'<figure class="am-(?:play|live)\b.*?</figure>', re.DOTALL)
_NUMBER = re.compile(
    r'"bits":"(?P<bits>float32|float64)","base64":"(?P<stored>[^"]*)"'
    r"|(?P<plain>(?<![\w.#])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]))"
)


def close(first: str, second: str) -> bool:
    """Tell whether two HTML outputs differ at most in the last digits of their playables."""
    if _PLAYABLE.sub("", first) != _PLAYABLE.sub("", second):
        return False
    ours, theirs = ("".join(_PLAYABLE.findall(html)) for html in (first, second))
    if _NUMBER.sub("", ours) != _NUMBER.sub("", theirs):
        return False
    pairs = zip(_NUMBER.finditer(ours), _NUMBER.finditer(theirs), strict=True)
    return all(
        mine.shape == other.shape
        and np.allclose(mine, other, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
        for mine, other in (map(_values, pair) for pair in pairs)
    )


def _values(found: re.Match[str]) -> Any:
    if found["plain"]:
        return np.float64(found["plain"])
    return np.frombuffer(
        base64.b64decode(found["stored"]), {"float32": "<f4", "float64": "<f8"}[found["bits"]]
    )


_exactly = IPyNbCell.compare_outputs


def _compare(cell: Any, test: Any, ref: Any, skip_compare: Any = None) -> Any:
    test = deepcopy(test)
    for new, old in zip(test, ref, strict=False):
        came, wanted = (one.get("data", {}).get("text/html") for one in (new, old))
        if came and wanted and close(came, wanted):
            new["data"]["text/html"] = wanted
    return _exactly(cell, test, ref, skip_compare)


IPyNbCell.compare_outputs = _compare
