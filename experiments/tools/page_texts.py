"""Let the real language model write what two lessons quote, and store it.

`python -m experiments.tools.page_texts` takes a minute or two on one thread.
"""

import json

import torch
from torch import Tensor

from bookkit.inside import WRITTEN
from companion.decoding import greedy, sample
from companion.models.smollm import smollm
from experiments.engine.record import processor, replace_file, versions

BEGINNING = "The old man sat down by the fire and began to tell us about the sea."
PROMPTS = (
    "The capital of France is",
    "The capital of Australia is",
    "She opened the door and saw a",
)
QUESTIONS = ("Who wrote the novel Jack Sheppard?", "What is attention in a language model?")


@torch.no_grad()
def main() -> None:
    """Write, and store."""
    torch.set_num_threads(1)
    model, tokenizer = smollm()

    def ids(text: str) -> Tensor:
        return torch.tensor([tokenizer.encode(text)])

    def written(text: str, longest: int, **choice: float) -> str:
        write = sample if choice else greedy
        state = model.start(ids(text), max_len=longest)
        more = {**choice, "generator": torch.Generator().manual_seed(1)} if choice else {}
        found = write(
            model.step, state, batch_size=1, bos_id=state.last, eos_id=tokenizer.eos_id,
            max_len=longest, **more,
        )  # fmt: skip
        return tokenizer.decode(found.sequences()[0])

    likely = {}
    for prompt in PROMPTS:
        best = model(ids(prompt))[0, -1].softmax(-1).topk(4)
        words = [tokenizer.decode([token]) for token in best.indices.tolist()]
        shares = [round(100 * share) for share in best.values.tolist()]
        likely[prompt] = dict(zip(words, shares, strict=True))
    stored = {
        "processor": processor(), "versions": versions(), "beginning": BEGINNING,
        "greedy": written(BEGINNING, 120), "top_p": written(BEGINNING, 120, top_p=0.9),
        "likely": likely,
        "answers": {one: written(tokenizer.chat(one), 64) for one in QUESTIONS},
    }  # fmt: skip
    replace_file(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", WRITTEN)


if __name__ == "__main__":
    main()
