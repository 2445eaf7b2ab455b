"""Keys and values in memory that is allocated once."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.contracts import contract


@contract(
    batch_size=">= 1", num_kv_heads=">= 1", max_len=">= 1", head_dim=">= 1", window=">= 1",
    value_dim=">= 1",
)  # fmt: skip
class KVCache:
    """Keep the keys and values of one self-attention layer in memory that is allocated once.

    Without a window the position of a token is its slot. With one the slots are a ring: a token
    takes the slot of the one `window` positions before it, and keys come back slot by slot.
    Attention itself does not mind the order; `key_positions` says it to masks and biases.

    Prompts of unequal length are padded at the end, and `update` is told their `lengths`. The next
    token of a sequence takes the slot of its padding, so every sequence has the positions that it
    would have alone. Attention must leave out keys that stand behind their query, which a causal
    mask with `offset=cache.offset`, taken before the update, does.

    Gradients are exact: where new keys or values need them, the memory is copied at every update
    instead of written into. Where queries alone need them, because the projections of keys and
    values are frozen, torch refuses the backward: clone what `update` returns. Generate under
    `torch.no_grad()`.

    Args:
        batch_size: number of sequences b.
        num_kv_heads: number of key and value heads g.
        max_len: most tokens in a sequence; None means any number, and wants a window.
        head_dim: width d of a key.
        window: keep that many tokens, the latest, and no others.
        value_dim: width v of a value; None means that of a key.
        device: where the memory is.
        dtype: what it holds; None means torch's default.

    Raises:
        ValueError: neither max_len nor window.

    >>> import torch
    >>> cache = KVCache(batch_size=1, num_kv_heads=2, max_len=5, head_dim=3)
    >>> keys, values = cache.update(torch.ones(1, 2, 4, 3), torch.ones(1, 2, 4, 3))
    >>> keys.shape, cache.length
    (torch.Size([1, 2, 4, 3]), 4)
    """

    def __init__(
        self,
        batch_size: int,
        num_kv_heads: int,
        max_len: int | None,
        head_dim: int,
        *,
        window: int | None = None,
        value_dim: int | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                f"dtype: got {dtype}, wanted a real floating dtype"
            )
        limits = [limit for limit in (max_len, window) if limit is not None]
        if not limits:
            raise ValueError(
                "max_len: got None without a window, wanted a whole number"
            )
        self.batch_size = batch_size
        self.num_kv_heads = num_kv_heads
        self.head_dim = head_dim
        self.value_dim = head_dim if value_dim is None else value_dim
        self.max_len, self.window = max_len, window
        # Zeros: what is masked still meets a weight of zero, and zero times NaN would be NaN.
        shape = batch_size, num_kv_heads, min(limits)
        self._key = torch.zeros(*shape, head_dim, device=device, dtype=dtype)
        self._value = torch.zeros(
            *shape, self.value_dim, device=device, dtype=dtype
        )
        self._length = 0
        self._changes = 0
        self._lengths: Tensor | None = None
        self._positions: Tensor | None = None

    @property
    def length(self) -> int:
        """Number of tokens in each sequence, padding included: no sequence has more."""
        return self._length

    @property
    def dtype(self) -> torch.dtype:
        """What it stores."""
        return self._key.dtype

    @property
    def device(self) -> torch.device:
        """Where the memory is."""
        return self._key.device

    @property
    def changes(self) -> int:
        """How often it was updated, reordered or reset: who remembers it sees a later change."""
        return self._changes

    @property
    def lengths(self) -> Tensor:
        """Number of tokens in each sequence without the padding, (b,)."""
        if self._lengths is not None:
            return self._lengths
        return torch.full(
            self._key.shape[:1], self._length, device=self._key.device
        )

    @property
    def offset(self) -> int | Tensor:
        """Position of the next token: `length`, or `lengths` once they were given to `update`."""
        return self._length if self._lengths is None else self._lengths

    @property
    def key_positions(self) -> Tensor:
        """Positions of the keys that `update` returned last, (k,) or (b, k); below 0 is no key."""
        if self._positions is not None:
            return self._positions
        if self.window is not None:
            return self._positions_in_ring(self._length)[: self._length]
        return torch.arange(self._length, device=self._key.device)

    def query_positions(self, q_len: int) -> Tensor:
        """Return the positions of the next q_len tokens, (q,), or (b, q) after unequal lengths."""
        steps = torch.arange(q_len, device=self._key.device)
        return steps + (
            self._length if self._lengths is None else self._lengths[:, None]
        )

    @contract(
        matching="_key", key="batch_size num_kv_heads n head_dim",
        value="batch_size num_kv_heads n value_dim", lengths="integers: batch_size",
    )  # fmt: skip
    def update(
        self, key: Tensor, value: Tensor, *, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Store the next tokens, and return what their queries may attend to.

        Args:
            lengths: how many of the n tokens of each sequence are real, from 0 to n; the rest, at
                the end, is padding. None means all.

        Returns:
            Keys (b, g, k, d) and values (b, g, k, v). Without a window these are all tokens so far.
            With one they are those that the ring held and the n new ones; for one new token, the
            ring. They may be views of the cache, good until its next change.

        Raises:
            ValueError: more tokens than max_len.
        """
        if (
            self.max_len is not None
            and self._length + key.shape[2] > self.max_len
        ):
            raise ValueError(
                f"key: got {key.shape[2]} tokens after {self._length}, "
                f"wanted at most {self.max_len} in all, the cache's max_len"
            )
        self._changes += 1
        count = key.shape[2]
        end = (
            self.offset + count if lengths is None else self.lengths + lengths
        )
        self._positions = None
        if self.window is not None and (count != 1 or isinstance(end, Tensor)):
            held = self._positions_in_ring(self.offset)[..., : self._length]
            self._positions = torch.cat(
                (held, self.query_positions(count)), dim=-1
            )
        self._key, keys = self._stored(self._key, key, end)
        self._value, values = self._stored(self._value, value, end)
        self._length += count
        self._lengths = end if isinstance(end, Tensor) else None
        return keys, values

    @contract(indices="integers: batch_size", matching="_key")
    def reorder(self, indices: Tensor) -> None:
        """Let sequence i go on from what sequence indices[i] was, as a beam search chose."""
        self._changes += 1
        held = slice(0, self._length)
        self._key = _written(
            self._key, self._key[:, :, held].index_select(0, indices), 0
        )
        self._value = _written(
            self._value, self._value[:, :, held].index_select(0, indices), 0
        )
        if self._lengths is not None:
            self._lengths = self._lengths.index_select(0, indices)

    @contract(length=">= 0")
    def cut(self, length: int) -> None:
        """Forget all tokens but the first `length`: another text begins with the same ones.

        Raises:
            ValueError: more than there are, a ring, or sequences of unequal length.
        """
        if self.window is not None or self._lengths is not None:
            kind = "unequal lengths" if self.window is None else "a window"
            raise ValueError(
                f"length: got {length} for a cache with {kind}, wanted one with neither"
            )
        if length > self._length:
            raise ValueError(
                f"length: got {length}, wanted at most {self._length}, the cache's"
            )
        self._changes += 1
        forgotten = slice(length, self._length)
        self._key, self._value = (
            _written(x, torch.zeros_like(x[:, :, forgotten]), length)
            for x in (self._key, self._value)
        )
        self._length = length

    def reset(self) -> None:
        """Forget all tokens."""
        self._changes += 1
        self._key, self._value = _emptied(self._key), _emptied(self._value)
        self._length, self._lengths, self._positions = 0, None, None

    def _stored(
        self, memory: Tensor, new: Tensor, end: int | Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the memory with the new tokens in it, and what their queries may attend to."""
        if self._positions is not None:
            seen = torch.cat((memory[:, :, : self._length], new), dim=2)
            return self._turned(memory, new, end), seen
        if self._lengths is None:
            memory = _written(memory, new, self._length % memory.shape[2])
        else:
            slots = self.query_positions(new.shape[2])
            memory = _scattered(memory, new, slots)
        return memory, memory[:, :, : self._length + new.shape[2]]

    def _turned(self, ring: Tensor, new: Tensor, end: int | Tensor) -> Tensor:
        """Return the ring after the new tokens: a slot takes its latest, or stays as it was."""
        if new.shape[2] == 0:
            return ring
        index = self._positions_in_ring(end) - self.query_positions(1)
        index = index.reshape(-1, 1, ring.shape[2], 1)
        latest = torch.take_along_dim(new, index.clamp(min=0), dim=2)
        return torch.where(index >= 0, latest, ring)

    def _positions_in_ring(self, end: int | Tensor) -> Tensor:
        """Return the position of each slot's token when the next has position `end`."""
        slots = self._key.shape[2]
        last = end[:, None] - 1 if isinstance(end, Tensor) else end - 1
        each = torch.arange(slots, device=self._key.device)
        return last - (last - each) % slots


def _written(memory: Tensor, new: Tensor, start: int) -> Tensor:
    """Return the memory with new tokens from slot `start` on."""
    end = start + new.shape[2]
    if _needs_gradients(memory, new):
        return memory.slice_scatter(new, 2, start, end)
    memory[:, :, start:end] = new
    return memory


def _scattered(memory: Tensor, new: Tensor, slots: Tensor) -> Tensor:
    """Return the memory with new tokens in the slots (b, n)."""
    index = slots[:, None, :, None].expand_as(new)
    if _needs_gradients(memory, new):
        return memory.scatter(2, index, new)
    return memory.scatter_(2, index, new)


def _emptied(memory: Tensor) -> Tensor:
    return torch.zeros_like(memory) if memory.requires_grad else memory.zero_()


def _needs_gradients(memory: Tensor, new: Tensor) -> bool:
    """Say whether writing in place would spoil a backward pass."""
    return memory.requires_grad or (
        torch.is_grad_enabled() and new.requires_grad
    )
