"""Do the grammar's verdicts hold for sentences that people wrote? Translators in word pieces.

    python -m experiments sentences PAIRS GOLD --credit "..." --licence "..."

PAIRS is a file of `english<TAB>spanish[<TAB>anything]`. GOLD has one sentence pair with links by
hand in each line, as JSON: `src_words`, `tgt_words`, and `alignment`, a list of [source, target].
A Transformer and a recurrent translator of about as many weights learn from all pairs, each once.
What is repeated is the test, on ten groups of sentences that no training has seen: intervals say
how much the sentences matter, and not how much another training would.

The recurrent translator has additive attention, which had the most BLEU in `real_sentences`. It is
trained in full at every one of three rates, and the best on validation sentences is tested. The
rate of the Transformer was not tuned; its labels are smoothed, those of the other are not.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean

import torch
from sacrebleu import BLEU, corpus_bleu, corpus_chrf
from sacrebleu.significance import PairedTest, Result
from torch import Tensor

from bookkit.data.grammar import english_spanish
from companion.alignment import argmax_links, diagonal_links
from companion.data.batching import collate
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate
from companion.models.transformer import Transformer
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import exact, number, share
from experiments.engine.record import differences
from experiments.engine.trials import record_trials, tuned, tuned_file
from experiments.real_sentences.study import sha256_of
from experiments.sentences.gold import among_words, cut, read_gold
from experiments.sentences.pieces import TESTED, Split, in_pieces, learn_pieces, split
from experiments.sentences.translators import MODULES, Setting, Trained, fit, trained

GROUPS = 10
LENGTHS = {"short": (1, 6), "middle": (7, 9), "long": (10, 99)}
"""Words of the English sentences of each part of a group."""
SEED = 1
SHIPPED = Setting("transformer", steps=10_000)
RECURRENT = replace(SHIPPED, kind="additive")
LEARNING_RATES = (2e-3, 4e-3, 8e-3)


def settings() -> dict[str, Setting]:
    """Return the two translators, the recurrent one at the rate that was chosen."""
    return {"transformer": SHIPPED} | tuned("sentences", {"additive": RECURRENT})


@dataclass(frozen=True)
class Files:
    """Where the sentences are, and those with links by hand."""

    pairs: str
    gold: str


def translated(one: Trained, pairs: Sequence[Pair]) -> list[str]:
    """Translate whole sentences, greedily; return texts."""
    read = [pair.source for pair in in_pieces(one.pieces, pairs)]
    vocab = one.translator.target_vocab
    said = one.translator.translate(read, max_len=60)
    return [one.pieces.decode(vocab.encode(each.tokens)) for each in said]


def scores(one: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return BLEU and chrF of all sentences (sacrebleu's defaults), and BLEU by length."""
    said, right = translated(one, pairs), [pair.target[0] for pair in pairs]
    sizes = [len(pair.source[0].split()) for pair in pairs]
    found = {
        "bleu/all": corpus_bleu(said, [right]).score,
        "chrf/all": corpus_chrf(said, [right]).score,
    }
    for name, (least, most) in LENGTHS.items():
        some = [at for at, size in enumerate(sizes) if least <= size <= most]
        found[f"bleu/{name}"] = corpus_bleu(
            [said[at] for at in some], [[right[at] for at in some]]
        ).score
    return found


def maps(one: Trained, pair: Pair) -> dict[str, Tensor]:
    """Return attention while a pair is read, word by word: of each block, the mean of its heads."""
    (source, columns), (target, rows) = (cut(one.pieces, x) for x in (pair.source, pair.target))
    vocab = one.translator.target_vocab
    batch = collate([Pair(source, target)], vocab, vocab)
    if isinstance(one.network, Transformer):
        cross = one.network.attention(batch).cross
        given = {f"block {at}": block[0].mean(0) for at, block in enumerate(cross, 1)}
    else:
        given = {"map": one.translator.forced_weights([Pair(source, target)])[0]}
    return {name: among_words(w[: len(target)], rows, columns) for name, w in given.items()}


def errors(one: Trained, gold: Sequence[Pair]) -> dict[str, float]:
    """Return the alignment error of every map and of the diagonal."""
    found = [
        {name: argmax_links(weights) for name, weights in maps(one, pair).items()}
        | {"diagonal": diagonal_links(len(pair.target), len(pair.source))}
        for pair in gold
    ]
    return {
        f"alignment_error/{name}": alignment_error_rate([each[name] for each in found], gold)
        for name in found[0]
    }


@torch.no_grad()
def outcome(setting: Setting | None, files: Files, group: int) -> dict[str, float]:
    """Ask a translator about every tenth sentence, beginning with that of the group; None, both."""
    if setting is None:
        return bootstrapped(files, group)
    one = trained(setting, files.pairs, SEED)
    test = split(files.pairs).test[group - 1 :: GROUPS]
    gold = read_gold(Path(files.gold))[group - 1 :: GROUPS]
    return {
        **scores(one, test), **errors(one, gold), "final_loss": fmean(one.losses[-200:]),
        "parameters": sum(weight.numel() for weight in one.network.parameters()),
    }  # fmt: skip


