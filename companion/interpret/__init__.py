"""What attention weights explain: get them, replace them, delete words, follow them upwards.

`weights_of_rows` computes the weights that a fused kernel does not keep.

Weights are replaced by `erased`, `permuted_weights`, `uniform_weights` or `adversarial_weights`;
what a model then says is a `Read`: a function from weights to distributions. `leave_one_out`
deletes words instead. `total_variation`, `jensen_shannon` and `flipped` say what changed,
`kendall_tau` and `top_agreement` whether two rankings of the words agree.
"""

import companion.needs_torch  # noqa: F401
from companion.interpret.adversary import adversarial_weights
from companion.interpret.agreement import kendall_tau, top_agreement
from companion.interpret.deletion import leave_one_out
from companion.interpret.divergence import (
    flipped,
    jensen_shannon,
    total_variation,
)
from companion.interpret.fused import weights_of_rows
from companion.interpret.replace import (
    erased,
    other_places,
    permuted_weights,
    top_places,
    uniform_weights,
)
from companion.interpret.rollout import attention_rollout, cross_rollout
from companion.interpret.words import Read, classifier_read, translator_read

__all__ = [
    "Read", "adversarial_weights", "attention_rollout", "classifier_read", "cross_rollout",
    "erased", "flipped", "jensen_shannon", "kendall_tau", "leave_one_out", "other_places",
    "permuted_weights", "top_agreement", "top_places", "total_variation", "translator_read",
    "uniform_weights", "weights_of_rows",
]  # fmt: skip
