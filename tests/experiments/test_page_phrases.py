"""The networks of the phrase book are those of the study, and never saw what was hidden."""

import pytest

from bookkit.playables.finger import FILES, FOLDER, LONGEST
from bookkit.playables.weights import load_translator, read_about
from bookkit.records import load_result
from companion.data.pairs import characters
from experiments.engine.experiment import as_key
from experiments.founding.study import MAX_LEN, SEEDS, arms, scores
from experiments.tools.page_phrases import ARMS


@pytest.mark.parametrize("name", ARMS)
def test_a_file_holds_the_first_run_of_its_arm(name: str) -> None:
    about, arm = read_about(FOLDER / FILES[name]), arms()[ARMS[name]]
    corpus = arm.task.corpus(SEEDS[0])
    unseen = corpus.tests["unseen"]
    assert about["seed"] == SEEDS[0]
    assert LONGEST == MAX_LEN
    assert as_key(setting=arm.setting) == {"setting": about["setting"]}
    for said, pairs in (("learned", corpus.train), ("hidden", unseen)):
        spelled = [[characters(one) for one in pair] for pair in about[said]]
        assert spelled == [[pair.source, pair.target] for pair in pairs]
    network = load_translator(FOLDER / FILES[name])
    written = network.translate([pair.source for pair in unseen], max_len=MAX_LEN)
    found = scores([text.tokens for text in written], unseen, "unseen")["letters_wrong/unseen"]
    recorded = load_result("founding")[f"{ARMS[name]}/letters_wrong/unseen"].runs[0]
    assert found == pytest.approx(recorded, abs=0.5), "eight bits change hardly a letter"
