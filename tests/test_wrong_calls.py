"""Every public function refuses every wrong kind of every argument, by the argument's name.

One table holds right calls; the wrong ones are made from them. Where a wrong value cannot be told
from a right one (another length may be right), a call may also pass, but never end in an error
that names no argument.
"""

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import companion

torch: Any = pytest.importorskip("torch")
strict: Any = pytest.importorskip("array_api_strict")

X, Y = np.linspace(-1, 1, 24).reshape(2, 4, 3), np.linspace(-2, 1, 30).reshape(2, 5, 3)
HEADS = np.linspace(-1, 1, 2 * 4 * 5 * 3).reshape(2, 4, 5, 3)
MEMORY = HEADS[:, :2]
IDS, LENGTHS = np.array([[3, 4, 5], [6, 7, 0]]), np.array([3, 2])


class Right(NamedTuple):
    """A right call."""

    # Returns what is called, new for every call: some methods write into their object
    make: Callable[[], Any]
    arguments: dict[str, Any]  # all of them, by name
    runs: bool = True  # whether the call can be made; one that reads a file cannot


def function(name: str) -> Callable[[], Any]:
    return lambda: getattr(companion, name)


ATTENTION: dict[str, Any] = {
    "query": HEADS, "key": MEMORY, "value": MEMORY, "attn_mask": np.ones((4, 5, 5), bool),
    "is_causal": True, "scale": 0.5, "enable_gqa": True, "offset": np.array([1, 2]), "softcap": 2.0,
    "sinks": np.ones(4),
}  # fmt: skip
RECURRENT: dict[str, Any] = {
    "query": X, "key": X, "value": X, "decay": np.full((2, 4), 0.5), "beta": np.full((2, 4), 0.5),
    "state": np.ones((2, 3, 3)),
}  # fmt: skip

LATENT: dict[str, Any] = {
    "query": HEADS, "query_rotary": HEADS[..., :2], "latent": X[:, :3], "key_rotary": X[:, :3, :2],
    "key_weight": np.ones((4, 3, 3)), "value_weight": np.ones((4, 3, 7)),
    "attn_mask": np.ones((4, 5, 3), bool), "is_causal": True, "scale": 0.5,
    "offset": np.array([1, 2]), "sinks": np.ones(4),
}  # fmt: skip

DIFFERENTIAL: dict[str, Any] = {
    **{name: ATTENTION[name] for name in ("query", "key", "value", "attn_mask", "offset")},
    "other_query": HEADS, "other_key": MEMORY, "factor": np.ones(4), "is_causal": True,
    "scale": 0.5, "enable_gqa": True,
}  # fmt: skip

