"""The ledger: which pictures a question gets, whatever was asked before, by whomever, and whenever it was killed."""

from __future__ import annotations

import multiprocessing
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.home import MemoryTrouble
from snellen.memory.picture_ledger import DATABASE, Ledger, LedgerQuestion, _plain
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.verification import verify_memory
from tests.graphs.scripted import embed

BIRDS = LedgerQuestion("Can models recognize birds?", {"alpha": "", "beta": ""}, "choice", "world")
CHANGES = {
    "another query": replace(BIRDS, query="Can models recognize fish?"),
    "one of its models": replace(BIRDS, models={"alpha": ""}),
    "another checkpoint of that name": replace(BIRDS, models={"alpha": "revision 2", "beta": ""}),
    "another protocol": replace(BIRDS, protocol="freeform"),
    "its corrections": replace(BIRDS, stage="after 1"),
}


@pytest.mark.usefixtures("memory_place")
@pytest.mark.parametrize("other", CHANGES.values(), ids=list(CHANGES))
def test_another_question_gets_other_pictures(tmp_path: Path, other: LedgerQuestion) -> None:
    ledger = Ledger(tmp_path)
    first, second = ledger.open(BIRDS, "t1"), ledger.open(other, "t2")
    assert first.seed != second.seed
    assert not second.again
    assert not second.informed


@pytest.mark.usefixtures("memory_place")
def test_the_same_question_gets_the_same_pictures_and_is_told_who_asked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    first = ledger.open(BIRDS, "t1")
    assert (first.again, first.informed) == ((), ())
    worded = replace(BIRDS, query="  can models  RECOGNIZE birds ", models={"beta": "", "alpha": ""})
    second = Ledger(tmp_path).open(worded, "t2")
    assert second.seed == first.seed
    assert second.again == ("t1",)


def test_a_fresh_home_gives_the_same_pictures(tmp_path: Path) -> None:
    seeds = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        ledger = Ledger(tmp_path / name)
        if name == "other":
            ledger.open(CHANGES["another query"], "t0")
        seeds.append(ledger.open(BIRDS, "t1").seed)
    assert seeds[0] == seeds[1]


@pytest.mark.usefixtures("memory_place")
def test_a_run_that_was_killed_enters_its_question_again_and_nothing_changes(tmp_path: Path) -> None:
    first = Ledger(tmp_path).open(BIRDS, "t1")
    Ledger(tmp_path).open(BIRDS, "t2")
    assert Ledger(tmp_path).open(BIRDS, "t1") == first


