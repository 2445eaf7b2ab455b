"""Keys and values of the tokens so far: a decoding step then projects its own token alone.

`KVCache` keeps them in memory that is allocated once. `PagedCache` keeps them in blocks that are
handed out on demand, `EightBitCache` in eight bits.
"""

import companion.needs_torch  # noqa: F401
from companion.cache.eight_bit import EightBitCache
from companion.cache.kv import KVCache
from companion.cache.paged import BlockPool, PagedCache

__all__ = ["BlockPool", "EightBitCache", "KVCache", "PagedCache"]
