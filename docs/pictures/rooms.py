"""Draw the rooms of the package as ``docs/pictures/rooms.png`` and list them in docs/ARCHITECTURE.md (``make graphs``).

A room is a package or module directly inside ``snellen``. An arrow says that one imports another; what follows from
other arrows is left out. The picture is drawn by Graphviz (``apt install graphviz``) and carries the SHA-256 of its
text, by which a test sees whether it is out of date.
"""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final

import networkx as nx
from PIL import Image
from PIL.PngImagePlugin import PngInfo

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURE: Final = ROOT / "docs" / "pictures" / "rooms.png"
PAGE: Final = ROOT / "docs" / "ARCHITECTURE.md"
BEGINS: Final = "<!-- rooms: written by `make graphs` -->\n"
ENDS: Final = "<!-- end of rooms -->\n"
DIGEST: Final = "dot-sha256"
STATE: Final = frozenset({"snellen.graphs.states", "snellen.graphs.forms", "snellen.graphs.messages"})
"""What graphs carry; nodes know it, and it knows no node. It is drawn as a room of its own."""
_LEFT_OUT: Final = frozenset(
    {"__main__", "lean_imports", "process_end", "profile_files", "sentences", "user_paths", "version"}
)
_LOOK: Final = """
  graph [rankdir=TB, nodesep=0.25, ranksep=0.32, pad=0.2, dpi=110, bgcolor=white];
  node [shape=box, style="rounded,filled", fillcolor="#eef3fa", color="#2f6db5", fontname="DejaVu Sans", fontsize=11,
        margin="0.14,0.07"];
  edge [color="#44505c", arrowsize=0.6];
"""


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for folder, _, names in os.walk(ROOT / "snellen", followlinks=True):
        for name in names:
            if name.endswith(".py"):
                parts = Path(folder, name).relative_to(ROOT).with_suffix("").parts
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = Path(folder, name)
    return found


def room_of(module: str) -> str:
    """Return the room that a module stands in; empty for the package itself."""
    if module in STATE:
        return "graphs.states"
    return module.split(".")[1] if "." in module else ""


@cache
def imports() -> nx.DiGraph:
    """Return the rooms as nodes, with an edge from each to those it imports, type checking included."""
    graph: nx.DiGraph = nx.DiGraph()
    for module, path in sorted(modules().items()):
        here = room_of(module)
        if here in {"", *_LEFT_OUT}:
            continue
        graph.add_node(here)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("snellen"):
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    there = room_of(inner if inner in modules() else node.module)
                    if there not in {"", here, *_LEFT_OUT}:
                        graph.add_edge(here, there)
    return graph


def purpose(room: str) -> str:
    """Return the first line of a room's docstring."""
    module = f"snellen.{room}"
    text = ast.get_docstring(ast.parse(modules()[module].read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ").strip()


def place(room: str) -> str:
    """Return the path of a room in the repository."""
    path = Path(os.path.realpath(modules()[f"snellen.{room}"])).relative_to(ROOT)
    return f"{path.parent}/" if path.name == "__init__.py" else str(path)


def table() -> str:
    """Return the rooms from the top to the bottom, as a Markdown table."""
    order = list(nx.lexicographical_topological_sort(imports()))
    rows = [f"| `{place(room)}` | {purpose(room).rstrip('.')} |" for room in order]
    return "\n".join(["| room | holds |", "|---|---|", *rows]) + "\n"


def dot() -> str:
    """Return the picture as text of Graphviz."""
    reduced = nx.transitive_reduction(imports())
    lines = [f'  "{one}" -> "{other}";' for one, other in sorted(reduced.edges)]
    return "\n".join(["digraph {", _LOOK, *(f'  "{room}";' for room in sorted(reduced)), *lines, "}"])


def digest(text: str) -> str:
    """Return the SHA-256 of a text of Graphviz."""
    return hashlib.sha256(text.encode()).hexdigest()


def page(text: str) -> str:
    """Return docs/ARCHITECTURE.md with the table of today."""
    before, _, rest = text.partition(BEGINS)
    return before + BEGINS + table() + ENDS + rest.partition(ENDS)[2]


def main() -> int:
    """Draw the picture and write the table; return the exit status."""
    text = dot()
    try:
        made = subprocess.run(["dot", "-Tpng"], input=text.encode(), capture_output=True, check=True)  # noqa: S607
    except FileNotFoundError:
        sys.stderr.write("Rooms are drawn by Graphviz, which is not installed: apt install graphviz.\n")
        return 1
    information = PngInfo()
    information.add_text(DIGEST, digest(text))
    content = BytesIO()
    Image.open(BytesIO(made.stdout)).convert("RGB").save(content, "PNG", pnginfo=information, optimize=True)
    PICTURE.write_bytes(content.getvalue())
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write("wrote   docs/pictures/rooms.png and the table in docs/ARCHITECTURE.md\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