@pytest.mark.usefixtures("memory_place")
def test_a_seed_that_somebody_chose_is_kept_and_who_was_informed_by_it_is_told(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.open(BIRDS, "t1", 7)
    fish = CHANGES["another query"]
    found = ledger.open(fish, "t2", 7)
    assert (found.seed, found.informed, found.again) == (7, ("t1",), ())
    assert ledger.open(replace(BIRDS, source="a folder"), "t3", 7).informed == (), "other pictures, whatever the seed"
    assert ledger.open(fish, "t4").seed != 7, "its pictures had informed another question before"
    assert ledger.open(BIRDS, "t5").seed == 7, "it was first there"
    assert ledger.open(BIRDS, "t6", 8).otherwise == ("t1", "t5")


@pytest.mark.usefixtures("memory_place")
def test_a_seed_that_is_taken_is_not_allotted(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    taken = Ledger(tmp_path / "other").open(BIRDS, "t").seed
    ledger = Ledger(tmp_path)
    ledger.open(CHANGES["another query"], "t1", taken)
    assert ledger.open(BIRDS, "t2").seed != taken


@pytest.mark.usefixtures("memory_place")
def test_a_changed_design_gets_pictures_of_its_own_and_the_same_ones_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    seed = ledger.open(BIRDS, "t1").seed
    place = {"seed": seed, "experiment": 0}
    assert ledger.begin(BIRDS, "t1", **place, design="a") == seed
    changed = ledger.begin(BIRDS, "t1", **place, design="b")
    assert changed != seed
    assert ledger.begin(BIRDS, "t1", **place, design="a") == seed
    assert ledger.begin(BIRDS, "t2", **place, design="b") == changed
    assert ledger.begin(BIRDS, "t1", **place, design="c") not in {seed, changed}
    assert ledger.begin(BIRDS, "t1", seed=seed, experiment=1, design="b") == seed
    assert ledger.open(BIRDS, "t3").seed == seed


def test_investigations_from_before_the_ledger_count(tmp_path: Path) -> None:
    SampleTable(tmp_path).add([Sample("old", 0, 0, 0, "p", "p", "dog", "world")])
    ledger = Ledger(tmp_path)
    assert ledger.open(BIRDS, "t1", 0).older == 1
    assert ledger.open(BIRDS, "t2", 0).older == 0, "it is the same question as the ledger knows with this seed"
    assert ledger.open(CHANGES["another query"], "t3").older == 0, "fresh pictures are nobody's"
    SampleTable(tmp_path).add([Sample("new", 0, 0, 0, "p", "p", "dog", "world")])
    assert Ledger(tmp_path).open(BIRDS, "t4", 1).older == 1


def test_a_lost_ledger_makes_everything_older_and_gives_the_same_pictures(tmp_path: Path) -> None:
    first = Ledger(tmp_path).open(BIRDS, "t1")
    SampleTable(tmp_path).add([Sample("t1", 0, 0, 0, "p", "p", "dog", "world")])
    for path in tmp_path.glob(f"{DATABASE}*"):
        path.unlink()
    ledger = Ledger(tmp_path)
    assert ledger.open(BIRDS, "t2").seed == first.seed
    assert ledger.open(CHANGES["another query"], "t3", first.seed).informed == ("t2",)
    assert ledger.open(CHANGES["another protocol"], "t4", 5).older == 1


def test_a_damaged_ledger_is_moved_away_and_begun_again(tmp_path: Path) -> None:
    first = Ledger(tmp_path).open(BIRDS, "t1")
    (tmp_path / DATABASE).write_bytes(b"no database" * 1_000)
    with pytest.raises(MemoryTrouble, match="snellen memory verify"):
        Ledger(tmp_path)
    found = verify_memory(tmp_path, lambda: DemonstrationPool(tmp_path, embed=embed))
    assert [(one.kind, one.place) for one in found.findings] == [("lost", str(tmp_path / DATABASE))]
    assert Ledger(tmp_path).open(BIRDS, "t2").seed == first.seed


def test_deleting_the_pictures_of_a_thread_makes_nobody_forget_its_answer(tmp_path: Path) -> None:
    SampleTable(tmp_path).add([Sample("t1", 0, 0, 0, "p", "p", "dog", "world")])
    seed = Ledger(tmp_path).open(BIRDS, "t1").seed
    for path in tmp_path.glob("samples.sqlite*"):
        path.unlink()
    assert Ledger(tmp_path).open(CHANGES["another query"], "t2", seed).informed == ("t1",)


def test_it_holds_no_text_of_a_question(tmp_path: Path) -> None:
    Ledger(tmp_path).open(replace(BIRDS, query="A secret query?", source="/home/ann/secret"), "t1")
    with closing(sqlite3.connect(tmp_path / DATABASE)) as rows:
        assert "secret" not in "\n".join(rows.iterdump())


questions = st.builds(
    LedgerQuestion,
    query=st.sampled_from(["Can they see birds?", "Can they see fish?", "Can they count?"]),
    models=st.sets(st.sampled_from("abc"), min_size=1).map(lambda names: dict.fromkeys(names, "")),
    protocol=st.just("choice"),
    source=st.sampled_from(["world", "folder"]),
)


@settings(max_examples=40)
@given(asked=st.lists(st.tuples(questions, st.none() | st.integers(0, 2)), max_size=12))
def test_no_question_is_allotted_pictures_that_informed_another(
    asked: list[tuple[LedgerQuestion, int | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("home"))
    before: list[tuple[LedgerQuestion, int]] = []
    for number, (question, seed) in enumerate(asked):
        found = ledger.open(question, f"t{number}", seed)
        others = {one.id for one, used in before if used == found.seed and one.source == question.source} - {
            question.id
        }
        assert bool(others) == bool(found.informed)
        mine = next(
            place for place, (one, used) in enumerate([*before, (question, found.seed)])
            if one.id == question.id and used == found.seed
        )  # fmt: skip
        if seed is None:
            earlier = {
                one.id for one, used in before[:mine] if used == found.seed and one.source == question.source
            } - {question.id}
            assert not earlier, "whoever came first was this question"
        before.append((question, found.seed))


def _opened(folder: Path, number: int) -> tuple[int, int]:
    ledger = Ledger(folder)
    mine = replace(BIRDS, query=f"Question {number}?")
    return ledger.open(BIRDS, f"same{number}").seed, ledger.open(mine, f"own{number}").seed


@pytest.mark.usefixtures("memory_place")
def test_processes_at_once_agree(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        found = pool.starmap(_opened, [(tmp_path, number) for number in range(12)])
    assert len({same for same, _ in found}) == 1
    assert len({own for _, own in found}) == 12


PLAIN = "Can the models, at 0.5 or -30%, recognize left-handed birds?"
SAME = [
    "can models at 0.5 or -30% recognize left-handed birds",
    "Can the models at 0.5 or -30%: recognize \u201cleft\u2010handed\u201d birds\u2026",
    "\uff23an the models, at 0.5 or \u221230\uff05, recognize left-handed bir\u200bds\uff1f",
    "(Can) the models - at 0.5, or -30% \u2014 recognize a left-handed birds?!",
]
OTHER = [
    PLAIN.replace("0.5", "05"),
    PLAIN.replace("0.5", "5"),
    PLAIN.replace("-30", "30"),
    PLAIN.replace("%", ""),
    PLAIN.replace("birds", "fish"),
    PLAIN.replace("or", "<"),
]


@pytest.mark.parametrize("query", SAME)
def test_punctuation_and_articles_make_no_other_question(tmp_path: Path, query: str) -> None:
    ledger = Ledger(tmp_path)
    first = ledger.open(replace(BIRDS, query=PLAIN), "t1")
    second = ledger.open(replace(BIRDS, query=query), "t2")
    assert (second.seed, second.again) == (first.seed, ("t1",))


def test_numbers_signs_and_words_make_another_question() -> None:
    assert len({replace(BIRDS, query=one).id for one in [PLAIN, *OTHER]}) == 1 + len(OTHER)


def test_a_question_without_articles_keeps_its_seed() -> None:
    assert BIRDS.id == BIRDS.former_id


@pytest.mark.usefixtures("memory_place")
def test_a_question_of_an_older_ledger_is_known_however_it_is_worded_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = replace(BIRDS, query="Can the models recognize birds?")
    with monkeypatch.context() as older:
        older.setattr(
            "snellen.memory.picture_ledger._plain", lambda query: " ".join(query.casefold().split()).rstrip(" .?!")
        )
        first = Ledger(tmp_path).open(replace(asked), "t1")
        Ledger(tmp_path).begin(replace(asked), "t1", seed=first.seed, experiment=0, design="one")
    ledger = Ledger(tmp_path)
    again = ledger.open(replace(asked), "t2")
    reworded = ledger.open(replace(asked, query="Can models recognize birds"), "t3")

    assert (again.seed, again.again) == (first.seed, ("t1",))
    assert (reworded.seed, reworded.again) == (first.seed, ("t1", "t2"))
    assert ledger.begin(replace(asked), "t2", seed=first.seed, experiment=0, design="one") == first.seed


@settings(max_examples=50)
@given(st.text())
def test_a_plain_query_is_plain_already(query: str) -> None:
    plain = _plain(query)
    assert _plain(plain) == plain
