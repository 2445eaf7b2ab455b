"""The script that collects the sentences of this book."""

from __future__ import annotations

from experiments.tools import page_sentences as page


def test_formulas_code_and_numbers_are_left_out() -> None:
    text = """# A heading about nothing

Here is *one* [link](a.md) to {term}`the cache`. The value is $x$ in here. See `code` in this one.
It says "yes" and goes on to the next line.

```{note}
This block is a directive and no prose.
```

$$
x = y
$$

| a | table |
|---|---|

- A point in a list, which ends here.
"""
    said = [one for paragraph in page.prose(text) for one in page.sentences(paragraph)]
    assert said == [
        "here is one link to the cache.",
        'it says "yes" and goes on to the next line.',
        "a point in a list, which ends here.",
    ]
