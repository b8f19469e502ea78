"""The search among demonstrations is exact, however many there are, and whatever was added and deleted meanwhile."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import tempfile
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import snellen.memory.vector_search
from snellen.memory.demonstration_faiss import EARLIER_INDEX
from snellen.memory.demonstrations import DATABASE, INDEX, Demonstration, DemonstrationPool, Kind, demonstration
from snellen.memory.home import write_atomically
from snellen.memory.vector_search import VectorSearch

Vector = NDArray[np.float32]


def unit(numbers: NDArray[np.float64]) -> Vector:
    lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
    vectors: Vector = (numbers / np.maximum(lengths, 1e-12)).astype(np.float32)
    return vectors


def drawn(count: int, *, seed: int, clusters: int) -> Vector:
    """Draw vectors of which some are equal, and most are near to others."""
    numbers = np.random.default_rng(seed)
    centers = numbers.normal(size=(max(clusters, 1), 32))
    spread = 0.3 * numbers.normal(size=(count, 32)) * (numbers.random(count) > 0.2)[:, None]
    return unit(centers[numbers.integers(0, len(centers), count)] + spread)


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=14),
    seed=st.integers(0, 99),
    clusters=st.integers(1, 40),
    count=st.integers(1, 70),
    share=st.sampled_from([0.05, 0.5, 1.0]),
    coded=st.booleans(),
)
def test_the_nearest_are_those_of_comparing_all(
    *, sizes: list[int], seed: int, clusters: int, count: int, share: float, coded: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if coded:
            patch.setattr(snellen.memory.vector_search, "CODED", 20)
            patch.setattr(snellen.memory.vector_search, "SEARCHES", 0)
        vectors = drawn(sum(sizes), seed=seed, clusters=clusters)
        search, start = VectorSearch(32), 0
        for size in sizes:
            search.add(vectors[start : start + size])
            start += size
            allowed = np.random.default_rng(seed + size).random(start) < share
            asked = vectors[seed % start]
            exact = (vectors[:start].astype(np.float64) * asked.astype(np.float64)).sum(axis=1)
            order = sorted(np.flatnonzero(allowed), key=lambda place: -exact[place])
            last = exact[order[:count][-1]] if order else 0.0

            places, cosines = search.nearest(asked, allowed, count)

            assert set(places.tolist()) == {place for place in order if exact[place] >= last}
            assert np.array_equal(cosines, exact[places])


def embed(texts: list[str]) -> Vector:
    """Embed by the numbers in a text: those alike modulo 10 are near, and 50 are equal to another."""
    numbers = [int(text.split()[-1]) for text in texts]
    return np.stack([drawn(400, seed=3, clusters=10)[number % 350] for number in numbers])


def made(number: int, kind: int, *, correct: bool) -> Demonstration:
    if kind:
        return demonstration("plan", f"How many {number}", plan=["Look"], correct=correct, source="ab"[number % 2])
    program = f"A=RESULT(var='{number}')"
    return demonstration("program", f"How many {number}", plan=["Look"], program=program, correct=correct)


def brute_force(pool: DemonstrationPool, text: str, kind: str, *, correct: bool, sources: set[str] | None) -> list[str]:
    asked = unit(embed([text]).astype(np.float64))[0].astype(np.float64)
    there = [one for one in pool.all() if (one.kind, one.correct) == (kind, correct)]
    there = [one for one in there if sources is None or one.source in sources]
    vectors = {one.id: unit(embed([one.instruction]).astype(np.float64))[0].astype(np.float64) for one in there}
    cosines = {key: float((vector * asked).sum()) for key, vector in vectors.items()}
    return sorted(cosines, key=lambda key: -cosines[key])[:64]


steps = st.lists(
    st.tuples(st.sampled_from(["add", "add", "forget", "raw delete", "other process"]), st.integers(0, 400)), max_size=8
)


@settings(max_examples=15, deadline=None)
@given(steps=steps, asked=st.integers(0, 400), coded=st.booleans(), sources=st.sampled_from([None, {"a"}, {"b", "x"}]))
def test_what_is_recalled_is_what_an_exhaustive_search_recalls(
    *, steps: list[tuple[str, int]], asked: int, coded: bool, sources: set[str] | None
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if coded:
            patch.setattr(snellen.memory.vector_search, "CODED", 50)
            patch.setattr(snellen.memory.vector_search, "SEARCHES", 0)
        pool = DemonstrationPool(Path(folder), embed=embed)
        pool.add(*[made(number, kind, correct=number % 3 > 0) for number in range(120) for kind in (0, 1)])
        for what, number in [("add", 0), *steps]:
            change(pool, what, number)
            parts: list[tuple[Kind, bool]] = [("plan", True), ("program", False)]
            for kind, correct in parts:
                found = pool.nearest(f"So {asked}", kind, correct=correct, k=64, sources=sources)
                expected = brute_force(pool, f"So {asked}", kind, correct=correct, sources=sources)
                # Which of equally near ones is among the 64, and in which order, is told by their age.
                assert [one.id for one in found] == expected


def change(pool: DemonstrationPool, what: str, number: int) -> None:
    if what == "forget":
        pool.forget([one.id for one in pool.all()[number % 200 : number % 200 + 5]])
    elif what == "raw delete":
        with sqlite3.connect(pool.folder / DATABASE) as rows:
            rows.execute("DELETE FROM demonstrations WHERE instruction = ?", [f"How many {number % 120}"])
        rows.close()
    else:
        target = pool if what == "add" else DemonstrationPool(pool.folder, embed=embed)
        target.add(made(number, number % 2, correct=number % 5 > 1))


def test_what_is_forgotten_leaves_the_file_of_vectors(tmp_path: Path) -> None:
    pool = DemonstrationPool(tmp_path, embed=embed)
    pool.add(*[made(number, 1, correct=True) for number in range(20)])
    pool.nearest("So 3", "plan", correct=True)
    vector = unit(embed(["How many 7"]).astype(np.float64)).tobytes()
    assert vector in (tmp_path / INDEX).read_bytes()

    DemonstrationPool(tmp_path).forget([made(7, 1, correct=True).id])

    assert vector not in (tmp_path / INDEX).read_bytes()


def test_the_index_of_an_earlier_version_is_taken_over(tmp_path: Path) -> None:
    pool = DemonstrationPool(tmp_path, embed=embed, embedding="numbers")
    pool.add(*[made(number, 1, correct=True) for number in range(20)])
    earlier = faiss.IndexIDMap2(faiss.IndexFlatIP(32))
    vectors = unit(embed([f"How many {number}" for number in range(20)]).astype(np.float64))
    earlier.add_with_ids(vectors, np.arange(1, 21))
    body = faiss.serialize_index(earlier).tobytes()
    content = b"snellen-index-1\n" + hashlib.sha256(b"numbers\n" + body).digest() + body
    write_atomically(tmp_path / EARLIER_INDEX, content)
    embedded: list[str] = []

    def counting(texts: list[str]) -> Vector:
        embedded.extend(texts)
        return embed(texts)

    again = DemonstrationPool(tmp_path, embed=counting, embedding="numbers")
    found = again.nearest("So 3", "plan", correct=True)

    assert found[0].instruction == "How many 3"
    assert embedded == ["So 3"]
    assert not (tmp_path / EARLIER_INDEX).exists()


def test_a_write_that_was_cut_short_costs_its_records_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    pool = DemonstrationPool(tmp_path, embed=embed)
    pool.add(*[made(number, 1, correct=True) for number in range(20)])
    pool.nearest("So 3", "plan", correct=True)
    with (tmp_path / INDEX).open("r+b") as file:
        file.truncate((tmp_path / INDEX).stat().st_size - 7)
    embedded: list[str] = []

    def counting(texts: list[str]) -> Vector:
        embedded.extend(texts)
        return embed(texts)

    for expected in (["So 3", "How many 19"], ["So 3"]):
        embedded.clear()
        DemonstrationPool(tmp_path, embed=counting).nearest("So 3", "plan", correct=True)
        assert embedded == expected
    assert not caplog.records
