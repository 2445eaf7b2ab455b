"""FLOPs and bytes: counted by formula, and measured.

Formulas build nothing and run nothing. What they say is what `measure_flops`, `LiveBytes` and
`measure_saved_bytes` find, which run the code: no more than products of matrices in operations,
and in bytes no more than tensors.
"""

import companion.needs_torch  # noqa: F401
from companion.cost.counters import (
    LiveBytes,
    measure_flops,
    measure_saved_bytes,
)
from companion.cost.decoders import (
    TokenCost,
    layer_weights,
    outer_weights,
    token_cost,
)
from companion.cost.growth import (
    PowerLaw,
    crossover_length,
    fit_exponent,
    t_quantile,
)
from companion.cost.layers import (
    AttentionFlops,
    additive_flops,
    feed_forward_flops,
    linear_attention_flops,
    luong_flops,
    matmul_flops,
    multi_head_flops,
    recurrent_flops,
)
from companion.cost.pairs import (
    TiledFlops,
    band_pairs,
    tiled_flops,
    tiled_pairs,
)
from companion.cost.resident import peak_resident_bytes, resident_bytes
from companion.cost.roofline import (
    Roofline,
    StepCost,
    measure_roofline,
    step_cost,
)
from companion.cost.size import (
    array_bytes,
    feed_forward_saved_bytes,
    kv_cache_bytes,
    multi_head_saved_bytes,
)
from companion.cost.timing import cpu_seconds
from companion.cost.training import (
    TrainingBytes,
    training_bytes,
    training_flops,
)
from companion.cost.transformer import count_flops, count_parameters

__all__ = [
    "AttentionFlops", "LiveBytes", "PowerLaw", "Roofline", "StepCost", "TiledFlops", "TokenCost",
    "TrainingBytes", "additive_flops", "array_bytes", "band_pairs", "count_flops",
    "count_parameters", "cpu_seconds", "crossover_length", "feed_forward_flops",
    "feed_forward_saved_bytes", "fit_exponent", "kv_cache_bytes", "layer_weights",
    "linear_attention_flops", "luong_flops", "matmul_flops", "measure_flops", "measure_roofline",
    "measure_saved_bytes", "multi_head_flops", "multi_head_saved_bytes", "outer_weights",
    "peak_resident_bytes", "recurrent_flops", "resident_bytes", "step_cost", "t_quantile",
    "tiled_flops", "tiled_pairs", "token_cost", "training_bytes", "training_flops",
]  # fmt: skip
