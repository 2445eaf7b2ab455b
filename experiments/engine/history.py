"""Where every claim comes from, when it was made, and what it was before.

A claim that is made or changed after its numbers were seen proves less than one that was made
before, so each says which it is; the times are those of the repository's history. Not every claim
is a hypothesis either: some demonstrate what a bug does, and some check that a model has learned
its task at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from bookkit.records import Origin, Planned, Sort


@dataclass(frozen=True)
class History:
    """The history of one claim.

    Attributes:
        origin: a "paper" that says so or suggests it, a "popular" saying, or "ours".
        source: key of that paper in book/references.bib; "" for none.
        sort: "hypothesis", "demonstration" of what a bug does, or "check" of the study itself.
        planned: "before the runs"; "with the record", if one commit holds both; "added later",
            after numbers of the study had been seen; "changed later", in question, threshold or
            measure; "extended later", to more seeds, more training or a new measurement.
        before: what it was before, or what was done to it; "" for nothing.
    """

    origin: Origin
    sort: Sort
    planned: Planned
    before: str = ""
    source: str = ""


When = tuple[Planned, str]
"""When claims were made, and what they were before."""


def histories(
    when: When, origins: Mapping[str, str], others: Mapping[str, When] | None = None
) -> dict[str, History]:
    """Return the histories of the claims of a study.

    Args:
        when: what holds for all claims but `others`.
        origins: by claim: "ours", "popular" or the key of a paper, and after a space the sort, if
            it is not a hypothesis.
        others: when those claims were made for which it was another time.

    Raises:
        ValueError: a sort is none of the three, or another claim has no origin.

    >>> histories(("before the runs", ""), {"helps": "luong2015", "learns": "ours check"})["learns"]
    History(origin='ours', sort='check', planned='before the runs', before='', source='')
    """
    others = others or {}
    if unknown := sorted(others.keys() - origins.keys()):
        raise ValueError(f"others: got {', '.join(unknown)}, wanted claims that have an origin")
    return {name: _history(words, *others.get(name, when)) for name, words in origins.items()}


def _history(words: str, planned: Planned, before: str) -> History:
    start, _, rest = words.partition(" ")
    origin: Origin | None = next((one for one in get_args(Origin) if one == start), None)
    sort = next((one for one in get_args(Sort) if one == (rest or "hypothesis")), None)
    if sort is None:
        raise ValueError(f"sort: got {rest!r}, wanted one of {', '.join(get_args(Sort))}")
    return History(origin or "paper", sort, planned, before, source="" if origin else start)


BEFORE: When = ("before the runs", "")
NARROW_SEEN: When = (
    "before the runs",
    "A few runs of the arms on seed 101, which is no reported one, had been seen, none of them of "
    "the longer arms.",
)
TEN_MORE: When = (
    "extended later",
    "Made before the runs of ten seeds, and run again with twenty when their numbers had been "
    "seen; no claim was changed.",
)
FIVE_TIMES: When = (
    "added later",
    "Added, with five times the updates at the same rates, when the claim of the shorter training "
    "had failed; committed before its runs.",
)
WIDER_RATES = (
    "run again when its grid of learning rates had been widened, because every model that it tunes "
    "had chosen a rate at its edge; no claim was changed."
)
SPLIT: When = (
    "extended later",
    "Made before the runs of a study of ten seeds, which was on narrow numbers as well; run again "
    "with twenty.",
)
AFTER_TEN: When = (
    "added later",
    "Made after ten seeds had shown how the other models with the leak write, and before any run "
    "had measured this.",
)
FIRST: When = (
    "with the record",
    "Study and record came in one commit, the first of the repository. An hour later the models "
    "were tuned and trained anew, with the claim as it was.",
)
FIRST_ALONE: When = (
    "with the record",
    "Study and record came in one commit, the first of the repository.",
)
TIES: When = (
    "changed later",
    f"{FIRST[1]} IBM Model 1 then linked a word that stands twice to its first copy; it was run "
    "again with the copy that is nearer to the diagonal.",
)
RIVALS: When = (
    "added later",
    "Added for the second edition, when the study's first claims had been recorded, and before "
    "the runs of the aligners and translators that it needs beside them.",
)
RECORDED_BEFORE: When = (
    "added later",
    "Its runs are those of the study of the bottleneck, which had been recorded the day before.",
)
CONCAT: When = (
    "extended later",
    "First recorded with the runs of the alignment study, which had been recorded the day before; "
    "a quarter of an hour later concat was trained anew, and measured at all lengths.",
)
MORE_SEEDS: When = (
    "extended later",
    "Planned and recorded with five seeds; with two verdicts undecided, five more were added. "
    "Then run again, with no claim changed, on twenty seeds of which none had been seen.",
)
FINER: When = (
    "changed later",
    "First held against temperatures 0.25 apart, by each run alone. Both this and the top-k claim "
    "were then held against temperatures 0.05 apart, by the mean over the runs, and five seeds "
    "became ten. Then run again, with no claim changed, on twenty seeds of which none had been "
    "seen.",
)
TIMED_AGAIN: When = (
    "extended later",
    "Planned with seven runs of three readings, recorded with five of five. Two runs were measured "
    "again, as another process had been running; later the whole record was replaced by a new "
    "measurement, in a commit whose message names only the layout of the printed book.",
)
LONGER_CAPTIONS: When = (
    "extended later",
    "Planned with 400 updates on seeds 1 to 5. Soft attention had 88 and 98 % of the captions "
    "exact after two such runs, so the report has 700 updates, on seeds 11 to 15. The first "
    "edition recorded them with the larger of two learning rates; the second tuned all three kinds "
    "of attention again, inside a wider grid, and ran the same seeds with the claims as they were.",
)
LONGER_DIGITS: When = (
    "extended later",
    "Planned with 400 updates on seeds 1 to 5. Seeds 1 to 3 read 95 to 97 % of the digits, so the "
    "report has 800 updates, on seeds 11 to 15. For the second edition both models were tuned "
    "again, inside a wider grid, which chose the same rates; the same seeds ran again.",
)
LONGER_SENTENCES: When = (
    "extended later",
    "First recorded after 400 and 800 updates; after 800, attention gained most on the shortest "
    "sentences, so the study went on to 800 and 2,400.",
)
MORE_SCRATCH: When = (
    "extended later",
    "Planned and recorded with ten seeds. For the second edition ten more were added, and all arms "
    "were tuned again with one learning rate above the first ones.",
)
LONG_SCRATCH: When = (
    "added later",
    "Made for the second edition, when the numbers of the brief trainings were known, and "
    "committed before the first long one.",
)
FIRST_GRADIENTS: When = (
    "added later",
    "Made for the second edition, when the study of the scores had shown the medians for 64 keys, "
    "and after one trial with a seed that is not reported; committed before the reported runs.",
)
FAR_DROPPED = (
    "Seven minutes after a commit that called settings and claims final, and before the record, "
    "the question that looks far back was dropped, and all claims were put for the near one."
)
TRAINED_ON = (
    "The first edition stopped after 250 updates, at the larger of two learning rates; the second "
    "trains for 2,000, with a wider grid, and its settings and claims were committed before these "
    "runs."
)
NEAR: When = ("changed later", f"{FAR_DROPPED} {TRAINED_ON}")
NEAR_AT_ONCE: When = ("extended later", TRAINED_ON)
PATIENT: When = (
    "added later",
    "Added for the second edition, when the numbers of the first were known, and before its runs.",
)
MATCHED_STARTS: When = (
    "extended later",
    "Planned with 250 updates of larger batches; the first edition recorded 200, in which two "
    "heads lost 0.055 nats. The second trains for 1,500, from keys and values that start at the "
    "same size, and its settings and claims were committed before these runs.",
)
RACE: When = (
    "extended later",
    "The first edition compared a Transformer after 1,200 updates with recurrent translators after "
    "2,000, while it still improved, and drew no claim from it; the study of what attention buys "
    "then gave it 2,000. A first race had three seeds and 800 and 1,600 updates. After these the "
    "Transformer still improved, and nothing could be told. This race has five seeds and twice as "
    "many updates, with the same settings; its claims were committed before its runs.",
)
RACE_LONGEST: When = (
    "added later",
    "Added, with a third budget of 6,400 updates, when after 3,200 it could not be told whether "
    "the Transformer had settled; committed before the runs, in which the two shorter budgets "
    "were trained again.",
)
RACE_TIME: When = (
    "changed later",
    "The first race gave the recurrent translator 1.4 times the updates for equal time, because a "
    "trial had timed them so. Timed with that race, an update of the Transformer took 0.97 of a "
    "recurrent one, and 0.84 in a trial before this one, so the arms of equal time went, and this "
    "claim says why.",
)
AT_ONCE: When = (
    "added later",
    "Added for the second edition, which asked whether the Transformer is only faster to train; "
    "committed before its runs.",
)
COPY_STOPPED = (
    "The first edition stopped after 600 updates, with 71 % of the repetition predicted, and five "
    "seeds decided none of its four claims. The second draws longer texts and trains for 1,000 "
    "updates, with tuned rates. Its settings and claims were committed before its runs, when "
    "trials on seed 101, which is no reported one, had been seen. It was recorded with five seeds, "
    "and fifteen were added."
)
COPY_ANEW: When = ("extended later", f"In the first edition it was undecided. {COPY_STOPPED}")
COPY_MORE: When = ("added later", f"Added for the second edition. {COPY_STOPPED}")
LONGER_RECALL: When = (
    "extended later",
    "The first edition recorded five seeds after 400 updates, when the delta rule had hardly begun "
    "to learn in three of them. The second has 20 seeds and 2,000 updates, and its settings and "
    "claims were committed before these runs.",
)

SCRATCH_MISTAKES = (
    "inverted", "late", "no_mask", "no_scale", "one_less", "one_more", "query_axis", "swapped",
    "tiny", "view", "view_out",
)  # fmt: skip

HISTORIES: dict[str, dict[str, History]] = {
    "alignment": histories(
        FIRST,
        {
            "additive_beats_diagonal": "ours",
            "additive_beats_model1": "ours",
            "additive_present_beats_fast_align": "ours",
            "additive_present_beats_hmm": "ours",
            "dot_beats_model1": "ours",
            "fast_align_beats_model1": "ours",
            "hmm_beats_model1": "ours",
            "present_query_aligns_additive": "ours",
            "present_query_aligns_dot": "ours",
            "present_query_aligns_fed": "ours",
            "present_query_aligns_unfed": "ours",
            "present_query_aligns_without_feeding": "ours",
            "previous_query_aligns_unfed": "ours",
            "the_state_matters_more": "ours",
            "wrong_determiners_point_at_their_noun": "ours",
        },
        {
            "additive_beats_model1": TIES,
            "dot_beats_model1": TIES,
            "present_query_aligns_additive": (
                "with the record",
                f"{FIRST[1]} It was worded: if it looks after reading the last word.",
            ),
            "present_query_aligns_dot": (
                "added later",
                "Added when the same claim on additive attention had been recorded, and before "
                "its own runs.",
            ),
            "wrong_determiners_point_at_their_noun": (
                "changed later",
                "It was the mean over the seeds of each run's share, held against half. It is now "
                "of the counts, so that a run with hardly any wrong determiner decides little.",
            ),
            **dict.fromkeys(
                (
                    "additive_present_beats_fast_align",
                    "additive_present_beats_hmm",
                    "fast_align_beats_model1",
                    "hmm_beats_model1",
                    "present_query_aligns_fed",
                    "present_query_aligns_unfed",
                    "present_query_aligns_without_feeding",
                    "previous_query_aligns_unfed",
                    "the_state_matters_more",
                ),
                RIVALS,
            ),
        },
    ),
    "bottleneck": histories(
        FIRST,
        {
            "additive_or_dot": "britz2017",
            "attention_gain": "bahdanau2015",
            "attention_gain_short": "ours",
            "held_out_gain": "ours",
            "less_fall_with_length": "bahdanau2015",
            "longer_training_is_not_enough": "ours check",
        },
    ),
    "buys": histories(
        BEFORE,
        {
            "additive_gain": "bahdanau2015",
            "concat_gain": "luong2015",
            "concat_or_additive": "ours",
            "dot_gain": "luong2015",
            "general_gain": "luong2015",
            "general_or_dot": "luong2015",
            "local_far_beyond": "ours",
            "local_gain": "luong2015",
            "local_or_general": "luong2015",
            "transformer_beyond": "ours",
            "transformer_far_beyond": "ours",
            "transformer_gain": "vaswani2017",
            "transformer_new_pairs": "ours",
            "transformer_or_additive": "popular",
            "transformer_or_dot": "popular",
        },
        {
            "additive_gain": RECORDED_BEFORE,
            "dot_gain": RECORDED_BEFORE,
            "concat_gain": CONCAT,
            "concat_or_additive": CONCAT,
            "transformer_or_dot": (
                "added later",
                "Added half an hour after the plan, a minute before the record; a claim that "
                "additive attention beats general was dropped with it.",
            ),
        },
    ),
    "choices": histories(
        ("before the runs", ""),
        {"feeding": "luong2015", "feeding_aligns": "luong2015", "feeding_long": "ours"},
    ),
    "captioning": histories(
        LONGER_CAPTIONS,
        {
            "attention_is_needed": "popular",
            "right_place": "ours",
            "right_place_wrong_word": "ours",
            "shape_right_after_seen_colour": "ours",
            "soft_beats_hard": "ours",
            "soft_captions": "ours check",
            "soft_points": "xu2015",
            "wrong_word": "ours",
        },
        {
            "shape_right_after_seen_colour": (
                "extended later",
                f"{LONGER_CAPTIONS[1]} It was called word_before_is_the_cause, which it does not "
                "show. In the first edition it was undecided, without answers by item.",
            ),
            "soft_captions": (
                "extended later",
                f"{LONGER_CAPTIONS[1]} In the first edition it held: the smaller rate had all "
                "captions exact.",
            ),
        },
    ),
    "cost": histories(
        TIMED_AGAIN,
        {
            "batch_helps": "popular",
            "batch_helps_with_long_caches": "popular",
            "decoding_is_far_from_peak": "popular",
            "decoding_is_near_memory": "popular",
            "flops_predict_time": "popular",
            "fused_crosses_early": "ours",
            "long_attention_quadruples": "popular",
            "long_block_quadruples": "popular",
            "short_block_quadruples": "popular",
            "textbook_crosses_early": "ours",
            "textbook_memory_is_quadratic": "popular",
            "tiled_memory_is_small": "rabe2021",
            "training_is_near_peak": "ours",
            "training_takes_less": "ours",
            "window_saves_what_is_counted": "ours",
        },
    ),
    "decoding": histories(
        MORE_SEEDS,
        {
            "beam_can_lose": "popular",
            "beam_finds_more": "popular check",
            "best_is_short": "stahlberg2019",
            "best_is_sound": "ours",
            "cold_is_sound": "popular",
            "cold_repeats": "popular",
            "five_are_enough": "ours",
            "top_k_beats_temperature": "popular",
            "top_p_beats_temperature": "popular",
        },
        {"top_k_beats_temperature": FINER, "top_p_beats_temperature": FINER},
    ),
    "digits": histories(
        LONGER_DIGITS,
        {
            "attention_beats_ink": "ours",
            "attention_finds_what_counts": "popular",
            "digits_are_read": "ours check",
            "places_are_needed": "ours",
        },
    ),
    "explanation": histories(
        ("extended later", f"Made before the runs, and {WIDER_RATES}"),
        {
            "adversary_beyond_seeds": "wiegreffe2019",
            "adversary_by_need": "ours",
            "deletion_aligns_better": "ours",
            "five_times_is_not_enough": "ours check",
            "lookup_needs_attention": "wiegreffe2019 check",
            "majority_needs_none": "wiegreffe2019",
            "majority_survives_erasure": "serrano2019",
            "misses_matter_less": "ours",
            "rollout_aligns_better": "abnar2020",
            "tau_is_low": "jain2019",
            "top_agrees": "ours",
            "translators_need_the_top": "vashishth2019",
        },
    ),
    "explanation_seeds": histories(
        (
            "added later",
            "The claim of the study of explanation, asked again on twenty other seeds when its "
            f"five had been recorded, and {WIDER_RATES}",
        ),
        {"tau_is_low": "jain2019", "top_agrees": "ours"},
    ),
    "first_gradients": histories(
        FIRST_GRADIENTS,
        {
            "few_keys_starve": "ours",
            "gains_at_64": "ours",
            "gains_at_128": "ours",
            "gains_with_16_keys": "ours",
            "starved_are_few": "ours",
        },
    ),
    "founding": histories(
        (
            "extended later",
            f"{FIRST_ALONE[1]} It had five seeds. It was {WIDER_RATES[:-1]}, and the twenty seeds "
            "had not been seen.",
        ),
        {
            "attention_gain": "ours",
            "beats_lookup": "ours",
            "beats_lookup_by_errors": "ours",
            "beats_shuffled": "ours",
            "looks_at_good": "ours",
            "memorised": "ours check",
            "shuffled_memorised": "zhang2017 check",
            "unseen": "ours",
        },
    ),
    "from_scratch": histories(
        MORE_SCRATCH,
        {
            f"{mistake}{long}/{what}": "ours demonstration"
            for mistake in SCRATCH_MISTAKES
            for long in ("", "-long")
            for what in ("in_use", "reported")
        },
        {
            f"{mistake}-long/{what}": LONG_SCRATCH
            for mistake in SCRATCH_MISTAKES
            for what in ("in_use", "reported")
        },
    ),
    "heads": histories(
        (
            "extended later",
            "Planned with ten seeds before the first runs, and reported with five. Then all were "
            "run again with twenty, which changed no question and no threshold.",
        ),
        {
            "four_beat_one": "vaswani2017",
            "half_together": "michel2019",
            "most_heads_spare": "michel2019",
            "narrow_and_patient": "ours",
            "narrowest_lose": "bhojanapalli2020",
            "one_cannot_do_two": "ours",
            "one_question_needs_one": "ours",
            "patience_suffices": "ours",
            "rank_limit_bites": "bhojanapalli2020",
            "two_thirds": "ours",
            "width_is_the_cause": "bhojanapalli2020",
        },
        {
            "narrow_and_patient": (
                "added later",
                "Added when 64 heads of width 1 had been seen to lose at 300 updates, and before "
                "any of them was trained for longer.",
            ),
            "two_thirds": (
                "added later",
                "Added when five seeds had shown weights of about 0.70 and 0.29, with positions "
                "counted at which both pointers meet; fixed before the twenty seeds ran.",
            ),
        },
    ),
    "hops": histories(
        (
            "before the runs",
            "One run of each arm on seed 101, which is no reported one, had been seen.",
        ),
        {
            "first_layer_first_step": "ours",
            "one_layer_stays_behind": "peng2024",
            "one_layer_takes_one_step": "ours check",
            "patience_does_not_help": "peng2024",
            "second_layer_second_step": "ours",
            "two_layers_take_two_steps": "ours check",
        },
    ),
    "induction": histories(
        COPY_MORE,
        {
            "at_a_plateau": "ours check",
            "copying_heads_matter": "olsson2022",
            "copying_is_shared": "ours",
            "half_within_a_tenth": "olsson2022",
            "learned_to_copy": "ours check",
            "patience_does_not_help": "elhage2021",
            "previous_comes_first": "ours",
            "previous_head_matters": "elhage2021",
            "previous_is_needed": "olsson2022",
            "previous_is_split": "ours",
            "two_copy": "olsson2022",
        },
        {
            "half_within_a_tenth": (
                "changed later",
                "It was: two layers gain more than half of their final accuracy within some 100 of "
                f"the 600 updates, and was undecided. {COPY_STOPPED}",
            ),
            "previous_comes_first": COPY_ANEW,
            "previous_is_needed": COPY_ANEW,
            "two_copy": COPY_ANEW,
        },
    ),
    "kv_heads": histories(
        MATCHED_STARTS,
        {
            "eight_need_the_first": "xiao2024",
            "first_and_last_suffice": "xiao2024",
            "four_are_close": "ainslie2023",
            "one_head_loses": "shazeer2019",
            "one_needs_the_first": "xiao2024",
            "two_are_close": "ainslie2023",
            "two_beat_one": "ainslie2023",
            "two_cost_early": "ours",
            "width_makes_up": "shazeer2019",
        },
        {"four_are_close": PATIENT, "two_cost_early": PATIENT},
    ),
    "language_model": histories(
        (
            "before the runs",
            "Four trial runs of 400 updates on other stories had been seen. Five seeds were "
            "planned, and they became twenty before any reported run.",
        ),
        {
            "little_between_them": "ours",
            "llama_predicts_better": "popular",
            "llama_predicts_better_early": "popular",
            "near_the_source": "ours check",
            "stories_are_possible": "ours check",
        },
    ),
    "lookup": histories(
        TEN_MORE,
        {
            "collapsed_is_worse_than_rule": "ours demonstration",
            "learned_beats_rule": "ours",
            "learned_beats_rule_16": "ours",
            "line_at_the_ends": "hastie2009",
            "line_in_the_middle": "ours",
            "soft_beats_k_nearest": "ours",
            "soft_beats_k_nearest_uneven": "ours",
            "soft_beats_nearest": "ours",
            "soft_beats_nearest_noiseless": "ours",
            "softness_at_fixed_width": "ours",
            "softness_at_k": "ours",
            "width_per_query_uneven": "ours",
        },
    ),
    "masks": histories(
        SPLIT,
        {
            "inverted_generates_worse": "ours demonstration",
            "inverted_looks_better": "ours demonstration",
            "last_letter_is_learned": "ours",
            "leak_generates_worse": "ours demonstration",
            "leak_is_a_guess": "ours demonstration",
            "leak_is_a_guess_longer": "ours demonstration",
            "leak_looks_better": "ours demonstration",
            "leak_spoils_copies": "ours demonstration",
            "leak_spoils_copies_longer": "ours demonstration",
            "padding_moves": "ours demonstration",
        },
        {
            "last_letter_is_learned": AFTER_TEN,
            "leak_is_a_guess_longer": AFTER_TEN,
            "leak_spoils_copies_longer": AFTER_TEN,
        },
    ),
    "narrow_training": histories(
        NARROW_SEEN,
        {
            "float32_learns": "ours check",
            "rounded_float16_is_free": "ours",
            "rounded_steps_are_free": "ours",
            "running_sum_fails": "ours",
            "running_sum_fails_longer": "ours",
            "scale_is_not_needed": "ours",
            "skipping_fails": "ours",
            "skipping_fails_longer": "ours",
            "textbook_fails": "ours",
            "textbook_survives_in_bfloat16": "ours",
            "textbook_survives_longer": "ours",
            "running_sum_fails_at_the_usual_rate": "ours",
            "wide_statistics_are_free": "ours",
        },
        {
            "running_sum_fails_at_the_usual_rate": (
                "added later",
                "Added when the trials on two tuning seeds had shown that a larger rate helps the "
                "running sum, and before any reported seed ran.",
            ),
        },
    ),
    "numerics": histories(
        TEN_MORE,
        {
            "companion_is_near_the_floor": "ours check",
            "float16_is_finer": "ours",
            "length_hurts_stepwise": "ours",
            "running_sum_drowns": "ours demonstration",
            "spread_hurts_stepwise": "ours",
            "statistics_in_float32": "ours",
            "textbook_overflows": "ours demonstration",
        },
    ),
    "parallelism": histories(
        AT_ONCE,
        {
            "at_once_is_faster": "vaswani2017",
            "at_once_is_faster_with_two": "vaswani2017",
            "second_thread_helps_the_transformer_more": "popular",
        },
    ),
    "positions": histories(
        NEAR,
        {
            "alibi_finds_places": "ours",
            "alibi_keeps": "press2022",
            "buckets_beat_rotary": "press2022",
            "interpolation_needs_training": "chen2023",
            "none_is_at_a_plateau": "ours check",
            "none_suffices": "haviv2022",
            "patient_alibi_finds_places": "ours",
            "patient_alibi_keeps": "press2022",
            "patient_none_suffices": "haviv2022",
            "patient_sinusoidal_extrapolates": "vaswani2017",
            "rotary_fails_beyond": "press2022",
            "sinusoidal_extrapolates": "vaswani2017",
            "yarn_needs_no_training": "peng2023",
        },
        {
            "alibi_finds_places": NEAR_AT_ONCE,
            "alibi_keeps": (
                "changed later",
                f"{FAR_DROPPED} It was: ALiBi answers more than 90 % of the far question at four "
                f"times the training length. {TRAINED_ON}",
            ),
            "buckets_beat_rotary": NEAR_AT_ONCE,
            "interpolation_needs_training": (
                "added later",
                f"{FAR_DROPPED} This claim was added then; one that YaRN answers more of the far "
                f"question than plain rotations was dropped. {TRAINED_ON}",
            ),
            "rotary_fails_beyond": NEAR_AT_ONCE,
            "yarn_needs_no_training": (
                "changed later",
                f"{FAR_DROPPED} The threshold of this one was 90 %, and was lowered to 80 %. "
                f"{TRAINED_ON}",
            ),
            **dict.fromkeys(
                (
                    "none_is_at_a_plateau",
                    "patient_alibi_finds_places",
                    "patient_alibi_keeps",
                    "patient_none_suffices",
                    "patient_sinusoidal_extrapolates",
                ),
                PATIENT,
            ),
        },
    ),
    "real_sentences": histories(
        LONGER_SENTENCES,
        {
            f"{kind}_gain_{budget}_{where}": source
            for kind, source in (("additive", "bahdanau2015"), ("dot", "luong2015"))
            for budget in ("large", "small")
            for where in ("all", "long", "short")
        },
    ),
    "recall": histories(
        LONGER_RECALL,
        {
            "decay_helps": "popular",
            "delta_beats_sum": "schlag2021",
            "delta_is_at_a_plateau": "ours check",
            "more_than_rows": "ours",
            "patient_delta_beats_sum": "schlag2021",
            "softmax_keeps": "arora2024 check",
            "state_forgets": "arora2024",
            "window_is_its_reach": "ours check",
        },
        {
            "delta_is_at_a_plateau": PATIENT,
            "patient_delta_beats_sum": (
                "added later",
                "Added, with three times the updates, when delta_beats_sum had been recorded as "
                "undecided; the same claim on forgetting was dropped before it was recorded. "
                f"{LONGER_RECALL[1]}",
            ),
        },
    ),
    "scores": histories(
        TEN_MORE,
        {
            "adam_hides": "ours",
            "adam_hides_longer": "ours",
            "few_queries_learn": "ours",
            "no_difference_at_4": "vaswani2017",
            "over_width_is_faster": "yang2022",
            "query_gradient_vanishes": "vaswani2017",
            "scales_meet": "ours",
            "scales_meet_longer": "ours",
            "scores_shrink": "ours",
            "scores_shrink_longer": "ours",
            "slower_at_256": "vaswani2017",
            "slower_at_same_rate": "ours",
            "smaller_start_suffices": "ours",
            "smaller_start_suffices_longer": "ours",
            "softmax_saturates": "vaswani2017",
            "typical_query_starves": "ours",
            "value_gradient_grows": "ours",
        },
        {
            "adam_hides_longer": FIVE_TIMES,
            "scales_meet_longer": FIVE_TIMES,
            "scores_shrink_longer": FIVE_TIMES,
            "smaller_start_suffices_longer": FIVE_TIMES,
        },
    ),
    "speculative": histories(
        (
            "before the runs",
            "One run on seed 101, which is no reported one, had been seen.",
        ),
        {
            "eight_add_little": "ours",
            "most_are_kept": "ours",
            "passes_are_saved": "leviathan2023",
            "rate_is_overlap": "leviathan2023 check",
        },
    ),
    "summarization": histories(
        ("before the runs", "Planned with 300 updates in the first part; cut to 240 before."),
        {
            "copying_beats_replacing": "ours",
            "copying_beats_spelling": "ours",
            "coverage_helps": "see2017",
            "coverage_looks_elsewhere": "see2017 check",
            "new_names_are_copied": "see2017",
            "spelling_knows_names": "ours",
            "working_out_is_harder": "ours",
        },
    ),
    "transformer": histories(
        BEFORE,
        {
            "dropout": "vaswani2017",
            "heads_specialise": "ours",
            "mostly_right": "ours check",
            "pre_or_post": "xiong2020",
            "rotary_reaches_farther": "su2021",
            "scale": "vaswani2017",
            "smoothing": "vaswani2017",
            "tied": "press2017",
            "warmup_post": "xiong2020",
            "warmup_pre": "xiong2020",
        },
    ),
    "translator_race": histories(
        RACE,
        {
            "equal_time": "ours check",
            "equal_updates": "vaswani2017",
            "equal_updates_longest": "vaswani2017",
            "equal_updates_short": "vaswani2017",
            "new_combinations": "ours",
            "new_combinations_longest": "ours",
            "recurrent_settled": "ours check",
            "recurrent_settled_longer": "ours check",
            "transformer_settled": "ours check",
            "transformer_settled_longer": "ours check",
        },
        {
            "equal_time": RACE_TIME,
            "equal_updates_longest": RACE_LONGEST,
            "new_combinations_longest": RACE_LONGEST,
            "recurrent_settled_longer": RACE_LONGEST,
            "transformer_settled_longer": RACE_LONGEST,
        },
    ),
}  # fmt: skip
