"""How fast the evidence explorer is in a browser, and how large its page.

    python -m benchmarks.explorer --trials 10000 --models 5 --json

The pictures are the microworld's, each drawn for itself and rotated; the answers are drawn by chance, so that figures
are about the page and not about models. With several models each picture is asked about before and after it was
rotated; with one, only after. The page is opened in Chromium from its file. Latencies are from an event to the second
frame after it, when what it changed has been painted.

Keys of the JSON:

    trials, pictures      in the page; pictures are embedded once
    render_seconds        writing the page from the home
    megabytes             of the file
    kilobytes_a_picture   of its embedded form
    first_paint_ms        from the opening to the first words (first contentful paint)
    ready_ms              from the opening until filters and grid work
    filter_ms             median and worst latency of filters, searches and orders (`filters` has each)
    view_ms               the same of the other views
    open_ms               of opening a picture, and of going to the next one
    filter_cpu_ms, view_cpu_ms, open_cpu_ms
                          what of it the page's thread computed: the rest is waiting for frames, and for other programs
    load                  of the machine by cores, in the last minute
    scroll_frame_ms       median and worst time between frames while the grid is scrolled from end to end
    tiles                 in the document, at most
    heap_megabytes        of the script, at the end
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playwright.sync_api import sync_playwright

from snellen import microworld
from snellen.experiments.decisions import judged, with_intervals
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.drawn_answers import asked
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices, key_of
from snellen.experiments.report import Experiment, Finding, Report
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.trials import Trial, TrialTable
from snellen.reasoning.language.inflection import with_article
from snellen.reports.investigation_page import render
from snellen.threads.investigate import InvestigationResult
from snellen.tools.calls import ToolCall

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

CLASSES: Final = ("banana", "bus", "car", "cat", "dog", "guitar", "house", "mushroom", "ship", "violin")
NAME: Final = "synthetic"
_TURN: Final = 90
_WINDOW: Final[ViewportSize] = {"width": 1280, "height": 900}
_NOTE_READY: Final = """new MutationObserver((_, observer) => {
  if (!document.querySelector("#explorer[data-ready]")) return;
  window.readyAt = performance.now();
  observer.disconnect();
}).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"]});"""
_PAINTED: Final = """async (change) => {
  const begun = performance.now();
  new Function(change)();
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - begun;
}"""
_SCROLLED: Final = """async (steps) => {
  const grid = document.querySelector("#explorer .grid"), times = [];
  let tiles = 0, before = await new Promise(requestAnimationFrame);
  for (let step = 1; step <= steps; step += 1) {
    grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * step / steps;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - before);
    before = now;
    tiles = Math.max(tiles, grid.querySelectorAll(".tile").length);
  }
  grid.scrollTop = 0;
  return [times, tiles];
}"""
_SELECT: Final = (
    "const one = document.querySelector('#explorer select[name={name}]'); one.value = '{value}';"
    "one.dispatchEvent(new Event('change'));"
)
_SEARCH: Final = (
    "const one = document.querySelector('#explorer [name=text]'); one.value = '{value}';"
    "one.dispatchEvent(new Event('input'));"
)
_CLICK: Final = "document.querySelector('{selector}').click();"
_FILTERS: Final = {
    "some wrong": _SELECT.format(name="verdict", value="wrong"),
    "models differ": _SELECT.format(name="agreement", value="verdicts"),
    "any models": _SELECT.format(name="agreement", value=""),
    "any answers": _SELECT.format(name="verdict", value=""),
    "one class": _SELECT.format(name="label", value="banana"),
    "every class": _SELECT.format(name="label", value=""),
    "search b": _SEARCH.format(value="b"),
    "search banana": _SEARCH.format(value="banana"),
    "no search": _SEARCH.format(value=""),
    "closest first": _SELECT.format(name="order", value="close"),
    "most wrong first": _SELECT.format(name="order", value="wrong"),
    "as measured": _SELECT.format(name="order", value="measured"),
    "without a model": _CLICK.format(selector="#explorer [name=models]"),
    "with all models": _CLICK.format(selector="#explorer [name=models]"),
}
_VIEWS: Final = {
    name: _CLICK.format(selector=f"#tab-{name}") for name in ("classes", "confusions", "models", "pictures")
}
_OPENINGS: Final = {
    "open": _CLICK.format(selector="#tile-0"),
    "next": _CLICK.format(selector='[data-do="next"]'),
    "close": _CLICK.format(selector='[data-do="close"]'),
}
_STEPS: Final = 120


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        result = synthetic_investigation(Path(folder), trials=options.trials, models=options.models)
        begun = time.perf_counter()
        page = render(result, Path(folder))
        seconds = time.perf_counter() - begun
        file = options.out or Path(folder) / "report.html"
        file.write_text(page, "utf-8")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            times = in_browser(browser, file)
        measured = {"trials": options.trials, **_sizes(page), "render_seconds": round(seconds, 1), **times}
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        for name, value in measured.items():
            print(f"{name:20}  {value}")