DEFINITIONS: dict[str, dict[str, Any]] = {
    "absorbed_latent_attention": LATENT,
    "additive_score": {
        "query": X, "key": Y, "query_weight": np.ones((3, 2)), "key_weight": np.ones((3, 2)),
        "vector": np.ones(2),
    },
    "alibi_bias": {"num_heads": 4, "q_len": 2, "k_len": 3, "offset": LENGTHS, "like": IDS},
    "alibi_slopes": {"num_heads": 4, "like": X},
    "attention_with_lse": {**ATTENTION, "dropout_p": 0.0},
    "attention_with_weights": {**ATTENTION, "dropout_p": 0.0},
    "attend": {"weights": np.ones((2, 4, 5)), "value": Y},
    "bilinear_score": {"query": X, "key": Y, "weight": np.ones((3, 3))},
    "block_maxima": {"scores": X, "size": 2},
    "causal_mask": {"q_len": 2, "k_len": 3, "offset": LENGTHS, "like": X},
    "chunked_linear_attention": {**RECURRENT, "chunk_size": 2},
    "complete_blocks": {"mask": np.ones((4, 5), bool), "size": 2},
    "differential_attention": DIFFERENTIAL,
    "differential_attention_with_weights": DIFFERENTIAL,
    "differential_factor": {
        "query": X[0], "key": X[0], "other_query": X[0], "other_key": X[0], "initial": 0.2
    },
    "document_mask": {"query_ids": IDS, "key_ids": IDS},
    "dot_score": {"query": X, "key": Y},
    "elu_feature_map": {"x": X},
    "fixed_decay": {"num_heads": 3, "scale": 0.5, "like": X},
    "l2_normalize": {"x": X, "eps": 1e-6},
    "headwise_norm": {"x": X, "initial": 0.2, "eps": 1e-5},
    "indexer_divergence": {
        "weights": np.ones((2, 7, 4, 5)), "scores": np.ones((2, 4, 5)),
        "mask": np.ones((4, 5), bool),
    },
    "indexer_scores": {
        "query": HEADS, "key": X[:, :3], "weight": np.ones((2, 4, 5)), "scale": 0.5
    },
    "initial_factor": {"layer": 3},
    "keys_of_blocks": {"blocks": np.ones((4, 2), bool), "k_len": 5, "size": 2},
    "keys_of_top_blocks": {
        "scores": np.ones((4, 2)), "count": 1, "mask": np.ones((4, 5), bool), "size": 2
    },
    "latent_attention": LATENT,
    "latent_attention_with_weights": LATENT,
    "linear_attention": {
        "query": X, "key": X, "value": X, "feature_map": np.exp, "is_causal": True,
        "decay": np.full((2, 4), 0.5),
    },
    "masked_softmax": {"scores": HEADS, "mask": np.ones((5, 3), bool), "sinks": np.ones(4)},
    "merge_attention": {
        "output": X, "lse": np.ones((2, 4)), "other_output": X, "other_lse": np.ones((2, 4))
    },
    "online_softmax": {"scores_blocks": [X, X]},
    "padding_mask": {"lengths": LENGTHS, "k_len": 3},
    "pool_blocks": {"key": HEADS[..., :2], "gate": HEADS[..., :2], "size": 2, "overlap": True},
    "prefix_mask": {"prefix_lengths": LENGTHS, "q_len": 3, "k_len": 4, "offset": LENGTHS},
    "recurrent_linear_attention": RECURRENT,
    "relative_buckets": {
        "relative_position": IDS, "num_buckets": 8, "max_distance": 16, "bidirectional": True
    },
    "rotary_frequencies": {
        "width": 4, "base": 100.0, "scaling": None, "like": X
    },
    "rotate": {
        "x": HEADS, "positions": np.arange(5), "frequencies": np.ones(1), "interleaved": True
    },
    "scaled_dot_product_attention": {**ATTENTION, "dropout_p": 0.0},
    "scaled_dot_score": {"query": X, "key": Y, "scale": 0.5},
    "self_attention": {
        "x": X, "query_weight": np.ones((3, 2)), "key_weight": np.ones((3, 2)),
        "value_weight": np.ones((3, 5)), "mask": np.ones((4, 4), bool),
    },
    "short_convolution": {
        "x": X, "weight": np.ones((3, 4)), "bias": np.ones(3), "state": np.ones((2, 3, 3)),
    },
    "sigmoid_decay": {"x": X, "log_rate": np.ones(3), "bias": np.ones(3), "floor": -2.0},
    "sinusoidal_encoding": {"length": 3, "width": 4, "base": 100.0, "offset": LENGTHS, "like": X},
    "sliding_window_mask": {
        "q_len": 3, "k_len": 4, "left": 1, "right": 1, "offset": LENGTHS, "like": X
    },
    "softplus_decay": {"x": X, "log_rate": np.ones(3), "bias": np.ones(3)},
    "tiled_attention": {**ATTENTION, "left": 2, "right": 1, "block_size": (2, 3)},
    "tiled_attention_with_lse": {**ATTENTION, "left": 2, "right": 1, "block_size": (2, 3)},
    "top_keys": {"scores": X, "count": 2, "mask": np.ones((4, 3), bool)},
    "window_attention": {
        "query": HEADS, "key": MEMORY, "value": MEMORY, "left": 2, "right": 1, "scale": 0.5,
        "enable_gqa": True,
    },
}  # fmt: skip


