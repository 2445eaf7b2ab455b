"""What the studies of texts share, count and measure."""

import itertools
import math
from dataclasses import replace
from types import ModuleType

import pytest
import torch
from torch import Tensor

from bookkit.data.reports import made_up_names, match_reports, numbered, tells_winner
from companion.attention import scaled_dot_product_attention
from companion.data.pairs import Pair
from companion.decoding import Score, Speculated
from companion.heads import repeat_kv
from companion.indexed import top_keys
from companion.masks import causal_mask
from companion.models.transformer import LanguageModel
from companion.scores import scaled_dot_score
from experiments.buys import study as buys
from experiments.choices import study as choices
from experiments.decoding import study as decoding
from experiments.decoding_length.study import likeliest_of
from experiments.engine.claims import Runs
from experiments.engine.settings import reported
from experiments.explanation import study as explanation
from experiments.names import study as names
from experiments.needle import study as needle
from experiments.parallelism import study as parallelism
from experiments.real_heads.heads import small
from experiments.speculative import study as speculative
from experiments.summarization import study as summarization
from experiments.translator_race import study as race

pytestmark = pytest.mark.slow

# The study of what attention buys: the same for all arms, and what they cost.


@pytest.mark.parametrize("study", [buys, choices])
def test_a_record_of_other_settings_is_refused(
    study: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = reported()
    longer = {**settings, "dot": replace(settings["dot"], steps=3000)}
    monkeypatch.setattr(study, "reported", lambda: longer)
    study.recorded.cache_clear()
    with pytest.raises(ValueError, match="its dot was not trained as dot is here"):
        study.recorded()


# The study of decoding: its exact search, what it counts as cut, and what it compares.


@pytest.mark.parametrize("seed", range(2))
def test_the_exact_search_finds_the_best_of_all(seed: int) -> None:
    """Every continuation of up to three words is scored by one pass over the whole."""
    torch.manual_seed(seed)
    model = LanguageModel(decoding.model_config(decoding.Setting(embed_dim=16), 6)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.7)  # sharper than at its start
    prompt, eos = [1, 4], 2
    totals = {}
    for length in range(4):
        for words in itertools.product((0, 1, 3, 4, 5), repeat=length):
            text = [*prompt, *words, eos]
            with torch.no_grad():
                given = model(torch.tensor([text])).log_softmax(-1)[0]
            totals[words] = math.fsum(given[i - 1, text[i]].item() for i in range(2, len(text)))
    best = max(totals, key=totals.__getitem__)
    for bound in (-math.inf, totals[best] - 0.5, totals[best]):
        found, total = decoding.most_probable(model, prompt, eos, 4, at_least=bound)
        assert tuple(found) == best
        assert total == pytest.approx(totals[best], abs=1e-4)
    for length in range(4):
        best = max((words for words in totals if len(words) == length), key=totals.__getitem__)
        for bound in (-math.inf, totals[best]):
            found, total = likeliest_of(model, prompt, eos, length, at_least=bound)
            assert tuple(found) == best
            assert total == pytest.approx(totals[best], abs=1e-4)


def test_cuts_are_held_against_the_temperature_that_is_as_varied() -> None:
    runs: Runs = {"top_p/0.75/distinct": [21.0, 23.0], "top_p/0.75/grammatical": [70.0, 76.0]}
    for place, t in enumerate(decoding.TEMPERATURES):
        runs[f"temperature/{t}/distinct"] = [10.0 * place, 10.0 * place + 2]
        runs[f"temperature/{t}/grammatical"] = [90.0 - 5 * place] * 2
    # As varied, 22, is on average the temperature 0.1 of the way from the third to the fourth,
    # at 79.5; a point of variety costs half a point. Both cuts are as varied as it in their run.
    assert decoding.ahead_of_temperature(runs, "top_p/0.75") == pytest.approx([-9.5, -3.5])
    runs["top_p/0.75/distinct"] = [19.0, 25.0]
    assert decoding.ahead_of_temperature(runs, "top_p/0.75") == pytest.approx([-10.5, -2.5])
    runs["top_p/0.75/distinct"] = [95.0, 95.0]
    with pytest.raises(ValueError, match=r"top_p/0.75: got 95.0, wanted it among"):
        decoding.ahead_of_temperature(runs, "top_p/0.75")
    runs["temperature/1.0/distinct"] = [0.0, 9.0]
    with pytest.raises(ValueError, match=r"distinct: got .* wanted it to rise"):
        decoding.ahead_of_temperature(runs, "top_p/0.75")


# The study of explanation: what its numbers count, and what its arms share.

MASK = torch.arange(5) < torch.tensor([5, 3, 4])[:, None]
OWN = torch.tensor(
    [[0.6, 0.1, 0.1, 0.1, 0.1], [0.2, 0.7, 0.1, 0.0, 0.0], [0.1, 0.1, 0.2, 0.6, 0.0]],
    dtype=torch.float64,
)


def places(weights: Tensor) -> Tensor:
    """Say where the weights are: erasing the largest one flips, whatever it was."""
    return weights


def nothing(weights: Tensor) -> Tensor:
    """Say the same, whatever the weights are."""
    return torch.tensor([0.9, 0.1], dtype=torch.float64).expand(len(weights), 2)


def test_replaced_counts_flips() -> None:
    found = explanation.replaced(places, OWN, MASK, 3, explanation.TESTS)
    assert (found["flips/top"], found["flips/other"]) == (100, 0)
    assert found["distance/permuted"] > 0.2
    still = explanation.replaced(nothing, OWN, MASK, 3, explanation.TESTS)
    assert set(still.values()) == {0.0}
    rows = torch.tensor([False, True, False])
    one = explanation.replaced(places, OWN, MASK, 3, explanation.TESTS, rows)
    assert one["flips/uniform"] == 100
    assert found["flips/uniform"] == pytest.approx(200 / 3)


def test_agreement_averages_over_rows_that_count() -> None:
    effects = OWN.clone()
    effects[2] = OWN[2].flip(0)
    found = explanation.agreement(OWN, effects, MASK)
    assert found["top_agreement"] == pytest.approx(200 / 3)
    rows = torch.tensor([True, True, False])
    assert explanation.agreement(OWN, effects, MASK, rows) == {"tau": 1.0, "top_agreement": 100.0}


def test_an_adversary_is_scored_by_its_divergence() -> None:
    tests = replace(explanation.TESTS, steps=30)
    free = explanation.searched(nothing, OWN, MASK, 3, tests)
    bound = explanation.searched(places, OWN, MASK, 3, tests)
    assert free["adversary/divergence"] > 0.3
    assert bound["adversary/divergence"] < 0.01
    assert bound["adversary/other_top"] == 0


def test_flips_are_sorted_by_the_gold_links() -> None:
    pair = Pair(
        ("the", "red", "house"), ("la", "casa", "roja"), frozenset({(0, 0), (1, 2), (2, 1)}),
        classes=("determiner", "noun", "adjective"),
    )  # fmt: skip
    own = torch.tensor([[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [1.0, 0.0, 0.0]]])
    found = explanation.by_place(torch.tensor([[True, False, True, True]]), own, [pair])
    assert found == {
        "flips/top/class/adjective": 100.0, "flips/top/class/determiner": 100.0,
        "flips/top/class/noun": 0.0, "flips/top/hit": 100.0, "flips/top/miss": 0.0,
    }  # fmt: skip
    assert explanation.error_rate(own, [pair]) == pytest.approx(100 / 3)


# The study of all positions at once: both ways compute the same, and both sizes are alike.

SIZE = parallelism.Size(sentences=2, length=5, words=9, embed_dim=8, state=6)


def test_one_by_one_gives_the_scores_of_all_at_once() -> None:
    torch.manual_seed(3)
    model, batch = SIZE.transformer(), SIZE.batch(3)
    torch.testing.assert_close(
        parallelism.one_by_one(model, batch), parallelism.at_once(model, batch)
    )


# The study of drafts: its table of pairs, and what it counts as kept.


def test_only_checked_words_count() -> None:
    draft = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    target = torch.tensor([[0.5, 0.5], [0.75, 0.25]])

    def score(table: Tensor) -> Score:
        return lambda tokens: table[tokens]

    written = [
        Speculated(torch.tensor([1, 0, 0]), ("kept", "replaced", "added"), 2),
        Speculated(torch.tensor([1]), ("kept",), 1),
    ]
    found = speculative.measured(written, score(draft), score(target), bos=0)
    # Checked were three words: behind 0, behind 1, and behind 0 again.
    assert found["kept"] == pytest.approx(200 / 3)
    assert found["overlap"] == pytest.approx(100 * (1 + 0.5 + 1) / 3)
    assert found["words"] == pytest.approx(4 / 3)


# The study of summaries: what its arms share, what they know, and what is counted.

REPORTS = summarization.Task(reports=40, names=20, tests=30, test_names=12)


def test_no_name_of_the_tests_is_known() -> None:
    trained = set(made_up_names(summarization.TASK.names, seed=0))
    pairs = summarization.TASK.training(3)[:500]
    vocab = summarization.vocabulary("pointer", pairs, sorted(trained))
    for validation in (False, True):
        task = replace(summarization.TASK, validation=validation)
        unseen, seen = task.testing()["unseen"], task.testing()["seen"]
        told = {pair.target[place] for pair in unseen for place in (0, 2, 6)}
        assert not told & trained
        assert not any(word in vocab for word in told | trained)
        assert {word for pair in seen for word in pair.source} <= trained | set(vocab.tokens)
        assert not any(pair in pairs for pair in seen)
    drawn = [
        replace(summarization.TASK, validation=flag).testing()["unseen"] for flag in (False, True)
    ]
    assert not {pair.source for pair in drawn[0]} & {pair.source for pair in drawn[1]}


def test_spelled_reports_hold_the_same_text() -> None:
    pairs = REPORTS.training(1)
    for pair, spelled in zip(pairs, summarization.as_characters(pairs), strict=True):
        assert "".join(spelled.source).split() == list(pair.source)
        assert tuple("".join(spelled.target).split()) == pair.target


def test_quality_counts_facts_and_both_kinds_of_reports() -> None:
    pairs = match_reports(40, seed=2, names=made_up_names(9, seed=2))
    said = [
        pair.target
        if tells_winner(pair)
        else tuple(pair.target[i] for i in (2, 1, 0, 3, 4, 5, 6, 7))
        for pair in pairs
    ]
    share = 100 * sum(tells_winner(pair) for pair in pairs) / 40
    found = summarization.quality(said, pairs)
    assert found["exact"] == pytest.approx(share)
    assert (found["exact_told"], found["exact_worked_out"]) == (100.0, 0.0)
    assert found["reversed"] == pytest.approx(100 - share)
    assert found["winner"] == found["scores"] == found["form"] == 0
    assert found["rouge-1"] == pytest.approx(100)


# The study of names: twins differ in one word, and what counts as right.


def test_twins_differ_in_the_loser_alone() -> None:
    task = replace(names.TASK, tests=60)
    twins = task.testing()["twins"]
    assert len(twins) > 20
    for one, other in zip(twins[::2], twins[1::2], strict=True):
        words = zip(one.source, other.source, strict=True)
        ((mine, theirs),) = {pair for pair in words if pair[0] != pair[1]}
        assert (mine, theirs) == (one.target[2], one.target[0])
        assert other.target == (mine, "beat", theirs, *one.target[3:])
        known = {word for word in one.source if not word.isalpha() or word == "against"}
        read, back = numbered(one, known)
        assert tuple(back.get(word, word) for word in read.source) == one.source
        assert read.source != numbered(other, known)[0].source
    found = names.of_twins([twins[0].target] * len(twins), twins)
    assert (found["both"], found["same"]) == (0, 100)
    right = names.of_twins([pair.target for pair in twins], twins)
    assert (right["both"], right["one"], right["losers"], right["same"]) == (100, 0, 100, 0)


# The race of two translators: equal weights, equal updates, equal time.


def test_no_validation_sentence_is_reported() -> None:
    reported = {pair.source for pair in race.TASK.tests()["test"]}
    assert not reported & {pair.source for pair in race.VALIDATION.tests()["test"]}


# The study of facts in a long text: which keys are read, and that a question is read as usual.


def test_the_k_best_keys_are_those_of_the_package() -> None:
    draw = torch.Generator().manual_seed(3)
    query, key, value = (torch.randn(1, heads, 9, 8, generator=draw) for heads in (6, 3, 3))
    mask = causal_mask(9, like=query)
    scores = scaled_dot_score(query, repeat_kv(key, query))
    for k in (1, 4, 20):
        wanted = scaled_dot_product_attention(
            query, key, value, top_keys(scores, k, mask), enable_gqa=True
        )
        torch.testing.assert_close(needle.k_best(k)(query, key, value, mask), wanted)


@torch.no_grad()
def test_a_question_after_the_cache_is_read_as_in_one_pass() -> None:
    model, *_ = small()
    facts = [needle.Fact([n, 5 + n, 9], [9, n, 9], 5 + n) for n in needle.PLACES]
    text = needle.planted([*range(10, 50)], [20, 30], facts, 40)
    assert [text.tokens[at] for at in text.answers] == [fact.answer for fact in facts]
    pool = torch.arange(5, 53)
    found = needle.answered(model, text, facts, pool, [60])
    for fact, one, cut in zip(facts, found[0], found[60], strict=True):
        logits, weights = model(torch.tensor([[*text.tokens, *fact.asks]]), need_weights=True)
        lost = -logits[0, -1, pool].log_softmax(-1)[fact.answer - 5]
        assert one.loss == pytest.approx(float(lost), abs=1e-4)
        assert cut.loss == pytest.approx(one.loss, abs=1e-4)
        last = torch.stack([layer[0, :, -1] for layer in weights])
        torch.testing.assert_close(one.weights, last, rtol=1e-3, atol=1e-5)
