"""Known breaks: each changes one line of the package, and the named tests must notice.

To add one, append a `Mutant`: the old text must stand exactly once in its file. Keep the selection
small and, where it can be, free of torch: every mutant starts an interpreter of its own.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One break.

    Attributes:
        name: what is broken, in a word or two.
        file: the file under `companion/`.
        old: text that stands there exactly once.
        new: text that replaces it.
        tests: the test file under `tests/` that must fail.
        select: which of its tests to run, as for `pytest -k`.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str
    select: str = "numpy"


MUTANTS = [
    Mutant(
        "scale dropped",
        "scores.py",
        "scale = 1 / math.sqrt(query.shape[-1])",
        "scale = 1.0",
        "test_scores.py",
        "test_scaled_dot_score and numpy",
    ),
    Mutant(
        "scale by the number of keys",
        "scores.py",
        "scale = 1 / math.sqrt(query.shape[-1])",
        "scale = 1 / math.sqrt(key.shape[-2])",
        "test_scores.py",
        "test_scaled_dot_score and numpy",
    ),
    Mutant(
        "additive score without tanh",
        "scores.py",
        "activation = xp.tanh(projected_query[..., :, None, :] + key[..., None, :, :])",
        "activation = projected_query[..., :, None, :] + key[..., None, :, :]",
        "test_scores.py",
        "test_additive_score and numpy",
    ),
    Mutant(
        "bilinear score with its matrix transposed",
        "scores.py",
        "return dot_score(xp.matmul(query, weight), key)",
        "return dot_score(query, xp.matmul(key, weight))",
        "test_scores.py",
        "test_bilinear_score and numpy",
    ),
    Mutant(
        "causal offset with the wrong sign",
        "masks.py",
        "return places + _offset_column(",
        "return places - _offset_column(",
        "test_masks.py",
        "test_causal and numpy",
    ),
    Mutant(
        "the future allowed",
        "masks.py",
        "return key_place <= place",
        "return key_place >= place",
        "test_masks.py",
        "test_causal and numpy",
    ),
    Mutant(
        "left edge of the window off by one",
        "masks.py",
        "(place - left <= key_place)",
        "(place - left < key_place)",
        "test_masks.py",
        "window and numpy",
    ),
    Mutant(
        "right edge of the window off by one",
        "masks.py",
        "(key_place <= place + right)",
        "(key_place < place + right)",
        "test_masks.py",
        "window and numpy",
    ),
    Mutant(
        "one place of padding allowed",
        "masks.py",
        "return xp.arange(k_len, device=device_of(lengths)) < lengths[..., None, None]",
        "return xp.arange(k_len, device=device_of(lengths)) <= lengths[..., None, None]",
        "test_masks.py",
        "test_padding and numpy",
    ),
    Mutant(
        "prefix without what is causal",
        "masks.py",
        "return prefix | causal_mask(",
        "return prefix & causal_mask(",
        "test_masks.py",
        "test_prefix and numpy",
    ),
    Mutant(
        "mask polarity",
        "calls.py",
        "return xp.where(mask, scores, -math.inf)",
        "return xp.where(mask, -math.inf, scores)",
        "test_attention.py",
        "test_every_option_alone and numpy-mask",
    ),
    Mutant(
        "is_causal replaces the mask",
        "attention.py",
        "return mask & causal if",
        "return causal if",
        "test_attention.py",
        "numpy and mask and causal",
    ),
    Mutant(
        "offsets of sequences taken for those of heads",
        "calls.py",
        "return xp.reshape(offset, shape)",
        "return offset",
        "test_attention.py",
        "test_offsets_are_one_a_sequence and numpy",
    ),
    Mutant(
        "heads repeated interleaved",
        "attention.py",
        "tuple(xp.repeat(memory, repeats, axis=-3) for memory in memories)",
        "tuple(xp.concat([memory] * repeats, axis=-3) for memory in memories)",
        "test_attention.py",
        "test_grouped_heads and numpy",
    ),
    Mutant(
        "softcap before the scale",
        "attention.py",
        "        scores = softcap * xp.tanh(scores / softcap)",
        "        factor = scale if scale is not None else query.shape[-1] ** -0.5\n"
        "        scores = factor * softcap * xp.tanh(scores / factor / softcap)",
        "test_attention.py",
        "test_every_option_alone and numpy-softcap",
    ),
    Mutant(
        "softcap after the mask",
        "attention.py",
        "        scores = softcap * xp.tanh(scores / softcap)",
        "        scores, mask = softcap * xp.tanh(masked(xp, scores, mask) / softcap), None",
        "test_attention.py",
        "test_every_option_in_pairs and numpy and softcap",
    ),
    Mutant(
        "sinks left out of the denominator",
        "attention.py",
        "        total = total + xp.exp(sinks - highest)",
        "        total = total + 0 * xp.exp(sinks - highest)",
        "test_attention.py",
        "test_rows_sum_to_one and numpy",
    ),
    Mutant(
        "log-sum-exp to the base 2",
        "attention.py",
        "logarithm = highest + xp.log(",
        "logarithm = highest + xp.log2(",
        "test_attention.py",
        "test_every_option_alone and numpy-mask",
    ),
    Mutant(
        "log-sum-exp without the maximum taken out",
        "attention.py",
        "logarithm = highest + xp.log(",
        "logarithm = xp.log(",
        "test_attention.py",
        "test_every_option_alone and numpy-mask",
    ),
    Mutant(
        "a dead row divided by zero",
        "attention.py",
        "weights = exponentials / xp.where(total > 0, total, 1.0)",
        "weights = exponentials / total",
        "test_attention.py",
        "test_every_option_alone and numpy-mask",
    ),
    Mutant(
        "a dead row less its own infinity",
        "attention.py",
        "return xp.where(highest > -math.inf, highest, 0.0)",
        "return highest",
        "test_attention.py",
        "test_every_option_alone and numpy-mask",
    ),
    Mutant(
        "no maximum taken out",
        "attention.py",
        "highest = constant(_highest_logit(xp, scores, sinks))",
        "highest = 0 * constant(_highest_logit(xp, scores, sinks))",
        "test_attention.py",
        "test_huge_scores and numpy",
    ),
    Mutant(
        "half precision accumulated in half precision",
        "arrays.py",
        "return xp.float32 if xp.finfo(dtype).bits < 32 else dtype",
        "return dtype",
        "test_attention.py",
        "test_half_precision_scores_do_not_overflow or test_numpys_half_precision",
    ),
    Mutant(
        "a mask stretched over keys that it never saw",
        "arrays.py",
        "if not shape or shape[-1] != keys:",
        "if not shape or shape[-1] not in (1, keys):",
        "test_attention.py",
        "test_wrong_calls and one",
    ),
    Mutant(
        "the kernel forgets the offset",
        "attention.py",
        "if is_causal and not (mask is None and is_number(offset) and offset == 0):",
        "if is_causal and mask is not None:",
        "test_attention.py",
        "test_the_kernel and behind and float64",
    ),
    Mutant(
        "the kernel is given dead rows",
        "attention.py",
        "return mask | ~alive, alive",
        "return mask, alive",
        "test_attention.py",
        "test_dead_rows_do_not_depend and nan",
    ),
    Mutant(
        "weights returned after dropout",
        "attention.py",
        "    output = attend(_dropout(weights, dropout_p), value)",
        "    weights = _dropout(weights, dropout_p)\n    output = attend(weights, value)",
        "test_attention.py",
        "test_weights_are_returned_before_dropout",
    ),
    Mutant(
        "keys projected at every step",
        "models/seq2seq.py",
        "query, encoded.keys, encoded.memory, mask=",
        "query, self.attention.project(encoded.memory), encoded.memory, mask=",
        "models/test_seq2seq.py",
        "test_keys_are_projected_once",
    ),
    Mutant(
        "the present state looks where the previous one should",
        "models/seq2seq.py",
        "            context, weights = self._look(recurrent[0][:, None], encoded)\n"
        "            states, recurrent = self._run(torch.cat((embedded, context), -1), recurrent)",
        "            zeros = torch.zeros_like(recurrent[0][:, None])\n"
        "            looked, _ = self._run(torch.cat((embedded, zeros), -1), recurrent)\n"
        "            context, weights = self._look(looked, encoded)\n"
        "            states, recurrent = self._run(torch.cat((embedded, context), -1), recurrent)",
        "models/test_seq2seq.py",
        "test_the_additive_model_equals",
    ),
    Mutant(
        "padding counted in the loss",
        "models/seq2seq.py",
        "self(batch)[batch.target_mask], batch.target_out[batch.target_mask]",
        "self(batch).flatten(0, 1), batch.target_out.flatten()",
        "models/test_seq2seq.py",
        "test_the_loss_leaves_padding_out",
    ),
    Mutant(
        "the generator is not restored",
        "training.py",
        '    torch.set_rng_state(tensors["generator"])\n',
        "",
        "test_training.py",
        "test_resumed_training and 10",
    ),
    Mutant(
        "no gradient is cut",
        "training.py",
        "    nn.utils.clip_grad_norm_(model.parameters(), config.clip_norm)\n",
        "",
        "test_training.py",
        "test_updates_equal_a_loop",
    ),
    Mutant(
        "words after the end are kept",
        "decoding.py",
        "last = logits.argmax(-1).masked_fill(finished, eos_id)",
        "last = logits.argmax(-1)",
        "test_decoding.py",
        "test_words_after_the_end",
    ),
    Mutant(
        "possible links count against the aligner",
        "metrics.py",
        "len(found & (pair.sure | pair.possible))",
        "len(found & pair.sure)",
        "test_metrics.py",
        "test_alignment_error_by_hand",
    ),
]
