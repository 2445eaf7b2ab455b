"""Norms that stand elsewhere than the text says."""

from torch import Tensor

from bookkit.museum.exhibit import Exhibit, seeded, two_inputs
from companion.conformance import check_norm_order
from companion.models.transformer import TransformerConfig
from companion.models.transformer.blocks import Block
from companion.models.transformer.config import NormOrder


def block_of(order: NormOrder, e: int = 8) -> Block:
    """Make a block whose weights do not depend on the order of its norms."""
    config = TransformerConfig(
        vocab_size=2, embed_dim=e, num_heads=2, norm_order=order, dropout_p=0.0
    )
    block: Block = seeded(lambda: Block(config))
    return block


def said_post_is_pre(x: Tensor) -> Tensor:
    """Normalise the sum, says the text. The code normalises what goes in."""
    return block_of("pre", x.shape[-1])(x).x


NORMS = (
    Exhibit(
        "before or after", "The text normalises after the sum, the code before the sub-layer",
        broken=said_post_is_pre, sound=lambda x: block_of("post")(x).x,
        check=lambda block: check_norm_order(block, two_inputs()[0], "post"),
        hint=r"the code is x \+ f\(norm\(x\)\), the text says norm",
        threads=("harvardnlp/annotated-transformer #1 #13 #92 #100 #110", "d2l-ai/d2l-en #803"),
    ),
)  # fmt: skip
