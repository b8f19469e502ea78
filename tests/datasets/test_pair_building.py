"""Benchmarks of pairs: what is built is what the paper says, and what was changed since is noticed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen import microworld
from snellen.datasets.pairs import (
    SPLITS,
    TEMPLATES,
    FolderOriginals,
    Original,
    Pair,
    WorldOriginals,
    asked,
    build,
    read_benchmark,
    truth,
)
from snellen.errors import BadInput
from snellen.microworld.samples import portrait
from snellen.microworld.scenes import relations
from snellen.scoring.judge_replies import parsed_score


def opened(content: bytes, name: str) -> Image.Image:
    import io

    try:
        return Image.open(io.BytesIO(content)).convert("RGB")
    except OSError as error:
        raise BadInput(name) from error


def built(folder: Path, kind: str = "pictures", count: int = 4, seed: int = 0) -> Path:
    return build(WorldOriginals(microworld, places=kind != "pictures"), folder, kind=kind, count=count, seed=seed)


def pixels(folder: Path, name: str) -> np.ndarray:
    with Image.open(folder / "pictures" / name) as picture:
        return np.asarray(picture.convert("RGB").resize((64, 64))).astype(float)


@pytest.mark.parametrize("kind", list(SPLITS))
def test_every_original_has_three_pairs_in_every_split(kind: str, tmp_path: Path) -> None:
    benchmark = read_benchmark(built(tmp_path, kind))
    assert not benchmark.left_out
    assert Counter((pair.split, pair.kind) for pair in benchmark.pairs) == {
        (split, made): 4 for split in SPLITS[kind] for made in ("identical", "transformed", "irrelevant")
    }
    assert len({pair.original for pair in benchmark.pairs}) == 4
    assert {pair.template for pair in benchmark.pairs} <= set(range(TEMPLATES))
    assert all(bool(pair.text) == (kind == "captions") for pair in benchmark.pairs)


def test_pairs_are_as_alike_as_their_kind_says(tmp_path: Path) -> None:
    benchmark = read_benchmark(built(tmp_path, count=6))
    far: dict[str, list[float]] = {"identical": [], "transformed": [], "irrelevant": []}
    for pair in benchmark.pairs:
        first, second = (pixels(tmp_path, name) for name in pair.files)
        far[pair.kind].append(float(np.abs(first - second).mean()))
    means = {kind: np.mean(values) for kind, values in far.items()}
    assert means["identical"] < 5 < means["transformed"] < means["irrelevant"]
    for pair in benchmark.pairs:
        if pair.kind == "identical":
            with Image.open(benchmark.picture(pair.second)) as smaller:
                assert smaller.size == (122, 122), "95 % of 128"


def test_things_that_change_places_are_where_they_are_said_to_be(tmp_path: Path) -> None:
    benchmark = read_benchmark(built(tmp_path, "captions", count=8))
    for original in {pair.original for pair in benchmark.pairs}:
        said = {pair.kind: pair.text for pair in benchmark.pairs if pair.original == original}
        assert said["identical"] != said["transformed"]
        assert sorted(said["identical"].split()) != sorted(said["irrelevant"].split())


def test_two_things_change_places_and_nothing_else() -> None:
    before = portrait("a dog to the left of a cat", "s7")
    after = before.exchanged()
    assert after.class_name == "a dog to the right of a cat"
    assert (0, "right", 1) in relations(after.scene)
    assert [item.side for item in after.scene.objects] == [item.side for item in before.scene.objects]
    assert after.exchanged() == before
    with pytest.raises(BadInput, match="no two things"):
        portrait("dog", "s7").exchanged()


def test_the_same_arguments_build_the_same_benchmark_and_an_interrupted_one_goes_on(tmp_path: Path) -> None:
    whole = built(tmp_path / "whole")
    begun = tmp_path / "begun"

    class Stopped(Exception):  # noqa: N818 - nothing went wrong
        pass

    def stop(done: int) -> None:
        if done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        build(WorldOriginals(microworld), begun, count=4, progress=stop)
    with pytest.raises(BadInput, match="finish the one that was begun"):
        read_benchmark(begun)
    times = {path.name: path.stat().st_mtime_ns for path in (begun / "pictures").iterdir()}
    built(begun)
    assert all((begun / "pictures" / name).stat().st_mtime_ns == time for name, time in times.items())
    assert (begun / "pairs.jsonl").read_text() == (whole / "pairs.jsonl").read_text()
    with pytest.raises(BadInput, match="holds something else"):
        built(begun, seed=1)


def test_what_was_changed_since_is_left_out_and_told(tmp_path: Path) -> None:
    rows = (built(tmp_path) / "pairs.jsonl").read_text().splitlines()
    pairs = [Pair.model_validate_json(row) for row in rows]
    (tmp_path / "pictures" / pairs[0].second).unlink()
    Image.new("RGB", (9, 9)).save(tmp_path / "pictures" / pairs[1].second)
    rows[2] = json.dumps({**json.loads(rows[2]), "split": "CJ", "second": "../../etc/passwd"})
    rows[3] = rows[4]
    rows[5] = "{"
    (tmp_path / "pairs.jsonl").write_text("\n".join([*rows, rows[8]]) + "\n")
    benchmark = read_benchmark(tmp_path)
    told = "\n".join(benchmark.left_out)
    for said in (
        "61 rows, not the 60", "Row 1 of pairs.jsonl is left out: its picture", "is missing", "Row 2 ",
        "is not the one that was built", "Row 3 of pairs.jsonl is left out: second", "Row 5 ", "there is another",
        "Row 6 ", "Row 61 ",
    ):  # fmt: skip
        assert said in told
    assert len(benchmark.pairs) == 55


@pytest.mark.parametrize(
    ("head", "said"), [("{", "cannot be read"), ('{"version": 7, "source": "x", "seed": 0, "rows": 3}', "version 7")]
)
def test_a_benchmark_of_another_version_is_refused(head: str, said: str, tmp_path: Path) -> None:
    built(tmp_path)
    (tmp_path / "benchmark.json").write_text(head)
    with pytest.raises(BadInput, match=said):
        read_benchmark(tmp_path)
    with pytest.raises(BadInput, match="no benchmark of pairs"):
        read_benchmark(tmp_path / "nowhere")


def test_pictures_of_a_folder_are_used_once_each_and_broken_ones_passed_over(tmp_path: Path) -> None:
    (tmp_path / "own" / "sub").mkdir(parents=True)
    for number in range(3):
        Image.new("RGB", (40, 30), (80 * number, 0, 0)).save(tmp_path / "own" / "sub" / f"{number}.png")
    (tmp_path / "own" / "broken.jpg").write_bytes(b"no picture")
    own = FolderOriginals(tmp_path / "own", open_picture=opened)
    assert len({own.original(number, 5).name for number in range(3)}) == 3
    benchmark = read_benchmark(build(own, tmp_path / "out", count=3))
    assert benchmark.source == "pictures of own"
    with pytest.raises(BadInput, match="3 pictures that can be read, and more are needed"):
        build(own, tmp_path / "more", count=4)
    with pytest.raises(BadInput, match="Nothing is known of"):
        build(own, tmp_path / "places", kind="positions", count=3)


@pytest.mark.parametrize(
    ("options", "said"), [({"kind": "sounds"}, "no kind of pairs"), ({"count": 1}, "two originals at least")]
)
def test_what_cannot_be_built_is_said(options: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        build(WorldOriginals(microworld), tmp_path / "b", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "b").exists()


def test_requests_say_what_counts_and_swap_pictures(tmp_path: Path) -> None:
    pairs = read_benchmark(built(tmp_path, "positions")).pairs
    pair = next(one for one in pairs if one.split == "SP-R")
    forward, backward = asked(pair, "sensitive"), asked(pair, "sensitive", backward=True)
    assert forward.files == backward.files[::-1] == (pair.first, pair.second)
    assert forward.text == backward.text
    assert "whether they agree in where things are in relation to each other and how far a picture" in forward.text
    assert "overlook it" in asked(pair, "invariant").text
    assert (
        len({asked(pair.model_copy(update={"template": place}), "sensitive").text for place in range(TEMPLATES)}) == 5
    )
    for place in range(TEMPLATES):
        for text in ("", "2 dogs"):
            request = asked(pair.model_copy(update={"template": place, "text": text}), "sensitive").text
            assert parsed_score(request) is None, "who repeats the request has given no score"
            assert parsed_score(f"{request}\nScore: 4") == 4
    hostile = Pair(id="x", split="SP", kind="identical", original="o", first="a.png", text="{form} {0.__class__}",
                   digests=["0" * 64], template=0)  # fmt: skip
    assert "Text: {form} {0.__class__}\n" in asked(hostile, "sensitive").text


def test_truth_is_the_papers() -> None:
    assert [truth(kind, "sensitive") for kind in ("identical", "transformed", "irrelevant")] == [10, 6, 1]
    assert [truth(kind, "invariant") for kind in ("identical", "transformed", "irrelevant")] == [10, 10, 1]
    assert Original("a", Image.new("RGB", (2, 2))).moved is None
