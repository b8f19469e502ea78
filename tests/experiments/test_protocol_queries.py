"""Which way of asking a question about models is for, and what of it."""

from __future__ import annotations

import pytest

from snellen.errors import BadInput
from snellen.experiments.queries.protocol_queries import protocol_of, read_wanted
from snellen.profiles import load_profile

PROFILE = load_profile("embedded")
MODELS = list(PROFILE.tested)


@pytest.mark.parametrize(
    ("query", "protocol"),
    [
        ("Do scores change when the pictures are swapped?", "pairs"),
        ("Can idefics3-judge notice differences between two pictures?", "pairs"),
        ("Can models tell whether two images are the same?", "pairs"),
        ("Can blip spot the difference between two photos?", "pairs"),
        ("Who rates likeness of photos best?", "pairs"),
        ("Is llava-judge a good automatic evaluator for image comparison?", "pairs"),
        ("Can I trust llava-judge to judge similarity under blur?", "pairs"),
        ("Which model is the better judge of how alike two pictures are?", "pairs"),
        ("Does idefics3-judge give the same score when the two pictures are swapped?", "pairs"),
        ("Is llava-judge symmetric?", "pairs"),
        ("Do the judges heed what counts in a pair?", "pairs"),
        ("Can models compare two images after a rotation?", "pairs"),
        ("Does llava-judge order pairs well?", "pairs"),
        ("Does idefics3-judge hallucinate?", "freeform"),
        ("Do models mention objects that do not exist?", "freeform"),
        ("Do models say things that aren't in the picture?", "freeform"),
        ("Does blip claim to see things that are not there?", "freeform"),
        ("How factual are the answers?", "freeform"),
        ("How trustworthy are the answers of blip?", "freeform"),
        ("Which model gives the most useful answers?", "freeform"),
        ("Can I trust blip's descriptions?", "freeform"),
        ("Does blip confabulate?", "freeform"),
        ("Are captions of blip reliable?", "freeform"),
        ("Is blip honest about similar objects?", "freeform"),
        ("Who hallucinates the least, when pairs of animals are shown?", "freeform"),
        ("Which model tells the truth most often?", "freeform"),
        ("Does blip lie?", "freeform"),
        ("Which of blip and llava-upright invents fewer objects?", "freeform"),
        ("Which of these models makes things up?", "freeform"),
        ("How honest are the answers of llava-upright?", "freeform"),
        ("Is blip more helpful than blip2-clean?", "freeform"),
        ("Can I believe what idefics3-mirrored says about a picture?", "freeform"),
        ("Is llava-judge robust to rotation?", "choice"),
        ("Is llava-judge good at recognizing birds?", "choice"),
        ("Which of llava-judge and blip is better at counting?", "choice"),
        ("Can models tell where a cat lies?", "choice"),
        ("Can models judge how many birds there are?", "choice"),
        ("Can models recognize the same animal in different pictures?", "choice"),
        ("Can blip judge colors?", "choice"),
        ("Can blip judge which object is on the left?", "choice"),
        ("Can models count the pairs of shoes?", "choice"),
        ("Can models recognize similar-looking birds?", "choice"),
        ("Are they robust to symmetric flips?", "choice"),
        ("Which models perform similarly on birds?", "choice"),
        ("Can models recognize things made of metal up close?", "choice"),
        ("Can blip recognize lies?", "choice"),
        ("Can they recognize inventions?", "choice"),
        ("Can the models recognize birds?", "choice"),
        ("Do they notice that a picture was blurred?", "choice"),
        ("Can blip tell left from right?", "choice"),
        ("Can models recognize a pair of pliers?", "choice"),
    ],
)
def test_questions_find_their_protocol(query: str, protocol: str) -> None:
    assert protocol_of(query, MODELS) == protocol


def test_what_is_asked_of_judges_is_read() -> None:
    wanted = read_wanted("Is llava-judge symmetric when pictures are blurred?", MODELS, PROFILE, "pairs")
    assert (wanted.models, wanted.measures, wanted.splits) == (("llava-judge",), ("symmetry",), ("GB",))
    wanted = read_wanted("Which of the judges is better under rotation and blur?", MODELS, PROFILE, "pairs")
    assert wanted.compared
    assert set(wanted.models) == {"idefics3-judge", "llava-judge"}
    assert set(wanted.splits) == {"R", "GB"}
    assert any("clip is not examined" in note for note in wanted.notes)
    wanted = read_wanted("Can I trust idefics3-judge with pairs?", MODELS, PROFILE, "pairs")
    assert wanted.measures == ("order", "symmetry", "heed")
    assert len(wanted.splits) == 5


def test_what_is_asked_of_free_answers_is_read() -> None:
    wanted = read_wanted("Which model is the most helpful?", MODELS, PROFILE, "freeform")
    assert (wanted.measures, wanted.compared) == (("help",), True)
    assert "clip" not in wanted.models
    wanted = read_wanted("Does blip hallucinate?", MODELS, PROFILE, "freeform")
    assert (wanted.models, wanted.measures, wanted.compared) == (("blip",), ("truth",), False)


def test_what_a_protocol_cannot_vary_is_said() -> None:
    wanted = read_wanted("Does blip tell the truth about rotated pictures?", MODELS, PROFILE, "freeform")
    assert any("Not examined here" in note and "rotation" in note for note in wanted.notes)
    wanted = read_wanted("Is llava-judge smooth under blur?", MODELS, PROFILE, "pairs")
    assert any("smoothness" in note for note in wanted.notes)


@pytest.mark.parametrize(
    ("query", "protocol", "said"),
    [
        ("Does clip tell the truth?", "freeform", "compares vectors"),
        ("Is blip a good judge of pairs?", "pairs", "reads one picture at once"),
        ("Does gpt-9 hallucinate?", "freeform", "no model 'gpt-9'"),
        ("Is dino-judge symmetric?", "pairs", "no model 'dino-judge'"),
        ("", "pairs", "1 to 1,000"),
        ("x" * 2_000, "freeform", "1 to 1,000"),
    ],
)
def test_what_cannot_be_examined_is_said(query: str, protocol: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_wanted(query, MODELS, PROFILE, protocol)  # type: ignore[arg-type]
