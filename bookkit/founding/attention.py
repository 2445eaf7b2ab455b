"""The founding notebook's attention layer in its own lines, and the same layer with repairs.

In shapes, `b` is phrases, `k` letters that the encoder read, `q` steps of the decoder, `d` width.
"""

from math import inf

import torch
from torch import Tensor, nn

from bookkit.founding.names import tf

# The pages show these lines in a narrow column, so they are broken at other places than elsewhere.
# fmt: off


class FoundingAttention(nn.Module):
    """The notebook's layer: its statements are those of the notebook, word by word.

    Args:
        width: `d` of the letters' states and of the decoder's.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        # Keras's "random_normal" has a standard deviation of 0.05.
        self.W_a = nn.Parameter(0.05 * torch.randn(width, width))
        self.U_a = nn.Parameter(0.05 * torch.randn(width, width))
        self.V_a = nn.Parameter(0.05 * torch.randn(width, 1))

    def score(self, encoder_output: Tensor, decoder_output: Tensor) -> Tensor:
        """Add letters (b, k, d) and steps (b, q, d): right if `q` is 1, or `k`."""
        score = tf.nn.tanh(
            tf.tensordot(encoder_output, self.W_a,
                         axes=[2, 0]) +
            tf.tensordot(decoder_output, self.U_a,
                         axes=[2, 0]))
        return score

    def weigh(self, score: Tensor) -> Tensor:
        """Give the weights (b, k, 1) of letters from what `score` gives."""
        attention_weights = tf.nn.softmax(
            tf.tensordot(score, self.V_a,
                         axes=[2, 0]), axis=1)
        return attention_weights

    def blend(self, attention_weights: Tensor, encoder_output: Tensor) -> Tensor:
        """Give one context (b, d) for the whole phrase."""
        context_vector = attention_weights * encoder_output
        context_vector = tf.reduce_sum(context_vector, axis=1)
        return context_vector

    def forward(self, encoder_output: Tensor, decoder_output: Tensor) -> tuple[Tensor, Tensor]:
        """Give what the notebook calls `context_vector` and `attention_weights`."""
        attention_weights = self.weigh(self.score(encoder_output, decoder_output))
        return self.blend(attention_weights, encoder_output), attention_weights


class RepairedAttention(FoundingAttention):
    """The same layer with an axis for the steps and one for the letters."""

    def score(self, encoder_output: Tensor, decoder_output: Tensor) -> Tensor:
        """Add every letter (b, k, d) to every step (b, q, d), which gives (b, q, k, d)."""
        score = tf.nn.tanh(
            tf.tensordot(encoder_output, self.W_a,
                         axes=[2, 0])[:, None] +
            tf.tensordot(decoder_output, self.U_a,
                         axes=[2, 0])[:, :, None])
        return score

    def weigh(self, score: Tensor) -> Tensor:
        """Give, at every step, the weights of the letters (b, q, k, 1)."""
        attention_weights = tf.nn.softmax(
            tf.tensordot(score, self.V_a,
                         axes=[3, 0]), axis=2)
        return attention_weights

    def weigh_letters(self, score: Tensor, is_letter: Tensor) -> Tensor:
        """Give padding a weight of 0: `is_letter` (b, k) is False there."""
        score = tf.tensordot(score, self.V_a,
                             axes=[3, 0])
        score = tf.where(
            is_letter[:, None, :, None],
            score, -inf)
        attention_weights = tf.nn.softmax(
            score, axis=2)
        return attention_weights

    def blend(self, attention_weights: Tensor, encoder_output: Tensor) -> Tensor:
        """Give a context for every step (b, q, d)."""
        context_vector = attention_weights * encoder_output[:, None]
        context_vector = tf.reduce_sum(context_vector, axis=2)
        return context_vector