def moved(value: Any) -> Any:
    """Bring arrays to torch."""
    if isinstance(value, list):
        return [moved(part) for part in value]
    if value is np.exp:
        return torch.exp
    return torch.tensor(value) if isinstance(value, np.ndarray) else value


def tensor(array: Any) -> Any:
    """Bring an array to torch, a floating one in the dtype of layers."""
    made = torch.tensor(array)
    return made.float() if made.is_floating_point() else made


def config(**options: Any) -> Any:
    sizes = {"vocab_size": 9, "embed_dim": 8, "num_heads": 2, "num_layers": 1, "dropout_p": 0.0}
    return companion.TransformerConfig(**(sizes | options))


def batch() -> Any:
    from tests.batches import make_batch

    return make_batch([0, 1])


def model(name: str) -> Callable[[], Any]:
    if name == "Seq2Seq":
        return lambda: companion.Seq2Seq(companion.Seq2SeqConfig(15, 15, 4, 6))
    sizes = {"num_types": 2} if name in ("TextEncoder", "MaskedLanguageModel") else {}
    if name == "Transformer":
        sizes = {"vocab_size": 15}
    return lambda: getattr(companion, name)(config(**sizes))


def method(name: str, make: Callable[[], Any]) -> Callable[[], Any]:
    attribute = name.partition(",")[0].partition(".")[2]
    return lambda: getattr(make(), attribute)


def cache(head_dim: int = 3) -> Any:
    return companion.KVCache(2, 2, 9, head_dim)


def self_attention() -> Any:
    return companion.MultiHeadAttention(8, 2, rotary=True)


def cross_attention() -> Any:
    return companion.MultiHeadAttention(8, 2, key_dim=3, value_dim=3)


ADDITIVE: dict[str, Any] = {"query_dim": 3, "key_dim": 3, "hidden_dim": 2}
LUONG: dict[str, Any] = {**ADDITIVE, "score": "concat", "window": 2, "predictive": True}
RECALL = {
    "query": tensor(X), "keys": tensor(np.ones((2, 5, 2))), "memory": tensor(Y),
    "mask": torch.ones(2, 4, 5, dtype=torch.bool), "need_weights": True,
}  # fmt: skip
ATTENDED = {
    "query": tensor(np.ones((2, 4, 8))), "key": None, "value": None, "attn_mask": None,
    "is_causal": True, "positions": None, "cache": None, "lengths": None, "need_weights": True,
}  # fmt: skip
SOURCE = {"source": tensor(IDS), "lengths": tensor(LENGTHS)}
TEXT = {"tokens": tensor(IDS), "lengths": tensor(LENGTHS), "types": tensor(0 * IDS)}


def additive() -> Any:
    return companion.AdditiveAttention(**ADDITIVE)


def luong() -> Any:
    return companion.LuongAttention(**LUONG)


