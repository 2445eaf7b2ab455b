"""The study of sentences, and the script that collects them."""

from __future__ import annotations

import json
import math

import pytest

from companion.data.sentences import sentences
from experiments import page_sentences as page
from experiments import sentences as study
from experiments.trials import TUNED


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


def test_rates_are_chosen_on_sentences_that_no_report_tests() -> None:
    train, test, _ = study.corpus(study.TASK)
    less, validation, _ = study.corpus(study.CHOOSING)
    assert (train, test) == sentences()
    assert len(validation) == len(test)
    assert not set(validation) & (set(test) | set(less))
    assert set(less) | set(validation) == set(train)


def test_the_chosen_rates_lie_inside_the_grid() -> None:
    record = json.loads((TUNED / "sentences.json").read_text(encoding="utf8"))
    rates = {one["learning_rate"] for one in record["chosen"].values()}
    assert rates <= set(study.LEARNING_RATES[1:-1])


def test_the_best_counter_is_the_one_with_the_least_loss() -> None:
    runs = {f"counted/{order}": [float(abs(order - 4)), 2.0] for order in study.ORDERS}
    assert study.best_counter(runs) == [0.0, 2.0]


def test_counting_longer_groups_of_letters_stops_paying() -> None:
    losses = study.counters(1)
    perplexities = [math.exp(losses[f"counted/{order}"]) for order in study.ORDERS]
    assert perplexities[0] == pytest.approx(18.9, abs=0.1)
    assert perplexities[5] > min(perplexities[3:5])
