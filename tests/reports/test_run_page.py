"""The page of a run shows everything and lets nothing of it act."""

from __future__ import annotations

from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.graphs.states import AskState
from snellen.learning.records import LearningOutcome, Need
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import demonstration
from snellen.reasoning.critique import Critique, Fault
from snellen.reasoning.revision import Revision
from snellen.reports.run_page import render
from snellen.reports.runs import AskRun
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, to_json

_ALLOWED_TAGS = frozenset(
    {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "div", "section", "span", "p", "pre", "code"}
    | {"ol", "li", "footer", "svg", "defs", "image", "use", "rect", "figure", "figcaption"}
)
_HOSTILE = st.one_of(
    st.sampled_from(
        (
            "<script>alert(1)</script>",
            '"><img src=x onerror=alert(1)>',
            "'onload='alert(1)",
            "</style><script>",
            "</title></svg><b>",
            "{{ 7 * 7 }}{% raw %}",
            "&lt;b&gt; &amp;",
            "javascript:alert(1)",
        )
    ),
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=40),
)


class _Reader(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ArtifactStore:
    return ArtifactStore(tmp_path_factory.mktemp("artifacts"))


@pytest.fixture(scope="module")
def picture(store: ArtifactStore) -> Picture:
    return store.put(PIL.Image.new("RGB", (64, 48), "teal"))


def _run(picture: Picture, text: str = "a cat") -> AskRun:
    region = Region(box=(4, 5, 20, 30), score=0.9, label=text, picture=picture.id)
    steps = [
        StepRecord("1", 1, f"BOX0=LOC(image=IMAGE,object={text!r})", "LOC", output=to_json([region]), warnings=[text]),
        StepRecord("2", 2, text, "CROP", output=to_json(picture), seconds=0.25),
        StepRecord("3.then.1", 3, text, "VQA", error=text),
    ]
    state = AskState(
        instruction=text,
        pictures=[to_json(picture)],
        expected=text,
        profile=text,
        plan=[text, text],
        program=text,
        steps=[step.to_json() for step in steps],
        answer=text,
        verdict="wrong",
        correction=text,
        region=to_json(region),
        attempts=[
            {
                "answer": text,
                "error": None,
                "steps": [],
                "faulty": [steps[0].to_json()],
                "revisions": [{"trouble": text, "change": text, "helped": True}],
            }
        ],
        revisions=[
            Revision("empty", text, text, text, text, helped=helped).to_json() for helped in (True, False, None)
        ],
        critiques=[Critique((Fault("tool", "1", text, text, text, text + "!"),), 0.5, "local", text).to_json()],
        lessons=[asdict(demonstration("program", text, plan=[text], program=text, correct=False, critique=text))],
        learned=[
            LearningOutcome(
                Need("LOC", text, reason=text), 1, 1, (text,), source=text, pictures=(picture.id, "0" * 64)
            ).to_json(),
            LearningOutcome(Need("VQA", question=text, answer=text), trouble=text).to_json(),
        ],
        warnings=[text],
        notes=[text + "!"],
    )
    return AskRun("thread-1", state)


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


@settings(max_examples=60, deadline=None)
@given(text=_HOSTILE)
def test_nothing_a_run_says_becomes_markup(store: ArtifactStore, picture: Picture, text: str) -> None:
    reader = _read(render(_run(picture, text), store))

    assert reader.tags <= _ALLOWED_TAGS
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    links = [value for name, value in reader.attributes if name in {"href", "src"}]
    assert all(link.startswith(("#p", "data:image/")) for link in links)
    assert text.strip() in "".join(reader.text)


def test_every_picture_is_embedded_once_and_nothing_is_loaded(store: ArtifactStore, picture: Picture) -> None:
    html = render(_run(picture), store)

    assert html.count("data:image/png;base64,") == 1
    assert html.count('href="#p0"') == 5  # the input, the region found in it, again as before, the crop, learned from
    assert "default-src 'none'" in html
    assert "http" not in html.replace("http-equiv", "")


def test_regions_are_outlined_where_they_are(store: ArtifactStore, picture: Picture) -> None:
    html = render(_run(picture), store)

    assert '<rect class="region" x="4" y="5" width="16" height="25"><title>a cat 0.90</title>' in html


def test_large_pictures_are_scaled_down_but_keep_their_coordinates(store: ArtifactStore) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (1500, 2000, 3), dtype=np.uint8)
    photo = store.put(PIL.Image.fromarray(noise))

    html = render(_run(photo), store)

    assert "data:image/jpeg;base64," in html
    assert 'viewBox="0 0 2000 1500"' in html
    assert len(html) < 2_000_000


def test_a_failed_run_shows_why(store: ArtifactStore, picture: Picture) -> None:
    state = AskState(instruction="what is it?", pictures=[to_json(picture)], error="The disk is <full>.")

    html = render(AskRun("t", state), store)

    assert "The disk is &lt;full&gt;." in html
    assert "Program" not in html


def test_two_pictures_carry_the_names_that_programs_use(store: ArtifactStore, picture: Picture) -> None:
    state = AskState(instruction="same?", pictures=[to_json(picture)] * 2, answer=True)

    text = "".join(_read(render(AskRun("t", state), store)).text)

    assert "LEFT" in text
    assert "RIGHT" in text


def test_a_step_at_fault_is_shown_before_and_now(store: ArtifactStore, picture: Picture) -> None:
    source = "BOX0=LOC(image=IMAGE,object='cat')"
    before = StepRecord("1", 1, source, "LOC", {"image": to_json(picture)}, output=[])
    now = replace(before, output=to_json([Region((4, 5, 20, 30), 0.9, "cat", picture.id)]))
    fault = Fault("tool", "1", "LOC", "cat", "It overlooked one.")
    state = AskState(
        pictures=[to_json(picture)],
        steps=[now.to_json()],
        attempts=[{"answer": 0, "error": None, "steps": [], "faulty": [before.to_json()]}],
        critiques=[Critique((fault,), 0.97, "global").to_json()],
        answer=1,
        verdict="right",
        expected="1",
    )

    text = "".join(_read(render(AskRun("t", state), store)).text)

    assert text.index("before: nothing found") < text.index("now: 1 region: cat 0.90")
    assert "right, at attempt 2 (expected: 1)" in text


def test_attempts_of_an_earlier_version_are_shown_too(store: ArtifactStore, picture: Picture) -> None:
    state = AskState(
        pictures=[to_json(picture)],
        attempts=[
            {"answer": to_json(picture), "error": None, "steps": []},
            {"answer": None, "error": "No.", "steps": []},
        ],
        critiques=[Critique((), 0.0, "local").to_json()],
    )

    text = "".join(_read(render(AskRun("t", state), store)).text)

    assert "Wrong answers" in text
    assert "No step was found at fault." in text


def test_the_template_is_beside_the_module() -> None:
    import snellen

    assert (Path(snellen.__file__).parent / "reports" / "templates" / "run.html.j2").is_file()