CONSTRUCTORS: dict[str, dict[str, Any]] = {
    "definitions": {},
    "KVCache": {
        "batch_size": 2, "num_kv_heads": 2, "max_len": 9, "head_dim": 3, "window": 4,
        "value_dim": 3, "device": torch.device("cpu"), "dtype": torch.float32,
    },
    "FeedForward": {
        "embed_dim": 4, "hidden_dim": 6, "activation": "gelu", "gated": True, "bias": True,
        "dropout_p": 0.1,
    },
    "AdditiveAttention": ADDITIVE,
    "LuongAttention": LUONG,
    "MultiHeadAttention": {
        "embed_dim": 8, "num_heads": 4, "num_kv_heads": 2, "head_dim": 6, "key_dim": 5,
        "value_dim": 3, "bias": True, "dropout_p": 0.1, "qk_norm": True, "rotary": True,
        "window": 4, "softcap": 2.0, "sinks": True, "attention_fn": lambda *args, **kwargs: args[0],
    },
    "Seq2SeqConfig": {
        "source_vocab": 9, "target_vocab": 9, "embed_dim": 4, "hidden_dim": 6, "attention": "dot",
        "query": "present", "cell": "gru", "dropout_p": 0.1, "window": 2, "input_feeding": True,
    },
    "Seq2Seq": {"config": companion.Seq2SeqConfig(9, 9, 4, 6)},
    "TransformerConfig": {
        "vocab_size": 9, "source_vocab": 9, "embed_dim": 8, "num_heads": 4, "num_kv_heads": 2,
        "head_dim": 2, "hidden_dim": 6, "num_layers": 1, "encoder_layers": 1, "max_len": 9,
        "positions": "rotary", "rotary_base": 100.0, "rotary_scaling": None, "relative_buckets": 8,
        "relative_max_distance": 16, "norm_order": "post", "norm": "rms", "norm_eps": 1e-5,
        "final_norm": True, "embedding_norm": True, "activation": "relu", "gated": True,
        "attention_bias": True, "feed_forward_bias": True, "embedding_scale": True, "tied": "none",
        "num_types": 0, "dropout_p": 0.1, "attention_dropout_p": 0.1, "feed_forward_dropout_p": 0.1,
        "alignment_layer": 0,
    },
    **{
        name: {"config": config()}
        for name in ("LanguageModel", "MaskedLanguageModel", "TextEncoder", "Transformer")
    },
    "from_pretrained": {"folder": "no such folder", "dtype": torch.float32},
}  # fmt: skip
METHODS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "KVCache.update": (
        cache, {"key": tensor(MEMORY), "value": tensor(MEMORY), "lengths": tensor(LENGTHS)}
    ),
    "KVCache.reorder": (cache, {"indices": torch.tensor([1, 0])}),
    "FeedForward.forward": (lambda: companion.FeedForward(3, 4), {"x": tensor(X)}),
    "AdditiveAttention.project": (additive, {"memory": tensor(Y)}),
    "AdditiveAttention.forward": (additive, RECALL),
    "LuongAttention.project": (luong, {"memory": tensor(Y)}),
    "LuongAttention.forward": (luong, {**RECALL, "offset": 1}),
    "LuongAttention.forward, dot": (
        lambda: companion.LuongAttention(3, 3, score="dot", window=1),
        {**RECALL, "keys": tensor(Y), "offset": tensor(LENGTHS)},
    ),
    "MultiHeadAttention.forward": (
        cross_attention,
        {**ATTENDED, "key": tensor(Y), "value": tensor(Y), "attn_mask": torch.ones(2, 2, 4, 5)},
    ),
    "MultiHeadAttention.forward, self": (
        self_attention, {**ATTENDED, "positions": torch.arange(4)}
    ),
    "MultiHeadAttention.forward, cached": (
        self_attention,
        {**ATTENDED, "attn_mask": torch.ones(4, 4, dtype=torch.bool), "cache": cache(4),
         "lengths": tensor(LENGTHS), "need_weights": False},
    ),
    "MultiHeadAttention.project_memory": (
        cross_attention, {"key": tensor(Y), "value": tensor(Y), "positions": None}
    ),
    "Seq2Seq.forward": (model("Seq2Seq"), {"batch": batch(), "need_weights": True}),
    "Seq2Seq.loss": (model("Seq2Seq"), {"batch": batch()}),
    "Seq2Seq.start": (model("Seq2Seq"), {**SOURCE, "max_len": 5, "beam_size": 2}),
    "LanguageModel.forward": (
        model("LanguageModel"), {"tokens": tensor(IDS), "need_weights": True}
    ),
    "LanguageModel.loss": (
        model("LanguageModel"),
        {"tokens": tensor(IDS), "lengths": tensor(LENGTHS), "label_smoothing": 0.1},
    ),
    "LanguageModel.start": (
        model("LanguageModel"),
        {"prompt": tensor(IDS), "lengths": tensor(LENGTHS), "max_len": 5, "beam_size": 2,
         "use_cache": True, "caches": None},
    ),
    "MaskedLanguageModel.forward": (model("MaskedLanguageModel"), TEXT),
    "MaskedLanguageModel.loss": (
        model("MaskedLanguageModel"),
        {"tokens": tensor(IDS), "targets": tensor(IDS), "chosen": tensor(IDS > 3),
         "lengths": tensor(LENGTHS)},
    ),
    "TextEncoder.forward": (model("TextEncoder"), {**TEXT, "need_weights": True}),
    "Transformer.forward": (model("Transformer"), {"batch": batch(), "need_weights": True}),
    "Transformer.loss": (model("Transformer"), {"batch": batch(), "label_smoothing": 0.1}),
    "Transformer.encode": (model("Transformer"), SOURCE),
    "Transformer.start": (
        model("Transformer"), {**SOURCE, "max_len": 5, "beam_size": 2, "use_cache": True}
    ),
}  # fmt: skip
RIGHT: dict[str, Right] = {
    **{f"{name}, numpy": Right(function(name), args) for name, args in DEFINITIONS.items()},
    **{
        f"{name}, torch": Right(function(name), {key: moved(x) for key, x in args.items()})
        for name, args in DEFINITIONS.items()
    },
    **{
        name: Right(function(name), args, name != "from_pretrained")
        for name, args in CONSTRUCTORS.items()
    },
    **{name: Right(method(name, make), args) for name, (make, args) in METHODS.items()},
}

