"""How many verification programs the box runs a second, each in a session of its own.

    python -m benchmarks.sandbox --json

Keys of the JSON: `programs`, `workers`, `seconds`, `per_second`, the median of the rounds; `rounds`, the figure of
each; `failed`, how many programs gave another answer than the graph itself.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time

from snellen.scoring.scene_graph import Fact, SceneGraph, numbered
from snellen.scoring.verification import Verifier

_PROGRAMS = (
    "def verify(g):\n    return len([e for e in g.get_entities() if e.startswith('dog')])",
    "def verify(g):\n    return sorted(e for e in g.get_entities() if 'red' in g.get_attributes(e).values())",
    "def verify(g):\n    return g.describe(g.generate_subgraph(['dog', 'house']))",
    "def verify(g):\n    return [t for t, kinds in g.get_outgoing_relations('dog').items() if 'spatial' in kinds]",
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=5_000, help="of a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts (%(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="at once (%(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measured(options.programs, options.rounds, options.workers)
    print(json.dumps(found, indent=2) if options.json else f"{found['per_second']:,.0f} programs a second")


def measured(programs: int, rounds: int, workers: int) -> dict[str, object]:
    """Run so many programs in each round; see the module for what is returned."""
    graph = _graph()
    jobs = [(_PROGRAMS[number % len(_PROGRAMS)], graph) for number in range(programs)]
    wanted = ["2", "dog, house, t-shirt", graph.describe(graph.generate_subgraph(["dog", "house"])), "house"]
    times, failed = [], 0
    with Verifier(workers=workers) as verifier:
        list(verifier.run_all(jobs[: 10 * workers]))  # the workers are started
        for _ in range(rounds):
            began = time.perf_counter()
            answers = [one.answer for one in verifier.run_all(jobs)]
            times.append(time.perf_counter() - began)
            failed += sum(answer != wanted[number % len(wanted)] for number, answer in enumerate(answers))
    return {
        "programs": programs,
        "workers": workers,
        "seconds": round(statistics.median(times), 3),
        "per_second": round(programs / statistics.median(times), 1),
        "rounds": [round(programs / one, 1) for one in times],
        "failed": failed,
    }


def _graph() -> SceneGraph:
    """A graph of the size of a scene's: some entities, and most of them in relation."""
    names = ("dog", "house", "tree", "t-shirt", "car", "bench")
    facts = [Fact(name, attribute=("red", "big", "red and big")[place % 3]) for place, name in enumerate(names)]
    facts[1] = Fact("house", attribute="red")
    facts += [Fact(numbered("dog", 2))]
    facts += [Fact(one, relation="left of", target=other, kind="near") for one in names[1:] for other in names[2:]]
    return SceneGraph([*facts, Fact("dog", relation="in front of", target="house", kind="spatial")], caption="A park.")


if __name__ == "__main__":
    main()
