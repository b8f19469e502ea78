"""``snellen export``, read back by the tools that it writes for."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import DatasetCard
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from snellen.cli.main import main
from snellen.errors import BadInput, SnellenError
from snellen.evaluation import resources
from snellen.exports.folders import MARK, checked, whole
from snellen.exports.parquet import write_datasets
from snellen.exports.schema import ExportSource, ExportTable, slug
from snellen.memory.artifacts import FOLDER
from snellen.models.under_test import Card, Question, Ranking
from snellen.runtime import running
from snellen.threads import investigate
from tests.experiments.investigating import Oracle, watched

Told = pytest.CaptureFixture[str]
QUERY = "Are clip and blip robust to left rotation?"


class Scripted:
    """Every model answers "red", or scores 7; nobody is asked to choose."""

    def card(self, model: str) -> Card:
        """Say what it is."""
        return Card(model, f"print of {model}", "Scripted", None, "answer", 2, answers=model != "clip")

    def at_once(self, model: str) -> int:
        return 1

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Find all choices alike."""
        return [Ranking(tuple((0.0,) for _ in one.choices)) for one in questions]

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        """Say the same, whatever is asked."""
        return ["Score: 7" if len(one.pictures) == 2 else "red" for one in questions]

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        """Find everything as much alike."""
        return [0.5 for _ in questions]


@pytest.fixture
def oracle(home: Path, monkeypatch: pytest.MonkeyPatch) -> Oracle:
    """Examine models that are right as often as it says, instead of the checkpoints."""
    known = Oracle({"clip": lambda _, changed: 0.5 if changed else 0.97, "blip": lambda *_: 0.97})
    make = investigate.examining

    def context(profile: str, folder: Path, pictures: str = "") -> object:
        return replace(make(profile, folder, pictures), examination=watched(folder, known))

    monkeypatch.setattr(investigate, "examining", context)
    return known