def synthetic_investigation(folder: Path, *, trials: int, models: int) -> InvestigationResult:
    """Make an investigation whose answers are drawn by chance, and keep its pictures and trials.

    Args:
        folder: The memory's home.
        trials: How many there are, at least.
        models: How many models; with more than one, pictures are asked about before and after they are rotated.
    """
    names = [f"model-{number}" for number in range(models)]
    design = _design(names)
    each = len(CLASSES) * models * len(design.conditions)
    report = Report(
        query="Are these models robust to rotation?", models=names, alpha=0.05, seed=0,
        fingerprints={name: f"fingerprint of {name}" for name in names},
        experiments=[
            Experiment(
                design=design, rounds=-(-trials // each), findings=[Finding(claim=one) for one in design.claims],
                stopped="all pictures are made",
            )
        ],
    )  # fmt: skip
    samples = _drawn(folder, design, report.experiments[0].rounds)
    SampleTable(folder).add(samples)
    table = TrialTable(folder)
    table.add(_answered(design, samples, report.fingerprints))
    evaluated = EvaluatedChoices.of(design, samples, report.fingerprints, table)
    return InvestigationResult(NAME, with_intervals(judged(report, 0, evaluated), 0, evaluated))


def _design(models: list[str]) -> Design:
    paired = len(models) > 1
    turn = ToolCall(name="RotateImage", arguments={"angle": _TURN})
    arms = [
        Arm(
            answer=with_article(name), transform=turn,
            select=ToolCall(name="TextToImageGeneration", arguments={"class_name": name}),
        )
        for name in CLASSES
    ]  # fmt: skip
    return Design(
        difficulty=2, purpose="The same pictures, rotated.", skill="recognizing ten things", condition="under rotation",
        question="What is in the image?", arms=arms, paired=paired,
        claims=[
            Claim(kind="drop" if paired else "ability", model=name, threshold=0.1 if paired else 0.55)
            for name in models
        ],
    )  # fmt: skip


def _drawn(folder: Path, design: Design, rounds: int) -> list[Sample]:
    store, samples = ArtifactStore(folder / FOLDER), []
    for number in range(rounds):
        for which, arm in enumerate(design.arms):
            drawn = microworld.portrait(arm.select.arguments["class_name"], f"{number}/{which}").picture()
            turned = drawn.rotate(_TURN)
            plain, picture = store.put(drawn).id, store.put(turned).id
            samples.append(
                Sample(NAME, 0, number, which, picture, plain, arm.select.arguments["class_name"], "microworld")
            )
    return samples


def _answered(design: Design, samples: list[Sample], fingerprints: dict[str, str]) -> list[Trial]:
    """Draw answers: each model is right as often as its place says, and less often of rotated pictures."""
    dice, trials = random.Random(0), {}
    for place, fingerprint in enumerate(fingerprints.values()):
        for sample in samples:
            put = asked(design, sample)
            for plain in design.conditions:
                key = key_of(put, sample, fingerprint, plain=plain)
                scores = {choice: -3 + dice.gauss(0, 1) for choice in key.choices}
                if dice.random() < (0.95 if plain else 0.85) - 0.1 * place:
                    scores[put.answer] = -0.1 - abs(dice.gauss(0, 0.3))
                trials[key] = Trial(key, tuple((score,) for score in scores.values()))
    return list(trials.values())


def _sizes(page: str) -> dict[str, Any]:
    found = re.search(r'id="explorer-pictures">(\[.*?\])</script>', page, re.DOTALL)
    pictures = json.loads(found[1]) if found else []
    return {
        "pictures": len(pictures),
        "megabytes": round(len(page.encode()) / 1e6, 1),
        "kilobytes_a_picture": round(statistics.mean(map(len, pictures)) / 1e3, 2),
    }


def in_browser(browser: Browser, file: Path) -> dict[str, Any]:
    """Open a page and use its explorer.

    Args:
        browser: A Chromium.
        file: The page; its pictures are those of a synthetic investigation.

    Returns:
        Times in milliseconds, by the keys that the module describes.
    """
    page = browser.new_page(viewport=_WINDOW)
    page.add_init_script(_NOTE_READY)
    page.goto(file.as_uri())
    page.wait_for_selector("#explorer[data-ready]")
    page.evaluate("document.getElementById('explorer').scrollIntoView()")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    ready = page.evaluate("window.readyAt")
    several = page.locator("#explorer [name=models]").count() > 1
    changes = {name: change for name, change in _FILTERS.items() if several or "model" not in name}
    shown = {name: change for name, change in _VIEWS.items() if several or name != "models"}
    measured = {
        "filter": _timed(page, changes), "view": _timed(page, shown), "open": _timed(page, _OPENINGS),
    }  # fmt: skip
    frames, tiles = page.evaluate(_SCROLLED, _STEPS)
    heap = page.evaluate("performance.memory.usedJSHeapSize")
    page.close()
    latencies = {f"{name}_ms": _spread([one.wall for one in each.values()]) for name, each in measured.items()}
    computed = {f"{name}_cpu_ms": _spread([one.cpu for one in each.values()]) for name, each in measured.items()}
    return {
        "first_paint_ms": round(paint), "ready_ms": round(ready), **latencies, **computed,
        "scroll_frame_ms": _spread(frames), "tiles": tiles, "heap_megabytes": round(heap / 1e6),
        "load": round(os.getloadavg()[0] / (os.cpu_count() or 1), 1),
        "filters": {name: round(one.wall) for name, one in measured["filter"].items()},
    }  # fmt: skip


@dataclass(frozen=True)
class Latency:
    """The time that a change of the page took, in milliseconds: by the clock, and of its thread."""

    wall: float
    cpu: float


def _timed(page: Page, changes: dict[str, str]) -> dict[str, Latency]:
    browser = page.context.new_cdp_session(page)
    browser.send("Performance.enable", {"timeDomain": "threadTicks"})

    def computed() -> float:
        metrics = browser.send("Performance.getMetrics")["metrics"]
        return 1e3 * next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

    times = {}
    for name, change in changes.items():
        begun = computed()
        wall = page.evaluate(_PAINTED, change)
        times[name] = Latency(wall, computed() - begun)
    return times


def _spread(values: Any) -> dict[str, int]:  # noqa: ANN401 - any numbers
    known = list(values)
    return {"median": round(statistics.median(known)), "worst": round(max(known))}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--out", type=Path, help="keep the page in this file")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
