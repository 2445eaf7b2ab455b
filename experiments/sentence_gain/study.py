"""Does attention help on sentences that people wrote? With it and without, trained alike.

    python -m experiments sentence_gain PAIRS --credit "..." --licence "..." [--tune]

PAIRS is a file of `english<TAB>spanish[<TAB>anything]`. Two recurrent translators of about as many
weights, one without attention and one with the additive score, learn from all pairs in word pieces,
with five seeds and for two lengths of training. All are tested on the same unread sentences.
Intervals count the seeds. How much the sentences matter is asked beside them: for every seed, they
are drawn anew a thousand times (Koehn, 2004). `--tune` trains both at the same rates for the
shorter time, with two other seeds, and stops when the best on validation sentences is chosen.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import torch
from sacrebleu import BLEU
from sacrebleu.significance import PairedTest, Result

from companion.data.batching import collate
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import exact, number
from experiments.engine.record import differences
from experiments.engine.settings import REPORT_SEEDS
from experiments.engine.trials import TUNING_SEEDS, record_trials, tuned
from experiments.real_sentences.study import sha256_of
from experiments.sentences.pieces import TESTED, in_pieces, learn_pieces, split
from experiments.sentences.study import LENGTHS, scores, small, translated
from experiments.sentences.translators import MODULES, Kind, Setting, Trained, fit, trained

KINDS: tuple[Kind, Kind] = ("none", "additive")
BUDGETS = (3000, 6000)
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)
VALIDATED = 1000


def arms() -> dict[str, Setting]:
    """Return both translators as they are tried: for the shorter time."""
    return {kind: Setting(kind, BUDGETS[0], batch_size=64, width=96) for kind in KINDS}


def reported() -> dict[str, Setting]:
    """Return both as tuned, with both lengths of training."""
    return {
        f"{kind}/{steps}": replace(one, steps=steps)
        for kind, one in tuned("sentence_gain", arms()).items()
        for steps in BUDGETS
    }


def outcome(asked: Setting | int, path: str, seed: int) -> dict[str, float]:
    """Test one translator; for a number of updates, hold the two against each other."""
    if isinstance(asked, int):
        return bootstrapped(path, seed, asked)
    one = trained(asked, path, seed)
    return {
        **scores(one, split(path).test), "final_loss": fmean(one.losses[-200:]),
        "parameters": sum(weight.numel() for weight in one.network.parameters()),
    }  # fmt: skip


def bootstrapped(path: str, seed: int, steps: int) -> dict[str, float]:
    """Return how often sentences drawn anew would set the two apart by chance, for each length."""
    test = split(path).test
    said = {
        kind: translated(trained(reported()[f"{kind}/{steps}"], path, seed), test) for kind in KINDS
    }
    found = {}
    for name, (least, most) in {"all": (1, 99), **LENGTHS}.items():
        some = [at for at, p in enumerate(test) if least <= len(p.source[0].split()) <= most]
        ours: list[tuple[str, Sequence[str]]] = [
            (kind, [texts[at] for at in some]) for kind, texts in said.items()
        ]
        right = [[test[at].target[0] for at in some]]
        _, results = PairedTest(ours, {"BLEU": BLEU()}, right, test_type="bs", n_samples=1000)()
        result = results["BLEU"][1]
        assert isinstance(result, Result)
        assert result.p_value is not None
        found[f"p/{name}"] = result.p_value
    return found


@torch.no_grad()
def validation_loss(one: Trained, path: str) -> float:
    """Return the loss of a piece of the validation sentences, in nats."""
    pairs, vocab = in_pieces(one.pieces, split(path).valid), one.translator.target_vocab
    batches = [collate(pairs[at : at + 100], vocab, vocab) for at in range(0, len(pairs), 100)]
    words = [int(batch.target_mask.sum()) for batch in batches]
    losses = [float(one.network.loss(batch)) for batch in batches]
    return sum(a * b for a, b in zip(words, losses, strict=True)) / sum(words)


def choose(path: str) -> None:
    """Train both at every rate, and take those of the least validation loss."""
    tried = [
        (kind, replace(one, learning_rate=rate))
        for kind, one in arms().items()
        for rate in LEARNING_RATES
    ]
    runs = [
        [validation_loss(trained(one, path, seed), path) for seed in TUNING_SEEDS]
        for _, one in tried
    ]
    names, settings = zip(*tried, strict=True)
    record_trials("sentence_gain", "validation loss", names, settings, runs)


def smoke() -> list[float]:
    """Run the whole pipeline small, on sentences of the grammar."""
    given = small()
    pieces = learn_pieces([text for p in given.train for text in (*p.source, *p.target)], 150)
    trace = [float(pieces.get_vocab_size())]
    for one in arms().values():
        tiny = replace(one, steps=5, batch_size=16, pieces=150, width=32)
        trace += fit(tiny, given, pieces, seed=1).losses
    return trace


def lead(runs: Runs, part: str, steps: str) -> list[float]:
    """Return how much more BLEU attention has on sentences of a length, or all."""
    return differences(*(runs[f"{kind}/{steps}/bleu/{part}"] for kind in reversed(KINDS)))


def more_on_long(runs: Runs) -> list[float]:
    """Return how much larger the lead is on long sentences than on short ones, at the end."""
    return differences(*(lead(runs, part, str(BUDGETS[-1])) for part in ("long", "short")))


STUDY = Experiment(
    name="sentence_gain", title="Attention and none on sentences that people wrote",
    arguments=" PAIRS --credit CREDIT --licence LICENCE",
    seeds=REPORT_SEEDS, outcome=outcome,
    config=lambda: {
        "arms": reported(), "tested": TESTED, "validated": VALIDATED, "lengths": LENGTHS,
    },
    kinds={
        "gain/*": number("", 0, 1), "*/parameters": exact("weights"),
        "*/final_loss": number("nats", 0), "*/bleu/*": number("BLEU", 0, 100),
        "*/chrf/*": number("chrF", 0, 100),
    },
    modules=(
        *MODULES, "companion.decoding", "companion.metrics", "companion.translation",
        "experiments.sentences.study",
    ),
    claims=read_claims(__file__, lead, more_on_long), smoke=smoke, workers=1,
)  # fmt: skip


def main(words: Sequence[str]) -> None:
    """Train on the file that the command line names, and record what is measured."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments sentence_gain", description=__doc__
    )
    parser.add_argument("pairs", help="english<TAB>spanish[<TAB>anything], plain or gzip")
    parser.add_argument("--credit", required=True, help="whom the sentences are owed to")
    parser.add_argument("--licence", required=True, help="the licence of the sentences")
    parser.add_argument("--tune", action="store_true", help="choose the rates, and stop there")
    options = parser.parse_args(words)
    torch.set_num_threads(1)
    if options.tune:
        choose(options.pairs)
        return
    replace(
        STUDY,
        arms=lambda: on(options.pairs, {**reported(), **{f"gain/{one}": one for one in BUDGETS}}),
        data={
            "credit": options.credit, "licence": options.licence,
            "sha256": sha256_of(options.pairs),
        },
    ).record(STUDY.workers)  # fmt: skip
