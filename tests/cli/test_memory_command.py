"""`snellen memory` shows, checks, forgets and carries elsewhere what was learned."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from snellen.cli import main
from snellen.memory.adapters import AdapterStore
from snellen.memory.demonstrations import DemonstrationPool, demonstration
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.records import PromptOrigin
from snellen.memory.prompts.rows import DATABASE
from snellen.reasoning.case_based.reasoner import seed_demonstrations
from tests.memory.learned import made

WRONG = demonstration("plan", "Count the flamingos.", plan=["Find them."], correct=False, critique="It misses.")
SEED = demonstration("program", "Count the dogs.", plan=["Find."], program="A=RESULT(var=IMAGE)", source="seed")


@pytest.fixture
def learned(home: Path) -> Path:
    lesson = PromptOrigin(question="What is\x1b it?", answer="a flamingo")
    PromptPool(home).add(made(1), made(2, "ostrich"), made(3, "", pool="VQA", lesson=lesson))
    DemonstrationPool(home).add(SEED, WRONG)
    return home


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main.main(("memory", *words)) == 0
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(run(capsys, *words, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *words: str, status: int = 2) -> str:
    assert main.main(("memory", *words)) == status
    said = capsys.readouterr().err
    assert said.startswith("snellen: ")
    assert said.count("\n") == 1
    return said


def test_the_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "--help")
    for word in ("forget --concept flamingo", "export learned.zip", "--dry-run", "exit status 1"):
        assert word in said


def test_stats_count_pools_and_parts(learned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "stats")
    assert [(one["pool"], one["concepts"], one["prompts"]) for one in found["prompts"]] == [
        ("LOC", 2, 2),
        ("VQA", 1, 1),
    ]
    shipped = Counter((one.kind, one.correct) for one in seed_demonstrations())
    seeds = shipped["plan", False]
    assert {"kind": "plan", "correct": False, "seeds": seeds, "learned": 1} in found["demonstrations"]
    seeds = shipped["program", True] + 1
    assert {"kind": "program", "correct": True, "seeds": seeds, "learned": 0} in found["demonstrations"]
    assert "LOC\t0123456789abcdef\t2\t2\t0\t2 x 3\t" in run(capsys, "stats")


def test_an_empty_memory_is_shown_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "list") == {"prompts": [], "demonstrations": [], "adapters": []}
    assert told(capsys, "stats")["prompts"] == []
    assert told(capsys, "verify")["clean"]
    assert told(capsys, "forget", "--all") == {"prompts": 0, "demonstrations": 0, "adapters": 0}


def test_the_list_can_be_narrowed_and_commands_no_terminal(learned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "list")
    assert made(1).row.id in said
    assert WRONG.id in said
    assert SEED.id not in said
    assert "\x1b" not in said
    assert [one["id"] for one in told(capsys, "list", "--pool", "loc")["prompts"]] == [
        made(1).row.id,
        made(2, "ostrich").row.id,
    ]
    assert [one["concept"] for one in told(capsys, "list", "--concept", "Ostrich")["prompts"]] == ["ostrich"]
    assert len(told(capsys, "list", "--pool", "demonstrations")["demonstrations"]) == 2


def test_show_tells_all_but_the_numbers(learned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt, example = told(capsys, "show", made(1).row.id, WRONG.id)
    assert (prompt["what"], prompt["shape"], prompt["feature"], prompt["zeros"]) == ("prompt", [2, 3], 4, False)
    assert (example["what"], example["critique"]) == ("demonstration", "It misses.")
    assert "critique\tIt misses." in run(capsys, "show", WRONG.id)
    assert "'unknown'" in refused(capsys, "show", "unknown")


def test_forgetting_by_id_concept_pool_and_all(learned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "'unknown'" in refused(capsys, "forget", made(1).row.id, "unknown")
    assert len(PromptPool(learned).rows()) == 3
    assert told(capsys, "forget", made(1).row.id) == {"prompts": 1, "demonstrations": 0, "adapters": 0}
    assert "forgotten: 1 prompt, 0 demonstrations" in run(capsys, "forget", "--concept", "OSTRICH")
    assert told(capsys, "forget", "--pool", "demonstrations") == {"prompts": 0, "demonstrations": 1, "adapters": 0}
    PromptPool(learned).add(made(5))
    assert told(capsys, "forget", "--pool", "LOC") == {"prompts": 1, "demonstrations": 0, "adapters": 0}
    DemonstrationPool(learned).add(WRONG)
    assert told(capsys, "forget", "--all") == {"prompts": 1, "demonstrations": 1, "adapters": 0}
    assert [one.source for one in DemonstrationPool(learned).all()] == ["seed"]


def test_forgetting_a_plan_forgets_the_programs_written_after_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = demonstration("plan", "Count the dogs.", plan=["Find."])
    program = demonstration("program", "Count the dogs.", plan=["Find."], program="A=RESULT(var=IMAGE)")
    other = demonstration("program", "Count the dogs.", plan=["Look."], program="A=RESULT(var=IMAGE)")
    DemonstrationPool(home).add(plan, program, other)

    assert told(capsys, "forget", plan.id) == {"prompts": 0, "demonstrations": 2, "adapters": 0}
    assert [one.id for one in DemonstrationPool(home).all()] == [other.id]


def test_what_was_exported_is_imported_elsewhere(
    learned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = str(tmp_path / "learned.zip")
    assert "3 prompts, 1 demonstration, " in run(capsys, "export", archive)
    assert "name a new file" in refused(capsys, "export", archive)
    before = told(capsys, "list")
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "elsewhere"))
    assert told(capsys, "import", archive)["prompts"] == 3
    assert "4 were already there" in run(capsys, "import", archive)
    assert told(capsys, "list") == before


def test_verify_finds_mends_and_fails_where_something_is_lost(
    learned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Everything is as it was stored." in run(capsys, "verify")
    with sqlite3.connect(learned / DATABASE) as rows:
        rows.execute("UPDATE prompt_tensors SET feature = x'00'")
    rows.close()
    assert "3 of what was stored is lost" in refused(capsys, "verify", "--dry-run", status=1)
    assert len(PromptPool(learned).rows()) == 3
    assert "3 of what was stored is lost" in refused(capsys, "verify", status=1)
    assert told(capsys, "verify") == {
        "repaired": True,
        "prompts": 0,
        "blocks": 0,
        "indexes": 0,
        "demonstrations": 2,
        "threads": 0,
        "pictures": 0,
        "trials": 0,
        "samples": 0,
        "adapters": 0,
        "findings": [],
        "clean": True,
        "lost": 0,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name an action: `snellen memory stats`"),
        (("remember",), "`snellen memory` has no action 'remember'"),
        (("forget",), "--all for everything learned"),
        (("forget", "x", "--all"), "not by both"),
        (("forget", "--all", "--pool", "LOC"), "leave out"),
        (("forget", "--pool", "FOO"), "There is no pool 'FOO': choose among VQA, LOC, CLIP, SEG, REPLACE and demonstr"),
        (("list", "--pool", "boxes"), "There is no pool 'boxes'"),
        (("forget", "--pool", "demonstrations", "--concept", "dog"), "belong to no concept"),
        (("show",), "give ids"),
        (("export",), "required: FILE"),
        (("import", "a", "b"), "Unrecognized arguments: b"),
        (("import", "nowhere.zip"), "There is no archive"),
        (("stats", "more"), "Unrecognized arguments: more (see `snellen memory stats --help`)"),
        (("show", "x", "--pool", "LOC"), "Unrecognized arguments: --pool LOC"),
        (("list", "--all"), "Unrecognized arguments: --all"),
        (("forget", "--all", "--dry-run"), "Unrecognized arguments: --dry-run"),
    ],
)
def test_bad_input_is_told_in_one_sentence(
    words: tuple[str, ...], said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said.casefold() in refused(capsys, *words).casefold()


def test_corrected_models_are_listed_shown_checked_and_forgotten(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = AdapterStore(home)
    draft = store.draft("t")
    draft.mkdir(parents=True)
    (draft / "adapter_model.safetensors").write_bytes(b"weights")
    one = store.keep(draft, model="m", fingerprint="f", about="m: rotation", origin="t", proof={"steps": 3})
    assert [each["name"] for each in told(capsys, "list")["adapters"]] == [one.name]
    assert told(capsys, "show", one.name)[0]["about"] == "m: rotation"
    assert told(capsys, "stats")["adapters"] == 1
    assert main.main(["memory", "list"]) == 0
    assert one.name in capsys.readouterr().out
    assert told(capsys, "verify")["clean"]
    assert told(capsys, "forget", one.name) == {"prompts": 0, "demonstrations": 0, "adapters": 1}
    assert told(capsys, "list")["adapters"] == []


def test_a_damaged_adapter_is_put_aside(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = AdapterStore(home)
    draft = store.draft("t")
    draft.mkdir(parents=True)
    (draft / "adapter_model.safetensors").write_bytes(b"weights")
    one = store.keep(draft, model="m", fingerprint="f", about="", origin="t", proof={})
    (one.folder / "adapter_model.safetensors").write_bytes(b"others")
    assert main.main(["memory", "verify"]) == 1
    assert "correct the model again" in " ".join(capsys.readouterr().out.split())
    assert told(capsys, "verify")["clean"]
    assert list(store) == []
