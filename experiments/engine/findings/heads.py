"""The findings of `experiments.heads.study`."""

from bookkit.records import Finding

BEHIND = "{size} fewer of 100 answers are right"

FINDINGS = {
    "four_beat_one": Finding(
        holds="Where each position asks four questions, four heads do far better than one.",
        fails="Where each position asks four questions, one head does better than four.",
        undecided="Where each position asks four questions, we cannot tell four heads from one.",
        number="{} more of 100 answers are right",
    ),
    "one_cannot_do_two": Finding(
        holds="One head cannot answer two questions as well as two heads.",
        fails="One head answers two questions as well as two heads do.",
        undecided="We cannot tell whether one head answers two questions as well as two heads.",
        number="a difference of {} answers in 100",
    ),
    "two_thirds": Finding(
        holds="With two questions, one head divides its weight at about two or three to one.",
        fails="With two questions, one head does not share its weight as two to one.",
        undecided="We cannot tell whether one head shares its weight as two to one.",
        number="the larger part is off two thirds by {}",
    ),
    "one_question_needs_one": Finding(
        holds="For one question, one head is enough.",
        fails="Even for one question, the number of heads matters.",
        undecided="For one question, we cannot tell whether the number of heads matters.",
        number="a difference of {} answers in 100",
    ),
    "patience_suffices": Finding(
        holds="Trained four times as long, one head comes close to four.",
        fails="Even trained four times as long, one head stays far behind four.",
        undecided="We cannot tell whether longer training brings one head close to four.",
        number="{} more of 100 answers are right with four heads",
    ),
    "narrow_and_patient": Finding(
        holds="Even trained four times as long, 64 heads of width 1 stay behind four of width 16.",
        fails="Trained four times as long, 64 heads of width 1 come close to four of width 16.",
        undecided="We cannot tell whether longer training brings 64 heads of width 1 close.",
        number=BEHIND,
    ),
    "rank_limit_bites": Finding(
        holds="Heads whose width is a third of the number of keys are too narrow.",
        fails="Sixteen heads of width 4 do better than four of width 16.",
        undecided="We cannot tell sixteen heads of width 4 from four heads of width 16.",
        number="a difference of {} answers in 100",
    ),
    "narrowest_lose": Finding(
        holds="Sixty-four heads of width 1 are too narrow for four questions.",
        fails="Sixty-four heads of width 1 do better than four of width 16.",
        undecided="We cannot tell sixty-four heads of width 1 from four of width 16.",
        number=BEHIND,
    ),
    "width_is_the_cause": Finding(
        holds="Sixty-four heads answer far more once each has width 4 instead of 1.",
        fails="Sixty-four heads answer less if each has width 4 instead of 1.",
        undecided="We cannot tell whether wider heads help sixty-four of them.",
        number="{} more of 100 answers are right",
    ),
    "most_heads_spare": Finding(
        holds="Of sixteen heads, most can be removed, one at a time, without harm.",
        fails="Of sixteen heads, most are needed.",
        undecided="We cannot tell whether most of sixteen heads are needed.",
        number="{} in 100 heads can go",
    ),
    "half_together": Finding(
        holds="Eight of sixteen heads can be removed together, and little is lost.",
        fails="If eight of sixteen heads are removed together, much is lost.",
        undecided="We cannot tell how much is lost with eight of sixteen heads.",
        number="{} of 100 answers are lost",
    ),
}
