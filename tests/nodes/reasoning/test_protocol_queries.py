"""Which way of asking a question about models is for, and what of it."""

from __future__ import annotations

import pytest

from nodes.reasoning.protocol_queries import protocol_of, read_wanted
from profiles import load_profile
from profiles.errors import BadInput

PROFILE = load_profile("embedded")
MODELS = list(PROFILE.tested)


@pytest.mark.parametrize(
    ("query", "protocol"),
    [
        ("Which model tells the truth most often?", "freeform"),
        ("Does blip hallucinate?", "freeform"),
        ("Which of these models makes things up?", "freeform"),
        ("How honest are the answers of llava-upright?", "freeform"),
        ("Is blip more helpful than llava-upright?", "freeform"),
        ("Can I believe what idefics3-mirrored says about a picture?", "freeform"),
        ("Can I trust llava-judge to judge similarity under blur?", "pairs"),
        ("Which model is the better judge of how alike two pictures are?", "pairs"),
        ("Does idefics3-judge give the same score when the two pictures are swapped?", "pairs"),
        ("Is llava-judge symmetric?", "pairs"),
        ("Do the judges heed what counts in a pair?", "pairs"),
        ("Can models compare two images after a rotation?", "pairs"),
        ("Can the models recognize birds?", "choice"),
        ("Are these models robust to rotation?", "choice"),
        ("Which of clip and blip is better at birds?", "choice"),
        ("Can blip tell left from right?", "choice"),
        ("Which colors does blip confuse?", "choice"),
        ("Do they notice that a picture was blurred?", "choice"),
    ],
)
def test_questions_find_their_protocol(query: str, protocol: str) -> None:
    assert protocol_of(query) == protocol


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


@pytest.mark.parametrize(
    ("query", "protocol", "said"),
    [
        ("Does clip tell the truth?", "freeform", "compares vectors"),
        ("Is blip a good judge of pairs?", "pairs", "reads one picture at once"),
        ("Does gpt-9 hallucinate?", "freeform", "no model 'gpt-9'"),
        ("", "pairs", "1 to 1,000"),
        ("x" * 2_000, "freeform", "1 to 1,000"),
    ],
)
def test_what_cannot_be_examined_is_said(query: str, protocol: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_wanted(query, MODELS, PROFILE, protocol)  # type: ignore[arg-type]
