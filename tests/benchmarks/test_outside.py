"""The benchmark from outside: its truth is measured rightly, kept, and read into answers."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.outside.__main__ import PROFILE, balanced, measured
from benchmarks.outside.conditions import BLOCK, QuestionBlock, condition
from benchmarks.outside.figures import compared, judged, mcnemar
from benchmarks.outside.judging import JUDGED
from benchmarks.outside.kept_answers import KeptAnswers
from benchmarks.outside.queries import KINDS, QUERIES, Asks, OutsideQuery, read_queries
from benchmarks.outside.readout import said_of
from benchmarks.outside.statements import Statement
from benchmarks.outside.truth import TruthTable, formats_of
from benchmarks.outside.truth_archive import pack
from benchmarks.outside.ways import OutsideBench, RecordedDesigns, WayOutcome, recorded_designs, topic_of
from snellen.experiments.examiners.llm import ChatExaminer
from snellen.experiments.report import Answer, Report
from snellen.models.under_test import Card, Question, Ranking
from snellen.profiles import load_profile

SEEN = ("see/birds", "see/horse", "see/small things", "see/things in the top left", "see/things among others")
OTHERS = ("count", "colors", "color/red", "sides", "heights", "notice/noise", "see/things under blur")


@dataclass
class Knower:
    """A model that knows the right answers to some blocks, and otherwise says the first choice."""

    known: dict[tuple[bytes, str], int] = field(default_factory=dict)
    asked: int = 0
    card = Card("knower", "knower", "Knower", None, "tokens", pictures=1, answers=True)

    def learn(self, block: QuestionBlock) -> None:
        self.known |= {(one.picture.tobytes(), block.text): one.right for one in block.shown}

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        self.asked += len(questions)
        return [self._ranked(one) for one in questions]

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:
        return ["" for _ in questions]

    def _ranked(self, question: Question) -> Ranking:
        right = self.known.get((question.pictures[0].tobytes(), question.text), 0)
        return Ranking(tuple((0.0 if place == right else -1.0,) for place in range(len(question.choices))))


def table_of(folder: Path, models: dict[str, Knower], pictures: int = 2 * BLOCK) -> TruthTable:
    return TruthTable(folder, models.__getitem__, lambda name: f"weights-of-{name}", pictures)


def knowing(*names: str, blocks: int = 3) -> Knower:
    model = Knower()
    for name in names:
        for way in formats_of(name):
            for number in range(blocks):
                model.learn(condition(name).block(way, number))
    return model


def query_of(statement: Statement, models: Sequence[str] = ("a",), asks: Asks = "whether") -> OutsideQuery:
    return OutsideQuery("single", "?", tuple(models), statement, asks, None)


FILES = [QUERIES, QUERIES.with_name("blind_queries.jsonl")]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_there_are_enough_queries_of_every_kind_about_models_of_the_profile(file: Path) -> None:
    queries = read_queries(file)
    assert len(queries) >= 120
    assert len({one.text for one in queries}) == len(queries)
    assert {one.kind for one in queries} == set(KINDS)
    tested = load_profile(PROFILE).tested
    for query in queries:
        assert set(query.models) <= set(tested)
        assert all(name in query.text for name in query.models)
        for wanted in query.statement.wanted(query.models):
            assert wanted.formats
            assert set(wanted.formats) <= set(formats_of(wanted.condition))


async def test_every_recorded_design_can_be_run_and_every_query_of_choices_has_five() -> None:
    designs = recorded_designs()
    queries = [query for file in FILES for query in read_queries(file)]
    asked = [one for one in queries if one.statement.of not in {*JUDGED, "free/truth", "first", "yes"}]
    assert all(len(designs[topic_of(query)]) == 5 for query in asked)
    report = Report(query="?", models=["a", "b"], alpha=0.05, seed=1)
    for replies in designs.values():
        examiner = ChatExaminer(RecordedDesigns(replies))  # type: ignore[arg-type]
        for _ in replies:
            assert await examiner.design_experiment(report, []) is not None
        assert await examiner.design_experiment(report, []) is None


@pytest.mark.parametrize("name", [*SEEN, *OTHERS])
def test_blocks_are_even_repeatable_and_ask_what_their_choices_answer(name: str) -> None:
    for way in formats_of(name):
        block = condition(name).block(way, 4)
        again = condition(name).block(way, 4)
        assert [one.picture.tobytes() for one in block.shown] == [one.picture.tobytes() for one in again.shown]
        assert len(block.shown) == BLOCK
        counts = Counter(one.right for one in block.shown)
        assert max(counts.values()) <= BLOCK / 2
        assert len(set(block.choices)) == len(block.choices)
        assert 0 < block.chance <= 1 / 2


def test_a_changed_block_asks_the_same_about_the_same_things() -> None:
    plain, changed = condition("see/things").block("which", 2), condition("see/things under blur").block("which", 2)
    assert (plain.text, plain.choices) == (changed.text, changed.choices)
    assert [one.right for one in plain.shown] == [one.right for one in changed.shown]
    assert all(a.picture != b.picture for a, b in zip(plain.shown, changed.shown, strict=True))


def test_what_an_archive_knows_of_a_model_is_not_measured_again(tmp_path: Path) -> None:
    archive, wanted = tmp_path / "truth.zip", list(Statement("good", "see/cat").wanted(["a"]))
    table_of(tmp_path / "one", {"a": knowing("see/cat")}).measure(wanted)
    pack(tmp_path / "one", archive)
    before = archive.read_bytes()
    pack(tmp_path / "one", archive)
    assert archive.read_bytes() == before
    same, other = (replace(table_of(tmp_path / name, {"a": Knower()}), archive=archive) for name in ("two", "three"))
    same.measure(wanted)
    assert same.read("a").asked == 0  # type: ignore[attr-defined]
    other.fingerprint = lambda name: f"others-of-{name}"
    other.measure(wanted)
    assert other.read("a").asked > 0  # type: ignore[attr-defined]
    pack(tmp_path / "three", archive)
    assert len(archive.read_bytes()) > len(before)


def test_who_knows_is_good_and_who_always_says_the_first_is_not(tmp_path: Path) -> None:
    models = {"knows": knowing("see/cat", blocks=12), "guesses": Knower()}
    table = table_of(tmp_path, models, pictures=24 * BLOCK)
    good = Statement("good", "see/cat")
    table.measure(good.wanted(["knows", "guesses"]))
    assert good.truth(table, ["knows"]) is True
    assert good.truth(table, ["guesses"]) is False
    assert Statement("better", "see/cat").truth(table, ["guesses", "knows"]) is False
    assert Statement("best", "see/cat").truth(table, ["knows", "guesses"]) is True
    assert Statement("worst", "see/cat").truth(table, ["guesses", "knows"]) is True


def test_what_is_lost_under_a_change_is_told_from_what_was_never_there(tmp_path: Path) -> None:
    models = {"loses": knowing("see/things", blocks=12), "never": Knower()}
    table = table_of(tmp_path, models, pictures=24 * BLOCK)
    robust = Statement("robust", "left rotation")
    table.measure(robust.wanted(list(models)))
    assert robust.truth(table, ["loses"]) is False
    assert robust.truth(table, ["never"]) is None
    assert Statement("loses", "left rotation", bar=0.2).truth(table, ["loses"]) is True


def test_a_truth_of_one_way_of_asking_only_is_not_settled(tmp_path: Path) -> None:
    model = Knower()
    for number in range(12):
        model.learn(condition("see/things").block("which", number))
    table = table_of(tmp_path, {"half": model}, pictures=24 * BLOCK)
    good = Statement("good", "see/things")
    table.measure(good.wanted(["half"]))
    assert good.truth(table, ["half"]) is None


def test_what_was_measured_is_kept_and_what_was_cut_off_is_measured_again(tmp_path: Path) -> None:
    good, model = Statement("good", "sides"), Knower()
    table_of(tmp_path, {"a": model}).measure(good.wanted(["a"]))
    first = model.asked
    assert first == 2 * BLOCK
    table_of(tmp_path, {"a": model}).measure(good.wanted(["a"]))
    assert model.asked == first
    file = next(iter(sorted(tmp_path.rglob("*.jsonl"))))
    file.write_text(file.read_text(encoding="utf-8")[:20], encoding="utf-8")
    table_of(tmp_path, {"a": model}).measure(good.wanted(["a"]))
    assert model.asked == first + BLOCK


def test_a_planted_habit_takes_away_the_ways_of_asking_that_it_spoils() -> None:
    wanted = list(Statement("good", "see/vehicles").wanted(["izar"]))
    assert [one.formats for one in wanted] == [("open",)]
    assert [one.formats for one in Statement("good", "notice/noise").wanted(["mizar"])] == [("which",)]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_mcnemar_is_a_p_value_and_symmetric(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    value = mcnemar(first, second)
    assert 0 < value <= 1
    assert value == mcnemar(second, first)


def test_mcnemar_of_one_against_eight_is_that_of_the_tables() -> None:
    first = [True] + [False] * 8 + [True] * 5
    second = [False] + [True] * 8 + [True] * 5
    assert mcnemar(first, second) == pytest.approx(0.0390625)


def test_refusals_are_neither_right_nor_wrong() -> None:
    assert judged("refused", "yes") == judged("undecided", "yes") == "undecided"
    assert judged("no", "yes") == "wrong"
    each = [{"true": "yes", "a": {"says": "yes"}, "b": {"says": "no"}}]
    assert compared(each, "a", "b") == {"wrong": 1.0, "right": 1.0}


def test_answers_are_read_as_they_were_asked() -> None:
    robust = Answer(about="a", answer=None, property="robust to blur", holds=False, sentence="s")
    statement = Statement("robust", "blur")
    assert said_of([robust], query_of(statement)) == "no"
    assert said_of([robust], query_of(statement, asks="opposite")) == "yes"
    hurt = robust.model_copy(update={"answer": "yes"})
    assert said_of([hurt], query_of(statement, asks="opposite")) == "yes"
    assert said_of([], query_of(statement)) == "undecided"


def test_the_best_is_who_beats_all_others() -> None:
    def better(one: str, other: str, *, holds: bool | None = True) -> Answer:
        return Answer(
            about=f"{one} and {other}", property=f"{one} is better than {other} at x", holds=holds, sentence="s"
        )

    answers = [better("a", "b"), better("a", "c"), better("b", "c", holds=None)]
    query = query_of(Statement("best", "count"), ("a", "b", "c"), "which")
    assert said_of(answers, query) == "a"
    assert said_of([answers[0], better("a", "c", holds=None)], query) == "undecided"
    worst = query_of(Statement("worst", "count"), ("c", "a", "b"), "which")
    assert said_of([better("a", "c"), better("c", "b", holds=False)], worst) == "c"


def test_half_of_the_queries_are_to_be_answered_with_yes() -> None:
    some = [(query_of(Statement("good", "count")), true) for true in ("yes", "yes", "yes", "no", "a")]
    assert Counter(true for _, true in balanced(some)) == {"yes": 1, "no": 1, "a": 1}


class ScriptedWays:
    """Answers every query alike, and counts how often it is asked."""

    options = argparse.Namespace(seed=1, truth=10)

    def __init__(self) -> None:
        self.asked = 0

    async def ours(self, query: OutsideQuery) -> WayOutcome:
        self.asked += 1
        return WayOutcome(query.answer(holds=True), 10)

    async def fixed(self, _: OutsideQuery) -> WayOutcome:
        self.asked += 1
        return WayOutcome("refused", 0, "no")

    async def apex(self, _: OutsideQuery) -> WayOutcome:
        self.asked += 1
        return WayOutcome("yes", 40)


def truths_of(statement: Statement) -> list[tuple[OutsideQuery, bool | None]]:
    asked = query_of(statement), query_of(statement, asks="opposite"), query_of(statement)
    return [(replace(one, text=f"{place}?"), (True, True, None)[place]) for place, one in enumerate(asked)]


async def test_the_report_counts_by_kind_and_compares_ways() -> None:
    bench: OutsideBench = ScriptedWays()  # type: ignore[assignment]
    report = await measured(bench, truths_of(Statement("robust", "blur")), KeptAnswers(None, {}))
    assert (report["queries"], report["true"], report["unsettled"]) == (2, 1, 1)
    assert (report["right"], report["apex"]["wrong"], report["fixed"]["refused"]) == (2, 1, 2)
    assert report["kinds"]["single"]["ours"]["right"] == 2
    assert report["mcnemar"]["apex"] == {"wrong": 1.0, "right": 1.0}


async def test_only_some_ways_are_asked() -> None:
    ways = ScriptedWays()
    bench: OutsideBench = ways  # type: ignore[assignment]
    report = await measured(bench, truths_of(Statement("robust", "blur")), KeptAnswers(None, {}), ways=["ours"])
    assert (ways.asked, report["right"], report["mcnemar"]) == (2, 2, {})
    assert not {"fixed", "apex", "share"} & set(report)
    assert list(report["kinds"]["single"]) == ["ours"]
    report = await measured(bench, truths_of(Statement("robust", "blur")), KeptAnswers(None, {}), ways=["apex"])
    assert "right" not in report
    assert report["apex"]["wrong"] == 1


async def test_a_run_goes_on_where_it_was_stopped_and_parts_make_a_whole(tmp_path: Path) -> None:
    ways, file, truths = ScriptedWays(), tmp_path / "answers.jsonl", truths_of(Statement("robust", "blur"))
    bench: OutsideBench = ways  # type: ignore[assignment]
    for part in (1, 2):
        half = await measured(bench, truths, KeptAnswers(file, {"seed": 1}), part=(part, 2))
        assert (half["queries"], ways.asked) == (1, 3 * part)
    with file.open("a", encoding="utf-8") as cut_off:
        cut_off.write('\n{"way": "ours", "qu')

    whole = await measured(bench, truths, KeptAnswers(file, {"seed": 1}))

    assert ways.asked == 6
    alone = await measured(bench, truths, KeptAnswers(None, {}))
    assert {**whole, "seconds": 0}["each"] == alone["each"]
    assert ways.asked == 12
    await measured(bench, truths, KeptAnswers(file, {"seed": 2}))
    assert ways.asked == 18
