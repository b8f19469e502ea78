"""The threat model, tried: every test that ``docs/THREAT_MODEL.md`` names, and what came of it.

    python -m benchmarks.threats                              # a line for each threat
    python -m benchmarks.threats --out docs/results/threats   # also write report.json there

Runs the tests of all rows in one pytest, slow ones too, and tells for each threat how many cases were tried against
it, how many held, and in which time. A test that was skipped proves nothing: it counts as not held.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "THREAT_MODEL.md"
_NODE = re.compile(r"`(tests/[\w/]+\.py(?:::Test\w+)?::test_\w+)`")


class Threat(NamedTuple):
    """A row of the threat model.

    Attributes:
        name: What somebody may try.
        done: What is done about it.
        proof: The last cell: names of tests, and nothing else.
    """

    name: str
    done: str
    proof: str

    @property
    def tests(self) -> list[str]:
        """The tests named, as pytest names them, without the cases."""
        return _NODE.findall(self.proof)

    @property
    def rest(self) -> str:
        """What stands beside the names of tests; nothing should."""
        return _NODE.sub("", self.proof).strip(", ")


class ThreatCase(NamedTuple):
    """One case of a test that ran.

    Attributes:
        held: Whether it passed.
        seconds: How long it took.
    """

    held: bool
    seconds: float


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write report.json here")
    options = parser.parse_args()
    found = threats(PAGE.read_text(encoding="utf-8"))
    told = report(found, tried(sorted({test for one in found for test in one.tests})))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    for row in told["threats"]:
        print(f"{row['held']:4} of {row['cases']:4} held  {row['seconds']:7.1f} s  {row['threat']}")
    missed = [row["threat"] for row in told["threats"] if row["held"] < row["cases"] or not row["cases"]]
    sys.exit(f"Not held: {'; '.join(missed)}." if missed else 0)


def threats(text: str) -> list[Threat]:
    """Return the rows of the tables of a threat model.

    Raises:
        ValueError: If a row has other than three cells.
    """
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if not set(line) <= set("|-: ")]
    if odd := [row for row in rows if len(row) != len(Threat._fields)]:
        msg = f"Of a threat, what is done and the tests are told, but a row has {len(odd[0])} cells: {odd[0]}."
        raise ValueError(msg)
    return [Threat(*row) for row in rows if row[0] != "threat"]


def tried(tests: Sequence[str]) -> dict[str, list[ThreatCase]]:
    """Run tests, and return the cases of each.

    Raises:
        SystemExit: If pytest could not run them.
    """
    with tempfile.TemporaryDirectory(prefix="snellen-threats-") as folder:
        written = Path(folder) / "tests.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "slow or not slow", f"--junitxml={written}", *tests]
        # Its lines belong to a person who waits, the figures to whoever reads the output.
        status = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False).returncode  # noqa: S603 - our own
        if status not in {0, 1}:
            sys.exit(f"The tests could not be run: pytest ended with {status}.")
        return cases(written)


def cases(written: Path) -> dict[str, list[ThreatCase]]:
    """Read what pytest wrote of its tests, by their names without the case."""
    found = defaultdict(list)
    for one in ET.parse(written).getroot().iter("testcase"):  # noqa: S314 - pytest wrote it just now
        module, _, group = one.get("classname", "").partition(".Test")
        within = f"::Test{group}" if group else ""
        name = f"{module.replace('.', '/')}.py{within}::{one.get('name', '').partition('[')[0]}"
        bad = any(child.tag in {"failure", "error", "skipped"} for child in one)
        found[name].append(ThreatCase(not bad, float(one.get("time", 0))))
    return dict(found)


def report(found: Sequence[Threat], ran: Mapping[str, Sequence[ThreatCase]]) -> dict[str, Any]:
    """Return as JSON what came of the tests of each threat."""
    return {
        "threats": [row(one, ran) for one in found],
        "tests": len(ran),
        "cases": sum(len(one) for one in ran.values()),
        "held": sum(case.held for one in ran.values() for case in one),
        "seconds": round(sum(case.seconds for one in ran.values() for case in one), 1),
    }


def row(threat: Threat, ran: Mapping[str, Sequence[ThreatCase]]) -> dict[str, Any]:
    """Return as JSON what came of the tests of one threat; a test that did not run counts as one case, not held."""
    tried_here = [case for test in threat.tests for case in ran.get(test) or [ThreatCase(held=False, seconds=0)]]
    return {
        "threat": threat.name,
        "tests": threat.tests,
        "cases": len(tried_here),
        "held": sum(case.held for case in tried_here),
        "seconds": round(sum(case.seconds for case in tried_here), 1),
    }


if __name__ == "__main__":
    main()
