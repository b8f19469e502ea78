"""The command line: ``snellen COMMAND …``.

Only parsing and the telling of errors live here, on the standard library alone, so that ``snellen --help`` answers at
once; what a command does is in ``snellen.cli.commands``, imported when it is needed.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from snellen.runtime.termination import INTERRUPTED, TERMINATED, sigterm_as_interrupt
from snellen.version import installed_version

DEBUG_VARIABLE: Final = "SNELLEN_DEBUG"
MAX_INSTRUCTION_BYTES: Final = 4096

_REPEATED: Final = frozenset({"campaign", "evaluate", "export", "pairs", "prove"})
"""Commands that go on where they were stopped when they are given once more."""

_ABOUT: Final = """\
usage: snellen COMMAND …

Snellen answers visual tasks: it plans, writes a small program, runs it with real
vision models step by step, and shows each step. And it examines such models: a
question about them becomes experiments, run until the evidence suffices.

begin here
  snellen ask street.png "How many dogs are there?"
  snellen ask left.png right.png "There are more cats in the left picture. True or false?"
  snellen ask garden.png "Tag the pets in the picture" --out tagged
  snellen investigate "Are these models robust to rotation?" --html report.html

commands
{commands}

  snellen COMMAND --help    what a command takes, with examples
  snellen --version         the version

