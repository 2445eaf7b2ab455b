"""What is unusual about each architecture, in a few sentences whose numbers come from its spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bookkit.atlas.kinds import kind_of, parts_of
from bookkit.atlas.rows import AtlasRow
from companion.models.atlas.specs import ModelSpec

UNUSUAL: Mapping[str, str] = {
    "llama": "This is the plain form from which nearly all others here start: grouped heads of"
    " keys and values, rotary positions in every layer, an RMS norm before each part. In the"
    " default configuration all {num_heads} heads keep keys and values of their own.",
    "mistral": "Every layer has a window of {window:,} tokens, so the cache stops growing at that"
    " length. A token can still learn of earlier ones, because each layer reads what the layer"
    " below has already gathered.",
    "ministral3": "It multiplies queries by a factor that grows with the logarithm of their"
    " position, a step at every {length_step:,} tokens, so that the softmax stays sharp when there"
    " are many keys. Its rotary frequencies are stretched by YaRN.",
    "qwen2": "The projections to queries, keys and values have biases and the output projection"
    " has none. The rest is Llama.",
    "qwen3": "It took the biases of Qwen2 away and put a norm on queries and keys in their place,"
    " one head at a time and before the rotation, which bounds how large a score can become.",
    "smollm3": "Every fourth layer, {still} of {layers}, has no positions at all: there only the"
    " causal mask tells tokens apart. The library's file calls these layers NoPE.",
    "olmo2": "The norms stand after each part instead of before it, inside the residual branch, so"
    " the stream itself is never normalised before it is read. Queries and keys get a norm over"
    " all heads together, where most others norm each head by itself.",
    "olmo3": "It is OLMo 2 with a window of {window:,} tokens in {windows} of its {layers} layers:"
    " three windows, then one layer that reads everything.",
    "exaone4": "Layers with a window have rotary positions, and the full layers between them have"
    " none. So order is a local matter, and what is far away is found by what it says. The norms"
    " stand after each part, as in OLMo 2.",
    "granite": "Four factors are set by hand where others have fixed ones: on the embeddings, on"
    " the scores in place of one over the root of the width, on every residual branch, and on the"
    " logits.",
    "cohere2": "Attention and feed-forward run side by side: both read the same LayerNorm, and"
    " both results are added. Windows of {window:,} tokens have rotary positions, and every fourth"
    " layer reads everything and has none.",
    "gemma2": "Scores are bounded by {softcap:g} through a hyperbolic tangent, and so are the"
    " logits, by {logit_softcap:g}. Windows and full layers alternate, and every part has a norm"
    " before it and another after it.",
    "gemma3_text": "It gave up the bound on the scores of Gemma 2 and put a norm on queries and"
    " keys. Only {full} of {layers} layers read everything, and those turn with a base of"
    " {base_full:,.0f}, the windows with {base_window:,.0f}, because slow rotations tell distances"
    " apart over a longer text.",
    "mixtral": "Its attention is Mistral's. What was new stands beside it: each token passes"
    " through {experts_per_token} of {num_experts} feed-forward layers, which a router chooses.",
    "qwen3_moe": "Its attention is that of Qwen3, with only {num_kv_heads} heads of keys and"
    " values for {num_heads} query heads. Every layer has {num_experts} small experts, of which a"
    " token uses {experts_per_token}.",
    "gpt_oss": "Each head has a learned sink: a score that belongs to no token and takes its share"
    " of the softmax, so a head may attend to almost nothing. Every second layer has a window of"
    " only {window:,} tokens, and all projections have biases again.",
    "gpt_neox": "Attention and feed-forward run side by side, and each has a LayerNorm of its own."
    " Only {width} of the {head_dim} numbers of a head are rotated.",
    "cohere": "Attention and feed-forward read the same LayerNorm and run side by side. The"
    " rotation pairs neighbouring numbers of a head, and the logits are multiplied by"
    " {logit_scale:g}.",
    "gemma": "Its heads are wide, {num_heads} of {head_dim} numbers each, so together they are"
    " wider than the stream of {embed_dim:,} that they read. The embeddings are multiplied by the"
    " square root of that width, and they also score the next word.",
    "glm": "Only {num_kv_heads} heads of keys and values serve {num_heads} query heads, which"
    " makes its cache one of the smallest without a window. Half of a head's width is rotated, in"
    " neighbouring pairs.",
    "glm4": "It is GLM with four norms in a layer instead of two: each part has one before it and"
    " one after it, inside the residual branch.",
    "granitemoe": "It is Granite with experts: each token uses {experts_per_token} of"
    " {num_experts}, and their weights are a softmax over the chosen ones alone.",
    "granitemoeshared": "It is Granite's model with experts, and it has room for one more expert"
    " that every token uses. In the default configuration that expert has no width, so it is left"
    " out.",
    "helium": "Kyutai's small model keeps to Llama's form. The rotation pairs neighbouring numbers"
    " of a head where Llama pairs its two halves.",
    "nemotron": "The feed-forward layer has no gate: it squares what passes a ReLU. The norms are"
    " LayerNorms whose gain is stored as its distance from one, and half of a head's width is"
    " rotated.",
    "olmo": "Its LayerNorms have nothing to learn: no gain and no bias. The rest is Llama.",
    "olmoe": "Queries and keys get a norm over all heads together, and the feed-forward layer is"
    " divided into {num_experts} small experts, of which a token uses {experts_per_token}. The"
    " weights of the chosen ones are not brought back to a sum of one.",
    "phi3": "It is Llama's form with the three projections to queries, keys and values stored as"
    " one matrix. The default configuration has no window, and a published model may have one.",
    "qwen2_moe": "Beside {num_experts} experts, of which a token uses {experts_per_token}, there"
    " is a shared one that every token passes. What it gives is multiplied by a gate, one number"
    " for each token.",
    "stablelm": "A quarter of a head's width is rotated, and the norms are LayerNorms. Published"
    " models may run attention and feed-forward side by side.",
    "starcoder2": "All projections have biases and the feed-forward layer has no gate, as in"
    " GPT-2. Yet it has rotary positions, and only {num_kv_heads} heads of keys and values for"
    " {num_heads} query heads.",
    "afmoe": "What the heads gather is multiplied by a gate, the sigmoid of a projection of the"
    " layer's input, one number for each feature. Windows have rotary positions, and the full"
    " layers between them have none.",
    "apertus": "Its feed-forward layer has no gate and an activation whose two slopes are learned"
    " (xIELU). Queries and keys are normalised, a head at a time.",
    "arcee": "It is Llama with a simpler feed-forward layer: no gate, and the square of what"
    " passes a ReLU.",
    "cwm": "A full layer is followed by three windows of {window:,} tokens. Both kinds turn with"
    " the same frequencies, which are stretched as in Llama 3.",
    "dots1": "It joins parts of other families: norms on queries and keys as in Qwen3, and a"
    " router as in DeepSeek-V3, which chooses experts by a score with a correction that balances"
    " their load.",
    "ernie4_5": "It has few heads of keys and values, {num_kv_heads} for {num_heads} query heads,"
    " and a rotation that pairs neighbouring numbers. The embeddings also score the next word.",
    "ernie4_5_moe": "The first layer is dense, and the others have {num_experts} experts and a"
    " shared one. The router adds a stored correction to each score before it chooses, so that no"
    " expert is forgotten.",
    "flex_olmo": "It is OLMo 2 whose feed-forward layer is divided into {num_experts} experts, of"
    " which a token uses {experts_per_token}. The weights of the chosen ones are not brought back"
    " to a sum of one.",
    "glm4_moe": "Half of each head is rotated, queries and keys may have a norm, and the router is"
    " that of DeepSeek-V3: a sigmoid for each expert, and a stored correction that counts for the"
    " choice and not for the weight.",
    "hunyuan_v1_dense": "Queries and keys are normalised after they have been rotated, where"
    " nearly all others do it before.",
    "hunyuan_v1_moe": "It is the dense Hunyuan with experts and a shared one. In the default"
    " configuration there is a single expert, so the router has nothing to choose.",
    "jais2": "LayerNorms, biases on all projections and a feed-forward layer without a gate make"
    " it look like GPT-2. It is told positions by rotation, however, and squares what passes a"
    " ReLU.",
    "llama4_text": "Three layers in four cut the text into chunks of {chunk:,} tokens and let a"
    " token read its own chunk alone. The fourth reads everything, is told no positions, and"
    " multiplies its queries by a factor that grows with the length of the text.",
    "minimax_m2": "MiniMax has another architecture in which most layers are linear; in this one"
    " every layer reads everything. Queries and keys get a norm over all heads together, and a"
    " token uses {experts_per_token} of {num_experts} experts.",
    "ministral": "It is Mistral whose configuration can say for each layer whether it has a"
    " window. By default all {layers} have one.",
    "nanochat": "It is a small model to learn from: no norm has a gain, queries and keys are"
    " normalised after the rotation, and the embeddings are normalised before the first layer. The"
    " feed-forward layer squares what passes a ReLU, and the logits are bounded by"
    " {logit_softcap:g}.",
    "seed_oss": "It is a large plain model: {num_heads} query heads with {num_kv_heads} heads of"
    " keys and values in all {layers} layers. Biases stand on queries, keys and values.",
    "vaultgemma": "It is Gemma 2 without the norms behind the parts.",
    "cohere2_moe": "It is Cohere's second model with experts in place of the feed-forward layer."
    " Attention and experts still read the same LayerNorm and run side by side.",
    "exaone_moe": "Windows have rotary positions and full layers have none, as in EXAONE 4, but"
    " the norms are back before each part. The router is that of DeepSeek-V3.",
    "flint": "Each head has a learned sink. The full layers, {still} of {layers}, are told no"
    " positions, and the windows between them have rotary ones.",
    "gemma4_text": "Values are normalised, too, without a gain. Full layers have heads twice as"
    " wide, of which a quarter is rotated, and each layer also reads a vector that belongs to the"
    " token itself, looked up in a table of its own.",
    "granitemoe_swa": "It is Granite with experts and with windows of only {window} tokens in"
    " three layers of four. A learned sink in each head takes the weight that no token in the"
    " window deserves.",
    "granite_swa": "Three layers of four have a window of only {window} tokens, and each head has"
    " a learned sink. A configuration may take the positions away from single layers.",
    "hyperclovax": "It has Granite's hand-set factors on embeddings, scores, residual branches and"
    " logits, and a norm on both sides of each part.",
    "hy_v3": "Queries and keys are normalised a head at a time, and the rotation is very slow at"
    " its far end, with a base of {base_full:,.0f}. The first layer is dense; the others have"
    " {num_experts} experts and a shared one.",
    "kolibri1": "Four windows are followed by one full layer that is told no positions. Each layer"
    " has {num_experts} small experts, of which a token uses {experts_per_token}, and a shared"
    " one.",
    "laguna": "Each head is multiplied by a gate of its own, which passes through a softplus and"
    " so may be larger than one. A configuration can give each layer another number of query"
    " heads.",
    "internlm3": "The library builds it with the class of Llama: it has the same form, with"
    " {num_kv_heads} heads of keys and values for {num_heads} query heads. Only the numbers"
    " differ.",
    "iquestcoder": "The library builds it with the class of Llama, so it has the same form. Only"
    " the numbers differ: {layers} layers, {num_heads} query heads, {num_kv_heads} heads of keys"
    " and values.",
    "mellum": "It has norms on queries and keys, as Qwen3 has, and {num_experts} small experts, of"
    " which a token uses {experts_per_token}. A configuration can say for each layer whether it"
    " has a window and whether it has experts.",
    "mimo_v2_flash": "Most layers have a window of {window} tokens, and only these have a learned"
    " sink in each head. Values are narrower than keys, {value_dim} numbers against {head_dim},"
    " and a third of a key is rotated.",
    "solar_open": "Its attention is plain. Each layer has {num_experts} experts and a shared one,"
    " chosen by the router of DeepSeek-V3.",
    "diffllama": "Heads come in pairs, and what the second of a pair attends to is subtracted from"
    " what the first attends to, times a learned factor. Weight that both waste on the same token"
    " cancels.",
    "muse_glimmer": "Queries and keys are normalised without a gain, and what the heads gather is"
    " multiplied by a gate. Three windows of {window:,} tokens are followed by one full layer that"
    " is told no positions, with only {num_kv_heads} heads of keys and values for {num_heads}"
    " query heads.",
    "muse_spark": "It normalises nearly everything: queries and keys, what each head gathers, and"
    " both sides of every part. Full layers, {still} of {layers}, are told no positions, and a"
    " gate multiplies what the heads gather.",
    "step3p7": "Each head is multiplied by a gate, one number that is computed from the layer's"
    " input. A configuration may give some layers a window and another number of heads.",
    "kimi_k25": "Its text model is DeepSeek-V3 with other sizes. It lies within a larger model"
    " that also reads pictures, which the atlas leaves out.",
    "deepseek_v2": "It keeps no keys and values. It keeps one short vector for each token and one"
    " rotated key that all heads share, and the keys and values of every head unfold from them.",
    "deepseek_v3": "It keeps one short vector of {latent_dim} numbers for each token and one"
    " rotated key of {rotary_dim} that all heads share; the keys and values of all {num_heads}"
    " heads unfold from them. The router chooses experts by a score with a stored correction,"
    " which balances their load.",
    "deepseek_v32": "It has the short vectors of DeepSeek-V3 and beside them an indexer, a second"
    " and much smaller attention that scores all tokens. The large attention then reads only the"
    " {count:,} tokens that score best.",
    "glm_moe_dsa": "It has DeepSeek's short vectors and its indexer, but only some layers run the"
    " indexer. The others take over the choice of the last layer that did, and keep no keys for"
    " it.",
    "glm4_moe_lite": "It is GLM with the short vectors and the router of DeepSeek-V3. The values"
    " of a head are wider than the part of a key that unfolds.",
    "axk1": "It is DeepSeek-V3 with one more norm, of what the chosen experts and the shared one"
    " give together. Dense layers have no such norm.",
    "youtu": "It is a small dense model with short vectors in place of keys and values, so short"
    " vectors are not tied to experts. The embeddings also score the next word.",
    "minicpm3": "It keeps short vectors in place of keys and values, and rotates halves of a head"
    " where DeepSeek rotates neighbours. Embeddings, residual branches and logits have fixed"
    " factors.",
    "mistral4": "Mistral took over the short vectors of DeepSeek. Queries are multiplied by a"
    " factor that grows with the logarithm of their position, a step at every {length_step:,}"
    " tokens.",
    "qwen3_next": "Three layers in four keep a state of fixed size (Gated DeltaNet): a step"
    " forgets a part of it and overwrites what is stored under its key. The fourth is full"
    " attention whose output passes a gate, with a quarter of each head rotated.",
    "qwen3_5_text": "Three layers with a state of fixed size (Gated DeltaNet) are followed by one"
    " of full attention, whose output passes a gate. Its positions have three axes, which are the"
    " same for a text.",
    "qwen3_5_moe_text": "It is Qwen3.5 with experts and a shared one, whose gate is one number for"
    " each token.",
    "olmo_hybrid": "Layers with a state of fixed size have their norms before each part, and"
    " layers of full attention behind it. A step may write up to twice the difference, which lets"
    " the state turn a value around.",
    "minimax": "Layers of full attention alternate with linear ones, whose heads forget at fixed"
    " rates (lightning attention). What a part gives is added to the normalised stream, not to the"
    " stream itself.",
    "lfm2": "A configuration says which layers have attention, and by default all of them do. The"
    " others have a short convolution between two gates, which sees only the last few tokens.",
    "lfm2_moe": "It is LFM2 with experts. Layers without attention have a short convolution"
    " between two gates, which sees only the last few tokens.",
    "lfm3": "Short convolutions stand between windows and {full} full layers, and each head of"
    " attention is multiplied by a gate. Full layers turn only half of their pairs.",
    "nemotron_h": "A layer is one part: attention, a state of fixed size (Mamba-2), or a"
    " feed-forward layer. Its layers of attention are told no positions.",
    "falcon_h1": "Attention and a state of fixed size (Mamba-2) stand side by side in every layer"
    " and read the same norm, and both results are added.",
    "bamba": "Layers keep a state of fixed size (Mamba-2), and a configuration may put full"
    " attention between them. The library's class has a fault: where nobody gives positions, its"
    " cached steps take every token for the first.",
    "granitemoehybrid": "Layers keep a state of fixed size (Mamba-2), and a configuration may put"
    " full attention between them, which is told no positions unless it asks for rotary ones.",
    "gemma4_unified_text": "It is the attention of Gemma 4 without the vectors of a token's own:"
    " values are normalised, too, and full layers have wider heads, of which a part is rotated.",
    "cohere_compass_text": "Attention and feed-forward read one norm and run side by side. Kinds"
    " of layers without a base for their frequencies are told no positions.",
    "phi": "Biases stand on all projections, attention and feed-forward read one LayerNorm side by"
    " side, and half of each head is rotated.",
    "beam": "Windows are rotated. Full layers are told no positions, and their queries are"
    " multiplied by a slowly growing power of the position.",
    "hy_v4": "The residual stream is four streams side by side. Each part reads a blend of"
    " them that"
    " the token itself weighs, and adds what it gives to each of them under a gate. Its attention"
    " has the short vectors of DeepSeek with an indexer that only some layers run, a learned"
    " sink in"
    " every head and a gate on every feature.",
    "minimax_m3_vl_text": "In its sparse layers every head of keys chooses whole blocks of tokens,"
    " by the best product that its queries find in a block, and the block of the query itself"
    " always counts. The scores rank blocks and do nothing else. What enters the products of its"
    " feed-forward layers is bounded as in gpt-oss.",
    "deepseek_v4": "It has a single head of keys, and the keys are the values, too. Near tokens are"
    " read one by one in a window of {window:,}, and far ones pooled in blocks, of which an indexer"
    " chooses some; all share one softmax, with sinks. Several residual streams are mixed by a"
    " matrix whose rows and columns each sum to one.",
    "kimi_linear": "In {states} of its {layers} layers a state forgets channel by channel,"
    " each at a"
    " rate that the token sets, and is corrected by the delta rule. The others attend to short"
    " vectors and have no positions at all.",
    "bailing_hybrid": "It is built as Kimi Linear is, with {latents} layers of latent attention to"
    " {states} recurrent ones. Its decays cannot fall below a floor, its latent attention has"
    " rotary positions, and every head of it has a gate.",
    "mamba2": "Nothing attends: every layer is Mamba-2 alone, without a feed-forward layer, so what"
    " it keeps of a text never grows. One number a head decides at each token how much is forgotten"
    " and how much is added.",
    "qwen3_5": "It is the text model of Qwen3.5 as the released files hold it, inside a model that"
    " also reads pictures. A text needs nothing of that part.",
    "qwen3_5_moe": "It is the text model of Qwen3.5 with experts, as the released files hold it,"
    " inside a model that also reads pictures. A text needs nothing of that part.",
}
"""By model_type, up to three sentences; a number in braces is one of `numbers_of`."""


def unusual(row: AtlasRow) -> str:
    """Return what is unusual about an architecture; nothing where nobody has written it.

    >>> from bookkit.atlas.rows import load_atlas
    >>> unusual(load_atlas().row("mistral")).partition(",")[0]
    'Every layer has a window of 4'
    """
    return UNUSUAL.get(row.model_type, "").format(**numbers_of(row.spec))


def numbers_of(spec: ModelSpec) -> dict[str, Any]:
    """Return the numbers of a specification by their names.

    Those of parts of a layer are of the first layer that has them; `windows`, `full`, `states` and
    `still` count layers by what they reach and those without positions.
    """
    found: dict[str, Any] = {"layers": len(spec.layers)}
    for part in ("embed_dim", "logit_softcap", "embedding_scale", "logit_scale"):
        found[part] = getattr(spec, part)
    for layer in spec.layers:
        for whole in (layer.mixer, layer.feed_forward):
            for name, value in parts_of(whole) if whole is not None else ():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    found.setdefault(name, value)
        length_scale = getattr(layer.mixer, "length_scale", None)
        if length_scale is not None:
            found["length_step"] = length_scale[1]
        rotary = getattr(layer.mixer, "rotary", None)
        if rotary is not None:
            found.setdefault(f"base_{kind_of(layer).reach}", rotary.base)
            found.setdefault(f"rotary_{kind_of(layer).reach}", rotary.width)
    reaches = [kind_of(layer).reach for layer in spec.layers]
    names = {"windows": "window", "states": "state", "latents": "latent", "indexed": "indexed"}
    counts = {name: reaches.count(reach) for name, reach in names.items()}  # type: ignore[arg-type]
    still = sum("without positions" in kind_of(layer).one for layer in spec.layers)
    shared = sum(layer.shares is not None for layer in spec.layers)
    return found | counts | {"full": reaches.count("full"), "still": still, "shared": shared}
