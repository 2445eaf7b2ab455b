"""Every case, run quickly at tiny sizes, and what the peers compute."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from benchmarks import contest
from benchmarks.cases import NAMES, ON_REQUEST, attention, memory, overhead
from benchmarks.cases.training import QUICK_RECURRENT, Attention, random_batch
from benchmarks.machine import has_bfloat16, installed
from benchmarks.peers import flex
from benchmarks.peers.recurrent import PlainTranslator
from benchmarks.records import Row
from benchmarks.run import run_case
from companion.cost import matmul_flops, measure_flops
from companion.data.batching import Batch
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig

pytestmark = pytest.mark.slow

PEERS = {
    "forward": {"SDPA", "textbook"},
    "gradients": {"SDPA", "textbook"},
    "precision": {"SDPA", "textbook"},
    "window": {"SDPA, dense mask", "local-attention"},
    "arrays": {"NumPy textbook"},
    "overhead": {"SDPA", "five lines of NumPy"},
    "modules": {"nn.MultiheadAttention", "projection and SDPA", "x-transformers",
                "x-transformers, flash"},
    "recurrent": {"plain loop", "keys projected every step"},
    "training": {"nn.Transformer"},
    "generation": {"Hugging Face", "recomputing", "first 3 tokens"},
    "smollm": {"Hugging Face"},
    "memory": {"SDPA"},
    "imports": set[str](),
    "gpu": {"SDPA", "tiled", "definition"},
}  # fmt: skip
NEED = {"local-attention": "local-attention", "x-transformers, flash": "x-transformers"}


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_ends(name: str) -> None:
    if name in ON_REQUEST and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    *_, record = run_case(name, quick=True)
    assert record.quick
    assert {row.peer for row in record.rows} - {""} == PEERS[name]
    assert record.readings, "somebody was measured"
    for row in record.rows:
        assert row.goal is None, "tiny sizes have nothing to reach"
        needed = NEED.get(row.peer, row.peer)
        if row.value is None and needed.startswith(("local-", "x-")):
            assert not installed(needed)
            assert row.note == "not installed"
        elif "bfloat16 instructions" in row.note:
            assert row.value is None
            assert not has_bfloat16()
        elif row.note.startswith("only reported"):
            assert row.value is None
        else:
            assert row.value is not None, row.note


def test_the_truth_is_torchs_own_float64() -> None:
    tensors = attention.inputs(700, count=4)  # more rows than are computed at once
    results = attention.truth_of_last_head(tensors, attention.band(700))
    query, key, value, gradient = (x[:, -1].double() for x in tensors)
    query, key, value = leaves = [x.requires_grad_() for x in (query, key, value)]
    output = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    wanted = output, *torch.autograd.grad(output, leaves, gradient)
    for one, other in zip(results, wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("projects_at_every_step", [False, True])
@pytest.mark.parametrize(
    ("kind", "key"),
    [("additive", "attention.key_weight"), ("dot", ""), ("general", "attention.weight")],
)
def test_the_plain_loop_is_the_same_translator(
    kind: Attention, key: str, projects_at_every_step: bool
) -> None:
    torch.manual_seed(5)
    ours = Seq2Seq(Seq2SeqConfig(13, 17, 5, 8, kind, dropout_p=0.0)).double()
    peer = PlainTranslator(ours, projects_at_every_step=projects_at_every_step).double()
    lengths = torch.tensor([7, 3, 5])
    source, words = torch.randint(13, (3, 7)), torch.randint(17, (2, 3, 4))
    mask = torch.arange(4) < torch.tensor([4, 2, 3])[:, None]
    batch = Batch(source, lengths, words[0], words[1], mask)
    names = {name: name for name in ("source_embedding.weight", "combine.weight")}
    if key:
        names[key] = "score.project.weight"
    losses, gradients = [], []
    for model, wanted in ((ours, names.keys()), (peer, names.values())):
        loss = model.loss(batch)
        losses.append(loss.detach())
        gradients.append(torch.autograd.grad(loss, [model.get_parameter(n) for n in wanted]))
    torch.testing.assert_close(losses[1], losses[0])
    for name, of_ours, of_peer in zip(names, *gradients, strict=True):
        expected = of_ours.mT if name == "attention.key_weight" else of_ours
        torch.testing.assert_close(of_peer, expected)


def test_projecting_at_every_step_is_more_work() -> None:
    twin, batch = Seq2Seq(QUICK_RECURRENT), random_batch(3, range(5, 6), 11, 11)
    models = [PlainTranslator(twin, projects_at_every_step=each) for each in (False, True)]
    before, every = (measure_flops(partial(model.loss, batch)) for model in models)
    h = QUICK_RECURRENT.hidden_dim
    assert every - before == (5 - 1) * matmul_flops(3 * 5, h, h)


def test_overheads_that_differ_are_refused() -> None:
    with pytest.raises(AssertionError, match="a, b: got different values"):
        overhead.check({"a": lambda x: x, "b": lambda x: x * 1.001}, (np.ones((2, 3)),))


def test_flex_attention_is_given_the_same_masks() -> None:
    none, places = torch.tensor(0), torch.arange(9)
    query, key = places[:, None], places[None]
    assert torch.equal(flex.causal(none, none, query, key), attention.band(9))
    assert torch.equal(flex.window(2)(none, none, query, key), attention.band(9, left=2))


def test_what_does_not_fit_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest, "available_bytes", lambda: 2**20)
    field = attention.forward_field(256, False)
    assert list(field.entrants) == ["tiled", "SDPA"]
    assert field.absent["textbook"].startswith("needs 0.0 GB")
    row = memory.read("forward", 256, "textbook", 1)
    assert isinstance(row, Row)
    assert row.note.startswith("needs 0.0 GB")
