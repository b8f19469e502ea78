"""Campaigns: one query asked of many things, as rows and columns of a table (the tables and figures of APEX).

A campaign is a TOML file. Each of its cells is an investigation of its own, a thread named after the campaign, the
cell and what is asked of whom; so a campaign that was stopped goes on where it was, one that was changed asks anew, and
all of them share one table of trials.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import tomllib
from collections import deque
from collections.abc import AsyncGenerator, Container, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from snellen.errors import BadInput
from snellen.memory.checkpoints import thread_ids
from snellen.memory.home import home
from snellen.runtime.investigation_requests import InvestigationRequest, examined
from snellen.threads import investigate
from snellen.threads.events import Finished
from snellen.user_paths import user_path

if TYPE_CHECKING:
    from snellen.experiments.report import Answer, Report
    from snellen.graphs.states import InvestigateState

FOLDER: Final = Path(__file__).parent / "campaign_tables"
"""The campaigns that come with Snellen."""
_MOST_CELLS: Final = 400
_FEWEST: Final = 3
"""Rows that can be in another order than the paper's, at least."""
_PERMUTATIONS: Final = 9_999

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]


class Campaign(BaseModel):
    """A campaign file.

    Attributes:
        title: What the table shows.
        query: What is asked, with `{row}` and, where there are columns, `{column}` in it.
        rows: What it is asked of.
        columns: What it is asked of as well.
        groups: Rows that belong together, by the name of the group; their means are ranked.
        paper: For each group, the figure of the paper, shown beside.
        paper_rows: The same for rows.
        profile: Name or path of a profile.
        models: Models under test; none for all of the profile.
        images: Pictures that a cell may use.
        alpha: The share of verdicts that may be wrong.
        alpha_over: Of which verdicts: those of a cell, or those of the whole table, which takes more pictures.
        seed: Chooses other pictures, for each cell its own; None takes those that the ledger allots.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,30}$")]
    title: Words
    query: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    rows: list[Words] = Field(min_length=1, max_length=100)
    columns: list[Words] = Field(default_factory=list, max_length=40)
    groups: dict[Words, list[Words]] = Field(default_factory=dict)
    paper: dict[Words, float] = Field(default_factory=dict)
    paper_rows: dict[Words, float] = Field(default_factory=dict)
    profile: str = "embedded"
    models: list[Words] = Field(default_factory=list, max_length=12)
    images: int = Field(default=300, ge=2)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    alpha_over: Literal["cell", "table"] = "cell"
    seed: int | None = None

    @property
    def cells(self) -> list[Cell]:
        """Every row, or every row with every column."""
        return [Cell(self, row, column) for row in self.rows for column in (self.columns or [""])]

    @property
    def alpha_of_cell(self) -> float:
        """The error rate of a cell's own report: of a whole table's, each cell may use up its part (Bonferroni)."""
        return self.alpha / len(self.cells) if self.alpha_over == "table" else self.alpha

    @property
    def guarantee(self) -> str:
        """The guarantee that the verdicts of the table have together."""
        if self.alpha_over == "table":
            return f"On average at most {100 * self.alpha:g} % of the verdicts of the whole table are wrong."
        return (
            f"On average at most {100 * self.alpha:g} % of the verdicts of a cell are wrong; of those that are chosen "
            "from the table for what they say, more may be."
        )


@dataclass(frozen=True)
class Cell:
    """One query of a campaign."""

    campaign: Campaign
    row: str
    column: str

    @property
    def query(self) -> str:
        """The query of the cell."""
        return self.campaign.query.replace("{row}", self.row).replace("{column}", self.column)

    @property
    def seed(self) -> int | None:
        """The seed of its pictures, where somebody chose the campaign's: cells do not share pictures."""
        if self.campaign.seed is None:
            return None
        digest = hashlib.sha256(json.dumps([self.campaign.seed, self.query]).encode()).digest()
        return int.from_bytes(digest[:4], "big")

    @property
    def thread(self) -> str:
        """The thread that answers it: where the same is asked of the same models in the same way, the same."""
        settings = self.campaign.model_dump(include={"name", "profile", "models", "images", "alpha"})
        # Threads from when every campaign had a seed, 0 unless somebody chose one, keep their names.
        settings["seed"] = {None: 0, 0: "0"}.get(self.campaign.seed, self.campaign.seed)
        if self.campaign.alpha_over != "cell":
            settings["alpha_over"] = self.campaign.alpha_over
        digest = hashlib.sha256(json.dumps([self.query, settings], sort_keys=True).encode()).hexdigest()[:8]
        slug = re.sub(r"[^a-z0-9]+", "-", f"{self.row} {self.column}".casefold()).strip("-")
        return f"{f'{self.campaign.name}-{slug}'[:55].rstrip('-')}-{digest}"