@pytest.fixture
def scripted(home: Path, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Ask these models instead of the checkpoints, in investigations and on benchmarks."""
    known, make, opened = Scripted(), investigate.examining, resources.opened

    def context(profile: str, folder: Path, pictures: str = "") -> object:
        made = make(profile, folder, pictures)
        return replace(made, examination=replace(made.examiner(), executor=known))

    def bench(profile: str) -> resources.BenchmarkResources:
        made = opened(profile)
        return replace(made, runner=replace(made.runner, executor=known))

    monkeypatch.setattr(investigate, "examining", context)
    monkeypatch.setattr(resources, "opened", bench)
    return known


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what ``datasets`` builds away from the user's cache, and from the network."""
    import datasets
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()
    return tmp_path / "cache"


def logs(folder: Path) -> dict[str, Any]:
    """Read all logs of a folder, by their files, as Inspect does."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    found = list_eval_logs(str(folder))
    return {Path(one.name).name: read_eval_log(one, resolve_attachments=True) for one in found}


def exported(capsys: Told, *words: str) -> dict[str, Any]:
    """Export, and return what is told of it."""
    capsys.readouterr()
    assert main(["export", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def investigated(capsys: Told, query: str = QUERY, *words: str) -> dict[str, Any]:
    """Investigate as thread t1, and return the report."""
    assert main(["investigate", query, "--thread", "t1", "--seed", "3", "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["report"]
    return found


def test_inspect_opens_a_log_for_each_model_experiment_and_condition(
    oracle: Oracle, tmp_path: Path, home: Path, capsys: Told
) -> None:
    report = investigated(capsys, QUERY, "--budget", "images=60,experiments=1")
    out = tmp_path / "logs"
    told = exported(capsys, "t1", "--to", "inspect", "--out", str(out))
    found = logs(out)
    assert set(found) == {"01-clip.eval", "01-clip-before.eval", "01-blip.eval", "01-blip-before.eval"}
    assert set(told["files"]) == set(found)
    assert len({one.eval.task_id for one in found.values()}) == len(found), "logs of one task's id hide each other"
    results = {(one["model"], one["plain"]): one for one in report["experiments"][0]["results"]}
    for name, log in found.items():
        result = results[log.eval.model.removeprefix("snellen/"), "before" in name]
        assert (log.status, log.eval.dataset.samples, len(log.samples)) == ("success", result["n"], result["n"])
        (score,) = [one for one in log.results.scores if one.name == "choice"]
        values = [score.metrics[one].value for one in ("accuracy", "accuracy_low", "accuracy_high")]
        assert values == [result["average"], *result["interval"]]
        right = sum(one.scores["choice"].value == "C" for one in log.samples)
        assert right / len(log.samples) == pytest.approx(result["average"])
        assert {one.epoch for one in log.samples} == {1}
    assert len({one.eval.task for one in found.values()}) == 2
    assert all(len(one.eval.task) <= 50 for one in found.values()), "viewers show it in large letters"
    (claim,) = [one for one in found["01-clip.eval"].results.scores if one.scorer == "claim"]
    finding = next(one for one in report["experiments"][0]["findings"] if one["claim"]["kind"] == "drop")
    assert (claim.metrics["mean"].value, claim.metadata["verdict"]) == (finding["mean"], finding["verdict"])
    assert "clip loses more than 10 points" in claim.metadata["claim"]


def test_samples_of_logs_show_the_very_pictures_and_answers(
    oracle: Oracle, tmp_path: Path, home: Path, capsys: Told
) -> None:
    investigated(capsys, QUERY, "--budget", "images=24,experiments=1")
    exported(capsys, "t1", "--to", "inspect", "--out", str(tmp_path / "logs"))
    log = logs(tmp_path / "logs")["01-clip.eval"]
    shown = {}
    for one in log.samples:
        picture, question = one.input[0].content
        content = base64.b64decode(picture.image.partition(",")[2])
        (name,) = one.metadata["pictures"]
        assert hashlib.sha256(content).hexdigest() == name
        assert (home / FOLDER / name[:2] / f"{name}.png").read_bytes() == content
        assert one.output.completion == one.scores["choice"].answer
        assert (one.output.completion == one.target) == (one.scores["choice"].value == "C")
        assert set(one.metadata["log-probabilities"]) == set(one.choices)
        assert one.target in one.choices
        shown[one.id] = question.text
    assert len(shown) == len(log.samples)
    assert log.eval.task_args["investigation"] == "t1"


def test_without_pictures_exports_are_small_and_whole(oracle: Oracle, tmp_path: Path, capsys: Told) -> None:
    investigated(capsys, QUERY, "--budget", "images=24,experiments=1")
    from pyarrow import parquet

    sizes = {}
    for words in ([], ["--no-pictures"]):
        out = tmp_path / f"logs{len(words)}"
        exported(capsys, "t1", "--to", "inspect", "--out", str(out), *words)
        sizes[len(words)] = sum(path.stat().st_size for path in out.iterdir())
        (image, *_) = logs(out)["01-clip.eval"].samples[0].input[0].content
        assert image.type == ("text" if words else "image")
    assert sizes[1] < sizes[0] / 2
    exported(capsys, "t1", "--to", "parquet", "--out", str(tmp_path / "t"), "--no-pictures")
    assert not (tmp_path / "t" / "pictures").exists()
    columns = parquet.read_schema(tmp_path / "t" / "samples.parquet").names
    assert "answer" in columns
    assert "picture" not in columns


def test_parquet_has_every_trial_and_picture(oracle: Oracle, tmp_path: Path, home: Path, capsys: Told) -> None:
    report = investigated(capsys, QUERY, "--budget", "images=60,experiments=1")
    told = exported(capsys, "t1", "--to", "parquet", "--out", str(tmp_path / "t"))
    tables = ("samples", "trials", "findings", "results", "answers", "patterns")
    assert told["files"] == [*(f"{name}.parquet" for name in tables), "pictures/"]
    from pyarrow import parquet

    rows = {name: parquet.read_table(tmp_path / "t" / f"{name}.parquet").to_pylist() for name in tables}
    assert rows["answers"] == [{"query": QUERY, **one} for one in report["answers"]]
    assert {one["property"] for one in rows["answers"]} == {"robust to left rotation"}
    assert len(rows["trials"]) == sum(oracle.asked.values()) == report["trials"]
    assert len(rows["findings"]) == len(report["experiments"][0]["findings"])
    samples = {one["sample"]: one for one in rows["samples"]}
    for one in rows["trials"]:
        sample = samples[one["sample"]]
        assert sample["answer"] == one["target"]
        name = sample["original" if one["plain"] and sample["original"] else "picture"]
        assert name == f"pictures/{one['pictures'][0]}.png"
        assert Image.open(tmp_path / "t" / name).size == Image.open(tmp_path / "t" / sample["picture"]).size
    assert main(["report", "t1", "--trials", str(tmp_path / "trials.jsonl")]) == 0
    lines = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert [one["trial"] for one in lines] == [one["trial"] for one in rows["trials"]]


def test_datasets_opens_pictures_and_trials(oracle: Oracle, tmp_path: Path, cache: Path, capsys: Told) -> None:
    from datasets import get_dataset_config_names, load_dataset

    report = investigated(capsys, QUERY, "--budget", "images=24,experiments=1")
    out = tmp_path / "set"
    exported(capsys, "t1", "--to", "datasets", "--out", str(out))
    assert get_dataset_config_names(str(out)) == ["samples", "trials", "findings", "results", "answers", "patterns"]
    samples = load_dataset(str(out), split="test", cache_dir=str(cache))
    assert len(samples) == report["experiments"][0]["rounds"] * len(report["experiments"][0]["design"]["arms"])
    assert samples[0]["picture"].size == (128, 128)
    trials = load_dataset(str(out), "trials", split="test", cache_dir=str(cache))
    assert len(trials) == report["trials"]
    assert trials[0]["mean"] == [sum(row) / len(row) for row in trials[0]["tokens"]]
    card = (out / "README.md").read_text()
    assert QUERY in card
    assert "CC-BY 4.0" in card


def test_free_answers_are_exported_with_what_they_are_worth(scripted: Scripted, tmp_path: Path, capsys: Told) -> None:
    report = investigated(capsys, "Does blip tell the truth?", "--budget", "images=12,experiments=1")
    exported(capsys, "t1", "--to", "inspect", "--out", str(tmp_path / "logs"))
    log = logs(tmp_path / "logs")["01-blip.eval"]
    (result,) = report["experiments"][0]["results"]
    for scorer, wanted in (("truth", result["average"]), ("help", result["by_class"]["help"])):
        (score,) = [one for one in log.results.scores if one.name == scorer]
        assert score.metrics["mean"].value == wanted
        values = [one.scores[scorer].value for one in log.samples]
        assert sum(values) / len(values) == pytest.approx(wanted)
    assert {one.output.completion for one in log.samples} == {"red"}
    exported(capsys, "t1", "--to", "parquet", "--out", str(tmp_path / "t"))
    from pyarrow import parquet

    rows = parquet.read_table(tmp_path / "t" / "samples.parquet").to_pylist()
    assert {one["answer"] for one in rows} == {one.target for one in log.samples}


def test_pairs_are_exported_in_both_orders_under_both_conditions(
    scripted: Scripted, tmp_path: Path, capsys: Told
) -> None:
    query = "Can I trust llava-judge to judge similarity under blur?"
    investigated(capsys, query, "--budget", "images=12,experiments=1")
    exported(capsys, "t1", "--to", "inspect", "--out", str(tmp_path / "logs"))
    log = logs(tmp_path / "logs")["01-llava-judge.eval"]
    assert len({one.id for one in log.samples}) == len(log.samples)
    by_id = {one.id: one for one in log.samples}
    for name, one in by_id.items():
        assert one.scores["score"].value == 7
        assert (one.scores["right"].value == "C") == (abs(float(one.target) - 7) <= 1)
        assert len(one.input[0].content) == 3
        if name.endswith("-forward"):
            other = by_id[name.replace("-forward", "-backward")]
            assert one.metadata["pictures"] == other.metadata["pictures"][::-1]
    targets = {(one.metadata["truth"], one.metadata["condition"]): one.target for one in log.samples}
    assert targets["transformed", "sensitive"] == "6"
    assert targets["transformed", "invariant"] == "10"


def test_an_unfinished_investigation_exports_what_it_has_and_says_so(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Told
) -> None:
    whole_rank: Callable[..., object] = oracle.rank

    def full(model: str, questions: list[object]) -> object:
        if sum(oracle.asked.values()) > 30:
            from snellen.memory.home import MemoryTrouble

            msg = "The disk is full."
            raise MemoryTrouble(msg)
        return whole_rank(model, questions)

    monkeypatch.setattr(oracle, "rank", full)
    assert main(["investigate", QUERY, "--thread", "t1"]) == 1
    capsys.readouterr()
    told = exported(capsys, "t1", "--to", "inspect", "--out", str(tmp_path / "logs"))
    assert "not finished" in told["notes"][0]
    assert "snellen resume t1" in told["notes"][0]
    found = logs(tmp_path / "logs")
    assert found
    for log in found.values():
        assert log.status == "cancelled"
        assert log.eval.tags == ["unfinished"]
        assert log.samples
    exported(capsys, "t1", "--to", "parquet", "--out", str(tmp_path / "t"))


def test_a_benchmark_of_free_answers_and_its_results(
    scripted: Scripted, tmp_path: Path, cache: Path, capsys: Told
) -> None:
    from datasets import load_dataset

    bench, results, out = tmp_path / "bench", tmp_path / "results", tmp_path / "set"
    assert main(["prove", "build", "--out", str(bench), "-n", "3"]) == 0
    assert (
        main(["prove", "run", "--bench", str(bench), "--models", "blip", "--out", str(results), "--no-entailment"]) == 0
    )
    exported(capsys, str(bench), "--to", "datasets", "--out", str(out))
    questions = load_dataset(str(out), "questions", split="test", cache_dir=str(cache))
    lines = [json.loads(line) for line in (bench / "questions.jsonl").read_text().splitlines()]
    assert [one["question"] for one in questions] == [one["question"] for one in lines]
    assert questions[0]["picture"].size == (128, 128)
    scenes = load_dataset(str(out), "scenes", split="test", cache_dir=str(cache))
    assert len(scenes) == 3
    assert scenes[0]["tuples"]
    assert main(["export", str(bench), "--to", "inspect", "--out", str(tmp_path / "x")]) == 2
    assert "nobody was asked anything yet" in capsys.readouterr().err
    assert main(["export", str(results), "--to", "inspect", "--out", str(tmp_path / "x")]) == 2
    assert "--bench DIR" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    exported(capsys, str(results), "--to", "inspect", "--bench", str(bench), "--out", str(tmp_path / "logs"))
    found = {log.eval.model: log for log in logs(tmp_path / "logs").values()}
    log, figures = found["snellen/blip"], json.loads((results / "prove.json").read_text())["models"]["blip"]
    (score,) = [one for one in log.results.scores if one.name == "hscore"]
    assert score.metrics["hscore"].value == figures["hscore"]
    assert [score.metrics[one].value for one in ("hscore_low", "hscore_high")] == figures["intervals"]["hscore"]
    assert {one.output.completion for one in log.samples} == {"red"}
    assert found["snellen/oracle"].eval.metadata["baseline"] is True
    exported(capsys, str(results), "--to", "parquet", "--out", str(tmp_path / "t"))
    from pyarrow import parquet

    answers = (results / "answers.jsonl").read_text().splitlines()
    assert parquet.read_table(tmp_path / "t" / "answers.parquet").num_rows == len(answers)


def test_a_benchmark_of_pairs_and_its_results(scripted: Scripted, tmp_path: Path, cache: Path, capsys: Told) -> None:
    from datasets import load_dataset

    bench, results, out = tmp_path / "bench", tmp_path / "results", tmp_path / "set"
    assert main(["pairs", "build", "--out", str(bench), "-n", "2"]) == 0
    options = ["--models", "llava-judge", "--models", "clip"]
    assert main(["pairs", "run", "--bench", str(bench), *options, "--out", str(results)]) == 0
    exported(capsys, str(bench), "--to", "datasets", "--out", str(out))
    pairs = load_dataset(str(out), split="test", cache_dir=str(cache))
    assert {(one["kind"], one["sensitive"], one["invariant"]) for one in pairs} == {
        ("identical", 10, 10), ("transformed", 6, 10), ("irrelevant", 1, 1),
    }  # fmt: skip
    assert pairs[0]["first"].size == (128, 128)
    exported(capsys, str(results), "--to", "inspect", "--bench", str(bench), "--out", str(tmp_path / "logs"))
    ((_, log),) = logs(tmp_path / "logs").items()
    assert log.eval.model == "snellen/llava-judge", "encoders are asked nothing"
    assert len(log.samples) == 4 * len(pairs)
    (score,) = [one for one in log.results.scores if one.name == "score"]
    assert score.metrics["relaxsym"].value == 1
    assert main(["export", str(results), "--to", "inspect", "--bench", str(results), "--out", str(tmp_path / "x")]) == 2
    assert "no benchmark of pairs" in capsys.readouterr().err


def test_what_is_there_is_only_replaced_on_request_and_never_anything_else(
    oracle: Oracle, tmp_path: Path, capsys: Told
) -> None:
    investigated(capsys, QUERY, "--budget", "images=24,experiments=1")
    out = tmp_path / "t"
    words = ["export", "t1", "--to", "parquet", "--out", str(out)]
    assert main(words) == 0
    (out / "mine.txt").write_text("kept until it is replaced")
    assert main(words) == 2
    assert "replace it with --force" in capsys.readouterr().err
    assert (out / "mine.txt").exists()
    assert main([*words, "--force"]) == 0
    assert not (out / "mine.txt").exists()
    other = tmp_path / "work"
    other.mkdir()
    (other / "thesis.txt").write_text("years")
    assert main([*words[:-1], str(other), "--force"]) == 2
    assert "no export" in capsys.readouterr().err
    link = tmp_path / "link"
    link.symlink_to(out)
    assert main([*words[:-1], str(link), "--force"]) == 2
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "link", "t", "work"], "no draft is left"


def test_nothing_half_written_is_left_when_an_export_fails(
    oracle: Oracle, tmp_path: Path, home: Path, capsys: Told
) -> None:
    investigated(capsys, QUERY, "--budget", "images=24,experiments=1")
    from snellen.memory.samples import SampleTable

    lost = SampleTable(home).of("t1", 0)[-1].picture
    (home / FOLDER / lost[:2] / f"{lost}.png").unlink()
    for to in ("inspect", "parquet", "datasets"):
        assert main(["export", "t1", "--to", to, "--out", str(tmp_path / to)]) == 1
        told = capsys.readouterr().err
        assert lost[:12] in told
        assert "--no-pictures" in told
        assert main(["export", "t1", "--to", to, "--out", str(tmp_path / to), "--no-pictures"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["datasets", "home", "inspect", "parquet"]


def test_an_export_that_cannot_take_its_place_gives_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "t"
    with whole(target, {}) as draft:
        (draft / "old").write_text("old")
    rename = Path.rename

    def refuse(path: Path, to: Path) -> Path:
        if path.name == "draft":
            raise PermissionError(13, "no")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(SnellenError, match="cannot be written"), whole(checked(target, force=True), {}):
        pass
    assert {path.name for path in target.iterdir()} == {"old", MARK}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nobody", "--to", "parquet"], "no thread"),
        (["t", "--to", "csv"], "invalid choice"),
        (["t"], "required"),
        ([".", "--to", "parquet"], "neither a benchmark"),
        (["nobody", "--to", "inspect", "--bench", "b"], "leave it out"),
        (["nobody", "--to", "parquet", "--out", "full"], "is no export"),
    ],
)
def test_bad_input_is_one_sentence(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Told
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    assert main(["export", *words]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1


def test_damaged_results_are_told(scripted: Scripted, tmp_path: Path, capsys: Told) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "answers.jsonl").write_text('{"model": 7}\nnonsense\n')
    words = ["export", str(folder), "--to", "parquet", "--out", str(tmp_path / "t")]
    assert main(words) == 2
    assert "prove.json cannot be read" in capsys.readouterr().err
    told = {"metric": "paper", "bench": "b", "models": {}, "baselines": {}}
    (folder / "prove.json").write_text(json.dumps(told))
    assert main(words) == 2
    assert "no line that can be read" in capsys.readouterr().err


def test_an_ask_thread_and_an_investigation_without_measurements_are_refused(
    oracle: Oracle, tmp_path: Path, capsys: Told
) -> None:
    assert main(["investigate", QUERY, "--confirm", "--thread", "t1"]) == 0
    assert main(["export", "t1", "--to", "parquet", "--out", str(tmp_path / "t")]) == 2
    assert "has measured nothing yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("to", "package"), [("inspect", "inspect_ai.log"), ("datasets", "datasets"), ("parquet", "pyarrow")]
)
def test_a_missing_package_is_named(
    to: str, package: str, oracle: Oracle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Told
) -> None:
    investigated(capsys, QUERY, "--budget", "images=24,experiments=1")
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["export", "t1", "--to", to, "--out", str(tmp_path / "t")]) == 1
    assert "pip install 'snellen[" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


def test_a_long_export_gives_signs_of_life(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Told
) -> None:
    investigated(capsys, QUERY, "--budget", "images=24,experiments=1")
    monkeypatch.setattr(running, "QUIET_SECONDS", 0.001)
    assert main(["export", "t1", "--to", "inspect", "--out", str(tmp_path / "t")]) == 0
    captured = capsys.readouterr()
    assert "log 4 of 4: blip" in captured.err
    assert f"inspect view --log-dir {tmp_path / 't'}" in captured.out


@pytest.mark.parametrize(
    ("text", "name"),
    [("LLaVA 1.5/7B", "llava-1-5-7b"), ("../../etc", "etc"), ("…", "unnamed"), ("", "unnamed"), ("x" * 500, "x" * 80)],
)
def test_names_of_files_hold_nothing_but_words(text: str, name: str) -> None:
    assert slug(text) == name


def test_a_place_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="no export"):
        checked(tmp_path / "file", force=True)
    target = checked(tmp_path / "file" / "below", force=False)
    with pytest.raises(SnellenError, match="cannot be written"), whole(target, {}):
        pass


def test_a_card_carries_out_no_mark_up_of_others(tmp_path: Path) -> None:
    said = "<img src=x onerror=alert(1)> ![x](http://elsewhere/x.png)\n---\nconfigs: []"
    table = ExportTable("rows", {"word": "text"}, lambda: iter([{"word": said}]), "a row")
    source = ExportSource("s", said, said, [table], lambda name: b"", notes=[said])
    write_datasets(source, tmp_path, pictures=True, progress=lambda _: None)
    card = (tmp_path / "README.md").read_text()
    assert "<img" not in card.split("---")[2]
    assert "![x]" not in card.split("---\n\n")[1]
    head: Any = DatasetCard(card).data
    assert head.configs == [
        {"config_name": "rows", "data_files": [{"split": "test", "path": "rows/test-*.parquet"}], "default": True}
    ]
    from pyarrow import parquet

    assert parquet.read_table(tmp_path / "rows" / "test-00000-of-00001.parquet").to_pylist() == [{"word": said}]


@given(st.text())
def test_names_of_files_are_safe_whatever_they_are_made_of(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(text))
    assert len(slug(text)) <= 80
    assert slug(slug(text)) == slug(text)
