"""`snellen learn` from its words to what is remembered, on random models that learn in two steps."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen.cli import main
from snellen.learning.records import LearningOutcome, Need
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.nodes.learn import prompt_tuning as nodes
from snellen.summaries.learning import outcome_lines, phase_in_words
from snellen.threads import learn, thread
from snellen.threads.events import Finished, LearningProgress, Waits
from snellen.threads.listing import list_threads
from snellen.tuning import tune
from tests.cli.teachable import keep_all, save_profile
from tests.memory.old_pools import old_pool


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_profile(tmp_path_factory.mktemp("models")))


@pytest.fixture(autouse=True)
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "validate", keep_all)


Say = Callable[..., str]


@pytest.fixture
def say(profile: str, capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command and return what it prints; what it says of errors is asked for with ``status``."""

    def said(*words: str, status: int = 0) -> str:
        more = ("--profile", profile) if words[0] == "learn" and "--profile" not in words else ()
        assert main.main((*words, *more)) == status
        captured = capsys.readouterr()
        return captured.err if status else captured.out

    return said


def rows(home: Path) -> list[tuple[str, str, str]]:
    return [(row.pool, row.concept, row.picture) for row in PromptPool(home).rows()]


def pictures(folder: Path, count: int, *, first: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(first, first + count):
        noise = np.random.default_rng(index).integers(0, 255, (40, 40, 3), dtype=np.uint8)
        PIL.Image.fromarray(noise).save(folder / f"{index}.png")
    return folder


def coco(folder: Path, count: int) -> Path:
    pictures(folder, count)
    box = {"category_id": 1, "bbox": [4, 4, 20, 20]}
    table = {
        "images": [{"id": index, "file_name": f"{index}.png"} for index in range(count)],
        "categories": [{"id": 1, "name": "forklift"}, {"id": 2, "name": "crane"}],
        "annotations": [{"id": index, "image_id": index, **box} for index in range(count)],
    }
    (folder / "instances.json").write_text(json.dumps(table))
    return folder


def test_learning_is_shown_from_the_pictures_to_what_it_means(say: Say, home: Path) -> None:
    lines = say("learn", "Dog", "--thread", "t1").splitlines()

    assert lines[:2] == ["thread  t1", "learn dog (LOC, CLASSIFY)"]
    assert "  LOC: dog · 3 pictures to learn from, 2 to prove it on, 4 of other things" in lines
    assert "  LOC: dog · tuning prompts, 3 of 3" in lines
    assert any(line.startswith("  LOC: dog  3 prompts kept, 0 discarded, from small library (") for line in lines)
    assert "         → LOC finds 'dog' from now on" in lines
    assert "         → SELECT and CLASSIFY recognise 'dog' from now on" in lines
    assert lines[-1] == "Undo: snellen memory forget --concept dog"
    assert sorted({row[:2] for row in rows(home)}) == [("CLIP", "dog"), ("LOC", "dog")]


def test_json_is_one_document_with_everything(say: Say) -> None:
    said = json.loads(say("learn", "dog", "--tool", "loc", "--json"))

    assert (said["status"], said["waiting"]) == ("finished", None)
    (learned,) = said["learned"]
    assert (learned["kept"], learned["discarded"], learned["trouble"]) == (3, 0, "")
    assert {"thread", "collected", "judged", "seconds", "profile", "seed", "approve"} <= said.keys()


def test_learning_twice_learns_once_and_says_so(say: Say, home: Path) -> None:
    say("learn", "dog", "--tool", "LOC")
    before = PromptPool(home).rows()

    said = say("learn", "dog", "--tool", "LOC")

    assert "3 prompts kept, 3 of them from before" in said
    assert PromptPool(home).rows() == before


def test_pictures_that_were_learned_from_are_drawn_again(say: Say, home: Path) -> None:
    say("learn", "dog", "--tool", "LOC")
    pictures = sorted((home / "artifacts").glob("*/*.png"))
    before = {place: place.read_bytes() for place in pictures}
    for place in pictures:
        place.unlink()

    told = json.loads(say("memory", "verify", "--json"))

    assert {one["kind"] for one in told["findings"]} == {"rebuilt"}
    there = {place: place.read_bytes() for place in (home / "artifacts").glob("*/*.png")}
    assert there
    assert there.items() <= before.items()
    assert json.loads(say("memory", "verify", "--json"))["clean"]


@pytest.mark.parametrize("harm", ["damaged", "missing"])
def test_a_run_goes_on_without_the_database_of_prompts_and_warns(
    say: Say, home: Path, tmp_path: Path, profile: str, harm: str
) -> None:
    say("learn", "dog", "--tool", "LOC")
    pool = PromptPool(home)
    learned = [prompt for row in pool.rows() if (prompt := pool.get(row.id))]
    for file in home.glob("prompts.sqlite*"):
        file.unlink()
    if harm == "missing":  # where its files tell of it
        old_pool(home, learned)
        for file in home.glob("prompts.sqlite*"):
            file.unlink()
    else:
        (home / "prompts.sqlite").write_bytes(b"no database " * 500)
    scene = tmp_path / "scene.png"
    PIL.Image.new("RGB", (64, 48), "olive").save(scene)

    said = json.loads(say("ask", str(scene), "How many dogs are there?", "--profile", profile, "--json"))

    assert (said["status"], said["error"]) == ("finished", None)
    (warning,) = [one for one in said["warnings"] if "memory verify" in one]
    assert warning.startswith("What tools have learned cannot be used, so this went on without it.")
    assert "memory verify" in say("learn", "dog", "--tool", "LOC", status=1)
    say("memory", "verify", status=int(harm == "damaged"))
    assert len(PromptPool(home).rows()) == (3 if harm == "missing" else 0)


@pytest.mark.parametrize("harm", ["damaged", "missing"])
def test_a_run_goes_on_without_prompts_that_cannot_be_read_and_warns(
    say: Say, home: Path, tmp_path: Path, profile: str, harm: str
) -> None:
    say("learn", "dog", "--tool", "LOC")
    with sqlite3.connect(home / "prompts.sqlite") as rows:
        if harm == "damaged":
            rows.execute("UPDATE prompt_tensors SET prompt = zeroblob(length(prompt))")
        else:
            rows.execute("DELETE FROM prompt_tensors")
    rows.close()
    scene = tmp_path / "scene.png"
    PIL.Image.new("RGB", (64, 48), "olive").save(scene)

    said = json.loads(say("ask", str(scene), "How many dogs are there?", "--profile", profile, "--json"))

    assert (said["status"], said["error"]) == ("finished", None)
    (warning,) = [one for one in said["warnings"] if "memory verify" in one]
    assert "what LOC learned of 'dog' is damaged or missing" in warning


def test_two_runs_at_once_learn_once(profile: str, home: Path) -> None:
    """Each has its own event loop, context and databases, as two processes have."""
    together, ended = threading.Barrier(2), []

    def meet(told: learn.LearningEvent) -> None:
        if isinstance(told, LearningProgress) and told.told["phase"] == "load":
            together.wait(timeout=300)

    async def run() -> None:
        async for event in learn.stream_learn("dog", tools=["LOC"], profile=profile):
            await asyncio.to_thread(meet, event)
            if isinstance(event, Finished):
                ended.append([one.kept for one in learn.learned_of(event.state)])

    both = [threading.Thread(target=lambda: asyncio.run(run())) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()

    assert ended == [[3], [3]]
    assert len(rows(home)) == len(set(rows(home))) == 3
    assert len(Drafts(home)) == 0


def test_what_another_run_discarded_at_the_same_time_is_told(
    say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Any = nodes._validate

    def emptied(*words: Any) -> Any:  # noqa: ANN401
        for draft in Drafts(home).folder.glob("*.safetensors"):
            draft.unlink()
        return real(*words)

    monkeypatch.setattr(nodes, "_validate", emptied)

    assert "none of the 3 prompts proved itself" in say("learn", "dog", "--tool", "LOC", status=1)
    (one,) = learn.learned_of(asyncio.run(learn.LEARN.read(first_thread())))
    assert one.reasons == ("Discarded: another run that was learning the same at the same time did not keep it (3×).",)


def first_thread() -> str:

    return asyncio.run(list_threads())[0].thread


def test_an_interrupted_tuning_is_listed_and_resumed_without_tuning_again(
    say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def once(tuner: Any, instances: Sequence[Any], **more: Any) -> Any:  # noqa: ANN401
        asked.append(len(instances))
        if len(asked) > 1:
            return tune(tuner, instances, **more)
        tune(tuner, instances[:1], **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(nodes, "tune", once)

    told = say("learn", "dog", "--tool", "LOC", "--thread", "t1", status=130)
    assert "`snellen resume t1` goes on" in told
    assert len(Drafts(home)) == 1
    assert "t1\t" in say("threads")
    (stopped,) = json.loads(say("threads", "--json"))
    assert (stopped["graph"], stopped["status"], stopped["instruction"]) == (
        "learn",
        "stopped before tune",
        "learn dog (LOC)",
    )

    said = say("resume", "t1")

    assert asked == [3, 2]
    assert "3 prompts kept, 0 discarded" in said
    assert len(rows(home)) == 3
    (finished,) = json.loads(say("threads", "--json"))
    assert (finished["status"], finished["outcome"]) == ("finished", "LOC: dog: 3 prompts kept, 0 discarded.")
    assert "3 prompts kept" in say("resume", "t1")


def test_a_thread_belongs_to_one_graph(say: Say) -> None:
    say("learn", "dog", "--tool", "LOC", "--thread", "t1")

    assert asyncio.run(thread.graph_of("t1")) == "learn"
    assert "waits for no decision" in say("resume", "t1", "--approve", status=2)


def test_what_was_learned_is_written_as_a_page_and_as_json(say: Say, tmp_path: Path) -> None:
    said = say("learn", "dog", "--tool", "LOC", "--thread", "t1", "--html", str(tmp_path / "page.html"))

    assert f"wrote   {tmp_path / 'page.html'}" in said
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<h1>Learn dog (LOC)</h1>" in page
    assert "3 prompts kept, 0 discarded" in page
    assert page.count('aria-label="a picture that LOC: dog was learned from"') == 3
    assert "Undo: snellen memory forget --concept dog" in page
    say("resume", "t1", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "learn.html").read_text("utf-8") == page
    assert json.loads((tmp_path / "out" / "learn.json").read_text("utf-8"))["thread"] == "t1"


class TestApproval:
    def test_without_a_terminal_the_run_stops_and_tells_how_to_decide(
        self, say: Say, home: Path, capsys: pytest.CaptureFixture[str], profile: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        words = ("learn", "dog", "--tool", "LOC", "--confirm", "--thread", "t1", "--profile", profile)
        assert main.main(words) == 0
        captured = capsys.readouterr()
        assert "  ? LOC: dog: 3 to learn from, 2 to prove it on, 4 of other things (small library)." in captured.out
        assert "`snellen resume t1 --approve` or `--reject`" in captured.err
        (waiting,) = json.loads(say("threads", "--json"))
        assert waiting["status"] == "waiting for approval"
        assert rows(home) == []

        assert "3 prompts kept" in say("resume", "t1", "--approve")
        assert len(rows(home)) == 3

    def test_what_is_rejected_is_not_learned(self, say: Say, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        request = json.loads(say("learn", "dog", "--confirm", "--thread", "t1", "--json"))
        assert request["status"] == "waiting"
        actions = request["waiting"]["action_requests"]
        assert [one["args"]["tool"] for one in actions] == ["LOC", "CLASSIFY"]
        assert {"name": "learn"}.items() <= actions[0].items()
        assert request["waiting"]["review_configs"] == [
            {"action_name": "learn", "allowed_decisions": ["approve", "reject"]}
        ]

        said = say("resume", "t1", "--reject")

        assert said.count("nothing was learned: It was not approved.") == 2
        assert (rows(home), len(Drafts(home))) == ([], 0)

    def test_a_terminal_is_asked_for_each_need(self, say: Say, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = io.StringIO("y\nwhat?\n")
        monkeypatch.setattr(answers, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", answers)

        said = say("learn", "dog", "--confirm")

        assert "LOC: dog  3 prompts kept" in said
        assert "CLASSIFY: dog  nothing was learned: It was not approved." in said
        assert {row[0] for row in rows(home)} == {"LOC"}

    def test_an_answer_that_cannot_be_read_is_asked_for_again(self, profile: str, home: Path) -> None:
        answers: list[Any] = [[], [{"type": "burn"}], [{"type": "reject", "message": "too few."}]]
        asked = []

        def decide(request: dict[str, Any]) -> Any:  # noqa: ANN401
            asked.append(request.get("error", ""))
            return answers[len(asked) - 1]

        async def run() -> list[learn.LearningEvent]:
            stream = learn.stream_learn("dog", tools=["LOC"], profile=profile, approve=True, decide=decide)
            return [event async for event in stream]

        events = asyncio.run(run())

        assert sum(isinstance(event, Waits) for event in events) == 3
        assert asked[0] == ""
        assert "0 were decided about, and 1 was asked about" in asked[1]
        assert "'burn', which is none of approve, reject" in asked[2]
        assert isinstance(events[-1], Finished)
        (one,) = learn.learned_of(events[-1].state)
        assert one.trouble == "It was not approved: too few."
        assert rows(home) == []


class TestPictures:
    def test_a_folder_by_class_teaches_classify(self, say: Say, home: Path, tmp_path: Path) -> None:
        pictures(tmp_path / "mine" / "Space_Shuttle", 4)
        pictures(tmp_path / "mine" / "dog", 2, first=10)

        said = say("learn", "space shuttle", "--pictures", str(tmp_path / "mine"))

        assert "learn space shuttle (CLASSIFY)" in said
        assert "2 pictures to learn from, 1 to prove it on, 4 of other things" in said
        assert {row[:2] for row in rows(home)} == {("CLIP", "space shuttle")}

    def test_a_folder_of_pictures_is_of_the_concept_and_of_nothing_else(
        self, say: Say, home: Path, tmp_path: Path
    ) -> None:
        folder = pictures(tmp_path / "mine", 4)

        said = json.loads(say("learn", "dog", "--pictures", str(folder), "--json"))

        (collected,) = said["collected"]
        shown = {one["picture"] for part in ("training", "held_out") for one in collected[part]}
        assert collected["others"]
        assert not shown & {one["picture"] for one in collected["others"]}

    def test_a_folder_with_boxes_teaches_both(self, say: Say, home: Path, tmp_path: Path) -> None:
        folder = coco(tmp_path / "coco", 4)

        say("learn", "forklift", "--pictures", str(folder))

        assert {row[:2] for row in rows(home)} == {("CLIP", "forklift"), ("LOC", "forklift")}

    def test_what_was_collected_is_learned_even_where_the_folder_is_gone(
        self, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        folder = pictures(tmp_path / "mine", 4)
        say("learn", "gizmo", "--pictures", str(folder), "--confirm", "--thread", "t1")
        folder.rename(tmp_path / "elsewhere")

        assert "prompts kept" in say("resume", "t1", "--approve")

    def test_one_picture_and_unreadable_ones_are_told(self, say: Say, tmp_path: Path) -> None:
        one = pictures(tmp_path / "one", 1)
        said = say("learn", "gizmo", "--pictures", str(one), status=1)
        assert "only one different picture of 'gizmo'" in said

        broken = pictures(tmp_path / "broken", 2)
        for path in broken.iterdir():
            path.write_bytes(b"no picture")
        said = say("learn", "gizmo", "--pictures", str(broken), status=1)
        assert f"None of the 2 picture files in {broken} can be read" in said
        assert said.count("\n") == 1

    @pytest.mark.parametrize(
        ("make", "words", "said"),
        [
            (lambda _: None, (), "There is no folder"),
            (lambda place: pictures(place, 2), ("--tool", "LOC"), "pictures without boxes, and LOC learns from"),
            (lambda place: pictures(place / "dog", 2), (), "has no folder 'forklift', only dog: name one"),
            (lambda place: (place.mkdir(), (place / "a.json").write_text("{}")), (), "is not in COCO's form"),
            (lambda place: coco(place, 2), ("--tool", "VQA"), "VQA learns questions, not concepts"),
        ],
    )
    def test_a_folder_that_is_of_no_use_is_refused_before_anything_is_begun(
        self, make: Callable[[Path], object], words: tuple[str, ...], said: str, say: Say, tmp_path: Path
    ) -> None:
        make(tmp_path / "mine")

        told = say("learn", "forklift", "--pictures", str(tmp_path / "mine"), *words, status=2)

        assert said in told
        assert told.count("\n") == 1
        assert json.loads(say("threads", "--json")) == []


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("gizmo",), 1, "no annotated scenes of 'gizmo' in the small library"),
        ((" ",), 2, "The concept is empty"),
        (("x" * 81,), 2, "no name of a concept"),
        (("dog", "--tool", "CROP"), 2, "'CROP' is no tool that learns: choose among LOC"),
        (("dog", "--tool", "VQA"), 2, "VQA learns questions, not concepts"),
        (("dog", "--thread", "../up"), 2, "cannot name a thread"),
        (("dog", "--profile", "nowhere"), 2, "no profile 'nowhere'"),
        (("dog", "--seed", "many"), 2, "invalid int value"),
        ((), 2, "required: CONCEPT"),
    ],
)
def test_bad_input_is_told_in_one_sentence(words: tuple[str, ...], status: int, said: str, say: Say) -> None:
    told = say("learn", *words, status=status)

    assert said in told
    assert told.startswith("snellen: ")
    assert told.count("\n") == 1


def test_only_wrong_labels_teach_nothing_and_the_reasons_are_counted(
    say: Say, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from snellen.tuning import validate

    monkeypatch.setattr(nodes, "validate", validate)
    folder = coco(tmp_path / "coco", 4)

    said = say("learn", "forklift", "--tool", "LOC", "--pictures", str(folder), status=1)

    assert "none of the 3 prompts proved itself" in said
    assert rows(home) == []


def test_progress_and_outcome_are_told_in_words() -> None:
    told = {"need": "LOC: penguin", "phase": "tune", "done": 3, "of": 12, "step": 7}
    assert phase_in_words(told) == "LOC: penguin · tuning prompts, 3 of 12"
    assert phase_in_words({"need": "LOC: penguin", "phase": "new"}) == "LOC: penguin · new"

    question = Need("VQA", question="is it a bird?")
    lines = list(
        outcome_lines(
            [LearningOutcome(question, kept=1, source="answer"), LearningOutcome(question, trouble="Why not.")]
        )
    )
    assert [line.text for line in lines] == [
        "1 prompt kept, 0 discarded, from answer (0.0 s)",
        "VQA answers questions like 'is it a bird?' from now on",
        "nothing was learned: Why not.",
    ]
    assert learn.trouble([LearningOutcome(question, trouble="Why not."), LearningOutcome(question, kept=1)]) is None
    assert learn.trouble([LearningOutcome(question, trouble="Why not.")]) == "Nothing was learned. Why not."


class TestLora:
    def test_an_adapter_is_trained_told_and_not_stored(self, say: Say, home: Path) -> None:
        said = say("learn", "dog", "--tool", "CLASSIFY", "--method", "lora")

        assert "CLASSIFY: dog · training a LoRA adapter" in said
        assert "a LoRA adapter of" in said
        assert rows(home) == []
        assert json.loads(say("threads", "--json")) == []

    def test_what_it_cannot_keep_is_refused(self, say: Say) -> None:
        assert "stores nothing" in say("learn", "dog", "--method", "lora", "--confirm", status=2)
        assert "no pictures of 'gizmo'" in say(
            "learn", "gizmo", "--tool", "CLASSIFY", "--method", "lora", "--json", status=1
        )
