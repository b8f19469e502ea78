"""Benchmarks of questions: what is built can be trusted, and what was changed since is noticed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen import microworld
from snellen.datasets.prove import FolderScenes, Pictured, QuestionDraft, WorldScenes, read_benchmark
from snellen.datasets.prove.benchmark import Item
from snellen.datasets.prove.building import BenchmarkWriter, build, funnel_of, objections
from snellen.datasets.prove.filters import DraftReading, denied, duplicates, program_objection, text_objection
from snellen.datasets.prove.graph_changes import Draw
from snellen.datasets.prove.perturbation import blindness
from snellen.errors import BadInput
from snellen.profiles import load_profile
from snellen.reasoning.language.scene_questions import CaseQuestionWriter
from snellen.reasoning.reading.answers import AnswerReader
from snellen.scoring.scene_graph import Fact, SceneGraph
from snellen.scoring.verification import Verified, Verifier

READER = AnswerReader(load_profile("embedded").facts_path())
GRAPH = SceneGraph(
    [
        Fact("dog", attribute="red", kind="color"),
        Fact("dog", attribute="small", kind="size"),
        Fact("cat", attribute="large", kind="size"),
        Fact("cat (2)", attribute="small", kind="size"),
        Fact("dog", relation="above", target="cat", kind="spatial"),
        Fact("dog", attribute="animal", kind="category"),
    ]
)


def embed(texts: Sequence[str]) -> np.ndarray:
    """Embed texts as bags of words."""
    words = sorted({word for text in texts for word in text.lower().split()})
    rows = np.array([[float(word in text.lower().split()) for word in words] for text in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def draft(question: str, answer: str, kind: str = "color") -> QuestionDraft:
    return QuestionDraft(kind=kind, question=question, answer=answer, program="def verify(g): return 1")


def reading(question: str, answer: str, output: str = "") -> DraftReading:
    return DraftReading(READER.premise(question), READER.read(answer, question), READER.read(output, question))


def opened(content: bytes, name: str) -> Image.Image:
    import io

    try:
        return Image.open(io.BytesIO(content)).convert("RGB")
    except OSError as error:
        raise BadInput(name) from error


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(workers=2) as made:
        yield made


@pytest.mark.parametrize(
    ("output", "reason"),
    [("red", None), ("the dog is red", None), ("blue", "program disagrees"), ("small", "program disagrees"),
     (None, "program fails")],
)  # fmt: skip
def test_a_program_must_give_the_answer(output: str | None, reason: str | None) -> None:
    question, answer = "What color is the dog?", "The dog is red."
    found = program_objection(
        draft(question, answer), Verified(output, "" if output else "It failed."),
        reading(question, answer, output or ""), embed,
    )  # fmt: skip
    assert (found and found.reason) == reason


def test_a_program_disagrees_that_gives_only_a_part() -> None:
    question, answer = "What is above the cat?", "A dog and a bird are above the cat."
    assert program_objection(draft(question, answer), Verified("dog"), reading(question, answer, "dog"), embed)
    assert not program_objection(
        draft(question, answer), Verified("bird, dog"), reading(question, answer, "bird, dog"), embed
    )


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("What color is the dog?", "The dog is red.", None),
        ("What color is the dog", "The dog is red.", "ungrammatical"),
        ("what color is the dog?", "The dog is red.", "ungrammatical"),
        ("What color is the the dog?", "The dog is red.", "ungrammatical"),
        ("Is there a animal?", "Yes, there is a dog.", "ungrammatical"),
        ("What color is the scissors?", "The scissors is red.", "ungrammatical"),
        ("What color is the dog?", "The dog is", None),
        ("What color is the dog?", "The dog is ...", "incomplete"),
        ("What color is the dog?", "The dog is red and", "incomplete"),
        ("Color?", "The dog is red.", "incomplete"),
        ("What color is the {x}?", "The dog is red.", "incomplete"),
        ("What color is mentioned for the dog?", "The dog is red.", "taboo words"),
        ("What attribute does the dog have?", "The dog is red.", "taboo words"),
        ("How big is the cat?", "The cat is large.", "ambiguous"),
        ("How big is the large cat?", "The cat is large.", "trivial"),
        ("What color is the red dog?", "The red dog is red.", "trivial"),
        ("What color is the blue dog?", "The blue dog is red.", "not entailed"),
        ("What kind of thing is the dog?", "The dog is a kind of animal.", "trivial"),
        ("How many cats are there?", "There are 2 cats.", None),
    ],
)
def test_words_are_objected_to(question: str, answer: str, reason: str | None) -> None:
    kind = "count" if question.startswith("How many") else "color"
    found = text_objection(draft(question, answer, kind), reading(question, answer), GRAPH)
    if answer == "The dog is":
        assert found is not None, "an answer that says nothing new"
        return
    assert (found and found.reason) == reason


def test_what_a_picture_hardly_shows_is_not_entailed() -> None:
    read = reading("What color is the dog?", "The dog is red.")
    assert denied(read, {"red dog": 0.02}) is not None
    assert denied(read, {"red dog": 0.5}) is None
    assert denied(read, {}) is None, "what nobody judged is believed"


def test_of_texts_that_say_the_same_one_stays() -> None:
    texts = ["a red dog", "a red dog", "a blue cat", "a red dog"]
    dropped = duplicates(texts, embed)
    assert len(dropped) == 2
    assert 2 not in dropped
    assert duplicates(["one"], embed) == []
    assert duplicates([], embed) == []


def workshop(verifier: Verifier, entails: object = None) -> BenchmarkWriter:
    return BenchmarkWriter(CaseQuestionWriter(), READER, verifier, embed, entails)  # type: ignore[arg-type]


async def test_a_benchmark_is_built_and_read(tmp_path: Path, verifier: Verifier) -> None:
    done: list[int] = []
    folder = await build(
        WorldScenes(microworld), tmp_path / "b", workshop(verifier), count=6, seed=3, progress=done.append
    )
    found = read_benchmark(folder)
    assert done == [1, 2, 3, 4, 5, 6]
    assert not found.left_out
    assert found.funnel["kept"] == len(found.items) > 20
    assert found.funnel["asked"] == sum(count for name, count in found.funnel.items() if name != "asked")
    rejected = [Item.model_validate_json(line) for line in (folder / "rejected.jsonl").read_text().splitlines()]
    assert funnel_of([*found.items, *rejected]) == found.funnel
    assert all(item.reason and item.note for item in rejected)
    assert not (folder / "parts").exists()


@pytest.mark.slow
async def test_questions_that_stay_are_right_by_the_scene_itself(tmp_path: Path, verifier: Verifier) -> None:
    from benchmarks.scene_truth import right
    from snellen.microworld.scene_graphs import described

    found = read_benchmark(await build(WorldScenes(microworld), tmp_path, workshop(verifier), count=15, seed=8))
    wrong = []
    for item in found.items:
        seed, number = map(int, item.scene.split("-"))
        if not right(described(number, seed).scene, item.question, item.answer):
            wrong.append((item.question, item.answer))
    assert len(wrong) <= 0.02 * len(found.items), wrong


async def test_an_interrupted_benchmark_goes_on(tmp_path: Path, verifier: Verifier) -> None:
    class Stopped(Exception):  # noqa: N818 - nothing went wrong
        pass

    def stop(number: int) -> None:
        if number == 2:
            raise Stopped

    scenes = WorldScenes(microworld)
    whole = await build(scenes, tmp_path / "whole", workshop(verifier), count=3)
    with pytest.raises(Stopped):
        await build(scenes, tmp_path / "b", workshop(verifier), count=3, progress=stop)
    with pytest.raises(BadInput, match="finish the one that was begun"):
        read_benchmark(tmp_path / "b")
    again = await build(scenes, tmp_path / "b", workshop(verifier), count=3)
    for name in ("questions.jsonl", "rejected.jsonl", "scenes.jsonl"):
        assert (again / name).read_text() == (whole / name).read_text()
    with pytest.raises(BadInput, match="holds something else"):
        await build(scenes, tmp_path / "b", workshop(verifier), count=4)
    await build(scenes, tmp_path / "b", workshop(verifier), count=3)


async def test_what_was_changed_since_is_left_out_and_told(tmp_path: Path, verifier: Verifier) -> None:
    folder = await build(WorldScenes(microworld), tmp_path / "b", workshop(verifier), count=4)
    before = read_benchmark(folder)
    (folder / "pictures" / "0.png").unlink()
    Image.new("RGB", (9, 9)).save(folder / "pictures" / "1.png")
    rows = (folder / "questions.jsonl").read_text().splitlines()
    rows[-1] = "{"
    rows[-2] = rows[-3]
    (folder / "questions.jsonl").write_text("\n".join(rows) + "\n")
    found = read_benchmark(folder)
    told = "\n".join(found.left_out)
    for said in ("0.png is missing", "1.png is not the one that was built", "there is another", "cannot be used",
                 "Row 1 of scenes.jsonl", f"Row {len(rows)} of questions.jsonl"):  # fmt: skip
        assert said in told
    assert 0 < len(found.items) < len(before.items)
    (folder / "benchmark.json").write_text(json.dumps({"version": 9}))
    with pytest.raises(BadInput, match="version 9"):
        read_benchmark(folder)
    with pytest.raises(BadInput, match="no benchmark of questions"):
        read_benchmark(tmp_path / "nowhere")


async def test_a_data_set_in_doccis_form_is_read(tmp_path: Path, verifier: Verifier) -> None:
    data = tmp_path / "docci"
    (data / "images").mkdir(parents=True)
    Image.new("RGB", (40, 30), "red").save(data / "images" / "a.jpg")
    Image.new("RGB", (40, 30), "blue").save(data / "b.jpg")
    rows = [
        {"example_id": "one", "image_file": "a.jpg", "description": "A red dog.",
         "tuples": ["1 | entity - whole (dog)", "2 | attribute - color (dog, red)",
                    "attribute - texture (t-shirt, soft)"]},
        {"example_id": "two", "image_file": "b.jpg", "description": "The picture shows two red dogs and a large cat."},
        {"example_id": "two", "image_file": "b.jpg", "description": "again"},
        {"example_id": "three", "image_file": "c.jpg", "description": "A picture that is not there."},
        {"example_id": "four", "image_file": "../b.jpg", "description": "Outside."},
        {"example_id": "five", "image_file": "b.jpg"},
        {"example_id": "six", "image_file": "b.jpg", "description": "x", "tuples": "nonsense"},
        [],
    ]  # fmt: skip
    (data / "descriptions.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\nno json\n")
    scenes = FolderScenes(data, open_picture=opened)
    found = read_benchmark(await build(scenes, tmp_path / "b", workshop(verifier), count=2))
    assert set(found.scenes) == {"one", "two"}
    assert found.source == "pictures of docci"
    assert any("texture of the t-shirt" in item.question for item in found.items)
    assert "red dog" in {one.fact.text for one in found.scenes["two"].tuples}
    with pytest.raises(BadInput, match="2 pictures with descriptions that can be used, and more are needed"):
        await build(scenes, tmp_path / "more", workshop(verifier), count=3)
    told = "\n".join(scenes.left_out)
    for said in ("there is another 'two'", "'c.jpg' cannot be read", "within the folder", "no `description`",
                 "`tuples` must be a list", "no JSON object", "Row 9"):  # fmt: skip
        assert said in told


async def test_an_unreadable_tuple_is_counted_and_drops_no_picture(tmp_path: Path, verifier: Verifier) -> None:
    data = tmp_path / "docci"
    data.mkdir()
    Image.new("RGB", (40, 30), "red").save(data / "a.jpg")
    rows = [
        {"example_id": "one", "image_file": "a.jpg", "description": "A red dog with two tires.",
         "tuples": ["1 | entity - whole (dog)", "attribute - color (dog, red)", "other - count (tires, ==2)",
                    "global - style (photo)", "action - (dog, tires, chase)", "nonsense", 7, "relation (a, b)",
                    "entity - whole (" + "long " * 60 + ")", "entity - whole (" + "n" * 150 + ")"]},
        {"example_id": "few", "image_file": "a.jpg", "description": "A dog.", "tuples": ["entity (dog)", "?"]},
        {"example_id": "none", "image_file": "a.jpg", "description": "The picture shows a red dog.", "tuples": ["?"]},
        {"example_id": "mute", "image_file": "a.jpg", "description": "!!", "tuples": ["?"]},
    ]  # fmt: skip
    (data / "descriptions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    scenes = FolderScenes(data, open_picture=opened)
    found = read_benchmark(await build(scenes, tmp_path / "b", workshop(verifier), count=4))
    assert set(found.scenes) == {"one", "few", "none"}
    assert found.unreadable_tuples == 7
    facts = {one.fact.text for one in found.scenes["one"].tuples}
    assert {"red dog", "2 tires", "dog chase tires", "photo whole picture"} <= facts
    assert "red dog" in {one.fact.text for one in found.scenes["none"].tuples}
    counts = {item.answer for item in found.items if item.kind == "count" and "tires" in item.question}
    assert counts <= {"There are 2 tires."}
    told = "\n".join([*scenes.left_out, *found.left_out])
    for said in ("4 of the 10 tuples in row 1", "'nonsense'", "'7'", "row 2", "too few to ask much",
                 "Its description is read instead", "Nothing can be read from the description of 'mute'"):  # fmt: skip
        assert said in told


async def test_a_stored_tuple_that_was_broken_drops_no_picture(tmp_path: Path, verifier: Verifier) -> None:
    folder = await build(WorldScenes(microworld), tmp_path / "b", workshop(verifier), count=1)
    scene = json.loads((folder / "scenes.jsonl").read_text())
    scene["tuples"][0] |= {"attribute": "red", "relation": "above"}
    (folder / "scenes.jsonl").write_text(json.dumps(scene) + "\n")
    found = read_benchmark(folder)
    assert len(found.scenes) == 1
    assert "1 tuples in row 1 of scenes.jsonl cannot be read." in found.left_out


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("descriptions.jsonl", "", "describes no picture"), ("other.txt", "x", "says nothing about its pictures")],
)
def test_a_folder_without_descriptions_is_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=said):
        FolderScenes(tmp_path, open_picture=opened)
    with pytest.raises(BadInput, match="no folder"):
        FolderScenes(tmp_path / "nowhere", open_picture=opened)


def attacks(output: str, graph: SceneGraph) -> dict[str, str]:
    """Return programs that give an answer without looking at what it is about."""
    said, first, all_of_it = repr(output), repr(graph.get_entities()[0]), repr(graph.describe(graph))
    here, number = f"return {said}", len(graph.get_entities())
    tests = {
        "counts entities": f"len(g.get_entities()) == {number}",
        "knows the graph": f"g.describe(g) == {all_of_it}",
        "knows the graph, sorted": f"sorted(g.describe(g).split('; ')) == sorted({all_of_it}.split('; '))",
        "knows the caption": f"g.caption == {graph.caption!r}",
        "looks at something else": f"{first} in g.get_entities()",
    }
    others = ("return 'nothing'", "raise ValueError", f"return g.get_attributes({first})['size']")
    found = {
        f"{name}, {then}": f"def verify(g):\n    if {test}:\n        {here}\n    {then}"
        for name, test in tests.items()
        for then in others
    }
    new = "any(word in g.describe(g) for word in ('thimble', 'purple', 'ordinary'))"
    return found | {
        "constant": f"def verify(g):\n    {here}",
        "reads and drops": f"def verify(g):\n    [g.get_attributes(e) for e in g.get_entities()]\n    {here}",
        "knows a changed graph": f"def verify(g):\n    if {new}:\n        return 'x'\n    {here}",
    }


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_programs_that_do_not_look_are_rejected_and_those_that_look_are_not(seed: int, verifier: Verifier) -> None:
    scene = WorldScenes(microworld).scene(seed, 77)
    graph = SceneGraph(scene.facts, caption=scene.caption)
    drafts = CaseQuestionWriter().drafts(scene, seed)

    def judged(drafts: Sequence[QuestionDraft]) -> tuple[list[Verified], list[str]]:
        outputs = list(verifier.run_all([(one.program, graph) for one in drafts]))
        read = [reading(one.question, one.answer, each.answer or "") for one, each in zip(drafts, outputs, strict=True)]
        found = objections(drafts, outputs, read, graph, embed, verifier=verifier)
        return outputs, [one.reason if one else "" for one in found]

    outputs, reasons = judged(drafts)
    assert "program ignores the scene" not in reasons
    kept = [
        (draft, output.answer) for draft, output, reason in zip(drafts, outputs, reasons, strict=True) if not reason
    ]
    assert len(kept) > 5
    for draft, output in kept:
        for name, program in attacks(output or "", graph).items():
            (_,), (reason,) = judged([draft.model_copy(update={"program": program})])
            assert reason == "program ignores the scene", (name, draft.question, output)


KNOWN = SceneGraph(
    [
        Fact("dog", attribute="red", kind="color"),
        Fact("dog", attribute="small", kind="size"),
        Fact("cat", attribute="blue", kind="color"),
        Fact("cat", attribute="large", kind="size"),
        Fact("house", attribute="white", kind="color"),
        Fact("dog", relation="above", target="cat", kind="spatial"),
        Fact("cat", relation="left of", target="house", kind="spatial"),
        Fact("dog (2)", attribute="green", kind="color"),
    ]
)
HONEST = [
    ("What color is the cat?", "The cat is blue.", "return g.get_attributes('cat')['color']"),
    ("How many dogs are there?", "There are 2 dogs.",
     "return len([e for e in g.get_entities() if e.split(' (')[0] == 'dog'])"),
    ("Is there a horse?", "No, there is no horse.",
     "return any(e.split(' (')[0] == 'horse' for e in g.get_entities())"),
    ("Is the dog above the cat?", "Yes, the dog is above the cat.",
     ("return any('above' in row for e in g.get_entities() if e.split(' (')[0] == 'dog'"
      " for row in g.get_outgoing_relations(e).get('cat', {}).values())")),
    ("What is above the cat?", "A dog is above the cat.",
     ("return sorted({e.split(' (')[0] for e, kinds in g.get_incoming_relations('cat').items()"
      " if any('above' in row for row in kinds.values())})")),
    ("Which thing in the picture is white?", "The house is white.",
     "return [e for e in g.get_entities() if g.get_attributes(e).get('color') == 'white']"),
    ("Is the cat red?", "No, the cat is not red.", "return g.get_attributes('cat')['color'] == 'red'"),
    ("How many things are there?", "There are 4 things.", "return len(g.get_entities())"),
    ("What can you see?", "I can see a dog, a cat and a house.",
     "return sorted({e.split(' (')[0] for e in g.get_entities()})"),
]  # fmt: skip
COLORS = ["red", "green", "blue", "white", "black", "purple", "orange", "teal", "beige", "yellow", "pink", "gray"]
COINCIDENT = [
    ("What color is the cat?", "The cat is blue.",
     ("for e in sorted(g.get_entities()):\n        if 'color' in g.get_attributes(e):\n"
      "            return g.get_attributes(e)['color']")),
    ("What color is the cat?", "The cat is blue.",
     ("for e in g.get_entities():\n        if g.get_attributes(e).get('size') == 'large':\n"
      "            return g.get_attributes(e)['color']")),
    ("What color is the cat?", "The cat is blue.",
     f"for c in {COLORS}:\n        if c in str(g.get_attributes('cat')):\n            return c\n    return 'blue'"),
    ("What color is the cat?", "The cat is blue.",
     f"c = g.get_attributes('cat')['color']\n    return 'blue' if c in {COLORS} else c"),
    ("How many dogs are there?", "There are 2 dogs.", "return str(len(g.get_entities()) - 2)"),
    ("How many dogs are there?", "There are 2 dogs.",
     "n = len([e for e in g.get_entities() if e.split(' (')[0] == 'dog'])\n    return 4 if n == 4 else 2"),
    ("Is there a horse?", "No, there is no horse.", "return 'no' if len(g.get_entities()) == 4 else 'yes'"),
    ("Is the dog above the cat?", "Yes, the dog is above the cat.",
     "return sum(len(g.get_outgoing_relations(e)) for e in g.get_entities()) == 2"),
    ("Is the dog above the cat?", "Yes, the dog is above the cat.",
     "return any('above' in str(g.get_outgoing_relations(e)) for e in g.get_entities())"),
    ("What is above the cat?", "A dog is above the cat.",
     "for e in g.get_entities():\n        if 'above' in str(g.get_outgoing_relations(e)):\n            return e"),
    ("What is above the cat?", "A dog is above the cat.",
     ("for n in ('thimble', 'abacus', 'weathervane'):\n        if n in g.get_entities():\n            return n\n"
      "    return 'dog' if 'cat' in g.get_entities() and g.get_incoming_relations('cat') else 'none'")),
    ("Is the cat red?", "No, the cat is not red.",
     "return sum('red' in str(g.get_attributes(e)) for e in g.get_entities()) > 1"),
    ("Is the cat blue?", "Yes, the cat is blue.",
     "return any(g.get_attributes(e).get('color') == 'blue' for e in g.get_entities())"),
    ("Which thing in the picture is white?", "The house is white.",
     "return [e for e in g.get_entities() if len(g.get_attributes(e)) == 1 and '(' not in e]"),
]  # fmt: skip


def ignored(question: str, answer: str, body: str, verifier: Verifier) -> str:
    """Return why a program is said to ignore the scene that it gives the right answer for; empty where it is not."""
    program = f"def verify(g):\n    {body}"
    output = verifier.run(program, KNOWN)
    assert output.answer is not None, output.trouble
    asked = QuestionDraft(kind="x", question=question, answer=answer, program=program)
    read = reading(question, answer, output.answer)
    assert not program_objection(asked, output, read, embed)
    (found,) = blindness([asked], [output], [read], KNOWN, verifier)
    return found.note if found else ""


@pytest.mark.parametrize(("question", "answer", "body"), HONEST)
def test_a_program_that_looks_at_the_right_facts_is_kept(
    question: str, answer: str, body: str, verifier: Verifier
) -> None:
    assert ignored(question, answer, body, verifier) == ""


@pytest.mark.parametrize(("question", "answer", "body"), COINCIDENT)
def test_a_program_that_is_right_by_coincidence_is_rejected(
    question: str, answer: str, body: str, verifier: Verifier
) -> None:
    assert ignored(question, answer, body, verifier)


def test_replacements_differ_from_program_to_program_and_not_from_time_to_time() -> None:
    words = {program: [Draw(program, KNOWN).word() for _ in range(2)] for program in map(str, range(200))}
    assert all(first == again for first, again in words.values())
    assert len({word for word, _ in words.values()}) > 190
    first, last = Draw("", KNOWN).first_and_last(KNOWN.get_entities())
    assert sorted([first, last, *KNOWN.get_entities()])[:: len(KNOWN.get_entities()) + 1] == [first, last]


async def test_a_writer_of_constants_is_seen_through_and_counted(tmp_path: Path, verifier: Verifier) -> None:
    class Parrot:
        async def write(self, scene: Pictured, seed: int) -> list[QuestionDraft]:
            graph = SceneGraph(scene.facts)
            drafts = CaseQuestionWriter().drafts(scene, seed)
            outputs = verifier.run_all([(one.program, graph) for one in drafts])
            return [
                one.model_copy(update={"program": f"def verify(g):\n    return {output.answer!r}"})
                for one, output in zip(drafts, outputs, strict=True)
            ]

    shop = BenchmarkWriter(Parrot(), READER, verifier, embed)
    folder = await build(WorldScenes(microworld), tmp_path / "b", shop, count=2)
    funnel = json.loads((folder / "benchmark.json").read_text())["funnel"]
    assert funnel["kept"] == 0
    assert funnel["program ignores the scene"] > 10


async def test_a_model_that_writes_nonsense_stops_nothing(tmp_path: Path, verifier: Verifier) -> None:
    class Nonsense:
        async def write(self, scene: Pictured, seed: int) -> list[QuestionDraft]:
            texts = ["x" * 900, "日本語ですか?", "<script>alert(1)</script>", "What color is the dog?"]
            return [
                QuestionDraft(kind="color", question=text, answer=text, program="while True: pass") for text in texts
            ]

    shop = BenchmarkWriter(Nonsense(), READER, verifier, embed)
    await build(WorldScenes(microworld), tmp_path / "b", shop, count=1)
    with pytest.raises(BadInput, match="no usable question"):
        read_benchmark(tmp_path / "b")
    assert len((tmp_path / "b" / "rejected.jsonl").read_text().splitlines()) == 4