def tried() -> dict[str, float]:
    """Return the validation BLEU of the recurrent translator at every rate."""
    trials = json.loads(tuned_file("sentences").read_text(encoding="utf8"))["trials"]
    return {f"{one['setting']['learning_rate']:g}": one["runs"][0] for one in trials}


@torch.no_grad()
def bootstrapped(files: Files, group: int) -> dict[str, float]:
    """Return how often sentences drawn anew would set the two apart by chance (Koehn, 2004)."""
    test = split(files.pairs).test[group - 1 :: GROUPS]
    said: list[tuple[str, Sequence[str]]] = [
        (name, translated(trained(setting, files.pairs, SEED), test))
        for name, setting in settings().items()
    ]
    right = [[pair.target[0] for pair in test]]
    _, found = PairedTest(said, {"BLEU": BLEU()}, right, test_type="bs", n_samples=1000)()
    result = found["BLEU"][1]
    assert isinstance(result, Result)
    assert result.p_value is not None
    return {"bootstrap_p": result.p_value}


def choose(path: str) -> None:
    """Train the recurrent translator at every rate, and take that of the most validation BLEU."""
    tried = [replace(RECURRENT, learning_rate=rate) for rate in LEARNING_RATES]
    ones, valid = [trained(setting, path, SEED) for setting in tried], split(path).valid
    record_trials(
        "sentences", "BLEU on validation sentences", ["additive"] * len(tried), tried,
        [[scores(one, valid)["bleu/all"]] for one in ones],
        lower_is_better=False, digits=".2f", seeds=(SEED,),
    )  # fmt: skip


@cache
def small() -> Split:
    """Return a few sentences of the grammar, as texts."""
    pairs = [
        Pair((" ".join(pair.source),), (" ".join(pair.target),))
        for pair in english_spanish(120, seed=7, max_length=16)
    ]
    return Split(pairs[30:], [], pairs[:30])


def smoke() -> list[float]:
    """Run the whole pipeline small, on sentences of the grammar."""
    given = small()
    pieces = learn_pieces([text for p in given.train for text in (*p.source, *p.target)], 150)
    trace = [float(pieces.get_vocab_size())]
    gold = english_spanish(4, seed=8, max_length=9)
    for kind in (SHIPPED.kind, RECURRENT.kind):
        one = fit(Setting(kind, 5, batch_size=16, pieces=150, width=32), given, pieces, SEED)
        scores(one, given.test)  # of a model that has learned nothing, which differ by processor
        trace += [*one.losses, errors(one, gold)["alignment_error/diagonal"]]
    return trace


def fall(runs: Runs, arm: str) -> list[float]:
    """Return by how much BLEU falls from the short sentences to the long ones."""
    return differences(runs[f"{arm}/bleu/short"], runs[f"{arm}/bleu/long"])


STUDY = Experiment(
    name="sentences", title="Translators of sentences that people wrote, in word pieces",
    arguments=" PAIRS GOLD --credit CREDIT --licence LICENCE",
    seeds=tuple(range(1, GROUPS + 1)), over="groups of sentences", outcome=outcome,
    config=lambda: {
        "settings": settings(), "tried": tried(), "seed": SEED, "tested": TESTED,
        "lengths": LENGTHS,
    },
    kinds={
        "race/bootstrap_p": number("", 0, 1),
        "*/parameters": exact("weights"), "*/final_loss": number("nats", 0),
        "*/alignment_error/*": share(9, own=True),
        "*/bleu/*": share(TESTED // GROUPS, "BLEU", own=True),
        "*/chrf/*": share(TESTED // GROUPS, "chrF", own=True),
    },
    modules=(
        *MODULES, "companion.alignment", "companion.decoding", "companion.metrics",
        "companion.translation", "experiments.sentences.gold",
    ),
    claims=read_claims(__file__, fall), smoke=smoke, workers=1,
)  # fmt: skip


def main(words: Sequence[str]) -> None:
    """Train on the file that the command line names, and record what is measured."""
    parser = argparse.ArgumentParser(prog="python -m experiments sentences", description=__doc__)
    parser.add_argument("pairs", help="english<TAB>spanish[<TAB>anything], plain or gzip")
    parser.add_argument("gold", help="sentence pairs with links by hand, one JSON a line")
    parser.add_argument("--credit", required=True, help="whom the sentences are owed to")
    parser.add_argument("--licence", required=True, help="the licence of the sentences")
    options = parser.parse_args(words)
    files = Files(options.pairs, options.gold)
    torch.set_num_threads(1)
    trained(SHIPPED, files.pairs, SEED)
    choose(files.pairs)
    replace(
        STUDY,
        arms=lambda: on(files, settings() | {"race": None}),
        data={
            "credit": options.credit, "licence": options.licence,
            "sha256": sha256_of(files.pairs), "gold": sha256_of(files.gold),
        },
    ).record(STUDY.workers)  # fmt: skip
