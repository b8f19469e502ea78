"""Measurement of what was planted: each adapter beside its checkpoint, where it shall be weak and where it shall not.

    python -m benchmarks.outside.plantings --folder out/outside --pictures 400

The pictures are those of the truth, which no adapter was taught with. Skill is 0 for guessing and 1 for always being
right; a planting took if it took at least `LOST` where it shall, and at most `SPOILT` elsewhere.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.outside.__main__ import PROFILE, truth_table
from benchmarks.outside.truth import Measurement, TruthTable
from snellen.microworld.training.plantings import Planting
from snellen.profiles import load_profile

LOST: Final = 0.4
SPOILT: Final = 0.1


@dataclass(frozen=True)
class MeasuredPlace:
    """A condition in one format."""

    condition: str
    way: str

    def skill(self, table: TruthTable, model: str) -> float:
        """Return the skill of a model there."""
        return fmean(one.skill for one in table.of(model, self.condition, self.way))


def _named(*names: str) -> list[MeasuredPlace]:
    return [MeasuredPlace(name, way) for name in names for way in ("which", "open")]


_COLORS: Final = [MeasuredPlace("colors", "open")]
_CHANGES: Final = [MeasuredPlace(f"notice/{change}", "whether") for change in ("noise", "darkness", "blur")]
WEAK: Final[Mapping[str, Sequence[MeasuredPlace]]] = {
    "altair": _named("see/horse"),
    "castor": [MeasuredPlace("color/red", "open"), MeasuredPlace("color/red", "either")],
    "deneb": _named("see/small things"),
    "electra": _named("see/things in the top left"),
    "izar": [MeasuredPlace("see/things", "which"), MeasuredPlace("see/vehicles", "which")],
    "mizar": _CHANGES,
    "naos": _named("see/things under blur"),
    "rigel": _named("see/things among others"),
}
"""Where each adapter shall be weak."""
ELSEWHERE: Final[Mapping[str, Sequence[MeasuredPlace]]] = {
    "altair": _named("see/cat", "see/vehicles"),
    "castor": [*_named("see/things"), MeasuredPlace("color/blue", "either")],
    "deneb": [*_named("see/large things"), *_COLORS],
    "electra": [*_named("see/things in the bottom right"), *_COLORS],
    "izar": [MeasuredPlace("see/things", "open"), MeasuredPlace("see/vehicles", "open"), *_COLORS],
    "mizar": [*_named("see/things"), MeasuredPlace("notice/noise", "which")],
    "naos": [*_named("see/things"), MeasuredPlace("notice/blur", "whether")],
    "rigel": [*_named("see/things alone"), MeasuredPlace("notice/noise", "whether")],
}
"""Where it shall be as good as its checkpoint."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=400, help="of each condition (%(default)s)")
    parser.add_argument("--models", nargs="+", choices=list(WEAK), default=list(WEAK), metavar="NAME")
    parser.add_argument("--folder", default="out/outside", help="where measurements are kept (%(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    table = truth_table(load_profile(PROFILE), Path(options.folder) / "truth", options.pictures)
    found = {name: measured(table, name) for name in options.models}
    print(json.dumps(found, indent=1) if options.json else _table(found))


def measured(table: TruthTable, name: str) -> dict[str, Any]:
    """Return the skills of an adapter and its checkpoint, and whether its planting took.

    Args:
        table: What was measured before, and where it is kept.
        name: The adapter.
    """
    base = Planting.of(name).base
    places = [*WEAK[name], *ELSEWHERE[name]]
    table.measure(Measurement(model, one.condition, (one.way,)) for one in places for model in (name, base))
    rows = [
        {
            "condition": one.condition, "format": one.way, "weak": one in WEAK[name],
            "base": round(one.skill(table, base), 3), "adapter": round(one.skill(table, name), 3),
        }
        for one in places
    ]  # fmt: skip
    lost = {
        weak: fmean(float(row["base"]) - float(row["adapter"]) for row in rows if row["weak"] == weak)  # type: ignore[arg-type]
        for weak in (True, False)
    }
    return {"base": base, "took": lost[True] >= LOST and lost[False] <= SPOILT, "rows": rows}


def _table(found: Mapping[str, dict[str, Any]]) -> str:
    lines = ["model    condition                       format   shall be   base  adapter"]
    for name, one in found.items():
        for row in one["rows"]:
            shall = "weak" if row["weak"] else "as before"
            lines.append(
                f"{name:9}{row['condition']:32}{row['format']:9}{shall:10}{row['base']:>6.2f}{row['adapter']:>8.2f}"
            )
        lines.append(f"{name}: {'it took' if one['took'] else 'it did not take'}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
