"""How hard attention learns: cells are drawn, and those of good captions become more likely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from companion.contracts import contract
from companion.models.vision.captioner import Captioner, CaptionOutput

if TYPE_CHECKING:
    from companion.data.images import CaptionBatch


@contract()
def log_probability(output: CaptionOutput, batch: CaptionBatch) -> Tensor:
    """Return the log-probability of every caption, (b,), in nats.

    Args:
        output: what the model makes of the batch.
        batch: pictures and captions.
    """
    log_probs = torch.log_softmax(output.logits, -1)
    words = log_probs.gather(-1, batch.target_out[..., None])[..., 0]
    return words.where(batch.target_mask, 0).sum(1)


@contract(
    reward=">= 0",
    entropy=">= 0",
    blended=">= 0 and <= 1",
    memory=">= 0 and <= 1",
)
class Reinforce:
    """The loss of hard attention, whose gradient is estimated (Xu et al., 2015, section 4.1).

    With s the cells that were drawn, y the caption, a the picture, its negative gradient is

        grad log p(y | s, a) + reward (log p(y | s, a) - b) grad log p(s | a) + entropy grad H[s]

    averaged over captions and divided by the words of one, so that learning rates are those of
    `Captioner.loss`. This is REINFORCE (Williams, 1992) with a moving average b of log p(y | s, a)
    as baseline. With a chance, a picture's annotations are blended instead of drawn, for all its
    words; it then has no second term.

    The object is a loss function that keeps its baseline from call to call.

    Args:
        reward: weight of the second term.
        entropy: weight of the entropy of the attention weights, in nats, summed over the words.
        blended: the chance that a picture is seen as by soft attention.
        memory: share of the old baseline in the new.

    Attributes:
        baseline: the present b; None before the first call.
    """

    def __init__(
        self,
        *,
        reward: float = 1.0,
        entropy: float = 0.01,
        blended: float = 0.5,
        memory: float = 0.9,
    ) -> None:
        self.reward, self.entropy, self.blended = reward, entropy, blended
        self.memory = memory
        self.baseline: float | None = None

    @contract()
    def __call__(self, model: Captioner, batch: CaptionBatch) -> Tensor:
        """Draw cells for a batch, and return the loss.

        Args:
            model: with hard attention.
            batch: pictures and captions.
        """
        if model.config.attention != "hard":
            came = model.config.attention
            raise ValueError(
                f"model: got one with {came} attention, wanted hard"
            )
        blended = torch.rand(len(batch.images)) < self.blended

        def draw(position: int, weights: Tensor) -> Tensor:
            cells = torch.multinomial(weights.detach(), 1)[:, 0]
            return cells.where(~blended, -1)

        output = model(batch.images, batch.target_in, choose=draw)
        fit = log_probability(output, batch)
        mean = float(fit.detach().mean())
        if self.baseline is None:
            self.baseline = mean
        log_weights = torch.log(output.weights.clamp(min=1e-12))
        cells, words = output.cells, batch.target_mask
        chosen = log_weights.gather(-1, cells.clamp(min=0)[..., None])[..., 0]
        chosen = chosen.where((cells >= 0) & words, 0).sum(1)
        entropy = -(output.weights * log_weights).sum(-1)
        entropy = entropy.where(words, 0).sum(1)
        gain = fit.detach() - self.baseline
        total = fit + self.reward * gain * chosen + self.entropy * entropy
        self.baseline = self.memory * self.baseline + (1 - self.memory) * mean
        return -total.sum() / batch.target_mask.sum()
