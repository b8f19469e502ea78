"""How often a fitting demonstration is among those that a chat model is shown.

    python -m benchmarks.recall --json

The wordings of `recall_wordings.json` were written before the seeds of these constructs, for kinds of questions that
programs answer by them; each kind says what a fitting program uses (one construct of each group). Reported is the share
of wordings for which one of the four correct programs that are recalled fits; ``--plans`` looks at the plans.
``--seeds FILE`` takes other seeds (of an earlier commit), ``--wording`` recalls by the nearness of wordings alone.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from snellen.memory.demonstrations import Demonstration, DemonstrationPool, Kind
from snellen.profiles import load_profile
from snellen.reasoning.case_based.reasoner import SEEDS
from snellen.reasoning.instruction_embedding import InstructionEmbedding
from snellen.reasoning.reasoner import MAX_EXAMPLES
from snellen.reasoning.subjects import subjects_of

WORDINGS = Path(__file__).parent / "recall_wordings.json"


def main() -> None:
    """Measure and print."""
    options = _options()
    with TemporaryDirectory() as folder:
        report = measured(
            Path(folder), options.seeds, kind="plan" if options.plans else "program", varied=not options.wording
        )
    if options.json:
        print(json.dumps(report, indent=2))
        return
    for name, share in report["by_kind"].items():
        print(f"{name}: {share:.2f}")
    print(f"all {report['n']}: {report['share']:.3f}; {report['milliseconds']:.1f} ms each")


def measured(folder: Path, seeds: Path, *, kind: Kind = "program", varied: bool = True) -> dict[str, Any]:
    """Recall demonstrations for every wording and count the fitting ones.

    Args:
        folder: An empty home.
        seeds: The seeds of its pool.
        kind: Whether plans or programs are recalled.
        varied: Whether the choice looks at constructs, or at wordings alone.
    """
    embed = InstructionEmbedding(load_profile("embedded"))
    constructs = subjects_of if varied else None
    pool = DemonstrationPool(folder, embed=embed, seeds=seeds, embedding=embed.name, constructs=constructs)
    pool.refresh_index()
    programs = {(one.instruction, *one.plan): one for one in pool.all() if one.kind == "program" and one.correct}
    hits: dict[str, list[bool]] = {}
    started = time.perf_counter()
    for name, described in json.loads(WORDINGS.read_text(encoding="utf-8")).items():
        for wording in described["wordings"]:
            shown = pool.nearest(wording, kind, correct=True, k=MAX_EXAMPLES)
            written = [programs.get((one.instruction, *one.plan), one) for one in shown]
            hits.setdefault(name, []).append(any(_fits(one, described["uses"]) for one in written))
    each = [hit for several in hits.values() for hit in several]
    return {
        "share": sum(each) / len(each),
        "n": len(each),
        "milliseconds": 1000 * (time.perf_counter() - started) / len(each),
        "by_kind": {name: sum(several) / len(several) for name, several in hits.items()},
        "seeds": len({one.instruction for one in pool.all()}),
    }


def _fits(shown: Demonstration, groups: list[list[str]]) -> bool:
    return all(subjects_of(shown) & set(group) for group in groups)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=Path, default=SEEDS)
    parser.add_argument("--plans", action="store_true", help="look at plans, not at programs")
    parser.add_argument("--wording", action="store_true", help="recall by the nearness of wordings alone")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
