"""The data of the evidence explorer: every trial is in, each picture once, and hostile texts are only texts."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.explorer import synthetic_investigation
from snellen.experiments.drawn_answers import asked
from snellen.experiments.protocols.multiple_choice import key_of
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.samples import SampleTable
from snellen.memory.trials import Trial, TrialTable
from snellen.reports.explorer import explorer_data
from snellen.reports.investigation_page import render, render_explorer
from snellen.reports.templating import rendered
from snellen.reports.trial_rows import trial_rows
from snellen.threads.investigate import InvestigationResult
from tests.graphs.test_protocols import investigated

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\u2028'\"&{{1}}"


class Elements(HTMLParser):
    """Collects the elements of a page, and the texts of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self._script = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._script = str(dict(attrs).get("id")) if tag == "script" else ""

    def handle_data(self, data: str) -> None:
        if self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._script = ""

    def json(self, name: str) -> Any:  # noqa: ANN401 - whatever is written there
        return json.loads(self.scripts[name])


def rows_in(evidence: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the trials of the columns, as the script reads them."""

    def text(number: int) -> str | None:
        return None if number < 0 else evidence["texts"][number]

    samples, trials = evidence["samples"], evidence["trials"]
    return [
        {
            "sample": "/".join(
                str(one)
                for one in (
                    evidence["experiments"][samples["experiment"][place]]["number"],
                    samples["round"][place],
                    samples["arm"][place],
                )
            ),
            "model": evidence["models"][trials["model"][number]],
            "plain": bool(trials["plain"][number]),
            "label": text(samples["label"][place]),
            "truth": text(samples["truth"][place]),
            "choices": [text(one) for one in evidence["lists"][samples["choices"][place]]],
            "question": text(trials["question"][number]),
            "said": text(trials["said"][number]),
            "right": bool(trials["right"][number]),
            "mean": trials["mean"][number],
        }
        for number, place in enumerate(trials["sample"])
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explored")


@pytest.fixture(scope="module")
def found(home: Path) -> InvestigationResult:
    return synthetic_investigation(home, trials=120, models=2)


def test_every_trial_is_in_the_page_as_it_is_in_the_table(found: InvestigationResult, home: Path) -> None:
    shown = rows_in(Elements(render(found, home)).json("explorer-evidence"))
    table = [
        {name: row[name] for name in shown[0]} | {"mean": [round(one, 3) for one in row["mean"]]}
        for row in trial_rows(found, home)
    ]
    assert len(table) >= 120

    def by_name(row: dict[str, Any]) -> tuple[str, str, bool]:
        return row["sample"], row["model"], row["plain"]

    assert sorted(shown, key=by_name) == sorted(table, key=by_name)


def test_each_picture_is_embedded_once_and_small(found: InvestigationResult, home: Path) -> None:
    page = render(found, home)
    elements = Elements(page)
    pictures, evidence = elements.json("explorer-pictures"), elements.json("explorer-evidence")
    samples = SampleTable(home).of(found.investigation, 0)
    assert len(set(pictures)) == len(pictures) == len({one for each in samples for one in (each.picture, each.plain)})
    assert page.count(pictures[0]) == 1
    assert "data:image/png" not in page
    store = ArtifactStore(home / FOLDER)
    for number, sample in enumerate(samples):
        for column, picture in (("picture", sample.picture), ("original", sample.plain)):
            file = base64.b64decode(pictures[evidence["samples"][column][number]])
            with PIL.Image.open(BytesIO(file)) as shown:
                assert (shown.format, shown.size) == ("WEBP", (128, 128))
                grey, stored = shown.convert("L").resize((8, 8)), store.get(picture).convert("L").resize((8, 8))
            apart = [abs(one - other) for one, other in zip(grey.tobytes(), stored.tobytes(), strict=True)]
            assert max(apart) < 24, "it is the picture that the sample names"


def test_examples_above_the_explorer_are_its_own_pictures(found: InvestigationResult, home: Path) -> None:
    elements = Elements(render(found, home))
    evidence, pictures = elements.json("explorer-evidence"), elements.json("explorer-pictures")
    known = {row["sample"] for row in rows_in(evidence)}
    examples = [one for tag, one in elements.tags if tag == "img"]
    assert examples
    assert all(0 <= int(str(one["data-picture"])) < len(pictures) for one in examples)
    assert {one["data-sample"] for tag, one in elements.tags if tag == "button" and "data-sample" in one} <= known


def test_a_picture_that_is_gone_is_missed_and_nothing_else(tmp_path: Path) -> None:
    result = synthetic_investigation(tmp_path, trials=20, models=1)
    gone = SampleTable(tmp_path).of(result.investigation, 0)[0].picture
    Path(ArtifactStore(tmp_path / FOLDER).place(gone)).unlink()
    elements = Elements(render(result, tmp_path))
    assert elements.json("explorer-pictures").count("") == 1
    assert len(rows_in(elements.json("explorer-evidence"))) == 20


def test_hostile_texts_of_models_and_pictures_are_only_texts(tmp_path: Path) -> None:
    result = synthetic_investigation(tmp_path, trials=10, models=1)
    report = result.report
    hostile = report.experiments[0].model_copy(
        update={"design": report.experiments[0].design.model_copy(update={"question": HOSTILE, "skill": HOSTILE})}
    )
    samples = [replace(one, label=HOSTILE, origin=HOSTILE, investigation=HOSTILE) for one in SampleTable(tmp_path).of(
        result.investigation, 0
    )]  # fmt: skip
    SampleTable(tmp_path).add(samples)
    put = {sample: asked(hostile.design, sample) for sample in samples}
    keys = [key_of(one, sample, "fingerprint", plain=False) for sample, one in put.items()]
    TrialTable(tmp_path).add([Trial(key, tuple((-1.0,) for _ in key.choices)) for key in keys])
    known = report.model_copy(
        update={"models": [HOSTILE], "fingerprints": {HOSTILE: "fingerprint"}, "experiments": [hostile]}
    )
    for page in (
        render(InvestigationResult(HOSTILE, known), tmp_path),
        render_explorer(InvestigationResult(HOSTILE, known), tmp_path),
    ):
        elements = Elements(page)
        assert not [one for tag, one in elements.tags if tag == "img" and "data-picture" not in one]
        assert [one.get("id") for tag, one in elements.tags if tag == "script"] == [
            "explorer-evidence", "explorer-pictures", None,
        ]  # fmt: skip
        evidence = elements.json("explorer-evidence")
        assert evidence["models"] == [HOSTILE]
        assert {row["label"] for row in rows_in(evidence)} == {HOSTILE}


@given(st.text(max_size=80))
def test_no_text_leaves_the_data(text: str) -> None:
    explorer = {"evidence": {"texts": [text]}, "pictures": []}
    page = rendered("explorer/data", explorer=explorer)
    data = page[page.index(">", page.index('id="explorer-evidence"')) + 1 : page.index("</script>")]
    assert json.loads(data) == explorer["evidence"]
    assert not set(data) & set("<>&")


def test_very_many_pictures_are_made_smaller(
    found: InvestigationResult, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.reports.explorer._ALL_PIXELS", 24 * 100 * 100)
    rows = list(trial_rows(found, home))[:24]
    data = explorer_data(found.report.experiments, rows, found.report.models, ArtifactStore(home / FOLDER))
    sizes = {PIL.Image.open(BytesIO(base64.b64decode(one))).size for one in data.pictures}
    assert sizes == {(min(128, max(96, int((24 * 100 * 100 / len(data.pictures)) ** 0.5))),) * 2}


async def test_scores_of_pairs_are_read_and_both_pictures_known(tmp_path: Path) -> None:
    report, _ = await investigated(tmp_path, "Can I trust honest and biased to judge similarity under blur?", "pairs")
    elements = Elements(render(InvestigationResult("t", report), tmp_path))
    evidence = elements.json("explorer-evidence")
    texts, trials, samples = evidence["texts"], evidence["trials"], evidence["samples"]
    ways = {texts[one] for one in trials["way"]}
    assert ways == {
        f"the change {counts}{order}"
        for counts in ("counts", "does not count")
        for order in ("", ", second picture first")
    }
    assert {texts[one] for one in trials["said"]} <= {str(score) for score in range(1, 11)}
    assert all(re.fullmatch(r"Score: \d+", texts[one]) for one in trials["text"])
    assert {texts[one] for one in samples["change"]} == {"", "blur"}
    numbers = {*samples["picture"], *samples["original"]}
    assert numbers == set(range(len(elements.json("explorer-pictures")))), "both of each pair are there"


async def test_free_answers_are_shown_as_they_were_written(tmp_path: Path) -> None:
    report, _ = await investigated(tmp_path, "Who tells more truth, honest or liar?", "freeform")
    result = InvestigationResult("t", report)
    shown = rows_in(Elements(render(result, tmp_path)).json("explorer-evidence"))
    table = {(row["sample"], row["model"]): (row["said"], row["right"]) for row in trial_rows(result, tmp_path)}
    assert {(row["sample"], row["model"]): (row["said"], row["right"]) for row in shown} == table
    assert {row["said"] for row in shown if row["model"] == "liar"} == {"There is a purple zeppelin."}
