"""Calls of the API: what they take, what they return, where they run."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import PIL.Image
import pytest

import snellen
from snellen.api.following import Progress
from snellen.memory.artifacts import ArtifactStore
from snellen.microworld.samples import portrait
from snellen.values import Region

ROOT = Path(__file__).parents[2]
SCENE = ROOT / "examples" / "scene.png"
BEACH = ROOT / "examples" / "beach.png"


def test_an_answer_has_its_steps_pictures_evidence_and_thread() -> None:
    told: list[Progress] = []
    result = snellen.ask(SCENE, "Is there a dog?", thread="mine", progress=told.append)

    assert (result.answer, result.text, result.status, result.error, result.thread) == (
        "yes",
        "yes",
        "finished",
        None,
        "mine",
    )
    located = next(step for step in result.steps if step.tool == "LOC")
    assert result.steps[-1].tool == "RESULT"
    assert isinstance(located.picture, PIL.Image.Image)
    assert isinstance(located.value[0], Region)
    assert any("dog 0." in one for one in result.evidence)
    assert result.pictures[0].size == (128, 128)
    assert result.plan
    assert "LOC" in result.program
    assert any(str(one) == "step 1: LOC" for one in told)


def test_a_picture_may_be_a_picture_an_address_or_stored(home: Path) -> None:
    with PIL.Image.open(SCENE) as picture:
        see_through = picture.convert("RGBA")
        see_through.putpixel((0, 0), (0, 0, 0, 0))
        assert snellen.ask(picture, "How many dogs are there?").answer == 1
        assert any("transparen" in one for one in snellen.ask(see_through, "Is there a dog?").caveats)
    stored = ArtifactStore(home / "artifacts").ingest(SCENE)
    assert snellen.ask([stored.id], "How many dogs are there?").answer == 1
    assert snellen.ask([stored], "How many dogs are there?").answer == 1


def test_an_edited_picture_is_a_picture() -> None:
    result = snellen.ask(str(SCENE), "Blur all but the dog")
    assert isinstance(result.answer, PIL.Image.Image)
    assert isinstance(result.picture, PIL.Image.Image)


def test_a_result_shows_itself() -> None:
    result = snellen.ask(SCENE, "Is there a dog?", answer="yes")
    assert repr(result) == f"AskResult('yes', status='finished', thread={result.thread!r})"
    assert result.verdict == "right"
    assert re.match(r"\*\*yes( \(0\.\d\d\))?\*\*\n", result._repr_markdown_())
    assert "\nJudged right (expected: yes).\n" in result._repr_markdown_()
    assert result.html().startswith("<!doctype html>")
    shown = result._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert shown.count('"') == 6  # three attributes: what the page says cannot end one


async def test_it_works_beside_a_running_loop_and_with_await() -> None:
    assert snellen.ask(SCENE, "Is there a dog?").answer == "yes"
    both = await asyncio.gather(*(snellen.ask_async(SCENE, "Is there a dog?") for _ in range(2)))
    assert [one.answer for one in both] == ["yes", "yes"]
    assert {one.thread for one in snellen.list_threads()} > {one.thread for one in both}


async def test_whoever_stops_waiting_stops_the_run() -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    asking = snellen.investigate_async(
        "Can clip recognize vehicles?", thread="stopped", progress=lambda _: loop.call_soon_threadsafe(begun.set)
    )
    waiting = asyncio.create_task(asking)
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    while (await snellen.list_threads_async())[0].status.startswith("running"):  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0.1)
    assert (await snellen.list_threads_async())[0].status.startswith("stopped")


def test_what_cannot_be_used_is_bad_input() -> None:
    with pytest.raises(snellen.BadInput, match="instruction is empty"):
        snellen.ask(SCENE, " ")
    with pytest.raises(snellen.SnellenError, match="no thread"):
        snellen.resume("nobody")
    with pytest.raises(snellen.BadInput, match="cannot be read"):
        snellen.learn("penguin", pictures=["missing.png"])


def test_an_error_of_a_run_says_how_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        message = "The disk is full."
        raise snellen.SnellenError(message)

    with monkeypatch.context() as broken:
        broken.setattr("snellen.threads.events._streamed", full)
        with pytest.raises(snellen.SnellenError, match="disk is full") as caught:
            snellen.ask(SCENE, "Is there a dog?", thread="broken")
    assert caught.value.__notes__ == ["snellen.resume('broken') goes on after the last finished step."]
    result = snellen.resume("broken")
    assert isinstance(result, snellen.AskResult)
    assert result.answer == "yes"


def test_a_person_is_asked_before_anything_is_learned() -> None:
    questions: list[str] = []

    def confirm(question: str) -> bool:
        questions.append(question)
        return False

    result = snellen.ask(BEACH, "Is there a wave?", answer="yes", confirm=confirm)
    assert questions
    assert questions[0].startswith("Learn LOC: wave")
    assert (result.verdict, result.learned[0].kept) == ("wrong", 0)


def test_a_wrong_answer_is_corrected_and_forgotten() -> None:
    wrong = snellen.ask(BEACH, "Is there a wave?", learn=False)
    right = snellen.correct(wrong.thread, answer="yes")
    assert isinstance(right, snellen.AskResult)
    assert (wrong.answer, right.answer, right.verdict) == ("undecided", "yes", "right")
    assert right.learned[0].kept

    known = snellen.memory.list(concept="wave")
    assert len(known.prompts) == right.learned[0].kept
    assert snellen.memory.forget(known.prompts[0].id).prompts == 1
    with pytest.raises(snellen.BadInput, match="has the id"):
        snellen.memory.forget(known.prompts[0].id)
    with pytest.raises(snellen.BadInput, match="in one way"):
        snellen.memory.forget(concept="wave", everything=True)
    assert sum(snellen.memory.stats().learned.values()) > 0
    assert snellen.memory.forget(everything=True).demonstrations > 0
    assert sum(snellen.memory.stats().learned.values()) == 0


def test_a_concept_is_learned_from_pictures_at_hand(tmp_path: Path) -> None:
    pictures = [portrait("penguin", f"penguin {number}").picture() for number in range(12)]
    pictures[0].save(tmp_path / "one.png")
    questions: list[str] = []

    def confirm(question: str) -> bool:
        questions.append(question)
        return False

    result = snellen.learn(
        "penguin", pictures=[tmp_path / "one.png", *pictures[1:]], tools=["CLASSIFY"], confirm=confirm
    )
    assert questions[0].startswith("Learn CLASSIFY: penguin")
    assert "snellen-pictures-" in questions[0]
    assert result.learned[0].need.concept == "penguin"
    assert result.status == "finished"
    assert result._repr_markdown_().startswith("- CLASSIFY: penguin")
    assert repr(result).startswith("LearnResult('CLASSIFY: penguin: nothing was learned.")


def test_an_investigation_has_claims_with_figures_and_waits_where_nobody_decides() -> None:
    query = "Can clip recognize vehicles?"
    refused = snellen.investigate(query, images=40, confirm=lambda _: False)
    assert refused.evidence == []

    result = snellen.investigate(query, models="clip", images=40)
    claim = result.evidence[0]
    assert (claim.model, list(result.models), result.status) == ("clip", ["clip"], "finished")
    assert claim.interval[0] <= claim.mean <= claim.interval[1]
    assert claim.figures in str(claim)
    assert 0 < len(result.pictures) <= 40
    assert len(result.trials) >= claim.n
    assert result.html().startswith("<!doctype html>")
    assert result.markdown().startswith(f"# {query}")
    with pytest.raises(snellen.BadInput, match="nothing is said"):
        snellen.correct(result.thread, "that is wrong")
