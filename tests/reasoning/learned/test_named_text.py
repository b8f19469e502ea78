"""Texts with stand-ins: the same words whatever a text names, and what it names beside them."""

from __future__ import annotations

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.learned.copyables import ModelWord, Quantity, QuotedWord
from snellen.reasoning.learned.mentions import ModelNames
from snellen.reasoning.learned.named_text import NamedTexts
from snellen.reasoning.meanings.things import HasColour, HasFact, IsA

PROFILE = load_profile("embedded")
MODELS = ("clip", "blip", "blip2-clean", "llava-upright", "llava-judge")
NAMES = NamedTexts(PROFILE.facts_path())
QUERY_NAMES = NamedTexts(PROFILE.facts_path(), models=ModelNames(MODELS, frozenset({"llava-judge"})))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("any whales near the bus?", "any cats near the bicycle?"),
        ("is the purple bear larger than the green tent", "is the red cactus larger than the blue snail"),
        ("list what has wheels", "list what grows on trees"),
        ("tag the fire engine", "tag the tiger"),
    ],
)
def test_the_words_do_not_depend_on_what_is_named(one: str, other: str) -> None:
    assert NAMES.of(one).words == NAMES.of(other).words


def test_one_thing_said_twice_is_one_mention() -> None:
    text = NAMES.of("is the cat left of the dog or is the dog left of the cat")
    assert [len(each.spans) for each in text.mentions] == [2, 2]


def test_what_was_said_before_is_named_in_the_same_way() -> None:
    text = NAMES.of("and the dog?", "What colour is the cat?")
    assert text.words[text.words.index("*") + 1 :] == ("and", "the", "cars", "?") or "car" in text.words
    assert [each.copyable.values[0] for each in text.mentions] == [IsA(name="cat"), IsA(name="dog")]


def test_a_word_that_is_a_fruit_and_a_colour_may_be_either() -> None:
    kinds = {each.kind: each.copyable.values[0] for each in NAMES.of("the orange orange").mentions}
    assert kinds == {"NOUN": IsA(name="orange"), "COLOUR": HasColour(colour="orange")}


def test_misspelt_names_are_names_and_words_that_are_words_are_not() -> None:
    assert NAMES.of("a gitar").mentions[0].copyable.values[0] == IsA(name="guitar")
    assert not NAMES.of("is it trickier").mentions


@pytest.mark.parametrize("said", ["none of the models", "black and white prints", "it hits them hard"])
def test_of_models_words_that_are_words_are_no_names_either(said: str) -> None:
    assert [each.kind for each in QUERY_NAMES.of(said).mentions if each.kind == "NOUN"] == []


@pytest.mark.parametrize("said", ["non-red things", "a cat-free picture", "4+ cats"])
def test_a_name_ends_within_a_word(said: str) -> None:
    assert NAMES.of(said).mentions


def test_a_verb_with_its_object_is_an_adjective() -> None:
    (mention,) = NAMES.of("time-telling things").mentions
    assert mention.copyable.values[0] == HasFact(fact="tell the time")


@pytest.mark.parametrize(
    ("said", "name", "covered"), [("how many phones", "phone", "telephone"), ("any trees", "tree", "pine")]
)
def test_what_a_name_covers_is_no_part_of_what_is_named(said: str, name: str, covered: str) -> None:
    (mention,) = NAMES.of(said).mentions
    assert mention.copyable.values[0] == IsA(name=name)
    assert NAMES.of(covered).mentions[0].copyable.values[0] != IsA(name=name)


@pytest.mark.parametrize(
    ("said", "amount", "share"),
    [
        ("90 %", 90, 0.9),
        ("twenty points", 20, 0.2),
        ("nine of ten", 9, 0.9),
        ("1.5 times", 1.5, 0.015),
        ("half", 0.5, 0.5),
        ("1 %", 1, 0.01),
        ("three quarters", 0.75, 0.75),
    ],
)
def test_numbers_are_amounts_and_shares(said: str, amount: float, share: float) -> None:
    assert QUERY_NAMES.of(said).mentions[0].copyable.values == (Quantity(amount, share),)


def test_of_models_a_share_is_named_with_what_it_leaves() -> None:
    kinds = {each.kind: each.copyable.values for each in QUERY_NAMES.of("wrong in less than a tenth").mentions}
    assert kinds == {"NUMBER": (Quantity(0.1, 0.1),), "COMPLEMENT": (Quantity(0.9, 0.9),)}
    assert [each.kind for each in NAMES.of("a tenth of the cats").mentions] == ["NUMBER", "NOUN"]


def test_an_error_rate_is_a_confidence() -> None:
    assert Quantity(5, 0.05).of("confidence") == Quantity(95, 0.95).of("confidence") == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("said", "model"),
    [("Can CLIP count?", "clip"), ("blip2 and dogs", "blip2-clean"), ("is llava upright good", "llava-upright"),
     ("the blip2-clean model", "blip2-clean")],
)  # fmt: skip
def test_models_are_named_whole_or_in_short(said: str, model: str) -> None:
    named = [each.copyable.values for each in QUERY_NAMES.of(said).mentions if each.kind == "MODEL"]
    assert named == [(ModelWord(model),)]


def test_quoted_words_are_kept_as_they_are() -> None:
    text = NAMES.of('If there is a cat say "Hello You"')
    assert QuotedWord("hello you") in [value for each in text.mentions for value in each.copyable.values]


def test_what_is_named_within_a_word_with_hyphens_is_named_and_one_name_with_hyphens_stays_one() -> None:
    assert QUERY_NAMES.of("clip: vehicle-naming").words == QUERY_NAMES.of("clip: animal naming").words
    assert QUERY_NAMES.of("a fire-engine").words == QUERY_NAMES.of("a fire engine").words
    assert len(QUERY_NAMES.of("a fire-engine").mentions) == 1


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        (">80 %", "more than 80 %"),
        ("≥ 80 %", "at least 80 %"),
        ("<=60%", "at most 60 %"),
        ("< 60 %", "less than 60 %"),
        ("e.g. cats", "for example cats"),
    ],
)
def test_signs_and_abbreviations_are_read_as_the_words_for_them(signs: str, words: str) -> None:
    assert QUERY_NAMES.of(f"clip {signs}").words == QUERY_NAMES.of(f"clip {words}").words


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("is it a tie between clip and blip", "tie"),
        ("our files are squeezed", "files"),
        ("i hand clip a photo", "hand"),
        ("does its accuracy hold in the bus station", "bus"),
    ],
)
def test_a_name_that_is_mostly_said_of_something_else_keeps_its_word(said: str, word: str) -> None:
    text = QUERY_NAMES.of(said)
    assert word in text.words
    assert any(each.kind == "NOUN" and each.optional for each in text.mentions)


def test_two_names_never_have_the_same_word() -> None:
    text = QUERY_NAMES.of("can clip tell a whale, a plane and a car apart")
    named = [text.words[each.spans[0][0]] for each in text.mentions if each.kind == "NOUN"]
    assert len(set(named)) == len(named) == 3


def test_a_name_that_is_written_apart_has_no_tiny_parts() -> None:
    assert not [each for each in QUERY_NAMES.of("show me at least one").mentions if each.kind == "NOUN"]
    assert NAMES.of("tag the fire engine").mentions
    assert [each.kind for each in NAMES.of("tag the snow man").mentions] == ["NOUN"]
