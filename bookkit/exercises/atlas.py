"""The exercises of "The atlas"."""

from collections.abc import Mapping
from typing import Any

from bookkit.exercises.answers import as_number
from bookkit.exercises.exercise import Function, Several, Value

Config = Mapping[str, Any]

STATES, LLAMA, QWEN = 36 * 32 * 128 * 128 * 4, 2 * 32 * 8 * 128 * 2, 2 * 12 * 2 * 256 * 2

check_break_even = Value(
    "From how many tokens on Qwen3-Next keeps less than Llama 3.1 8B: 36 states of 32 heads, 128 "
    "by 128 numbers each, 4 bytes a number, and keys and values in 12 of its layers.",
    right=STATES / (LLAMA - QWEN), mistakes={
        "Qwen3-Next also keeps keys and values, in 12 layers": STATES / LLAMA,
        "that is where the states and its own keys and values take the same": STATES / QWEN,
        "a number of a state takes 4 bytes": STATES / 2 / (LLAMA - QWEN),
        "each of the 36 layers has a state of its own": STATES / 36 / (LLAMA - QWEN),
        "each state has 32 heads": STATES / 32 / (LLAMA - QWEN),
    }, read=as_number, otherwise="at the right length both keep the same number of bytes",
    rtol=0.01,
)  # fmt: skip

FULL, ROOM = 18 * 2 * 8 * 64 * 2, 80 * 2**30
TEXT = FULL * 131_072 + FULL * 127

check_gpt_oss = Several(
    "By hand, for gpt-oss-120b: 36 layers with 64 heads of queries and 8 heads of keys and values "
    "of width 64, 2 bytes a number, and a window of 128 in every second layer.",
    per_token=Value("The bytes that one more token adds to a long text.", right=FULL, mistakes={
        "only the full layers grow, and they are every second one": 2 * FULL,
        "keys and values have 8 heads: the 64 heads of queries are not kept":
            (8 * FULL, 16 * FULL),
        "there is a key and a value, and each number takes 2 bytes": (FULL // 2, FULL // 4),
        "that is what one layer keeps": FULL // 18,
    }, otherwise="got {got:g} bytes"),
    texts=Value("How many texts of 131,072 tokens fit into 80 GiB.", right=ROOM // TEXT, mistakes={
        "that is the number if every layer kept all tokens": ROOM // (2 * FULL * 131_072),
        "a GiB has 2**30 bytes, and a text takes about 4.5 of them": ROOM // TEXT - 1,
    }, otherwise="got {got:g} texts"),
)  # fmt: skip


def _kept(
    config: Config, tokens: int, *, heads: str = "num_key_value_heads", less: int = 1,
    parts: int = 2, capped: bool = True, windows: bool = True,
) -> int:  # fmt: skip
    queries = config["num_attention_heads"]
    width = config.get("head_dim", config["hidden_size"] // queries)
    kinds = config.get("layer_types", ["full_attention"] * config["num_hidden_layers"])
    window = config.get("sliding_window", 0) - less
    near = min(tokens, window) if capped else window
    held = [near if windows and kind != "full_attention" else tokens for kind in kinds]
    return int(parts * config.get(heads, queries) * width * 2 * sum(held))


_SIZES = {"num_hidden_layers": 4, "num_attention_heads": 6, "hidden_size": 48}
_TURNS = {"layer_types": ["sliding_attention", "full_attention"] * 2, "sliding_window": 5}

check_kept = Function(
    "`kept(config, tokens)`, from the fields of a config.json and a number of tokens to the bytes "
    "of keys and values, at 2 bytes a number.",
    right=_kept, cases={
        "a head of keys for each head of queries": (_SIZES, 100),
        "shared heads": ({**_SIZES, "num_key_value_heads": 2}, 100),
        "a head_dim of its own": ({**_SIZES, "num_key_value_heads": 2, "head_dim": 10}, 100),
        "windows": ({**_SIZES, **_TURNS, "num_key_value_heads": 2}, 100),
        "a text shorter than the window": ({**_SIZES, **_TURNS, "num_key_value_heads": 2}, 3),
    }, mistakes={
        "heads of queries are not kept: num_key_value_heads counts those of keys and values":
            lambda config, n: _kept(config, n, heads="num_attention_heads"),
        "a head is head_dim wide where the file has this field":
            lambda config, n: _kept({k: v for k, v in config.items() if k != "head_dim"}, n),
        "there is a key and a value": lambda config, n: _kept(config, n, parts=1),
        "a sliding_attention layer keeps the window alone":
            lambda config, n: _kept(config, n, windows=False),
        "a short text does not fill the window": lambda config, n: _kept(config, n, capped=False),
        "the token that reads is the last one in the window, so one less is kept":
            lambda config, n: _kept(config, n, less=0),
    }, where="{when}: ", otherwise="{when}: got {got:g} bytes, which is not it",
    why="Not every file has num_key_value_heads, head_dim, layer_types or sliding_window.",
)  # fmt: skip


def _kinds(config: Config, *, first: int = 1, listed: bool = True, every: bool = True) -> list[str]:
    layers = config["num_hidden_layers"]
    if listed and config.get("layer_types"):
        return list(config["layer_types"])
    step = config.get("sliding_window_pattern") if every else None
    others = "sliding_attention" if step else "full_attention"
    return ["full_attention" if step and (i + first) % step == 0 else others for i in range(layers)]


_GEMMA = {"num_hidden_layers": 8, "sliding_window": 1024, "sliding_window_pattern": 3}

check_layer_kinds = Function(
    "`layer_kinds(config)`, from the fields of a config.json to a list with a word for each layer, "
    '"full_attention" or "sliding_attention".',
    right=_kinds, cases={
        "a file with a pattern": (_GEMMA,),
        "a file with both": ({**_GEMMA, "layer_types": ["sliding_attention"] * 8},),
        "a file whose layer_types is null": ({**_GEMMA, "layer_types": None},),
        "a file with neither": ({"num_hidden_layers": 4},),
    }, mistakes={
        "the pattern is not read: every layer counts as full":
            lambda config: _kinds(config, every=False),
        "the full layer is the last of each group, not the first":
            lambda config: _kinds(config, first=0),
        "where the file has layer_types, they count": lambda config: _kinds(config, listed=False),
        "a field that is null is as good as none":
            lambda config: config.get("layer_types", _kinds(config)),
    }, where="{when}: ", otherwise="{when}: got {got}, wanted {wanted}",
    why="Not every file has layer_types or sliding_window_pattern.",
)  # fmt: skip
