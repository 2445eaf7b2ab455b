"""The captioner: what each kind of attention takes from the map, step by step as in one pass."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from companion.data.images import CaptionBatch
from companion.models.vision import Captioner, CaptionerConfig, CaptionOutput

CONFIG = CaptionerConfig(vocab_size=11, image_size=12, channels=6, embed_dim=5, hidden_dim=7)


def make_captioner(attention: Any, **changes: Any) -> Captioner:
    torch.manual_seed(3)
    model = Captioner(replace(CONFIG, attention=attention, **changes)).double().eval()
    nn.init.normal_(model.places)
    return model


def pictures(b: int = 3) -> Tensor:
    return torch.rand(b, 3, 12, 12, generator=torch.Generator().manual_seed(5)).double()


def captions(b: int = 3, q: int = 5) -> CaptionBatch:
    generator = torch.Generator().manual_seed(6)
    tokens = torch.randint(4, 11, (b, q), generator=generator)
    mask = torch.arange(q) < torch.tensor([q, q - 2, q])[:b, None]
    begun = torch.cat((torch.ones(b, 1, dtype=torch.int64), tokens[:, :-1]), 1)
    return CaptionBatch(pictures(b), begun, tokens, mask)


def by_hand(model: Captioner, images: Tensor, tokens: Tensor) -> CaptionOutput:
    """Compute a caption picture by picture and word by word, with plain sums."""
    kind, early = model.config.attention, model.config.query == "previous"
    state_of = model.state_dict()

    def look(s: Tensor, memory: list[Tensor]) -> tuple[Tensor, Tensor, int]:
        scores = [
            state_of["attention.vector"]
            @ torch.tanh(
                s @ state_of["attention.query_weight"] + a @ state_of["attention.key_weight"]
            )
            for a in memory
        ]
        alpha = torch.stack(scores).exp()
        alpha = alpha / alpha.sum()
        if kind == "uniform":
            alpha = torch.full_like(alpha, 1 / len(memory))
        best = int(alpha.argmax())
        if kind == "hard":
            return memory[best], alpha, best
        return torch.stack([w * a for w, a in zip(alpha, memory, strict=True)]).sum(0), alpha, -1

    rows = []
    for image, words in zip(images, tokens, strict=True):
        cells = model.encoder(4 * image[None] - 2)[0].flatten(1)
        memory = [cells[:, k] + state_of["places"][k] for k in range(cells.shape[1])]
        s = torch.tanh(model.bridge(torch.stack(memory).mean(0)))
        row = []
        for word in words:
            embedded = state_of["embedding.weight"][word]
            if early:
                context, alpha, taken = look(s, memory)
                s = model.cell(torch.cat((embedded, context))[None], s[None])[0]
            else:
                s = model.cell(embedded[None], s[None])[0]
                context, alpha, taken = look(s, memory)
            joined = embedded + model.from_state(s) + model.from_context(context)
            row.append((model.output(torch.tanh(joined)), alpha, torch.tensor(taken)))
        rows.append([torch.stack(part) for part in zip(*row, strict=True)])
    return CaptionOutput(*(torch.stack(part) for part in zip(*rows, strict=True)))


def test_one_pass_and_steps_are_the_plain_sums() -> None:
    for kind, query in itertools.product(("soft", "hard", "uniform"), ("present", "previous")):
        model, batch = make_captioner(kind, query=query), captions()
        found = model(batch.images, batch.target_in)
        wanted = by_hand(model, batch.images, batch.target_in)
        torch.testing.assert_close(found, wanted)
        state = model.start(batch.images)
        for place in range(5):
            logits, state, weights = model.step(batch.target_in[:, place], state)
            torch.testing.assert_close(logits, found.logits[:, place])
            torch.testing.assert_close(weights, found.weights[:, place])


def test_a_chosen_cell_is_all_that_is_seen_of_the_map() -> None:
    cells = torch.tensor([[0, 4, 8, 2, 1], [3, 3, 3, 3, 3], [7, 6, 5, 4, 3]])
    for query in ("present", "previous"):
        model, batch = make_captioner("hard", query=query), captions()
        seen = model.see(batch.images)
        found = model(batch.images, batch.target_in, choose=lambda t, _: cells[:, t])
        assert torch.equal(found.cells, cells)
        state = model.start(batch.images)
        words = model.embedding(batch.target_in[:, 0])
        context = seen.memory[range(3), [0, 3, 7]]
        read = torch.cat((words, context), -1) if query == "previous" else words
        hidden = model.cell(read, state.hidden)
        joined = words + model.from_state(hidden) + model.from_context(context)
        torch.testing.assert_close(found.logits[:, 0], model.output(torch.tanh(joined)))
        mixed = model(batch.images, batch.target_in, choose=lambda t, _: torch.full((3,), -1))
        soft = make_captioner("soft", query=query)(batch.images, batch.target_in)
        torch.testing.assert_close(mixed.logits, soft.logits)


def test_a_cell_sees_eleven_pixels() -> None:
    """What lies outside of its receptive field changes nothing there."""
    image = torch.full((1, 3, 40, 40), 0.5, dtype=torch.float64, requires_grad=True)
    maps: Any = make_captioner("soft", image_size=40).encoder(image)
    assert maps.shape[2:] == (10, 10)
    (seen,) = torch.autograd.grad(maps[0, :, 5, 5].sum(), image)
    rows = torch.nonzero(seen.abs().sum((0, 1, 3)))[:, 0].tolist()
    assert 15 <= rows[0] <= rows[-1] <= 25


def test_padding_is_no_part_of_the_loss() -> None:
    model, batch = make_captioner("soft"), captions()
    log_probs = model(batch.images, batch.target_in).logits.log_softmax(-1)
    real = [
        -log_probs[row, place, batch.target_out[row, place]]
        for row, place in batch.target_mask.nonzero().tolist()
    ]
    torch.testing.assert_close(model.loss(batch), sum(real) / len(real))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="image_size: got 10, wanted a multiple of 4"):
        replace(CONFIG, image_size=10)
    model = make_captioner("soft")
    with pytest.raises(ValueError, match=r"tokens: got b = 2 .*, wanted 3 as in state"):
        model.step(torch.tensor([1, 1]), model.start(pictures()))
