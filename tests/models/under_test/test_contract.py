"""What every model under test must do, whatever it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import PIL.Image
import pytest

from snellen.models.under_test import LocalModel, ModelUnderTest, Question, Ranking, rank_plainly, rate
from snellen.profiles import SnellenError
from tests.models.under_test.architectures import ARCHITECTURES, answerer, contrastive, local

ADAPTERS: dict[str, Callable[[], ModelUnderTest]] = {
    **{name: lambda name=name: local(name) for name in ARCHITECTURES},  # type: ignore[misc]
    "clip": contrastive,
    "blip": answerer,
}
made = cache(lambda name: ADAPTERS[name]())
CHOICES = ("yes", "no", "unknown", "a red dog", "a blue cat", "a red", "no , a cat")


def picture(seed: int, size: tuple[int, int] = (40, 30)) -> PIL.Image.Image:
    values = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return PIL.Image.fromarray(values)


def ask(seed: int, text: str = "is there a dog ?", choices: tuple[str, ...] = CHOICES) -> Question:
    return Question((picture(seed),), text, choices)


def close(one: Ranking, other: Ranking) -> bool:
    return np.allclose(np.concatenate(one.scores), np.concatenate(other.scores), atol=1e-4)


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_ranking_has_log_probabilities_of_every_choice(name: str) -> None:
    (ranking,) = made(name).rank([ask(1)])
    assert len(ranking.scores) == len(CHOICES)
    assert all(score <= 0 for row in ranking.scores for score in row)
    assert ranking.choice == ranking.means.index(max(ranking.means))
    assert ranking.basis == made(name).card.basis


@pytest.mark.parametrize("name", ADAPTERS)
def test_questions_do_not_disturb_each_other(name: str) -> None:
    questions = [
        ask(1),
        ask(2, "what colour is the house ?"),
        ask(3, choices=("yes", "no")),
        Question((picture(4, (17, 33)),), "is there a dog ?", CHOICES),
        ask(1),
    ]
    together = made(name).rank(questions)
    for question, ranking in zip(questions, together, strict=True):
        assert close(made(name).rank([question])[0], ranking)
    assert close(together[0], together[4])
    assert not close(together[0], together[3])


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_picture_is_seen_once_whatever_is_asked_about_it(name: str) -> None:
    model, (one, other) = made(name), (picture(1), picture(2))
    asked = [
        Question((shown,), text, choices)
        for text in ("is there a dog ?", "what colour is the house ?")
        for choices in (("yes", "no"), ("a red dog", "a blue cat", "unknown"))
        for shown in (one, other)
    ]
    alone = [model.rank([question])[0] for question in asked]
    seen, inner = [], getattr(model, "module", None) or model._checkpoint.model  # type: ignore[attr-defined]
    tower = next(
        part for path, part in inner.named_modules() if path.rpartition(".")[2] in {"vision_model", "vision_tower"}
    )
    hook = tower.register_forward_pre_hook(
        lambda _, arguments, named: seen.append(len(named.get("pixel_values", next(iter(arguments), None)))),
        with_kwargs=True,
    )
    try:
        together = model.rank(asked)
    finally:
        hook.remove()

    assert all(close(*pair) for pair in zip(alone, together, strict=True))
    assert sum(seen) == (2 if name != "idefics" else 4)  # its question comes before the picture


@pytest.mark.parametrize("name", ADAPTERS)
def test_choices_may_come_in_any_order(name: str) -> None:
    (ranking,) = made(name).rank([ask(1)])
    (turned,) = made(name).rank([ask(1, choices=CHOICES[::-1])])
    assert close(ranking, Ranking(turned.scores[::-1]))


@pytest.mark.parametrize("name", ADAPTERS)
def test_nothing_asked_nothing_answered(name: str) -> None:
    assert made(name).rank([]) == []


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize(
    "question",
    [
        Question((), "is there a dog ?", ("yes", "no")),
        Question((picture(1), picture(2), picture(3)), "is there a dog ?", ("yes", "no")),
        ask(1, choices=()),
        ask(1, choices=("yes", " ")),
    ],
)
def test_what_cannot_be_ranked_is_said(name: str, question: Question) -> None:
    with pytest.raises(SnellenError):
        made(name).rank([question])


@pytest.mark.parametrize("name", ADAPTERS)
def test_free_answers_are_the_same_each_time_or_refused(name: str) -> None:
    model = made(name)
    if not model.card.answers:
        with pytest.raises(SnellenError, match="cannot answer freely"):
            model.answer([ask(1)])
        return
    questions = [ask(1), ask(2, "what colour is the house ?")]
    first = model.answer(questions, tokens=5)
    assert first == model.answer(questions, tokens=5)
    assert first[1:] == model.answer(questions[1:], tokens=5)
    assert all(len(text.split()) <= 5 for text in first)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_rankings_are_those_of_whole_passes(name: str) -> None:
    model = local(name)
    question = ask(1)
    (batch,) = model._whole([question])
    whole = rank_plainly(model.module, batch.inputs, model.choices(model.prompt(question), CHOICES))
    assert close(model.rank([question])[0], Ranking(tuple(map(tuple, whole[0]))))


def test_pairs_are_rated_by_models_that_read_two_pictures() -> None:
    pair = Question((picture(1), picture(2)), "is the one to the left of the one ?")
    for name in ("idefics3", "idefics"):
        (rating,) = rate(made(name), [pair])
        assert rating is not None
        assert 1 < rating < 10
    with pytest.raises(SnellenError, match="reads one picture at once, not 2"):
        rate(made("llava"), [pair])


def test_a_choice_is_read_as_it_follows_the_prompt() -> None:
    model = local("llava")
    (alone,) = model.choices("Assistant:", ["a red dog"])
    assert model.processor.tokenizer.decode(alone) == "a red dog"
    assert model.choices("Assistant: ", ["a red dog"]) == (alone,)

    class Merging:
        """Reads a word after a space as another token than by itself, and one after ':' as part of it."""

        chat_template = None

        def tokenizer(self, text: str, *, add_special_tokens: bool) -> dict[str, list[int]]:
            table = {":yes": 9, ": yes": 8, " no": 7, "no": 6, "yes": 5, ":": 4}
            tokens = []
            while text:
                piece = next(piece for piece in table if text.startswith(piece))
                tokens.append(table[piece])
                text = text.removeprefix(piece)
            return {"input_ids": tokens}

    merging = LocalModel(model.module, Merging(), model.card)
    assert merging.choices(":", ["no", "yes"]) == ((7,), (5,))


@pytest.mark.parametrize(
    ("scores", "choice"),
    [
        (((-1.0,), (-2.0, -0.1)), 0),
        (((-2.0,), (-2.0, -0.1)), 1),
        (((-1.0,), (-1.0,)), 0),
        (((math.nan,), (-1.0,)), None),
        (((-math.inf,), (-math.inf,)), None),
        ((), None),
    ],
)
def test_the_decision_is_by_the_mean_and_no_number_is_no_answer(
    scores: tuple[tuple[float, ...], ...], choice: int | None
) -> None:
    assert Ranking(scores).choice == choice


def test_a_question_that_is_an_address_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    model = local("idefics")
    fetch = model.processor.image_processor.fetch_images
    fetched: list[object] = []

    def watched(what: object) -> object:
        fetched.append(what)
        return fetch(what)

    monkeypatch.setattr(model.processor.image_processor, "fetch_images", watched)
    asked = Question((picture(1),), "http://127.0.0.1:9/picture.png", ("yes", "no"))
    assert model.rank([asked])[0].choice in {0, 1}
    assert not [one for one in fetched if isinstance(one, str)]


def test_the_prompt_of_idefics_is_what_its_processor_writes() -> None:
    model = local("idefics")
    question = Question((picture(1), picture(2)), "is there a dog ?", ("yes", "no"))
    (batch,) = model._whole([question])
    read = model.processor.tokenizer(model.prompt(question), add_special_tokens=False)["input_ids"]
    assert batch.inputs["input_ids"][0].tolist()[1:] == read
