from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from snellen.models import picture_encoding
from snellen.models.picture_encoding import PictureForm
from snellen.models.under_test import EndpointModel, EndpointSettings, Question
from snellen.models.under_test.server_client import Offer, ServerClient
from snellen.profiles import BadInput, SnellenError
from tests.models.under_test.test_contract import ask, picture
from tests.servers.vision_server import Fault, Kind, Served, likely, tokens_of, vision_server

CHOICES = ("yes", "no", "a red dog")
QUESTION = Question((picture(1),), "is there a dog ?", CHOICES)


@pytest.fixture(params=["vllm", "openai", "plain", "strict"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with vision_server(request.param) as found:
        yield found


def model(served: Served, **changed: object) -> EndpointModel:
    settings = EndpointSettings((served.base_url,), "small", key="secret", timeout=5, pause=0.01)
    return EndpointModel("theirs", replace(settings, **changed))  # type: ignore[arg-type]


def test_the_best_that_is_offered_is_taken(served: Served) -> None:
    asked = model(served)
    (ranking,) = asked.rank([QUESTION])
    basis = {"vllm": "tokens", "openai": "letters"}.get(served.kind, "answer")
    assert (ranking.basis, asked.card.basis) == (basis, basis)
    assert served.keys == {"Bearer secret"}


def test_questions_do_not_disturb_each_other(served: Served) -> None:
    asked = model(served)
    questions = [ask(1), ask(2, "what colour is the house ?"), ask(3, choices=("yes", "no")), ask(1)]
    together = asked.rank(questions)
    assert together == [asked.rank([question])[0] for question in questions]
    assert together[0] == together[3]
    assert asked.rank([]) == []


def test_a_choice_has_the_log_probabilities_of_its_own_tokens() -> None:
    with vision_server("vllm") as served:
        (ranking,) = model(served).rank([QUESTION])
        read = tokens_of(served.requests[0]["messages"])
    assert [len(row) for row in ranking.scores] == [1, 1, 3]
    assert ranking.scores[2] == (
        likely(read, "a"),
        likely([*read, "a"], "red"),
        likely([*read, "a", "red"], "dog"),
    )


def test_letters_stand_for_their_choices() -> None:
    with vision_server("openai") as served:
        (ranking,) = model(served, offer="letters").rank([QUESTION])
        read = tokens_of(served.requests[0]["messages"])
        shown = served.requests[0]["messages"][0]["content"][-1]["text"]
        many = tuple("one two three four five six".split())  # noqa: SIM905
        (rare,) = model(served, offer="letters").rank([replace(QUESTION, choices=many)])
    assert "A. yes\nB. no\nC. a red dog" in shown
    assert ranking.scores == tuple((likely(read, letter),) for letter in "ABC")
    assert rare.scores[4] == rare.scores[5]
    assert rare.scores[5][0] <= min(row[0] for row in rare.scores)


@pytest.mark.parametrize(
    ("said", "choices", "place"),
    [
        ("No.", ("yes", "no"), 1),
        ("It is a red dog, I think.", ("red dog", "dog", "cat"), 0),
        ("Either yes or no", ("yes", "no"), None),
        ("I do not know", ("yes", "no"), None),
        ("unknown", ("yes", "no", "Unknown"), 2),
        ("", ("yes", "no"), None),
    ],
)
def test_an_answer_names_one_choice_or_none(
    said: str, choices: tuple[str, ...], place: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServerClient, "said", lambda *_: said)
    asked = EndpointModel("theirs", EndpointSettings(("http://127.0.0.1:9/v1",), "small", offer="answer"))
    (ranking,) = asked.rank([replace(QUESTION, choices=choices)])
    assert ranking.choice == place
    assert (ranking.basis, ranking.text) == ("answer", said)


@pytest.mark.parametrize("fault", ["refuse", "limit", "cut", "slow", "drip"])
def test_what_passes_is_tried_again(fault: Fault) -> None:
    with vision_server("vllm") as calm:
        right = model(calm).rank([QUESTION])
    with vision_server("vllm", [fault, fault]) as served:
        assert model(served, timeout=0.3).rank([QUESTION]) == right
        assert len(served.requests) == 2 + 4


@pytest.mark.parametrize(
    ("kind", "fault", "told"),
    [
        ("vllm", "refuse", r"does not answer \(HTTP 503: overloaded\)"),
        ("vllm", "forbid", r"does not answer \(HTTP 401: wrong key\)"),
        ("vllm", "cut", "does not answer"),
        ("vllm", "drip", "no whole reply within"),
        ("vllm", "html", "replies what is no chat completion"),
        ("vllm", "endless", "replies without end"),
    ],
)
def test_what_does_not_pass_is_said(kind: Kind, fault: Fault, told: str) -> None:
    with vision_server(kind, [fault] * 9) as served:
        with pytest.raises(SnellenError, match=told) as error:
            model(served, timeout=30 if fault == "endless" else 0.3, tries=2).rank([QUESTION])
        assert "secret" not in str(error.value)
        assert len(served.requests) <= 2


def test_a_server_that_miscounts_is_not_believed() -> None:
    with vision_server("vllm", ["miscount"]) as served, pytest.raises(SnellenError, match="miscounts"):
        model(served, offer="tokens").rank([replace(QUESTION, choices=("yes",))])


def test_a_server_that_stops_telling_is_not_guessed_about() -> None:
    with vision_server("vllm") as served:
        asked = model(served)
        asked.rank([QUESTION])
        served.faults = ["silent"] * 9
        with pytest.raises(SnellenError, match="does not tell what offer = 'tokens' needs"):
            asked.rank([QUESTION])


@pytest.mark.parametrize(("kind", "offer"), [("plain", "letters"), ("openai", "tokens"), ("strict", "tokens")])
def test_what_is_asked_for_and_not_offered_is_said(kind: Kind, offer: Offer) -> None:
    told = "refuses what small is asked" if kind == "strict" else "does not tell"
    with vision_server(kind) as served, pytest.raises(SnellenError, match=told):
        model(served, offer=offer).rank([QUESTION])


def test_no_number_is_no_answer() -> None:
    with vision_server("vllm", ["nan"] * 9) as served:
        (ranking,) = model(served, offer="tokens").rank([QUESTION])
    assert math.isnan(ranking.scores[0][0])
    assert ranking.choice is None


def test_nobody_there_is_said_at_once() -> None:
    gone = EndpointModel("gone", EndpointSettings(("http://127.0.0.1:9/v1",), "small", tries=2, pause=0.01))
    with pytest.raises(SnellenError, match=r"The endpoint of gone \(http://127.0.0.1:9/v1\) does not answer"):
        gone.rank([QUESTION])


def test_free_answers_and_pairs(served: Served) -> None:
    asked = model(served)
    assert asked.answer([QUESTION, QUESTION]) == asked.answer([QUESTION]) * 2
    pair = Question((picture(1), picture(2)), "how alike are they ?", ("1", "2"))
    assert len(asked.rank([pair])[0].scores) == 2
    with pytest.raises(BadInput, match="1 to 2 pictures at once, not 3"):
        asked.answer([Question((picture(1),) * 3, "what is it ?")])
    for choices in ((), ("yes", " "), tuple(map(str, range(27)))):
        with pytest.raises(BadInput):
            asked.rank([replace(QUESTION, choices=choices)])


def test_a_fingerprint_names_the_endpoint_and_not_the_key() -> None:
    here = EndpointSettings(("http://a/v1",), "small", key="one")
    assert EndpointModel("x", here).card.fingerprint == EndpointModel("x", replace(here, key="two")).card.fingerprint
    assert EndpointModel("x", here).card.fingerprint != EndpointModel("x", replace(here, model="b")).card.fingerprint


def test_large_pictures_are_sent_small_and_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []

    def counted(picture: Image.Image, form: PictureForm) -> picture_encoding.EncodedPicture:
        encoded.append(form)
        return plainly(picture, form)

    plainly = picture_encoding.encoded
    monkeypatch.setattr(picture_encoding, "encoded", counted)
    pixels = np.random.default_rng(7).integers(0, 255, (1_500, 2_000, 3), dtype=np.uint8)
    question = replace(QUESTION, pictures=(Image.fromarray(pixels),))
    with vision_server("vllm") as served:
        asked = model(served, form=PictureForm(side=1_000, most=80_000))
        asked.rank([question, replace(question, text="and a cat ?")])
        sent = [
            part["image_url"]["url"] for request in served.requests for part in request["messages"][0]["content"][:-1]
        ]
    assert len(sent) == 2 * (1 + len(CHOICES))
    assert len(set(sent)) == len(encoded) == 1
    assert sent[0].startswith("data:image/jpeg;base64,")
    assert len(sent[0]) < 80_000 * 4 / 3 + 100


def test_trials_of_another_form_are_those_of_another_model() -> None:
    settings = EndpointSettings(("http://127.0.0.1:9/v1/",), "small")
    usual = EndpointModel("theirs", settings).card.fingerprint
    assert usual == "f7a9e7bcb7af138a", "trials from before pictures had a form stay valid"
    forms = [PictureForm(side=512), PictureForm(most=50_000), PictureForm(quality=50)]
    assert len({usual, *(EndpointModel("t", replace(settings, form=form)).card.fingerprint for form in forms)}) == 4
