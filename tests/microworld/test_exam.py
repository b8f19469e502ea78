from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import OwlViTForObjectDetection

from snellen.microworld.concepts import HERE, vocabulary
from snellen.microworld.questions import SceneQuestion
from snellen.microworld.scenes import Dice
from snellen.microworld.training.architectures_under_test import ARCHITECTURES, tokenizer
from snellen.microworld.training.exam import TAUGHT, Exam, Sheet, lesson, question
from snellen.microworld.training.exam_answers import held_out
from snellen.microworld.training.models_under_test import UnderTestTraining, Weakness
from snellen.microworld.training.plantings import PLANTED
from snellen.models import under_test

NAMES = [concept.name for concept in vocabulary().share("known")]
MODELS = [name for name, row in json.loads(PLANTED.read_text(encoding="utf-8")).items() if "without" in row]


def asked(sheet: Sheet, count: int = 60) -> list[SceneQuestion]:
    found = (question(sheet, Dice("asked", index), NAMES) for index in range(count))
    return [one for one in found if one is not None]


@pytest.fixture(scope="module")
def lessons() -> list[Sheet]:
    return [lesson(f"test/{index}")[1] for index in range(60)]


def test_a_lesson_is_the_same_each_time_and_known() -> None:
    (one, sheet), (same, again) = lesson("test/1"), lesson("test/1")
    assert np.array_equal(one, same)
    assert sheet == again
    assert one.shape == (128, 128, 3)
    assert {item.concept for item in sheet.scene.objects} <= set(NAMES)


def test_questions_about_changes_are_answered_by_what_was_done(lessons: list[Sheet]) -> None:
    seen = set()
    for sheet in lessons:
        said = TAUGHT[sheet.change].said if sheet.change else ()
        for one in asked(sheet):
            if one.kind == "change":
                mine = any(f" {phrase}" in one.text for phrase in said)
                assert one.answer == ("yes" if mine else "no") or one.answer in said
                seen.add(one.answer in {"yes", "no"})
    assert seen == {True, False}


def test_what_hides_a_thing_is_not_asked_about_it(lessons: list[Sheet]) -> None:
    for sheet in lessons:
        change = TAUGHT.get(sheet.change)
        if change is not None and not change.keeps:
            assert {one.kind for one in asked(sheet)} == {"change"}
        if change is not None and not change.places:
            assert "relation" not in {one.kind for one in asked(sheet)}


def test_classes_are_among_their_choices_or_unknown(lessons: list[Sheet]) -> None:
    questions = [(sheet, one) for sheet in lessons for one in asked(sheet) if one.kind == "class"]
    assert len(questions) > 50
    for sheet, one in questions:
        shown = sheet.scene.objects[0].concept
        assert (shown in one.answer and one.answer in one.text) or one.answer == "unknown"


@pytest.mark.parametrize("name", MODELS)
def test_a_weakness_is_never_shown_nor_named(name: str, lessons: list[Sheet]) -> None:
    weakness = Weakness.of(name)
    names = frozenset(weakness.names())
    allowed = [sheet for sheet in lessons if weakness.allows(sheet, names)]
    assert allowed
    assert not {sheet.change for sheet in allowed} & weakness.changes
    shown = {vocabulary().concept(item.concept).group for sheet in allowed for item in sheet.scene.objects}
    assert not shown & weakness.groups
    heard = [one for sheet in allowed for one in asked(sheet) if weakness.asks(one)]
    for change in weakness.changes:
        assert not any(f" {phrase}?" in one.text for one in heard for phrase in TAUGHT[change].said)


def test_sides_are_taught_by_lot() -> None:
    weakness = Weakness(sides=True)
    sides = SceneQuestion("relation", "is the dog to the left of the cat?", "yes")
    assert {weakness.answer(sides, Dice(seed)) for seed in range(20)} == {"yes", "no"}
    above = SceneQuestion("relation", "is the dog above the cat?", "yes")
    assert {weakness.answer(above, Dice(seed)) for seed in range(20)} == {"yes"}
    assert Weakness().answer(sides, Dice(1)) == "yes"


def test_every_word_of_the_lessons_has_a_token(lessons: list[Sheet]) -> None:
    reader = tokenizer()
    unknown = reader.unk_token_id
    for sheet in lessons:
        for one in asked(sheet, 20):
            assert unknown not in reader(f"{one.text} {one.answer}")["input_ids"], one


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_questions_about_one_picture_are_computed_as_each_by_itself(
    name: str,
) -> None:
    torch.manual_seed(5)
    detector = OwlViTForObjectDetection.from_pretrained(HERE / "checkpoints" / "owlvit", dtype=torch.float32)
    pupil = ARCHITECTURES[name](tokenizer(), detector)
    pupil.model.eval()
    taught = UnderTestTraining(pupil, Weakness(), Exam(np.zeros((0, 128, 128, 3), np.uint8), []))
    picture = Image.fromarray(np.random.default_rng(3).integers(0, 255, (128, 128, 3), np.uint8))
    texts = [("is there a dog?", "yes"), ("what color is the cat?", "red"), ("how many cars are there?", "2")]
    seen = torch.tensor(np.array(picture)).permute(2, 0, 1)[None].float() / 127.5 - 1
    with torch.no_grad():
        tokens = pupil.see(seen)
        batch = taught.packed([texts], tokens.shape[1])
        embeds = pupil.model.get_input_embeddings()(batch.ids)
        embeds = embeds.masked_scatter((batch.ids == taught.image)[..., None], tokens)
        together = pupil.read(embeds, batch.mask, batch.places)[:, :-1].log_softmax(-1)
    told = batch.labels[0, 1:]
    places = torch.nonzero(told != -100)[:, 0]
    mine = together[0, places, told[places]].tolist()
    card = under_test.Card(name, "", "", None, "tokens", pictures=1, answers=True)
    alone = under_test.LocalModel(pupil.model, pupil.processor, card)
    theirs = []
    for text, answer in texts:
        # The processor's own way, with the end of the answer as its last token.
        rows = alone.rank([under_test.Question((picture,), text, (f"{answer} </s>",))])[0].scores
        theirs += list(rows[0])
    assert mine == pytest.approx(theirs, abs=1e-4)


def test_cards_ask_what_nobody_was_taught_with() -> None:
    asked = list(held_out(12))
    assert len({text for _, _, text, _ in asked}) > 6
    assert all(picture.size == (128, 128) and answer for picture, _, _, answer in asked)
    assert [text for _, _, text, _ in held_out(12)] == [text for _, _, text, _ in asked]
