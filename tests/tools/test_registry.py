from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.errors import BadInput
from snellen.tools.registry import Parameter, ToolContext, catalogue, nearest, tool
from snellen.values import Picture, Region

SNAPSHOT = Path(__file__).parent / "snapshots" / "catalogue.txt"


def test_the_catalogue_is_the_one_that_was_reviewed() -> None:
    """A language model reads this text: run with UPDATE_SNAPSHOTS=1 after a change, and read the difference."""
    text = str(catalogue())
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(text, encoding="utf-8")
    assert text == SNAPSHOT.read_text(encoding="utf-8")


def test_the_catalogue_has_all_tools_of_the_paper() -> None:
    table_2 = "LOC VQA SEG SELECT CLASSIFY REPLACE FACEDET LIST EVAL RESULT COUNT CROP COLORPOP BGBLUR EMOJI TAG"
    directional = "CROP_LEFTOF CROP_RIGHTOF CROP_ABOVE CROP_BELOW CROP_FRONTOF CROP_BEHIND CROP_INFRONTOF CROP_UNDER"
    assert set(f"{table_2} {directional}".split()) <= set(catalogue().names())


def test_the_catalogue_needs_no_model_library() -> None:
    program = (
        "import sys; from snellen.tools.registry import catalogue; catalogue();"
        "sys.exit(bool({'torch', 'transformers', 'PIL', 'faiss', 'langgraph'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0


def test_a_synonym_finds_its_tool() -> None:
    found = catalogue().find("CROP_INFRONTOF")
    assert found is not None
    assert found.name == "CROP_FRONTOF"
    assert catalogue().find("crop") is None


def test_a_tool_is_described_by_its_signature() -> None:
    found = catalogue().find("LIST")
    assert found is not None
    assert found.signature() == "LIST(query: Text, max: Number = 20) -> Texts"
    assert found.parameter("max") == Parameter("max", "Number", required=False, default=20)
    assert found.parameter("least") is None


def test_arguments_are_read_as_their_types(context: ToolContext) -> None:
    count = catalogue().find("COUNT")
    assert count is not None
    assert count(context, box=Region((0, 0, 1, 1), 0.5)) == 1
    with pytest.raises(BadInput, match=r"COUNT\(box=…\): expected Regions, but this is Picture"):
        count(context, box=Picture("a", 1, 1))
    with pytest.raises(BadInput, match="no argument 'boxes'"):
        count(context, boxes=[])


def test_an_undocumented_or_untyped_tool_is_refused() -> None:
    def silent(context: ToolContext, image: Picture) -> str:
        return ""

    def strange(context: ToolContext, image: dict[str, str]) -> str:
        """Take what no program has."""
        return ""

    with pytest.raises(TypeError, match="docstring"):
        tool("SILENT")(silent)
    with pytest.raises(TypeError, match="annotation"):
        tool("STRANGE")(strange)
    assert catalogue().find("SILENT") is None


def test_near_names_are_found_whatever_their_case() -> None:
    assert nearest("crop_left_of", ["LOC", "CROP_LEFTOF"]) == ["CROP_LEFTOF"]
    assert nearest("zzz", ["LOC"]) == []
