"""Count what a call does: operations as they are dispatched, and bytes as they come and go."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import (
    FlopCounterMode,
    sdpa_backward_flop_count,
    sdpa_flop_count,
)

Shape = tuple[int, ...]


def measure_flops(call: Callable[[], object]) -> int:
    """Return the floating-point operations of the matrix products that a call does.

    They are those of `torch.utils.flop_counter`: 2 m k n for a product of (m, k) and (k, n). Norms,
    softmax, activations and whatever else works element by element count nothing. Two things are
    done so that no product is missed:

    - Fused attention and oneDNN's LSTM, of which the counter sees nothing on the CPU, are put
      aside: the call takes the kernels that are made of products.
    - Products of a matrix and a vector, those that are added to a sum in place, and those inside
      the operator of `tiled_attention`, for which torch's counter has no formula, count too. Where
      the operator is causal, all pairs count, as they do in torch's formula for a GPU.

    On "meta" tensors nothing is computed, and a model of any size is counted in no time.

    Args:
        call: what is counted, a backward pass in it included.

    >>> weight, x = torch.ones(5, 7), torch.ones(3, 5)
    >>> measure_flops(lambda: x @ weight), measure_flops(lambda: x @ weight[:, 0])
    (210, 30)
    """
    counter = FlopCounterMode(display=False, custom_mapping=_MISSED)
    with sdpa_kernel(SDPBackend.MATH), _without_onednn(), counter:
        call()
    return int(counter.get_total_flops())


class LiveBytes(TorchDispatchMode):
    """Count the bytes of the tensors that are made inside, while they live, and their peak.

    A tensor counts as its storage does: views add nothing, and a storage counts until the last
    tensor, view or saved value that holds it is gone. What an operation takes for itself and gives
    back before it returns is not seen, nor is what was there before.

    Attributes:
        live: bytes now.
        peak: most bytes at once so far.

    >>> with LiveBytes() as count:
    ...     x = torch.zeros(5, 7)
    ...     y = x.T + 1
    ...     del x
    >>> count.live, count.peak
    (140, 280)
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.live = self.peak = 0
        self._sizes: dict[int, int] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run an operation, and count what it made."""
        # What torch.tensor has just made.
        lifted = func is torch.ops.aten.lift_fresh.default
        given = () if lifted else _tensors((args, kwargs))
        known = {_storage(tensor)._cdata for tensor in given}
        made = func(*args, **(kwargs or {}))
        for tensor in _tensors(made):
            self._watch(tensor, known)
        return made

    def _watch(self, tensor: Tensor, known: set[int]) -> None:
        storage = _storage(tensor)
        key = storage._cdata
        if key in known or key in self._sizes:
            return
        self._sizes[key] = storage.nbytes()
        self.live += storage.nbytes()
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._forget, key).atexit = False

    def _forget(self, key: int) -> None:
        self.live -= self._sizes.pop(key)


def measure_saved_bytes(
    call: Callable[[], object], module: nn.Module | None = None
) -> int:
    """Return the bytes that a forward pass keeps for its backward pass.

    A storage counts a single time, however many operations save it.

    Args:
        call: the forward pass.
        module: its parameters are left out, which are there with and without a backward pass.

    >>> x = torch.ones(5, 7, requires_grad=True)
    >>> measure_saved_bytes(lambda: x.exp()), measure_saved_bytes(lambda: x + 1)
    (140, 0)
    """
    parameters = () if module is None else module.parameters()
    own = {_storage(parameter)._cdata for parameter in parameters}
    # A reference dies when the graph lets go of its tensor.
    packed: list[weakref.ref[Tensor]] = []

    def pack(tensor: Tensor) -> Tensor:
        # A tensor with its history would hold the graph itself.
        saved = tensor.data
        packed.append(weakref.ref(saved))
        return saved

    with saved_tensors_hooks(pack, lambda saved: saved):
        # Held: what nobody can call backward on any more is not kept.
        result = call()
    saved = (tensor for one in packed if (tensor := one()) is not None)
    kept = {storage._cdata: storage for storage in map(_storage, saved)}
    del result
    return sum(one.nbytes() for key, one in kept.items() if key not in own)


def _attention(
    query: Shape, key: Shape, value: Shape, *_: object, **__: object
) -> int:
    return int(sdpa_flop_count(query, key, value))  # type: ignore[no-untyped-call]


def _attention_backward(grad: Shape, *shapes: Shape, **_: object) -> int:
    return int(sdpa_backward_flop_count(grad, *shapes[:3]))  # type: ignore[no-untyped-call]


def _product(left: Shape, right: Shape, *_: object, **__: object) -> int:
    return 2 * prod(left) * prod(right[-1:] if len(right) > 1 else ())


def _sum_and_product(
    _: Shape, left: Shape, right: Shape, *__: object, **___: object
) -> int:
    return _product(left, right)


_MISSED: dict[Any, Any] = {
    torch.ops.aten.mv: _product,
    torch.ops.aten.dot: _product,
    torch.ops.aten.addmv: _sum_and_product,
    torch.ops.aten.addmm_: _sum_and_product,
    torch.ops.aten.baddbmm_: _sum_and_product,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
}
"""Products for which torch's counter has no formula."""


@contextmanager
def _without_onednn() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TF32 acceleration", UserWarning)
        with torch.backends.mkldnn.flags(enabled=False):
            yield


def _tensors(tree: object) -> Iterable[Tensor]:
    return (leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor))


def _storage(tensor: Tensor) -> torch.UntypedStorage:
    return tensor.untyped_storage()
