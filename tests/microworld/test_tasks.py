"""Tasks: reproducible, balanced, true of their scenes, and made of the concepts that were asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen import microworld
from snellen.errors import BadInput
from snellen.microworld.concepts import Share, plural, vocabulary
from snellen.microworld.scenes import relation_holds
from snellen.microworld.tasks import statement, tag, vqa
from snellen.microworld.tasks.draw import TYPES
from snellen.microworld.tasks.task import (
    FAMILIES,
    SHARES,
    EditAnswer,
    Family,
    Split,
    TagAnswer,
    TaggedRegion,
    TaskOutcome,
    TextAnswer,
    WorldTask,
)
from snellen.microworld.tasks.wording import Wordings

KNOWN = {c.name for c in vocabulary().share("known")}
NOVEL = {c.name for c in vocabulary().share("novel")}


def drawn(
    family: Family, split: Split = "test", share: Share = "known", n: int = 40, seed: int = 11
) -> list[WorldTask]:
    return microworld.sample_tasks(family, split, share, n, seed)


@pytest.mark.parametrize("family", FAMILIES)
def test_tasks_follow_their_seed_and_more_begin_with_the_same(family: Family) -> None:
    assert drawn(family, n=8) == drawn(family, n=12)[:8]
    assert drawn(family, n=8) != drawn(family, n=8, seed=12)


def test_another_process_draws_the_same_tasks() -> None:
    code = (
        "import json; from snellen import microworld;"
        "tasks = [t for f in microworld.FAMILIES for t in microworld.sample_tasks(f, 'val', 'mixed', 6, 3)];"
        "print(json.dumps([t.to_json() for t in tasks]))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = [task.to_json() for family in FAMILIES for task in drawn(family, "val", "mixed", 6, 3)]
    assert json.loads(other.stdout) == json.loads(json.dumps(here))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_task_survives_json(family: Family) -> None:
    for task in drawn(family, n=10):
        assert WorldTask.from_json(json.loads(json.dumps(task.to_json()))) == task


@pytest.mark.parametrize("family", FAMILIES)
def test_splits_share_no_scene(family: Family) -> None:
    seeds = [{s.seed for t in drawn(family, split, n=10) for s in t.scenes} for split in ("train", "val", "test")]
    assert len(set.union(*seeds)) == sum(map(len, seeds))


def test_some_wordings_are_met_in_the_test_split_only() -> None:
    held_out = {text for name in vars(vqa).values() if isinstance(name, Wordings) for text in name.test}
    held_out |= {text for name in vars(statement).values() if isinstance(name, Wordings) for text in name.test}

    def used(split: Split) -> set[str]:
        return {t.blind.split(": ", 1)[1] for f in FAMILIES[:2] for t in drawn(f, split, n=64)}

    assert not used("train") & held_out
    assert not used("val") & held_out
    assert used("test") & held_out


@pytest.mark.parametrize("family", FAMILIES)
def test_known_tasks_know_nothing_novel_and_novel_ones_ask_for_it(family: Family) -> None:
    for task in drawn(family, share="known"):
        assert {o.concept for scene in task.scenes for o in scene.objects} <= KNOWN
        assert set(task.concepts) <= KNOWN
    for task in drawn(family, share="novel"):
        assert set(task.concepts) <= NOVEL
    mixed = {name for task in drawn(family, share="mixed") for name in task.concepts}
    assert mixed & KNOWN
    assert mixed & NOVEL


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", SHARES)
def test_every_type_takes_its_turn(family: Family, share: Share) -> None:
    counts = Counter(task.type for task in drawn(family, share=share, n=3 * len(TYPES[family])))
    assert set(counts) == set(TYPES[family])
    assert set(counts.values()) == {3}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_task_is_solved_by_what_is_expected_of_it(family: Family) -> None:
    for task in drawn(family, n=20):
        if isinstance(task.expected, TextAnswer):
            assert microworld.score(task, TaskOutcome(answer=task.expected.text)).correct
        if isinstance(task.expected, TagAnswer):
            assert task.expected.regions
            assert microworld.score(task, TaskOutcome(regions=task.expected.regions)).correct


@pytest.mark.parametrize("family", ["vqa", "statement"])
def test_yes_and_no_are_balanced_whatever_the_wording(family: Family) -> None:
    tasks = [t for t in drawn(family, n=320) if isinstance(t.expected, TextAnswer) and t.expected.text in {"yes", "no"}]
    by_type: dict[str, Counter[str]] = {}
    for task in tasks:
        assert isinstance(task.expected, TextAnswer)
        by_type.setdefault(task.type, Counter())[task.expected.text] += 1
    for name, counts in by_type.items():
        assert counts["yes"] / counts.total() == pytest.approx(0.5, abs=0.2), name
    total = sum(by_type.values(), Counter())
    assert total["yes"] / total.total() == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(("family", "most"), [("vqa", 0.48), ("statement", 0.60), ("tag", 0.10), ("edit", 0.0)])
def test_hardly_anything_is_answered_blindly(family: Family, most: float) -> None:
    assert microworld.blind_score(drawn(family, n=120 if family != "edit" else 20)) <= most


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 5_000))
def test_answers_are_true_of_the_scene(seed: int) -> None:
    for task in microworld.sample_tasks("vqa", "train", "mixed", len(vqa.TYPES), seed):
        assert isinstance(task.expected, TextAnswer)
        (scene,) = task.scenes
        text, answer = task.instruction, task.expected.text
        if task.type == "existence":
            assert (len(scene.named(task.concepts[0])) > 0) == (answer == "yes")
        if task.type == "counting" and plural(task.concepts[0]) in text.lower():
            assert len(scene.named(task.concepts[0])) == int(answer)
        if task.type == "counting" and " objects" in text:
            assert len(scene.objects) == int(answer)
        if task.type == "choice" and task.options[0] in {"left", "right", "above", "below"}:
            first, second = (scene.named(name)[0] for name in task.concepts)
            assert relation_holds(first, answer, second)  # type: ignore[arg-type]
        if task.type == "choice":
            assert answer in task.options
        if task.type == "relation" and answer not in {"yes", "no"}:
            assert scene.named(answer)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 5_000))
def test_statements_are_true_or_false_of_both_pictures(seed: int) -> None:
    for task in microworld.sample_tasks("statement", "train", "mixed", len(statement.TYPES), seed):
        assert isinstance(task.expected, TextAnswer)
        left, right = (len(scene.named(task.concepts[0])) for scene in task.scenes)
        yes = task.expected.text == "yes"
        if task.blind.startswith("presence: both") or task.blind.startswith("presence: each"):
            assert yes == (left > 0 and right > 0)
        if task.blind.startswith("presence: neither"):
            assert yes == (left == right == 0)
        if task.blind.startswith("exclusive: exactly one"):
            assert yes == ((left > 0) != (right > 0))
        if task.blind.startswith("comparison: the {side}"):
            more = (
                left > right if " left " in task.instruction.split(" has ")[0].split(" contains ")[0] else right > left
            )
            assert yes == more


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 5_000))
def test_tags_are_all_that_a_query_fits_and_pictures_show_something_else_too(seed: int) -> None:
    for task in microworld.sample_tasks("tag", "train", "mixed", len(tag.TYPES), seed):
        assert isinstance(task.expected, TagAnswer)
        names = Counter(region.name for region in task.expected.regions)
        shown = Counter(o.concept for o in task.scenes[0].objects)
        assert all(shown[name] == count for name, count in names.items())
        assert shown.total() > names.total() > 0


@pytest.mark.parametrize("family", FAMILIES)
def test_a_statement_has_two_pictures_and_the_others_one(family: Family) -> None:
    for task in drawn(family, n=6):
        sizes = [picture.size for picture in task.pictures()]
        assert sizes == [(128, 128)] * (2 if family == "statement" else 1)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Yes.", "yes"), (True, "yes"), (False, "no"), ("true", "yes"), (3, "3"), (3.0, "3"), ("three", "3"),
        ("3.0", "3"), (" A  Dog ", "dog"), ("the dogs", "dog"), ("grey", "gray"), ("big", "large"),
        ("two and a half", "two and a half"), (None, ""), ("", ""), (2.5, "2.5"), ("Glasses", "glasses"),
    ],
)  # fmt: skip
def test_answers_are_compared_in_one_form(answer: str | float | bool | None, text: str) -> None:  # noqa: FBT001
    assert microworld.normalized(answer) == text


def test_tags_with_another_name_or_place_do_not_count() -> None:
    (task, *_) = drawn("tag", n=1)
    assert isinstance(task.expected, TagAnswer)
    (first, *others) = task.expected.regions
    wrong_name = TaskOutcome(regions=(TaggedRegion("unicorn", first.box), *others))
    wrong_place = TaskOutcome(regions=(TaggedRegion(first.name, (0, 0, 2, 2)), *others))
    too_many = TaskOutcome(regions=(*task.expected.regions, TaggedRegion("unicorn", (0, 0, 9, 9))))
    n = len(task.expected.regions)
    for outcome in (wrong_name, wrong_place):
        score = microworld.score(task, outcome)
        assert not score.correct
        assert score.value == pytest.approx((n - 1) / n)
        assert score.reason == "a region was missed"
    assert microworld.score(task, too_many).reason == "a region too many was tagged"
    assert microworld.score(task, TaskOutcome()).reason == "nothing was tagged"


def test_an_outcome_with_an_error_is_wrong_for_that_reason() -> None:
    for family in FAMILIES:
        (task,) = drawn(family, n=1)
        score = microworld.score(task, TaskOutcome(error="The disk is full."))
        assert (score.value, score.correct, score.reason) == (0.0, False, "The disk is full.")


@pytest.mark.parametrize(
    ("family", "split", "share", "n", "message"),
    [
        ("poetry", "test", "known", 1, "There is no family 'poetry'"),
        ("vqa", "exam", "known", 1, "There is no split 'exam'"),
        ("vqa", "test", "famous", 1, "There is no share of concepts 'famous'"),
        ("vqa", "test", "known", -1, "cannot be drawn"),
    ],
)
def test_unknown_tasks_are_the_users_error(family: str, split: str, share: str, n: int, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        microworld.sample_tasks(family, split, share, n, 0)  # type: ignore[arg-type]


def test_edits_name_regions_of_their_scene() -> None:
    for task in drawn("edit", n=20):
        assert isinstance(task.expected, EditAnswer)
        assert task.scenes[0].shows_colour
        for step in task.expected.steps:
            assert step.objects
            assert max(step.objects) < len(task.scenes[0].objects)
            assert bool(step.becomes) == (step.operation in {"replace", "emoji"})
