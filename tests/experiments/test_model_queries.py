"""Questions about models, as people ask them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.queries.class_groups import Subjects
from snellen.experiments.queries.model_queries import ReadModelQuery, UnexaminableError, read_query
from snellen.profiles import load_profile
from snellen.tools.transforms import grouped

MODELS = ["clip", "llava-sound", "llava-upright", "blip2-clean"]
ROTATED = ("left rotation", "right rotation", "half turn")

PIXEL = tuple(one.name for one in grouped("pixel"))
STYLES = tuple(one.name for one in grouped("style"))


@pytest.fixture(scope="module")
def subjects() -> Subjects:
    return Subjects.of(load_profile("embedded"))


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("Are these models robust to rotation?", ReadModelQuery("recognise", types=ROTATED, robust=True)),
        (
            "Is LLaVA-upright robust to left rotations?",
            ReadModelQuery("recognise", ("llava-upright",), types=("left rotation",), robust=True),
        ),
        (
            "Does noise hurt blip2 clean?",
            ReadModelQuery("recognise", ("blip2-clean",), types=("Gaussian noise",), robust=True),
        ),
        ("Can models recognize birds?", ReadModelQuery("recognise", group="birds")),
        ("Can models recognize things?", ReadModelQuery("recognise")),
        ("clip vs blip2-clean at birds", ReadModelQuery("recognise", ("clip", "blip2-clean"), "birds", compared=True)),
        ("How good is clip at birds?", ReadModelQuery("recognise", ("clip",), "birds")),
        (
            "Which is better at counting, clip or blip2-clean?",
            ReadModelQuery("count", ("clip", "blip2-clean"), compared=True),
        ),
        (
            "Are clip and blip2-clean robust to noise and blur?",
            ReadModelQuery("recognise", ("clip", "blip2-clean"), types=("Gaussian noise", "defocus blur"), robust=True),
        ),
        ("Can models recognize things under low brightness?", ReadModelQuery("recognise", types=("low brightness",))),
        ("Can models identify sketches?", ReadModelQuery("identify", types=("sketch style",))),
        ("Is clip better at birds than chance?", ReadModelQuery("recognise", ("clip",), "birds")),
        ("How well does clip know instruments?", ReadModelQuery("recognise", ("clip",), "instruments")),
        (
            "Can models recognize vehicles under pixel-type transformations?",
            ReadModelQuery("recognise", (), "vehicles", PIXEL, "pixel"),
        ),
        ("Can models identify left rotation in images?", ReadModelQuery("identify", types=("left rotation",))),
        (
            "Can models identify style-type transformations?",
            ReadModelQuery("identify", types=STYLES, type_group="style"),
        ),
        (
            "Does llava-sound notice when a picture is blurred?",
            ReadModelQuery("identify", ("llava-sound",), types=("defocus blur",)),
        ),
        ("Can llava-sound tell left from right?", ReadModelQuery("position", ("llava-sound",))),
        ("Do the models understand spatial relations?", ReadModelQuery("position")),
        ("Can these models count?", ReadModelQuery("count")),
        ("Can blip2-clean count fruit?", ReadModelQuery("count", ("blip2-clean",), "fruit")),
        ("Can the models tell colors?", ReadModelQuery("color")),
        (
            "Which of clip and llava-sound is better at birds?",
            ReadModelQuery("recognise", ("clip", "llava-sound"), "birds", compared=True),
        ),
        (
            "Is llava-upright better than llava-sound at recognizing rotated vehicles?",
            ReadModelQuery("recognise", ("llava-upright", "llava-sound"), "vehicles", ROTATED, compared=True),
        ),
        ("Can models identify if several identical objects are present in images?", ReadModelQuery("several")),
        (
            "Can models still recognise animals when it snows?",
            ReadModelQuery("recognise", (), "animals", ("snowy weather",), robust=True),
        ),
    ],
)
def test_what_is_asked_is_read(query: str, asked: ReadModelQuery, subjects: Subjects) -> None:
    assert replace(read_query(query, MODELS, subjects), polarity="unknown") == asked


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("", "The query is empty"),
        ("   \n", "The query is empty"),
        ("Can models read clocks?", "cannot be examined here"),
        ("Is GPT-9 robust to noise?", "no model 'gpt-9'"),
        ("Do you like me?", "cannot be examined here"),
        ("DROP TABLE trials; --", "cannot be examined here"),
        ("__import__('os').system('rm -rf /')", "cannot be examined here"),
        ("robust " * 3000, "say it in at most"),
        ("Can models recognize clocks under noise?", "no group 'clocks' to recognize; there are animals, birds"),
        ("Can models recognize cats?", "Groups are animals, birds"),
        ("Which of clip and nosuch is better at birds?", "no model 'nosuch'"),
        ("Do llava and clip see colors?", "no model 'llava'"),
        ("How many things can blip2-clean and llava count?", "no model 'llava'"),
        ("Is clip better than gpt-4 at birds?", "no model 'gpt-4'"),
        ("Is nosuch better than clip at birds?", "no model 'nosuch'"),
        ("Which of foo and bar is better at birds?", "no model 'foo'"),
        ("Are clip, gemini and blip2-clean robust to noise?", "no model 'gemini'"),
        ("Are clip and qwen2-vl robust to rotation?", "no model 'qwen2-vl'"),
        ("Does siglip recognize birds better than clip?", "no model 'siglip'"),
        ("Does foo outperform clip in counting?", "no model 'foo'"),
        ("Compare gpt-4o with clip on counting", "no model 'gpt-4o'"),
        ("Can CLIP and LLaVA recognize birds?", "no model 'llava'"),
        ("compare clip, foo and blip2-clean at vehicles", "no model 'foo'"),
    ],
)
def test_what_cannot_be_examined_is_said_with_what_can(query: str, says: str, subjects: Subjects) -> None:
    with pytest.raises(UnexaminableError, match=says):
        read_query(query, MODELS, subjects)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(query: str) -> None:
    try:
        found = read_query(query, MODELS, Subjects.of(load_profile("embedded")))
    except UnexaminableError:
        return
    assert found.ability
