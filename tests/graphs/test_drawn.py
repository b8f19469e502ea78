"""The drawn graphs of docs/graphs are those that the code wires; drawing them is tested where Graphviz is there."""

from __future__ import annotations

import importlib.util
import shutil
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

DRAWN = Path(__file__).resolve().parents[2] / "docs" / "graphs"
AGAIN = "draw the graphs again with `make graphs`"


@pytest.fixture(scope="module")
def draw() -> ModuleType:
    """Import the script that draws."""
    spec = importlib.util.spec_from_file_location("draw", DRAWN / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_graph_is_drawn_and_nothing_else(draw: ModuleType) -> None:
    names = set(draw.drawn())
    assert names >= {"ask", "learn", "investigate"}
    for ending in ("mmd", "png"):
        assert {path.stem for path in DRAWN.glob(f"*.{ending}")} == names, AGAIN
    told = (DRAWN.parent / "ARCHITECTURE.md").read_text("utf-8")
    assert all(f"(graphs/{name}.png)" in told for name in names), "show the picture in docs/ARCHITECTURE.md"


def test_what_is_drawn_is_what_the_code_wires(draw: ModuleType) -> None:
    for name, graph in draw.drawn().items():
        text = (DRAWN / f"{name}.mmd").read_text("utf-8")
        assert text == draw.mermaid(graph), f"{name}.mmd is out of date: {AGAIN}"
        with Image.open(DRAWN / f"{name}.png") as picture:
            assert picture.info.get(draw.DIGEST) == draw.digest(text), f"{name}.png is of another {name}.mmd: {AGAIN}"
            assert min(picture.size) > 100


def test_choices_are_dashed_and_loops_are_coloured(draw: ModuleType) -> None:
    graphs = draw.drawn()
    lines = draw.dot(graphs["investigate"], {"ask"}).splitlines()
    edges = {line.split(" [")[0].strip(): line for line in lines if " -> " in line}
    assert len(edges) == len(graphs["investigate"].edges)
    assert "dashed" in edges['"measure" -> "discuss"']
    assert "dashed" not in edges['"open_report" -> "design"']
    assert "color=" in edges['"teach" -> "design"']
    assert "color=" not in edges['"design" -> "check_design"']
    (inner,) = [line for line in draw.dot(graphs["ask"], {"learn"}).splitlines() if line.startswith('  "learn" [')]
    assert "peripheries=2" in inner


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_a_picture_says_which_text_it_is_of(draw: ModuleType) -> None:
    content = draw.picture('digraph { "a \\"b\\"" -> c }', "graph TD;\n")
    with Image.open(BytesIO(content)) as picture:
        assert picture.info[draw.DIGEST] == draw.digest("graph TD;\n")
    assert draw._quoted('a "b" \\') == '"a \\"b\\" \\\\"'


def test_without_graphviz_nothing_is_written(
    draw: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(draw, "HERE", tmp_path)
    assert draw.main() == 1
    assert "apt install graphviz" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