# What an array may hold where its right value does not say all of it.
TAKES_INTEGERS = {"positions", "like"}
TAKES_BOOLEANS = {"attn_mask", "mask", "like"}
TAKES_FLOATS = {"attn_mask", "mask", "positions", "like"}
ON_ANY_DEVICE = {"lengths"}

EXCEPTIONS: dict[tuple[str, str, str], str] = {
    **{
        (f"{name}, {library}", "factor", kind): "one number serves all heads"
        for name in ("differential_attention", "differential_attention_with_weights")
        for library in ("numpy", "torch")
        for kind in ("a number", "a float")
    },
    ("rotate, torch", "frequencies", "of another library"): "NumPy's are moved at every call",
    ("LanguageModel.start", "prompt", "2 on axis 1"): "what is in lengths is not looked at",
}
PARTS = 4
"""So many tests share the calls, for as many processors."""


def is_array(value: object) -> bool:
    return isinstance(value, (np.ndarray, torch.Tensor))


def parameters(right: Right) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(right.make()).parameters)


class Wrong(NamedTuple):
    """One argument of a wrong kind: what is wrong with it, and whether the call must be refused."""

    kind: str
    value: Any
    must: bool = True


def wrong_values(name: str, right: Right) -> Iterator[Wrong]:
    """What a right value of an argument is turned into."""
    value, annotation = right.arguments[name], str(parameters(right)[name].annotation)
    optional = "None" in annotation or annotation == "Any"
    if not optional:
        yield Wrong("None", None)
    yield Wrong("an object", object())
    yield Wrong("a dictionary", {})
    if "str" not in annotation and not isinstance(value, str):
        yield Wrong("a text", "False")
    if is_array(value):
        yield from wrong_arrays(name, value, right, annotation)
    elif isinstance(value, bool):
        yield from (Wrong(repr(x), x) for x in (0, 1, 0.0, [True], np.True_, np.ones(1, bool)))
    elif isinstance(value, (int, float)):
        yield from wrong_numbers(value, annotation)
    elif isinstance(value, str):
        yield Wrong("another text", "another", must="PathLike" not in annotation)
        yield from (Wrong(repr(x), x) for x in (3, [value], 0.5))
    elif value is not None:
        yield from (Wrong(repr(x), x) for x in (3, 0.5, [0.5]) if "int" not in annotation)
        yield Wrong("a tuple", (1, 2, 3))


def wrong_numbers(value: float, annotation: str) -> Iterator[Wrong]:
    if "bool" not in annotation:
        yield Wrong("True", True)
    yield from (Wrong(repr(x), x) for x in (math.nan, math.inf, -math.inf, 1j, [value], "3"))
    yield Wrong("an array", np.ones(3))
    if isinstance(value, int):
        yield from (Wrong(repr(x), x) for x in (2.5, float(value), np.float64(2)))
    yield from (Wrong(repr(x), x, must=False) for x in (-1, 0, type(value)(-3), np.int64(-1)))