@dataclass(frozen=True)
class CellResult:
    """The result of a cell.

    Attributes:
        cell: Which one.
        accuracies: For each model the mean accuracy of its experiments, with the number of trials.
        answers: For each model the answer, and whether what was examined holds.
        trouble: Why it was not examined, if so.
        images: Pictures that were made.
    """

    cell: Cell
    accuracies: dict[str, tuple[float, int]]
    answers: dict[str, Answer]
    trouble: str = ""
    images: int = 0


def names() -> list[str]:
    """Return the campaigns that come with Snellen."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load_campaign(name_or_path: str, **changes: Any) -> Campaign:  # noqa: ANN401 - of any of its keys
    """Read a campaign by its name, or a file of your own by its path.

    Args:
        name_or_path: Which one.
        changes: Keys that are not as the file has them.

    Raises:
        BadInput: There is none, or it is not a valid one.
    """
    path = FOLDER / f"{name_or_path}.toml" if name_or_path in names() else user_path(name_or_path, "campaign")
    if not path.is_file():
        msg = f"There is no campaign {name_or_path[:80]!r}: name a TOML file, or one of {', '.join(names())}."
        raise BadInput(msg)
    try:
        made = Campaign.model_validate({"name": path.stem, **tomllib.loads(path.read_text("utf-8")), **changes})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"The campaign {path} cannot be read ({' '.join(str(error).split())[:200]}): correct the file."
        raise BadInput(msg) from error
    except ValidationError as error:
        wrong = error.errors()[0]
        key = ".".join(map(str, wrong["loc"]))
        msg = f"The campaign {path} cannot be used: its key {key!r} is wrong ({wrong['msg'].lower()})."
        raise BadInput(msg) from error
    _check(made, path)
    return made


def _check(made: Campaign, path: Path) -> None:
    wrong = ""
    if "{row}" not in made.query or ("{column}" in made.query) != bool(made.columns):
        wrong = "its query needs {row}, and {column} if there are columns and only then"
    elif len(made.cells) > _MOST_CELLS:
        wrong = f"it has {len(made.cells)} cells, more than {_MOST_CELLS}"
    elif len({(cell.row.casefold(), cell.column.casefold()) for cell in made.cells}) < len(made.cells):
        wrong = "two of its cells have one name: word rows and columns differently"
    elif strangers := {row for rows in made.groups.values() for row in rows} - set(made.rows):
        wrong = f"its groups name {min(strangers)!r}, which is no row"
    elif strangers := set(made.paper_rows) - set(made.rows):
        wrong = f"its paper_rows name {min(strangers)!r}, which is no row"
    if wrong:
        msg = f"The campaign {path} cannot be used: {wrong}."
        raise BadInput(msg)


async def run_campaign(campaign: Campaign, *, at_once: int = 1) -> AsyncGenerator[CellResult]:
    """Answer every cell that is not answered yet.

    Args:
        campaign: The campaign.
        at_once: Cells that are answered at a time. No cell's pictures, trials or answer depend on another one.

    Yields:
        The cells in their order, each when it and those before it are answered; at once where it was before.

    Raises:
        SnellenError: There is no such profile or model, the memory cannot be used, or a run failed; the campaign goes
            on there when it is run again.
    """
    from snellen.profiles import load_profile

    examined(load_profile(campaign.profile), campaign.models)
    known = frozenset(await asyncio.to_thread(lambda: thread_ids(home())))
    waiting, begun = deque(campaign.cells), deque[asyncio.Task[CellResult | None]]()
    try:
        while waiting or begun:
            under_way = [one for one in begun if not one.done()]
            while waiting and len(under_way) < at_once:
                under_way.append(asyncio.create_task(_answered(waiting.popleft(), known)))
                begun.append(under_way[-1])
            ended, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for one in ended:
                one.result()  # where a run failed, no further one is begun
            while begun and begun[0].done():
                result = begun.popleft().result()
                if result is not None:
                    yield result
    finally:
        for one in begun:
            one.cancel()
        await asyncio.gather(*begun, return_exceptions=True)


async def _answered(cell: Cell, known: Container[str]) -> CellResult | None:
    """Answer a cell; None where its thread has no report.

    Args:
        cell: The cell.
        known: The threads that there are.

    Raises:
        SnellenError: Its run failed.
    """
    campaign = cell.campaign
    request = InvestigationRequest(
        query=cell.query,
        models=campaign.models,
        profile=campaign.profile,
        alpha=campaign.alpha_of_cell,
        budget={"images": campaign.images},
        seed=cell.seed,
    )
    events = (
        investigate.INVESTIGATE.resume(cell.thread)
        if cell.thread in known
        else investigate.stream_investigate(request, thread=cell.thread)
    )
    try:
        state = await _ended(events)
    except BadInput as error:
        return CellResult(cell, {}, {}, trouble=str(error))
    investigation = investigate.found_in(state)
    return None if investigation is None else result_of(cell, investigation.report)


async def _ended(events: AsyncGenerator[investigate.InvestigationEvent]) -> InvestigateState:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Finished):
                return event.state
    msg = "The investigation waits for a decision: `snellen threads` lists it."
    raise BadInput(msg)


def result_of(cell: Cell, report: Report) -> CellResult:
    """Return what a report says for a cell of a table."""
    by_model: dict[str, list[tuple[float, int]]] = {}
    for experiment in report.experiments:
        for result in experiment.results:
            if not result.plain and result.n:
                by_model.setdefault(result.model, []).append((result.average, result.n))
    accuracies = {
        name: (sum(mean for mean, _ in each) / len(each), sum(count for _, count in each))
        for name, each in by_model.items()
    }
    # Of several answers about a model the first is to the question, and others are to parts of it.
    answers: dict[str, Answer] = {}
    for one in report.answers:
        answers.setdefault(one.about, one)
    return CellResult(cell, accuracies, answers, images=report.images)


def row_means(results: Sequence[CellResult]) -> dict[str, float]:
    """Return the mean accuracy of each row over its cells and all models, as far as it was measured."""
    by_row: dict[str, list[float]] = {}
    for one in results:
        by_row.setdefault(one.cell.row, []).extend(mean for mean, _ in one.accuracies.values())
    return {row: sum(means) / len(means) for row, means in by_row.items() if means}


def rank_correlation(campaign: Campaign, results: Sequence[CellResult]) -> tuple[float, float, int] | None:
    """Compare the order of rows with that of the paper's figures.

    Returns:
        Spearman's rank correlation, the two-sided p-value of a permutation test, and the number of rows; None where
        fewer than three rows have both figures, or those of one side are all equal.
    """
    import numpy as np
    from scipy.stats import rankdata

    means = row_means(results)
    pairs = [(means[row], figure) for row, figure in campaign.paper_rows.items() if row in means]
    if len(pairs) < _FEWEST or any(len(set(side)) == 1 for side in zip(*pairs, strict=True)):
        return None
    ours, theirs = (rankdata(side) - (len(pairs) + 1) / 2 for side in zip(*pairs, strict=True))
    scale = float(np.sqrt((ours @ ours) * (theirs @ theirs)))
    dice = np.random.default_rng(0)
    shuffled = np.array([dice.permutation(theirs) @ ours for _ in range(_PERMUTATIONS)]) / scale
    value = float(ours @ theirs) / scale
    at_least = int(np.sum(np.abs(shuffled) >= abs(value) - 1e-12))
    return value, (at_least + 1) / (_PERMUTATIONS + 1), len(pairs)


def ranked_groups(campaign: Campaign, results: Sequence[CellResult]) -> list[tuple[str, float]]:
    """Return the groups with the means of their cells over all models, the best first (APEX, table 1)."""
    ranked = []
    for group, rows in campaign.groups.items():
        means = [mean for one in results if one.cell.row in rows for mean, _ in one.accuracies.values()]
        if means:
            ranked.append((group, sum(means) / len(means)))
    return sorted(ranked, key=lambda pair: -pair[1])
