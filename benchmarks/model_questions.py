"""How well questions about models are read: the experiments that they lead to, beside what they must examine.

    python -m benchmarks.model_questions benchmarks/model_questions.jsonl --out report.json

A row has a question and what is right of it: its models, regular expressions over the experiments (`must_mention`,
`must_not`, `together` in one of them), their form, thresholds, the bad news in a yes (`yes_if`), and what must be said
before (`must_say`). Nothing is measured: reading and planning take the place of an investigation.

    right       what was asked is examined, or a part of it where the rest was said to be left out
    other       something else is examined, without a word: the worst
    refused     nothing is examined; `rightly` where the row expects it, otherwise `needlessly`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Design
from snellen.experiments.examination_plan import planned
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.examiners.protocols import ProtocolExaminer
from snellen.experiments.report import MAX_EXPERIMENTS, Opening, Report
from snellen.experiments.understanding import understood
from snellen.memory.home import using_home
from snellen.profiles import Profile, load_profile
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.quantifiers import Quantifier
from snellen.runtime.investigation_requests import InvestigationRequest, initial_fields
from snellen.tools.calls import ToolCall

OUTCOMES: Final = ("right", "other", "refused rightly", "refused needlessly")
_FEW: Final = 3
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Planned:
    """What a question leads to, before anything is measured.

    Attributes:
        opening: The models, what it was understood as, and what is said before.
        query: Its meaning.
        designs: Its experiments, in their order, as many as there are by default.
        alpha: The error rate.
        protocol: How models are asked.
    """

    opening: Opening
    query: ModelQuery
    designs: Sequence[Design]
    alpha: float
    protocol: str


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="questions, a JSON object a line")
    parser.add_argument("--out", type=Path, help="the file that the report is written to")
    options = parser.parse_args()
    profile = load_profile("embedded")
    rows = [json.loads(line) for file in options.files for line in file.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder, using_home(Path(folder)):
        plan_of("Is clip robust to noise?", profile)
        results = [measured(row, profile) for row in rows]
    report = summary(results)
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text if not options.out else json.dumps(report["all"]))


def plan_of(question: str, profile: Profile) -> Planned:
    """Return the experiments of a question.

    Raises:
        BadInput: Nothing of it can be examined.
    """
    fields = initial_fields("benchmark", InvestigationRequest(query=question))
    models, protocol = fields["models"], fields["protocol"]
    query = understood(question, models, profile).query
    if protocol == "choice":
        opening = asyncio.run(CaseExaminer(profile).open_report(question, models))
        parts = planned(query, Subjects.of(profile), models).parts
        most = max(len(part.designs) for part in parts)
        designs = [part.designs[n] for n in range(most) for part in parts if n < len(part.designs)]
        return Planned(opening, query, designs[:MAX_EXPERIMENTS], fields["alpha"], protocol)
    examiner = ProtocolExaminer(profile, protocol)
    opening = asyncio.run(examiner.open_report(question, models))
    report = Report(query=question, understood=opening.understood, models=opening.models, alpha=0.05, seed=0)
    design = asyncio.run(examiner.design_experiment(report, []))
    return Planned(opening, query, [design] if design else [], fields["alpha"], protocol)


def measured(row: Row, profile: Profile) -> dict[str, Any]:
    """Return what becomes of a row: its outcome, and why."""
    started = time.perf_counter()
    expected = {row["expect"], *row["also_ok"]}
    try:
        plan = plan_of(row["query"], profile)
    except BadInput as error:
        outcome = "refused rightly" if "refuse" in expected else "refused needlessly"
        said: list[str] = [str(error)]
        why: list[str] = []
    else:
        said = [plan.opening.understood, *plan.opening.notes]
        why = list(faults(row, plan))
        named = bool(row["must_say"]) and all(
            re.search(each, "\n".join(said), re.IGNORECASE) for each in row["must_say"]
        )
        narrowed = named and "narrow" in expected
        outcome = "right" if (not why and "examine" in expected) or narrowed else "other"
    seconds = time.perf_counter() - started
    return {"id": row["id"], "kind": row["kind"], "query": row["query"], "expected": sorted(expected),
            "outcome": outcome, "why": why, "said": said, "seconds": seconds}  # fmt: skip


def faults(row: Row, plan: Planned) -> Iterable[str]:
    """Yield what is wrong with the experiments of a row that can be examined."""
    texts = list(map(_flat, plan.designs))
    everything = "\n".join([*texts, plan.opening.understood, *plan.opening.notes])
    for pattern in row["must_mention"]:
        if not re.search(pattern, everything, re.IGNORECASE):
            yield f"missing: {pattern}"
    for pattern in row["must_not"]:
        if re.search(pattern, "\n".join(texts), re.IGNORECASE | re.DOTALL):
            yield f"must not be: {pattern}"
    for group in row["together"]:
        if not any(all(re.search(pattern, text, re.IGNORECASE | re.DOTALL) for pattern in group) for text in texts):
            yield f"not together: {group}"
    yield from _faults_of_form(row, plan)
    yield from _faults_of_claims(row, plan)


def _faults_of_claims(row: Row, plan: Planned) -> Iterable[str]:
    claims = [claim for design in plan.designs for claim in design.claims]
    models = row["models"]
    if (models == "all" and len(plan.opening.models) <= _FEW) or (
        isinstance(models, list) and models and set(models) != set(plan.opening.models)
    ):
        yield f"models: {plan.opening.models}"
    if bool(row["compare"]) != any(claim.other for claim in claims):
        yield "compared" if not row["compare"] else "not compared"
    thresholds = {round(abs(claim.threshold), 6) for claim in claims}
    if row.get("thresholds") and not thresholds & {round(abs(each), 6) for each in row["thresholds"]}:
        yield f"thresholds: {sorted(thresholds)}"
    if row.get("alpha") not in {None, plan.alpha} or row.get("protocol") not in {None, plan.protocol}:
        yield f"alpha {plan.alpha}, protocol {plan.protocol}"
    if row.get("yes_if") == "bad" and any(
        each.sense == "holds" and not each.threshold and not _denies(each.quantifier) for each in plan.query.questions
    ):
        yield "a yes is good news"


def _denies(quantifier: Quantifier | None) -> bool:
    """Tell whether a yes says that something holds for no more than so many models: "for none"."""
    return quantifier is not None and quantifier.how in {"at most", "not all"}


def _faults_of_form(row: Row, plan: Planned) -> Iterable[str]:
    paired = [design.paired for design in plan.designs]
    form = row["form"]
    if form == "robust" and not any(paired):
        yield "nothing is compared with the picture as it was"
    if form in {"identify", "plain", "recognize"} and any(paired):
        yield "robustness, and not the ability"
    if form == "plain" and any(arm.transform.name != "Identity" for design in plan.designs for arm in design.arms):
        yield "pictures are changed"


def _flat(design: Design) -> str:
    arms = [
        f"{arm.answer} <- {_call(arm.select)} {_call(arm.transform)} {_call(arm.against)} {arm.question}"
        for arm in design.arms
    ]
    claims = [" ".join(f"{key}={value}" for key, value in claim.model_dump().items()) for claim in design.claims]
    return "\n".join([design.purpose, design.skill, design.condition, design.question, *arms, *claims])


def _call(call: ToolCall) -> str:
    return f"{call.name}({', '.join(f'{key}={value}' for key, value in call.arguments.items())})"


def summary(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return counts, of all and by kind, and each question that was not read rightly."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for one in results:
        kinds[one["kind"]][one["outcome"]] += 1
    counts = Counter(one["outcome"] for one in results)
    refused = "refused rightly"
    examinable = [one for one in results if "refuse" not in one["expected"]]
    others = [one for one in results if one["expected"] == ["refuse"]]
    seconds = sorted(one["seconds"] for one in results)
    shown = ("id", "query", "outcome", "why", "said")
    return {
        "all": {
            "questions": len(results), **{name: counts[name] for name in OUTCOMES},
            "examinable": len(examinable), "read right": sum(one["outcome"] == "right" for one in examinable),
            "not examinable": len(others), "of these refused": sum(one["outcome"] == refused for one in others),
            "median seconds": round(seconds[len(seconds) // 2], 3),
        },
        "kinds": {kind: dict(sorted(kinds[kind].items())) for kind in sorted(kinds)},
        "other": [{key: one[key] for key in shown} for one in results if one["outcome"] == "other"],
        "refused needlessly": [one["query"] for one in results if one["outcome"] == "refused needlessly"],
    }  # fmt: skip


if __name__ == "__main__":
    main()