def wrong_arrays(name: str, value: Any, right: Right, annotation: str) -> Iterator[Wrong]:
    shape, is_numpy = tuple(value.shape), isinstance(value, np.ndarray)
    yield Wrong("a list", value.tolist())
    if "int" not in annotation:
        yield Wrong("a number", 1)
    yield Wrong("a float", 0.5)
    ours: Any = np if is_numpy else torch
    kinds = {
        "integers": ("int64", name in TAKES_INTEGERS or "int" in str(value.dtype)),
        "booleans": ("bool", name in TAKES_BOOLEANS or "bool" in str(value.dtype)),
        "floats": ("float64", name in TAKES_FLOATS or "float" in str(value.dtype)),
        "complex numbers": ("complex128", name == "like"),
    }
    for kind, (dtype, allowed) in kinds.items():
        if not allowed:
            yield Wrong(kind, ours.ones(shape, dtype=getattr(ours, dtype, dtype)))
    if is_numpy:
        yield Wrong("texts", np.full(shape, "a"))
        yield Wrong("objects", np.full(shape, None))
    others = [x for key, x in right.arguments.items() if is_array(x) and key != name]
    alone = not others and not isinstance(getattr(right.make(), "__self__", None), torch.nn.Module)
    first = next(x for x in right.arguments.values() if is_array(x))
    if not alone or len(others) > 0:
        yield Wrong("of another library", torch.tensor(value) if is_numpy else value.numpy())
        if is_numpy:
            yield Wrong("of a third library", strict.asarray(value))
    if not is_numpy:
        must = not alone and (value is not first or len(others) > 0)
        if name not in ON_ANY_DEVICE:
            yield Wrong("on another device", value.to("meta"), must)
    for axis in range(len(shape)):
        for size in (shape[axis] - 1, shape[axis] + 1):
            indices = np.arange(size) % shape[axis]
            changed = np.take(np.asarray(value), indices, axis)
            yield Wrong(f"{size} on axis {axis}", like(value, changed), must=False)
    yield Wrong("an axis more", like(value, np.asarray(value)[None]), must=False)
    fewer = np.asarray(value)
    while fewer.ndim:
        fewer = fewer[0]
        yield Wrong(f"{fewer.ndim} axes", like(value, np.asarray(fewer)), must=False)


def like(value: Any, array: Any) -> Any:
    return array.copy() if isinstance(value, np.ndarray) else torch.tensor(array)


def outcome(right: Right, name: str, wrong: Wrong) -> str:
    """Say what is wrong with what a wrong call does; nothing if it is refused as it should be."""
    arguments = right.arguments | {name: wrong.value}
    if "cache" in arguments and arguments["cache"] is not None and name != "cache":
        arguments["cache"] = cache(4)
    named = set(arguments)
    if "batch" in arguments:
        named |= {"source", "source_lengths", "target_in", "target_out", "target_mask"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right.make()(**arguments)
    except (TypeError, ValueError, FileNotFoundError) as error:
        refused = re.match(r"(\w+)(\[\d+\])?(\.\w+)?: got ", str(error))
        if refused is None:
            return f"{type(error).__name__}: {error}"
        own = wrong.must and not hasattr(wrong.value, "shape")
        if refused[1] not in ({name} if own else named):
            return f"another argument is named: {error}"
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "passed" if wrong.must else ""


def test_the_table_has_all_public_functions_and_all_their_arguments() -> None:
    named = {call.partition(",")[0].partition(".")[0] for call in RIGHT}
    assert named == set(companion.__all__)
    for call, right in RIGHT.items():
        assert right.arguments.keys() == parameters(right).keys(), call


@pytest.mark.parametrize("part", range(PARTS))
def test_right_calls_pass_and_wrong_ones_are_refused_by_name(part: int) -> None:
    wrongs = {}
    for call, right in list(RIGHT.items())[part::PARTS]:
        if right.runs:
            right.make()(**right.arguments)
        for name in right.arguments:
            for wrong in wrong_values(name, right):
                result = outcome(right, name, wrong)
                if result and (call, name, wrong.kind) not in EXCEPTIONS:
                    wrongs[call, name, wrong.kind] = result
    assert not wrongs, "\n".join(f"{wrong}: {result}" for wrong, result in wrongs.items())
