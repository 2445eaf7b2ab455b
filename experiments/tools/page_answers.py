"""Let the real language model answer with every mistake in its attention, and store the answers.

`python -m experiments.tools.page_answers` asks three questions, each with the right attention and
with each of the mistakes of `bookkit.inside`, and takes some minutes on one thread. The lesson
shows these texts, and compares the beginnings of some with what the model writes there.
"""

import json
from typing import Any

import torch
from torch import Tensor

from bookkit.inside import ANSWERS, MISTAKES, NEEDS_ALL_QUERIES
from companion.decoding import greedy
from companion.models.smollm import smollm
from companion.models.transformer import LanguageModel
from experiments.engine.record import processor, replace_file, versions
from experiments.inside.study import given, written

QUESTIONS = (
    "Name three birds that live in the forest.",
    "Why is grass green?",
    "Write a short story about a cat and a dog.",
)
LONGEST = 64
"""Most tokens of an answer."""


def rereading(model: LanguageModel, prompt: Tensor, eos_id: int) -> Tensor:
    """Return the answer with the mistake that needs all queries, so that no cache is kept."""
    swapped = given(model, MISTAKES[NEEDS_ALL_QUERIES].attention)
    state = swapped.start(prompt[None], max_len=LONGEST, use_cache=False)
    options: dict[str, Any] = {"bos_id": state.last, "eos_id": eos_id, "max_len": LONGEST}
    answer = greedy(swapped.step, state, batch_size=1, **options)
    return answer.tokens[0, : int(answer.lengths[0] + answer.finished[0])]


def main() -> None:
    """Ask, and write."""
    torch.set_num_threads(1)
    model, tokenizer = smollm()

    def text(answer: Tensor) -> str:
        ids = answer.tolist()
        whole = ids[-1] == tokenizer.eos_id
        return tokenizer.decode(ids[:-1]) if whole else f"{tokenizer.decode(ids)} \u2026"

    answers = []
    for question in QUESTIONS:
        prompt = torch.tensor(tokenizer.encode(tokenizer.chat(question)))
        found = written(model, prompt, LONGEST, tokenizer.eos_id)
        found[NEEDS_ALL_QUERIES] = rereading(model, prompt, tokenizer.eos_id)
        texts = {name: text(found[name]) for name in ("right", *MISTAKES)}
        answers.append({"question": question, "texts": texts})
    made = {"processor": processor(), "versions": versions(), "longest": LONGEST}
    stored = json.dumps({**made, "answers": answers}, indent=1, ensure_ascii=False)
    replace_file(stored + "\n", ANSWERS)


if __name__ == "__main__":
    main()
