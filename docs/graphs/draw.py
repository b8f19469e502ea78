"""Draw the graphs that the code wires: ``docs/graphs/NAME.mmd`` (Mermaid) and ``NAME.png`` (``make graphs``).

Every module of ``graphs/`` that exports ``graph`` is drawn, so a new one needs nothing here. A graph within a graph is
one node with a double border: its own picture shows it. The Mermaid text is LangGraph's; the picture is drawn by
Graphviz (``apt install graphviz``), offline, and carries the SHA-256 of its Mermaid text, by which a test sees whether
it is out of date. The same machine draws the same picture; others may set letters a little differently.
"""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PIL import Image
from PIL.PngImagePlugin import PngInfo

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph

HERE: Final = Path(__file__).resolve().parent
PACKAGE: Final = HERE.parents[1] / "graphs"
DIGEST: Final = "mermaid-sha256"
"""The field of a picture's metadata that says which Mermaid text it is of."""
_ENDS: Final = {"__start__": "start", "__end__": "end"}
_LOOK: Final = """
  graph [rankdir=TB, nodesep=0.45, ranksep=0.42, pad=0.25, dpi=144, bgcolor=white, splines=spline, newrank=true];
  node [shape=box, style="rounded,filled", fillcolor="#eef3fa", color="#2f6db5", penwidth=1.4, fontname="DejaVu Sans",
        fontsize=12, margin="0.18,0.09", height=0.38];
  edge [color="#44505c", penwidth=1.3, arrowsize=0.75];
"""
_START: Final = 'shape=box, style="rounded,filled", fillcolor="#1f6f4a", color="#1f6f4a", fontcolor=white'
_END: Final = 'shape=box, style="rounded,filled", fillcolor="#3c4650", color="#3c4650", fontcolor=white'
_INNER: Final = 'peripheries=2, fillcolor="#fdf3e1", color="#a5742f"'
_LOOPS: Final = ("#b3402a", "#7a5aa6", "#0b6e6e", "#c98b2b")
"""Colours of what goes back."""
_FEW: Final = 2
"""Ways on, or in, up to which the next node stands straight below; more fan out evenly."""


def drawn() -> dict[str, Graph]:
    """Return what is drawn: the graph of each module that exports one, by the module's name."""
    modules = {
        path.stem: importlib.import_module(f"snellen.graphs.{path.stem}") for path in sorted(PACKAGE.glob("[a-z]*.py"))
    }
    return {name: module.graph.get_graph() for name, module in modules.items() if hasattr(module, "graph")}


def mermaid(graph: Graph) -> str:
    """Return a graph as Mermaid text."""
    return graph.draw_mermaid().rstrip() + "\n"


def digest(text: str) -> str:
    """Return what a picture says of the Mermaid text that it is of."""
    return hashlib.sha256(text.encode()).hexdigest()


def dot(graph: Graph, inner: set[str]) -> str:
    """Return a graph as text of Graphviz: the flow goes down in a line, choices are dashed, loops go back on the right.

    Args:
        graph: Its nodes are in the order in which they were wired, which is that of the flow.
        inner: Names of nodes that are graphs of their own.
    """
    order = {name: place for place, name in enumerate(graph.nodes)}
    lines = [f"  {_quoted(name)} [label={_quoted(_ENDS.get(name, name))}{_node_look(name, inner)}];" for name in order]
    forward = [edge for edge in graph.edges if order[edge.target] > order[edge.source]]
    leaving, coming = Counter(edge.source for edge in forward), Counter(edge.target for edge in forward)
    loops: dict[str, str] = {}
    for edge in sorted(graph.edges, key=lambda one: (order[one.source], order[one.target])):
        ahead = order[edge.target] - order[edge.source]
        look = ["style=dashed"] if edge.conditional else []
        if ahead < 0:
            # Loops from one node have one colour, and pull at nothing: they are laid around what is there.
            colour = loops.setdefault(edge.source, _LOOPS[len(loops) % len(_LOOPS)])
            look += [f'color="{colour}"', "weight=0", *(["headport=e"] if ahead < -1 else [])]
        else:
            alone = leaving[edge.source] <= _FEW and coming[edge.target] <= _FEW
            look += [f"weight={20 if ahead == 1 and alone else 1 if edge.conditional else 4}"]
        lines.append(f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [{', '.join(look)}];")
    return "\n".join(["digraph {", _LOOK, *lines, "}"])


def _node_look(name: str, inner: set[str]) -> str:
    look = {"__start__": _START, "__end__": _END}.get(name, _INNER if name in inner else "")
    return f", {look}" if look else ""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def picture(text: str, of: str) -> bytes:
    """Return a text of Graphviz as a PNG that says which Mermaid text it is of.

    Raises:
        FileNotFoundError: Graphviz is not installed.
        CalledProcessError: Graphviz does not understand the text.
    """
    made: Any = subprocess.run(["dot", "-Tpng"], input=text.encode(), capture_output=True, check=True)  # noqa: S607
    told = PngInfo()
    told.add_text(DIGEST, digest(of))
    content = BytesIO()
    Image.open(BytesIO(made.stdout)).convert("RGB").save(content, "PNG", pnginfo=told, optimize=True)
    return content.getvalue()


def main() -> int:
    """Draw all graphs anew; return the exit status."""
    graphs = drawn()
    for name, graph in graphs.items():
        text = mermaid(graph)
        try:
            content = picture(dot(graph, set(graphs) - {name}), text)
        except FileNotFoundError:
            sys.stderr.write("Graphs are drawn by Graphviz, which is not installed: apt install graphviz.\n")
            return 1
        (HERE / f"{name}.mmd").write_text(text, "utf-8")
        (HERE / f"{name}.png").write_bytes(content)
        sys.stdout.write(f"wrote   docs/graphs/{name}.mmd and {name}.png\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