memory lives in your data directory, or where SNELLEN_HOME says; threads in a Postgres if
SNELLEN_CHECKPOINTS=postgresql://… names one. A run that was stopped goes on with `snellen
resume THREAD`. Errors are one sentence; SNELLEN_DEBUG=1 adds the traceback.
"""


_PLACES: Final = frozenset({"DIR", "FILE", "PLACE", "FOLDER", "DATA"})
"""What options are called that name a file or a folder."""


def local_place(text: str) -> str:
    """Return a path of this machine, as it was given.

    Raises:
        argparse.ArgumentTypeError: It is an address of the web, which would name nothing here, and lose a slash.
    """
    if text.lower().startswith(("http://", "https://")):
        msg = f"{text[:200]} is an address, and nothing is fetched: give a file or a folder of this machine"
        raise argparse.ArgumentTypeError(msg)
    return text


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are bad input in one sentence, like everyone else's."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:  # noqa: ANN401
        if options.get("metavar") in _PLACES:
            options.setdefault("type", local_place)
        return super().add_argument(*names, **options)

    def error(self, message: str) -> NoReturn:
        msg = f"{message.rstrip('.')} (see `{self.prog} --help`)."
        raise _bad_input(msg[0].upper() + msg[1:])


@dataclass(frozen=True)
class _Command:
    """One command: how it is introduced, what it takes, and the name of its function in ``snellen.cli.commands``."""

    summary: str
    examples: str
    declare: Callable[[argparse.ArgumentParser], None]


_INSIST = "learn from what you say even where the answer looks right; else it asks first"


def _declare_ask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="PICTURE… INSTRUCTION", help="picture files, then what to do")
    parser.add_argument(
        "--answer",
        metavar="EXPECTED",
        help="the right answer, if you know it: a wrong one is looked into, learned from, and tried again",
    )
    parser.add_argument("--approve", action="store_true", help="ask before anything is learned")
    parser.add_argument("--insist", action="store_true", help=_INSIST)
    parser.add_argument("--no-learn", action="store_true", help="only judge by --answer, learn nothing from it")
    parser.add_argument("--thread", metavar="ID", help="a name for this run, to resume it by (made up if left out)")
    _declare_profile(parser)
    _declare_outputs(parser)


def _declare_correct(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "thread", metavar="THREAD", help="a finished run or investigation, as `snellen threads` lists it"
    )
    parser.add_argument("says", nargs="?", metavar="WORDS", help='what is wrong: "that is not a flamingo"')
    parser.add_argument("--answer", metavar="EXPECTED", help="the right answer")
    parser.add_argument(
        "--region",
        metavar="L,T,R,B",
        help="where in the first picture the thing is that was missed, or that was meant: left, top, right, bottom",
    )
    parser.add_argument("--label", metavar="NAME", help="what the thing in the region is called")
    parser.add_argument("--approve", action="store_true", help="ask before anything is learned")
    parser.add_argument("--insist", action="store_true", help=_INSIST)
    parser.add_argument("--profile", metavar="P", help="go on with another profile than the run began with")
    _declare_outputs(parser)


def _declare_learn(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("concept", metavar="CONCEPT", help="what tools should learn to see, e.g. penguin")
    parser.add_argument(
        "--tool",
        action="append",
        metavar="TOOL",
        help="which tool learns it: LOC, SEG, SELECT, CLASSIFY (which share what they learn) or REPLACE, as far as the "
        "profile has them; may be given several times (default: LOC and CLASSIFY, to find it and to tell what it is; "
        "CLASSIFY alone where --pictures has no boxes)",
    )
    parser.add_argument(
        "--pictures",
        metavar="DIR",
        help="learn from pictures of yours: DIR/penguin/*.jpg, a folder for each concept (others serve as counter-"
        "examples), or for LOC and SEG a folder in COCO's format (default: what the profile names)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="chooses among the pictures (default: 0)")
    parser.add_argument(
        "--method",
        choices=("prompts", "lora"),
        default="prompts",
        help="lora trains and judges a LoRA adapter on the same pictures, for comparison; nothing of it is stored",
    )
    parser.add_argument(
        "--approve", action="store_true", help="ask before anything is learned; without a terminal, stop there"
    )
    parser.add_argument("--thread", metavar="ID", help="a name for this run, to resume it by (made up if left out)")
    _declare_profile(parser)
    _declare_json(parser)


def _declare_investigate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="*", metavar="QUERY", help="what you want to know about the models, in words")
    parser.add_argument(
        "--models", action="append", metavar="NAME",
        help="examine this one (may be given several times; default: those that the query names, or all there are)",
    )  # fmt: skip
    parser.add_argument(
        "--pictures", metavar="DIR", help="draw samples from pictures of yours: DIR/dog/*.jpg, a folder for each class"
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, metavar="A",
        help="the share of verdicts that may be wrong, however often one looks (default: 0.05)",
    )  # fmt: skip
    parser.add_argument(
        "--budget", action="append", metavar="NAME=N",
        help="what it may use at most: experiments (5), images (2000), each (images of one of them), trials (40000), "
        "seconds (3600), tokens (200000)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, metavar="S",
        help="chooses the pictures (default: the question's own, which no other question looked at)",
    )  # fmt: skip
    parser.add_argument(
        "--approve", action="store_true", help="ask before an experiment is run; without a terminal, stop there"
    )
    parser.add_argument(
        "--correct",
        action="store_true",
        help="then teach models what is found that they cannot do (LoRA), and measure them again on fresh pictures",
    )
    parser.add_argument(
        "--protocol", choices=("auto", "choice", "freeform", "pairs"), default="auto",
        help="how models are asked: to choose answers, to answer freely, to score pairs (default: as the query says)",
    )  # fmt: skip
    parser.add_argument("--thread", metavar="ID", help="a name for it, to resume it by (made up if left out)")
    parser.add_argument("--out", metavar="DIR", help="write report.html, report.md, report.json and all trials there")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page of it")
    _declare_profile(parser)
    _declare_json(parser)


def _declare_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="an investigation, as `snellen reports` lists it")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained page of it")
    parser.add_argument("--markdown", metavar="FILE", help="write it as Markdown")
    parser.add_argument("--trials", metavar="FILE", help="write every trial: .parquet, or .jsonl")
    parser.add_argument("--out", metavar="DIR", help="write all of these there")
    _declare_json(parser)


def _declare_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", help="an investigation, the folder of a benchmark, or that of `run --out` on one"
    )
    parser.add_argument(
        "--to", required=True, choices=("inspect", "parquet", "datasets"),
        help="logs for `inspect view`, plain tables beside a folder of pictures, or a folder for `load_dataset`",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="PLACE", help="the folder that is made (default: ID and the form's name, here)"
    )
    parser.add_argument("--bench", metavar="DIR", help="results of a benchmark: the folder that it was built in")
    parser.add_argument("--no-pictures", action="store_true", help="leave pictures out: much smaller")
    parser.add_argument("--force", action="store_true", help="replace an export that is there")
    _declare_json(parser)


def _declare_campaign(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a TOML file, or the name of one that comes with Snellen"
    )
    parser.add_argument("--models", action="append", metavar="NAME", help="examine this one (default: the campaign's)")
    parser.add_argument(
        "--images", type=int, metavar="N", help="pictures that a cell may use (default: the campaign's)"
    )
    parser.add_argument(
        "--seed", type=int, metavar="S", help="chooses other pictures, for each cell its own (default: the campaign's)"
    )
    parser.add_argument(
        "--alpha-over", choices=("cell", "table"),
        help="whose verdicts the error rate is about: each cell's, or those of the whole table, which takes more "
        "pictures (default: the campaign's)",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="write campaign.html (heat maps), .md and .json there")
    parser.add_argument("--profile", metavar="P", help="checkpoints and limits (default: the campaign's)")
    _declare_json(parser)


def _declare_prove(parser: argparse.ArgumentParser) -> None:
    _declare_benchmark(parser, "microworld, or a folder with pictures and descriptions.jsonl in DOCCI's form")
    parser.add_argument("-n", type=int, default=200, metavar="N", help="build: so many pictures (default: 200)")
    parser.add_argument(
        "--metric", choices=("paper", "calibrated"), default="paper",
        help="run: how alike tuples are: cosines as in the paper (default), or what logic and calibration make of them",
    )  # fmt: skip
    parser.add_argument(
        "--no-entailment", action="store_true", help="run: compare answers with scene graphs only, not with pictures"
    )
    _declare_profile(parser)
    _declare_json(parser)


def _declare_pairs(parser: argparse.ArgumentParser) -> None:
    data = "microworld, a folder of pictures, or one in the form of What's Up, with things that change places"
    _declare_benchmark(parser, data)
    parser.add_argument(
        "--kind", choices=("pictures", "positions", "captions"), default="pictures",
        help="build: pictures that are changed (default), things that change places, or these with texts",
    )  # fmt: skip
    parser.add_argument(
        "-n", type=int, default=34, metavar="N",
        help="build: original pictures (default: 34, which make 510 pairs of pictures; the paper has 500)",
    )  # fmt: skip
    parser.add_argument(
        "--compat", action="store_true", help="run: two invalid answers count as symmetric, as in the paper's release"
    )
    parser.add_argument(
        "--table", metavar="FILE", help="run: a CSV file of models and their scores elsewhere, to correlate with"
    )
    _declare_profile(parser)
    _declare_json(parser)


def _declare_benchmark(parser: argparse.ArgumentParser, data: str) -> None:
    """Declare what benchmarks of free answers and of pairs have in common."""
    parser.add_argument(
        "action", choices=("build", "run"), metavar="ACTION", help="build a benchmark, or run models on one"
    )
    parser.add_argument("--data", default="microworld", metavar="DATA", help=f"build: {data} (default: microworld)")
    parser.add_argument(
        "--out", metavar="DIR", help="build: the folder of the benchmark; run: write page, tables, plots and JSON there"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="build: chooses the pictures (default: 0)")
    parser.add_argument("--bench", metavar="DIR", help="run: the folder that a benchmark was built in")
    parser.add_argument(
        "--models", action="append", metavar="NAME",
        help="run: examine this one (may be given several times; default: all there are)",
    )  # fmt: skip


def _declare_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=("list", "delete"), default="list", metavar="ACTION",
        help="list (default), or delete",
    )  # fmt: skip
    parser.add_argument("ids", nargs="*", metavar="ID…", help="delete: these threads")
    parser.add_argument(
        "--older-than", default="", metavar="AGE", help="delete: those that nothing was saved to for 12h, 30d or 8w"
    )
    parser.add_argument("--yes", action="store_true", help="delete: without being asked")
    _declare_json(parser)


def _declare_resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("thread", metavar="THREAD", help="as `snellen threads` lists it")
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument(
        "--approve", action="store_true", help="the run waits for a decision: it may do what it asks for"
    )
    decision.add_argument("--reject", action="store_true", help="it may not")
    parser.add_argument("--profile", metavar="P", help="go on with another profile than the run began with")
    _declare_outputs(parser)


def _declare_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", help="write the results there: pictures and run.json, or a report and its trials"
    )
    parser.add_argument("--html", metavar="FILE", help="write it as one self-contained page")
    _declare_json(parser)


def _declare_profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        metavar="P",
        default="embedded",
        help="checkpoints and limits: embedded (default), hub, or a TOML file of yours",
    )


def _declare_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def _declare_models(parser: argparse.ArgumentParser) -> None:
    _declare_profile(parser)
    _declare_json(parser)


def _declare_demonstrations(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", choices=("plan", "program"), help="only plans, or only programs")
    _declare_profile(parser)
    _declare_json(parser)


def _declare_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        choices=("tasks", "learning"),
        metavar="tasks|learning",
        help="tasks: how many are solved; learning: how many more after others were learned from",
    )
    parser.add_argument("--family", required=True, metavar="F", help="vqa, statement, edit or tag")
    parser.add_argument("--split", choices=("train", "val", "test"), help="tasks: of which split (default: test)")
    parser.add_argument(
        "--concepts",
        choices=("known", "novel", "mixed"),
        help="what the pictures show: concepts the checkpoints were trained on (known, the default for tasks), others "
        "(novel, the default for learning), or both",
    )
    parser.add_argument("-n", type=int, metavar="N", help="how many tasks are tested (default: 100; learning: 200)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which tasks: the same seed, the same tasks")
    _declare_learning_evaluation(parser.add_argument_group("learning"))
    _declare_profile(parser)
    _declare_json(parser)


def _declare_learning_evaluation(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--setting",
        choices=("offline", "online"),
        help="offline (default): learn on the train split, then be tested; online: a stream, answered and learned from",
    )
    group.add_argument("--train", type=int, metavar="N", help="offline: tasks that are learned from (default: 100)")
    group.add_argument(
        "--known", type=int, metavar="N", help="tasks about known concepts, before and after (default: 200)"
    )
    group.add_argument(
        "--without",
        action="append",
        metavar="PART",
        help="leave out a part, for what it is worth: local, global, results, plan, validation, correct or incorrect",
    )
    group.add_argument(
        "--out", type=local_place, metavar="DIR", help="write report.json, a table (table.md) and plots (PNG) there"
    )


def _declare_memory(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("stats", "list", "show", "forget", "export", "import", "verify", "copy-threads"),
        metavar="ACTION",
        help="stats, list, show ID…, forget, export FILE, import FILE, verify (mend what was learned), or copy-threads "
        "(from the home's SQLite into the Postgres that SNELLEN_CHECKPOINTS names)",
    )
    parser.add_argument("names", nargs="*", metavar="ID… or FILE", help="ids as `list` shows them, or one archive")
    parser.add_argument(
        "--pool",
        default="",
        metavar="POOL",
        help="list or forget one pool: VQA, LOC, SEG, CLIP (of SELECT and CLASSIFY), REPLACE, or demonstrations",
    )
    parser.add_argument("--concept", default="", metavar="C", help="list or forget the prompts of one concept")
    parser.add_argument("--all", action="store_true", help="forget everything that was learned (seeds stay)")
    parser.add_argument("--dry-run", action="store_true", help="verify: say what is damaged, change nothing")
    parser.add_argument(
        "--profile", metavar="P", default="embedded", help="verify: whose embedding searches the demonstrations"
    )
    _declare_json(parser)


def _declare_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="H",
        help="the address to listen on; beyond this machine only with tokens",
    )
    parser.add_argument("--port", type=int, default=7860, metavar="N", help="the port; 0 takes a free one (7860)")
    parser.add_argument(
        "--no-warm-up", dest="warm_up", action="store_false",
        help="load models when they are first used, instead of from the start on",
    )  # fmt: skip


def _declare_chat(parser: argparse.ArgumentParser) -> None:
    _declare_address(parser)
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="open no browser")
    _declare_profile(parser)


def _declare_tokens(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("add", "list", "revoke"), metavar="ACTION", help="add NAME, list, or revoke NAME"
    )
    parser.add_argument(
        "name", nargs="?", default="", metavar="NAME",
        help="whose: owner works in this memory, as the command line does; any other name has a memory of its own",
    )  # fmt: skip
    _declare_json(parser)


def _declare_studio(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=2024, metavar="N", help="the port (default: 2024)")


def _declare_serve(parser: argparse.ArgumentParser) -> None:
    _declare_address(parser)
    parser.add_argument(
        "--profile", action="append", default=[], metavar="P",
        help="a profile that is offered, by name or path; repeat it for more (embedded)",
    )  # fmt: skip
    parser.add_argument("--no-page", dest="page", action="store_false", help="serve programs alone, without the page")
    group = parser.add_argument_group("whom it believes")
    for name, place, what in (
        ("--allow-host", "NAME", "a name, beside localhost, by which it may be addressed, such as a proxy's"),
        ("--allow-origin", "URL", "another web page that may use it from a browser, such as https://example.org"),
        ("--proxy", "ADDRESS", "a reverse proxy whose X-Forwarded-… headers are believed"),
        ("--picture-host", "HOST", "a host in the public network from which requests may have pictures fetched"),
    ):
        group.add_argument(name, action="append", default=[], metavar=place, help=what)
    parser.add_argument(
        "--limit", action="append", default=[], metavar="NAME=NUMBER",
        help="a limit of docs/serving.md: requests_each=8, body_bytes=1000000, jobs_running=2, …",
    )  # fmt: skip


def _declare_mcp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root", action="append", default=[], metavar="FOLDER",
        help="a folder whose pictures the client may name by their paths; none otherwise",
    )  # fmt: skip
    parser.add_argument(
        "--profile", action="append", default=[], metavar="P",
        help="a profile that is offered, by name or path; repeat it for more (embedded)",
    )  # fmt: skip


_COMMANDS: Final = {
    "ask": _Command(
        "answer a question about pictures, or edit them",
        'snellen ask photo.jpg "What is left of the tree?" --profile hub\n'
        'snellen ask scene.png "Is there a cat and a dog?" --answer yes\n'
        'snellen ask scene.png "Blur everything but the horse" --out edited --html run.html\n'
        'snellen ask scene.png "How many birds are there?" --json | jq .answer',
        _declare_ask,
    ),
    "correct": _Command(
        "say what was wrong with a run's answer, or correct what an investigation found; it learns and tries again",
        "snellen threads\n"
        'snellen correct THREAD "that is not a flamingo"\n'
        "snellen correct THREAD --answer 3\n"
        "snellen correct THREAD --region 10,20,60,80 --label penguin --html again.html\n"
        "snellen correct REPORT_ID --html corrected.html  # models learn what they were found to be weak in",
        _declare_correct,
    ),
    "learn": _Command(
        "teach tools a concept from pictures",
        "snellen learn penguin                            # LOC finds it, CLASSIFY tells what it is\n"
        "snellen learn penguin --tool CLASSIFY --pictures mine      # mine/penguin/*.jpg\n"
        "snellen learn forklift --tool LOC --pictures coco --profile hub\n"
        "snellen learn penguin --approve                  # asks before it learns\n"
        "snellen memory forget --concept penguin          # as if it had never been learned",
        _declare_learn,
    ),
    "investigate": _Command(
        "find out about models by experiments, until the evidence suffices",
        'snellen investigate "Are these models robust to rotation?"\n'
        'snellen investigate "Can llava-upright tell left from right?" --html report.html\n'
        'snellen investigate "Which of clip and blip is better at birds?" --alpha 0.01 --out found\n'
        'snellen investigate "Can models recognize fruit?" --budget images=500 --approve\n'
        'snellen investigate "Which model tells the truth most often?"          # free answers\n'
        'snellen investigate "Can I trust llava-judge to judge similarity under blur?"',
        _declare_investigate,
    ),
    "reports": _Command("list the investigations so far", "snellen reports --json", _declare_json),
    "report": _Command(
        "show an investigation again, as text, page, Markdown, JSON or a table of its trials",
        "snellen reports\nsnellen report ID --html report.html\nsnellen report ID --trials trials.parquet",
        _declare_report,
    ),
    "export": _Command(
        "write what was measured for other tools: Inspect, parquet, Hugging Face datasets",
        "snellen export ID --to inspect --out logs        # then: inspect view --log-dir logs\n"
        "snellen export ID --to parquet                   # tables for pandas, DuckDB and others\n"
        "snellen export bench --to datasets               # a benchmark of `snellen prove` or `snellen pairs`\n"
        "snellen export results --to inspect --bench bench",
        _declare_export,
    ),
    "campaign": _Command(
        "ask one question of many things: the tables and figures of APEX, or your own",
        "snellen campaign                                 # lists those that come with Snellen\n"
        "snellen campaign classes --out out/classes      # goes on where it was stopped\n"
        "snellen campaign mine.toml --models clip --json",
        _declare_campaign,
    ),
    "prove": _Command(
        "how helpful and truthful are free answers? Builds questions with verified answers, and asks models",
        "snellen prove build --out bench -n 200           # goes on where it was stopped\n"
        "snellen prove build --data my-docci --out mine   # pictures with descriptions.jsonl\n"
        "snellen prove run --bench bench --out results    # page, tables, plots\n"
        "snellen prove run --bench bench --models blip --metric calibrated --json",
        _declare_prove,
    ),
    "pairs": _Command(
        "who can be trusted to judge how alike two things are? Builds pairs, and has models score them",
        "snellen pairs build --out pairs                  # 510 pairs of changed pictures\n"
        "snellen pairs build --kind captions --out texts\n"
        "snellen pairs run --bench pairs --out results    # page, tables, plots\n"
        "snellen pairs run --bench pairs --models llava-judge --table others.csv --json",
        _declare_pairs,
    ),
    "threads": _Command(
        "list the runs so far, the newest first, or delete some",
        "snellen threads --json\n"
        "snellen threads delete ID ID                     # with pictures and trials that nothing else needs\n"
        "snellen threads delete --older-than 30d --yes",
        _declare_threads,
    ),
    "resume": _Command(
        "go on with a run where it stopped",
        "snellen threads\nsnellen resume THREAD --html run.html\nsnellen resume THREAD --approve",
        _declare_resume,
    ),
    "tools": _Command("list what programs may call", "snellen tools", _declare_json),
    "models": _Command(
        "list the models of a profile: those that tools use, those that are examined, and whether they are there",
        "snellen models --profile hub",
        _declare_models,
    ),
    "demonstrations": _Command(
        "list the examples that plans and programs are made after",
        "snellen demonstrations --kind program",
        _declare_demonstrations,
    ),
    "memory": _Command(
        "show, check, forget and carry elsewhere what was learned",
        "snellen memory stats\n"
        "snellen memory list --pool LOC --concept flamingo\n"
        "snellen memory forget --concept flamingo         # as if it had never been learned\n"
        "snellen memory export learned.zip                # then, on another machine:\n"
        "snellen memory import learned.zip\n"
        "snellen memory verify --json                     # exit status 1 if something is lost\n"
        "SNELLEN_CHECKPOINTS=postgresql://… snellen memory copy-threads",
        _declare_memory,
    ),
    "studio": _Command(
        "run LangGraph's server on this memory: debug the graphs in Studio, or use them over its API",
        "snellen studio                                   # prints the address that Studio is opened with\n"
        "snellen studio --port 8123",
        _declare_studio,
    ),
    "serve": _Command(
        "serve the page, an OpenAI-compatible endpoint, MCP, pictures and reports, to one user or several",
        "snellen serve                                    # this machine alone; prints how it is used\n"
        "snellen tokens add owner && snellen serve --host 0.0.0.0 --allow-host snellen.example.org\n"
        "snellen serve --profile embedded --profile hub --no-page\n"
        "snellen serve --limit jobs_running=2 --limit requests_each=8",
        _declare_serve,
    ),
    "mcp": _Command(
        "be an MCP server on standard input and output, for a client that starts it",
        "snellen mcp --root ~/Pictures\nsnellen serve                                    # MCP over HTTP, at /mcp",
        _declare_mcp,
    ),
    "chat": _Command(
        "open the page in a browser: chat, investigations, memory and threads",
        "snellen chat                                     # then http://127.0.0.1:7860\n"
        "snellen chat --port 0 --no-browser               # any free port; prints where\n"
        "snellen chat --profile hub",
        _declare_chat,
    ),
    "tokens": _Command(
        "say who may use a server of yours: make, list and revoke their tokens",
        "snellen tokens add owner                         # printed once, kept as a hash\n"
        "snellen tokens add ann                           # Ann gets a memory of her own\n"
        "snellen tokens list\n"
        "snellen tokens revoke ann",
        _declare_tokens,
    ),
    "evaluate": _Command(
        "measure a profile on tasks with known answers, or what learning is worth to it",
        "snellen evaluate tasks --family vqa -n 300 --seed 7\n"
        "snellen evaluate tasks --family tag --concepts novel --split test -n 100 --json\n"
        "snellen evaluate learning --family vqa --seed 7 --out results      # an hour or more on two cores\n"
        "snellen evaluate learning --family vqa --setting online -n 100\n"
        "snellen evaluate learning --family vqa --without validation --json",
        _declare_evaluate,
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: The words after ``snellen``; None takes those of the process.

    Returns:
        The exit status: 0, 2 for bad input, 1 for a failure, 130 when interrupted, 143 when terminated.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    with sigterm_as_interrupt() as termination:
        status = termination.status(_told(words))
    if status in {INTERRUPTED, TERMINATED} and arguments is None:
        _leave(status)
    return status


def _told(words: list[str]) -> int:
    """Run one command, tell its errors, and return its status."""
    try:
        status = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _tell(f"Interrupted; {_way_on(words)}.", status=INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 - the last door: a user gets a sentence, a developer may ask for more
        return _tell_error(error)
    return status


def _way_on(words: list[str]) -> str:
    if words[:1] and words[0] in _REPEATED:
        return f"`{shlex.join(['snellen', *words])}` goes on with what is left"
    return "`snellen threads` lists what can be resumed"


def _leave(status: int) -> NoReturn:
    """End this process at once: a worker thread may be loading a model, which nobody waits for any more."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        sys.stdout.write(_about())
        return 0
    if words[0] in {"-V", "--version"}:
        sys.stdout.write(f"snellen {installed_version()}\n")
        return 0
    command = _COMMANDS.get(words[0])
    if command is None:
        raise _bad_input(_unknown_command(words[0]))
    parser = _parser(words[0], command)
    try:
        # Options may stand between the pictures and the instruction.
        options = parser.parse_intermixed_args(words[1:])
    except SystemExit:  # argparse has printed the help that was asked for
        return 0
    return _call(words[0], options)


def _call(name: str, options: argparse.Namespace) -> int:
    work = _checked_ask(options) if name == "ask" else options
    for said in ("query", "concept", "says", "expected"):
        value = getattr(options, said, None)
        _refuse_undecoded(said, " ".join(value) if isinstance(value, list) else str(value or ""))
    _quieten_libraries()
    from snellen.cli import commands
    from snellen.memory.thread_locks import introduce

    introduce(f"snellen {name}")
    function: Callable[[Any], int] = getattr(commands, name)
    return function(work)


def _parser(name: str, command: _Command) -> _Parser:
    examples = "\n".join(f"  {line}" for line in command.examples.splitlines())
    parser = _Parser(
        prog=f"snellen {name}",
        description=command.summary[0].upper() + command.summary[1:] + ".",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.declare(parser)
    return parser


def _about() -> str:
    return _ABOUT.format(commands="\n".join(f"  {name:15} {command.summary}" for name, command in _COMMANDS.items()))


def _unknown_command(name: str) -> str:
    near = difflib.get_close_matches(name, _COMMANDS, n=1)
    hint = f"did you mean `snellen {near[0]}`?" if near else "`snellen --help` lists the commands."
    return f"There is no command {name!r}: {hint}"


def _checked_ask(options: argparse.Namespace) -> argparse.Namespace:
    """Part the words into pictures and instruction, and refuse what cannot be one.

    Raises:
        BadInput: A picture or the instruction is missing, the instruction is empty, too long or no text.
    """
    words: list[str] = options.words
    if not words:
        msg = 'Nothing was asked: name a picture and an instruction, as in `snellen ask scene.png "What is this?"`.'
        raise _bad_input(msg)
    *options.pictures, instruction = words
    if os.path.isfile(instruction):  # noqa: PTH113 - pathlib refuses names too long for a file, as questions may be
        msg = f"The instruction is missing: after the last picture ({instruction}), say what to do with it."
        raise _bad_input(msg)
    _refuse_instruction(instruction)
    if not options.pictures:
        msg = f"No picture was named: put at least one file before the instruction ({instruction[:40]!r})."
        raise _bad_input(msg)
    options.instruction = instruction
    return options


def _refuse_instruction(instruction: str) -> None:
    _refuse_undecoded("instruction", instruction)
    size = len(instruction.encode())
    if not instruction.strip():
        msg = "The instruction is empty: say in words what to do with the pictures."
        raise _bad_input(msg)
    if size > MAX_INSTRUCTION_BYTES:
        msg = (
            f"The instruction has {size} bytes, more than the {MAX_INSTRUCTION_BYTES} that are read: "
            "say it shorter, or ask for one thing at a time."
        )
        raise _bad_input(msg)


def _refuse_undecoded(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = f"The {name} is not valid UTF-8 text: check the terminal's encoding and type it again."
        raise _bad_input(msg) from error


def _quieten_libraries() -> None:
    """Keep the libraries' own bars, advice and phone calls out of the terminal; what the user sets wins."""
    for name, value in {
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
        "DIFFUSERS_VERBOSITY": "error",
        "TOKENIZERS_PARALLELISM": "false",
        "LANGGRAPH_STRICT_MSGPACK": "true",
    }.items():
        os.environ.setdefault(name, value)
    if not _debugging():
        import warnings

        warnings.simplefilter("ignore")


def _debugging() -> bool:
    return os.environ.get(DEBUG_VARIABLE, "").strip().lower() not in {"", "0", "no", "false"}


def _bad_input(message: str) -> Exception:
    from snellen.errors import BadInput

    return BadInput(message)


def _tell_error(error: Exception) -> int:
    from snellen.errors import SnellenError, out_of_memory

    error = out_of_memory(error) or error
    if isinstance(error, SnellenError):
        return _tell(str(error), status=error.exit_status)
    if isinstance(error, OSError):
        return _tell(_describe_disk_trouble(error), status=1)
    return _tell(_describe_surprise(error), status=1)


def _describe_disk_trouble(error: OSError) -> str:
    place = f" ({error.filename})" if error.filename else ""
    return f"The system refused: {error.strerror or error}{place}; free space or permissions may be missing."


def _describe_surprise(error: Exception) -> str:
    said = " ".join(str(error).split())[:200]
    reason = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"Something unexpected went wrong ({reason}); set {DEBUG_VARIABLE}=1 to see where."


def _tell(sentence: str, *, status: int) -> int:
    if _debugging():
        traceback.print_exc()
    # A name that is no valid text is shown escaped rather than ending in a second error.
    sys.stderr.write(f"snellen: {sentence}\n".encode(errors="backslashreplace").decode())
    return status


if __name__ == "__main__":
    sys.exit(main())
