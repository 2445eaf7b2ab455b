"""Models that read both ways: padding, segments, the head for masked words."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from companion.models.transformer import MaskedLanguageModel, TextEncoder
from tests.batches import padded
from tests.transformers import config_of, each_variant, randomised

TEXTS = [[4, 5, 6, 7, 8], [9, 10], [11]]
LENGTHS = torch.tensor([5, 2, 1])


@each_variant
def test_a_text_is_the_same_alone_and_in_a_padded_batch(variant: str) -> None:
    encoder = randomised(TextEncoder(config_of(variant)))
    together = encoder(padded(TEXTS, 8), LENGTHS, need_weights=True)
    for row, text in enumerate(TEXTS):
        alone = encoder(torch.tensor([text]))
        torch.testing.assert_close(together.hidden[row, : len(text)], alone.hidden[0])
        assert together.weights[0][row, :, :, len(text) :].abs().max() == 0
        assert alone.weights == ()


def test_every_token_reaches_every_position() -> None:
    encoder, ids = randomised(TextEncoder(config_of("bert"))), torch.tensor([TEXTS[0]])
    before = encoder(ids).hidden
    for i in range(5):
        changed = ids.clone()
        changed[:, i] += 1
        assert (encoder(changed).hidden - before).abs().amax(-1).min() > 0
    types = torch.tensor([[0, 0, 0, 0, 1]])
    assert (encoder(ids, types=types).hidden - before).abs().amax(-1).min() > 0


def test_the_head_is_a_projection_an_activation_a_norm_and_scores() -> None:
    model, ids = randomised(MaskedLanguageModel(config_of("bert"))), padded(TEXTS, 5)
    hidden = model.text(ids, LENGTHS).hidden
    activated = F.gelu(F.linear(hidden, model.transform.weight, model.transform.bias))
    normed = F.layer_norm(activated, (12,), model.norm.weight, model.norm.bias, 1e-5)
    expected = normed @ model.text.embedding.words.weight.T + model.output.bias
    torch.testing.assert_close(model(ids, LENGTHS), expected)


def test_the_loss_asks_at_the_chosen_positions() -> None:
    model, ids = randomised(MaskedLanguageModel(config_of("bert"))), torch.tensor([TEXTS[0]])
    masked = ids.clone()
    masked[0, 2] = 3
    chosen = torch.tensor([[False, False, True, False, True]])
    logs = model(masked).log_softmax(-1)
    expected = -(logs[0, 2, 6] + logs[0, 4, 8]) / 2
    torch.testing.assert_close(model.loss(masked, ids, chosen), expected)
    model.loss(masked, ids, chosen).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
