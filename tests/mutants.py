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
        "attention.py",
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
        "attention.py",
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
        "        scores, mask = softcap * xp.tanh(_masked(xp, scores, mask) / softcap), None",
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
    Mutant(
        "rotary halves taken for neighbours",
        "positions/rotary.py",
        "first, second = part[..., :pairs], part[..., pairs:]",
        "first, second = part[..., 0::2], part[..., 1::2]",
        "positions/test_rotary.py",
        "test_one_row and numpy and halves",
    ),
    Mutant(
        "rotary neighbours taken for halves",
        "positions/rotary.py",
        "first, second = neighbours[..., 0], neighbours[..., 1]",
        "first, second = part[..., :pairs], part[..., pairs:]",
        "positions/test_rotary.py",
        "test_one_row and numpy and interleaved",
    ),
    Mutant(
        "rotation the other way round",
        "positions/rotary.py",
        "[first * cosine - second * sine, second * cosine + first * sine]",
        "[first * cosine + second * sine, second * cosine - first * sine]",
        "positions/test_rotary.py",
        "test_one_row and numpy",
    ),
    Mutant(
        "places of sequences taken for those of heads",
        "positions/rotary.py",
        "aligned = axes + (1,) * (len(lead) - len(axes))",
        "aligned = (1,) * (len(lead) - len(axes)) + axes",
        "positions/test_rotary.py",
        "test_a_row_is_a_sequences and numpy",
    ),
    Mutant(
        "angles in float32",
        "positions/places.py",
        'return floats.get("float64", xp.float32)',
        "return xp.float32",
        "positions/test_rotary.py",
        "test_far_places and numpy",
    ),
    Mutant(
        "YaRN interpolates the high frequencies",
        "positions/scaling.py",
        "_interpolate(frequencies, 1 - interpolated, self.factor)",
        "_interpolate(frequencies, interpolated, self.factor)",
        "positions/test_scaling.py",
        "test_rescalings and numpy and yarn",
    ),
    Mutant(
        "YaRN's ramp rounded inwards",
        "positions/scaling.py",
        "math.floor(low), math.ceil(high)",
        "math.ceil(low), math.floor(high)",
        "positions/test_scaling.py",
        "test_rescalings and numpy and yarn",
    ),
    Mutant(
        "YaRN's ramp cut at the last pair",
        "positions/scaling.py",
        "min(high, width - 1)",
        "min(high, width // 2 - 1)",
        "positions/test_scaling.py",
        "test_rescalings and numpy and yarn",
    ),
    Mutant(
        "the base grows by the stretch alone",
        "positions/scaling.py",
        "max(frequencies.shape[0] - 1, 1)",
        "frequencies.shape[0]",
        "positions/test_scaling.py",
        "test_rescalings and numpy and dynamic",
    ),
    Mutant(
        "Llama 3's turns counted in radians",
        "positions/scaling.py",
        "self.original_length / (2 * math.pi))\n        span",
        "float(self.original_length))\n        span",
        "positions/test_scaling.py",
        "test_rescalings and numpy and llama",
    ),
    Mutant(
        "an odd width rounded up in the exponent",
        "positions/places.py",
        "(pairs * (-2 / width))",
        "(pairs * (-2 / (width + width % 2)))",
        "positions/test_sinusoidal.py",
        "test_the_papers and numpy",
    ),
    Mutant(
        "another base is not heard",
        "positions/places.py",
        "return float(base) **",
        "return 10_000.0 **",
        "positions/test_sinusoidal.py",
        "test_base_and_offset and numpy",
    ),
    Mutant(
        "sines and cosines in halves",
        "positions/sinusoidal.py",
        "xp.stack([xp.sin(angle), xp.cos(angle)], axis=-1)",
        "xp.concat([xp.sin(angle), xp.cos(angle)], axis=-1)",
        "positions/test_sinusoidal.py",
        "test_the_papers and numpy",
    ),
    Mutant(
        "ALiBi slopes spread over all heads",
        "positions/alibi.py",
        "[8 * head / below for head",
        "[8 * head / num_heads for head",
        "positions/test_alibi.py",
        "test_slopes and numpy",
    ),
    Mutant(
        "every ALiBi slope of the power above",
        "positions/alibi.py",
        "range(1, 2 * (num_heads - below), 2)",
        "range(1, num_heads - below + 1)",
        "positions/test_alibi.py",
        "test_slopes and numpy",
    ),
    Mutant(
        "ALiBi offset with the wrong sign",
        "positions/places.py",
        "return places + int(offset)",
        "return places - int(offset)",
        "positions/test_alibi.py",
        "test_bias and numpy",
    ),
    Mutant(
        "distances at an edge in the bucket below",
        "positions/buckets.py",
        'side="right"',
        'side="left"',
        "positions/test_buckets.py",
        "test_the_defaults_by_hand",
    ),
    Mutant(
        "edges that are whole begin one late",
        "positions/buckets.py",
        "if distance**wide >= reached",
        "if distance**wide > reached",
        "positions/test_buckets.py",
        "test_the_defaults_by_hand",
    ),
    Mutant(
        "buckets of the past and the future swapped",
        "positions/buckets.py",
        "xp.where(signed > 0,",
        "xp.where(signed < 0,",
        "positions/test_buckets.py",
        "test_the_defaults_by_hand",
    ),
    Mutant(
        "heads cut across one another",
        "layers/multi_head.py",
        "heads = torch.unflatten(projected, -1, (-1, self.head_dim)).transpose(-2, -3)",
        "heads = torch.unflatten(projected, -1, (self.head_dim, -1)).movedim(-1, -3)",
        "layers/test_multi_head.py",
        "test_self_attention_is_the_loops and plain-full",
    ),
    Mutant(
        "heads normed after the rotation",
        "layers/multi_head.py",
        "queries, keys = self._turned(positions, queries, keys)",
        "queries, keys = self._heads(self.query_proj(query)), self._heads(self.key_proj(query))\n"
        "            queries, keys = self._turned(positions, queries, keys)\n"
        "            if self.query_norm and self.key_norm:\n"
        "                queries, keys = self.query_norm(queries), self.key_norm(keys)",
        "layers/test_multi_head.py",
        "test_self_attention_is_the_loops and norm and full",
    ),
    Mutant(
        "cached keys left out of the offset",
        "layers/multi_head.py",
        'return {"is_causal": True, "offset": offset}',
        'return {"is_causal": True}',
        "layers/test_multi_head.py",
        "test_cached_steps and plain",
    ),
    Mutant(
        "a window of one key less",
        "layers/multi_head.py",
        "near = (distance <= before) &",
        "near = (distance < before) &",
        "layers/test_multi_head.py",
        "test_self_attention_is_the_loops and window-full",
    ),
    Mutant(
        "places begun anew at every step",
        "cache.py",
        "return steps + (self._length if",
        "return steps + (0 if",
        "test_cache.py",
        "test_any_course and None-False",
    ),
    Mutant(
        "a ring that stays at its end",
        "cache.py",
        "_written(memory, new, self._length % memory.shape[2])",
        "_written(memory, new, min(self._length, memory.shape[2] - new.shape[2]))",
        "test_cache.py",
        "test_any_course and 4-False",
    ),
    Mutant(
        "a ring that misses the first of the new",
        "cache.py",
        "return torch.where(index >= 0, latest, ring)",
        "return torch.where(index > 0, latest, ring)",
        "test_cache.py",
        "test_any_course and 4-False",
    ),
    Mutant(
        "beams that keep their old lengths",
        "cache.py",
        "            self._lengths = self._lengths.index_select(0, indices)\n",
        "            pass\n",
        "test_cache.py",
        "test_any_course and None-True",
    ),
    Mutant(
        "concat split at the wrong row",
        "layers/luong.py",
        "return memory @ self.weight[self.query_dim :]",
        "return memory @ self.weight[: self.key_dim]",
        "layers/test_luong.py",
        "test_concat_is_additive",
    ),
    Mutant(
        "right edge of the local window off by one",
        "layers/luong.py",
        "left=self.window, right=self.window, offset=offset",
        "left=self.window, right=max(self.window - 1, 0), offset=offset",
        "layers/test_luong.py",
        "test_local_m and 0-4-general",
    ),
    Mutant(
        "the wrong deviation around a predicted place",
        "layers/luong.py",
        "sigma = window / 2",
        "sigma = window",
        "layers/test_luong.py",
        "test_local_p and 3-general",
    ),
    Mutant(
        "the gate and what it gates exchanged",
        "layers/feed_forward.py",
        "activate(self.gate_proj(x)) * self.up_proj(x)",
        "activate(self.up_proj(x)) * self.gate_proj(x)",
        "layers/test_feed_forward.py",
        "test_every_place and silu-True",
    ),
    Mutant(
        "linear attention reads before it writes",
        "linear.py",
        "        state = state + xp.matrix_transpose(write[t]) * new\n"
        "        outputs.append(xp.matmul(query[t], state))",
        "        outputs.append(xp.matmul(query[t], state))\n"
        "        state = state + xp.matrix_transpose(write[t]) * new",
        "test_linear.py",
        "test_recurrent_equals_loops and numpy-5 and sum",
    ),
    Mutant(
        "decay after the step has written",
        "linear.py",
        "        if decay is not None:\n"
        "            state = xp.matrix_transpose(decay[t]) * state\n"
        "        new = value[t]\n"
        "        if beta is not None:\n"
        "            new = new - xp.matmul(key[t], state)\n"
        "        state = state + xp.matrix_transpose(write[t]) * new",
        "        new = value[t]\n"
        "        if beta is not None:\n"
        "            new = new - xp.matmul(key[t], state)\n"
        "        state = state + xp.matrix_transpose(write[t]) * new\n"
        "        if decay is not None:\n"
        "            state = xp.matrix_transpose(decay[t]) * state",
        "test_linear.py",
        "test_decay_comes_before and recurrent and numpy",
    ),
    Mutant(
        "chunks decay after the step has written",
        "linear.py",
        "    query = query * kept\n",
        "    key = key * kept\n",
        "test_linear.py",
        "test_decay_comes_before and chunked and numpy",
    ),
    Mutant(
        "the delta rule without subtracting the old value",
        "linear.py",
        "            new = new - xp.matmul(key[t], state)",
        "            pass",
        "test_linear.py",
        "test_the_delta_rule_remembers and recurrent and numpy",
    ),
    Mutant(
        "chunks compare with the state alone",
        "linear.py",
        "        inverse = _unit_lower_inverse(xp, overlaps)",
        "        inverse = _unit_lower_inverse(xp, xp.zeros_like(overlaps))",
        "test_linear.py",
        "test_a_share and chunked and numpy",
    ),
    Mutant(
        "chunks compare with their own steps alone",
        "linear.py",
        "            new = new - xp.matmul(comparing[chunk], state)",
        "            pass",
        "test_linear.py",
        "test_the_delta_rule_remembers and chunked and numpy",
    ),
    Mutant(
        "a chunk reads the state that it leaves",
        "linear.py",
        "        states.append(state)\n"
        "        written.append(new)\n"
        "        state = kept[chunk] * state + xp.matmul(writing[chunk], new)",
        "        written.append(new)\n"
        "        state = kept[chunk] * state + xp.matmul(writing[chunk], new)\n"
        "        states.append(state)",
        "test_linear.py",
        "test_chunked_at_every_length and numpy-5 and sum",
    ),
    Mutant(
        "chunks forget their last step",
        "linear.py",
        "x[..., :size, :], (*lead, count * size, width)",
        "x[..., : size - 1, :], (*lead, count * (size - 1), width)",
        "test_linear.py",
        "test_chunked_at_every_length and numpy-7 and sum",
    ),
    Mutant(
        "padding forgets",
        "linear.py",
        "    decay = _in_chunks(xp, decay, chunk_size, fill=1.0)",
        "    decay = _in_chunks(xp, decay, chunk_size)",
        "test_linear.py",
        "test_chunked_at_every_length and numpy-7 and True and sum",
    ),
    Mutant(
        "linear attention without its normaliser",
        "linear.py",
        "        output = output / xp.where(total != 0, total, 1.0)\n",
        "",
        "test_linear.py",
        "test_the_normalised_form and numpy and sum",
    ),
    Mutant(
        "linear attention that sees the future",
        "linear.py",
        "return xp.tril(xp.matmul(query, xp.matrix_transpose(key)))",
        "return xp.matmul(query, xp.matrix_transpose(key))",
        "test_linear.py",
        "test_a_changed_future and numpy and sum",
    ),
    Mutant(
        "weights decayed once too often",
        "linear.py",
        "        across = xp.matmul(late_query, xp.matrix_transpose(key))",
        "        across = xp.matmul(late_query, xp.matrix_transpose(key * late_kept))",
        "test_linear.py",
        "test_retention and numpy",
    ),
]
