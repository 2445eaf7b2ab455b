"""The Transformer as a translator: what is tied, projected once, weighed, cached and scored."""

from typing import Any

import torch

from companion.decoding import greedy
from companion.models.transformer import Transformer
from tests.batches import make_batch
from tests.transformers import config_of, randomised


def make(variant: str, **changes: Any) -> Any:
    return randomised(Transformer(config_of(variant, **changes)))


def test_what_is_tied_is_one_weight() -> None:
    for tied in ("none", "output", "all"):
        model = Transformer(config_of("paper", tied=tied))
        names = {name for name, _ in model.named_parameters()}
        assert ("output.vectors.weight" in names) == (tied == "none")
        assert ("source_embedding.words.weight" in names) == (tied != "all")
        loss = model.loss(make_batch([0, 1, 2]))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.optim.SGD(model.parameters(), 0.1).step()
        source, target = model.source_embedding.words, model.target_embedding.words
        scored = target if model.output.vectors is None else model.output.vectors
        assert (source.weight is target.weight) == (tied == "all")
        assert (scored.weight is target.weight) == (tied != "none")
        moved = model.double().float()
        assert (moved.source_embedding.words.weight is moved.target_embedding.words.weight) == (
            tied == "all"
        )


def test_the_weights_of_the_interface_are_a_mean_over_the_heads_of_one_block() -> None:
    batch = make_batch([0, 1, 2])
    for number in (0, 1, -1, -2):
        model = make("paper", alignment_layer=number)
        _, weights = model(batch, need_weights=True)
        everything = model.attention(batch)
        torch.testing.assert_close(weights, everything.cross[number].mean(1))
    assert [len(kind) for kind in everything] == [2, 2, 2]
    assert everything.encoder[0].shape == (3, 6, 5, 5)
    assert everything.decoder[0].shape == (3, 6, 7, 7)
    assert everything.cross[0].shape == (3, 6, 7, 5)
    assert everything.encoder[0][1, :, :, 2:].abs().max() == 0


def test_the_memory_is_projected_once_a_sentence() -> None:
    model, batch, calls = make("paper"), make_batch([0, 1, 2]), []
    for block in model.decoder.blocks:
        block.cross_attention.key_proj.register_forward_hook(lambda *_: calls.append(1))
    state = model.start(batch.source, batch.source_lengths, max_len=9)
    greedy(model.step, state, batch_size=3, bos_id=1, eos_id=18, max_len=9)
    assert len(calls) == 2


def test_the_loss_can_be_smoothed() -> None:
    model, batch = make("paper"), make_batch([0])
    logs = model(batch)[0].log_softmax(-1)
    target = 0.8 * torch.eye(19).double()[batch.target_out[0]] + 0.2 / 19
    expected = -(target * logs).sum(-1).mean()
    torch.testing.assert_close(model.loss(batch, label_smoothing=0.2), expected)


def test_meta_tensors_have_shapes() -> None:
    with torch.device("meta"):
        model = Transformer(config_of("llama")).eval()
    batch = make_batch([0, 1, 2])
    batch = type(batch)(*(part.to("meta") for part in batch))
    assert model(batch).shape == (3, 7, 19)
    state = model.start(batch.source, batch.source_lengths, max_len=5)
    logits, _, weights = model.step(batch.target_in[:, 0], state)
    assert (logits.shape, weights.shape) == ((3, 19), (3, 5))
