"""Language models: prompts of unequal length, caches, losses; and those that read both ways."""

from typing import Any

import pytest
import torch

from companion.decoding import beam, greedy
from companion.models.transformer import LanguageModel, MaskedLanguageModel, TextEncoder
from tests.batches import padded
from tests.transformers import config_of, each_variant, randomised

PROMPTS = [[4, 5, 6, 7, 8], [9, 10], [11]]
LENGTHS = torch.tensor([5, 2, 1])
IDS = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [9, 10, 11, 4, 4, 12, 13]])


def make(variant: str, **changes: Any) -> Any:
    return randomised(LanguageModel(config_of(variant, **changes)))


@each_variant
def test_steps_after_a_prompt_are_one_pass_at_every_split(variant: str) -> None:
    for use_cache in (True, False):
        model = make(variant)
        whole = model(IDS)
        for split in range(1, 7):
            state = model.start(IDS[:, :split], max_len=7 - split + 1, use_cache=use_cache)
            assert torch.equal(state.last, IDS[:, split - 1])
            for i in range(split - 1, 7):
                with torch.no_grad():
                    logits, state, _ = model.step(IDS[:, i], state)
                torch.testing.assert_close(logits, whole[:, i])


@each_variant
def test_prompts_of_unequal_length_go_on_as_they_would_alone(variant: str) -> None:
    model = make(variant)

    def write(prompt: Any, lengths: Any, use_cache: bool, beam_size: int) -> Any:
        state = model.start(prompt, lengths, max_len=9, beam_size=beam_size, use_cache=use_cache)
        options: dict[str, Any] = {
            "batch_size": len(prompt), "bos_id": state.last, "eos_id": 2, "max_len": 9
        }  # fmt: skip
        if beam_size == 1:
            return greedy(model.step, state, **options)
        return beam(model.step, state, reorder=model.reorder, beam_size=beam_size, **options)

    for how in ((True, 1), (True, 3), (False, 3)):
        together = write(padded(PROMPTS, 7), LENGTHS, *how)
        for row, prompt in enumerate(PROMPTS):
            alone = write(torch.tensor([prompt]), None, *how)
            assert together.sequences()[row] == alone.sequences()[0]
            assert together.finished[row] == alone.finished[0]
            width = alone.log_probs.shape[1]
            torch.testing.assert_close(together.log_probs[row, :width], alone.log_probs[0])


def test_the_loss_is_that_of_every_next_token() -> None:
    model = make("gpt2")
    logs = model(IDS).log_softmax(-1)
    rows = [[-logs[b, i, IDS[b, i + 1]] for i in range(6)] for b in range(2)]
    torch.testing.assert_close(model.loss(IDS), torch.stack(rows[0] + rows[1]).mean())
    lengths = torch.tensor([7, 3])
    kept = torch.stack(rows[0] + rows[1][:2]).mean()
    torch.testing.assert_close(model.loss(IDS, lengths), kept)
    assert model.loss(IDS, label_smoothing=0.1) != model.loss(IDS)


def test_learned_positions_limit_what_is_written() -> None:
    model = make("gpt2")
    assert model.start(IDS, max_len=17).caches is not None
    with pytest.raises(ValueError, match="max_len: got 24 tokens in all, wanted at most 23"):
        model.start(IDS, max_len=18)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("variant", ["llama", "bloom", "t5"])
def test_torch_compiles_it_in_one_piece(variant: str) -> None:
    model = make(variant, num_layers=1)
    torch.compiler.reset()
    compiled: Any = torch.compile(model, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(IDS), model(IDS))


@each_variant
def test_a_text_is_the_same_alone_and_in_a_padded_batch(variant: str) -> None:
    encoder = randomised(TextEncoder(config_of(variant)))
    together = encoder(padded(PROMPTS, 8), LENGTHS, need_weights=True)
    for row, text in enumerate(PROMPTS):
        alone = encoder(torch.tensor([text]))
        torch.testing.assert_close(together.hidden[row, : len(text)], alone.hidden[0])
        assert together.weights[0][row, :, :, len(text) :].abs().max() == 0
        assert alone.weights == ()


def test_the_loss_asks_at_the_chosen_positions() -> None:
    model, ids = randomised(MaskedLanguageModel(config_of("bert"))), torch.tensor([PROMPTS[0]])
    masked = ids.clone()
    masked[0, 2] = 3
    chosen = torch.tensor([[False, False, True, False, True]])
    logs = model(masked).log_softmax(-1)
    expected = -(logs[0, 2, 6] + logs[0, 4, 8]) / 2
    torch.testing.assert_close(model.loss(masked, ids, chosen), expected)
