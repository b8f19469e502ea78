"""Processes that follow a thread through everything it can do, and are killed where they are told to be.

    python killed.py FOLDER

In the folder it saves models to run with. Each line of stdin is a JSON list of lanes, which go side by side; a lane is
a list of `Job`s, done one after the other. Each job is done by a process of its own, forked from this one so that the
models' libraries are imported once. A line of stdout for each job says how its process ended, and an empty line that
all lanes have. In a job's home the file ``log`` has a line for each node that began, and when; the file ``answer`` has
the state of the thread that ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import json
import math
import os
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import snellen.nodes.ask.correction
import snellen.nodes.ask.inference
import snellen.nodes.ask.judgement
import snellen.nodes.ask.reading
import snellen.nodes.ask.reflection
import snellen.nodes.ask.remembering
import snellen.nodes.ask.revision
import snellen.nodes.learn.approval
import snellen.nodes.learn.prompt_tuning
from snellen.reasoning.critique import Critique, FailedCase, Fault, Replay, StepCheck
from snellen.reasoning.revision import ProposedRevision
from snellen.reasoning.task import Examples, Plan, Task
from snellen.reasoning.trouble import Trouble
from snellen.runtime.context import Context
from snellen.tools.program import StepRecord
from snellen.tools.registry import ToolContext, tool
from snellen.values import Picture, Region
from tests.graphs.scripted import ScriptedReasoner, embed

THREAD = "thread"
IN_MEMORY = "memory"
PROFILE = "mine.toml"
PICTURE = "picture.png"
INSTRUCTION = "Is there a dog?"
PROGRAM = """\
BOX0=WHOLE(image=IMAGE)
BOX1=CLASSIFY(image=IMAGE,object=BOX0,categories=['dog'])
ANSWER0=COUNT(box=BOX1)
ANSWER1=VQA(image=IMAGE,question='is it a cat ?')
ANSWER2=EVAL(expr='{ANSWER0} > 1')
FINAL_RESULT=RESULT(var=ANSWER2)
"""
FAILING = PROGRAM.replace("> 1", "> 1 / 0")
CORRECTED = PROGRAM.replace("> 1", "> 0")

FLOW = (
    *("read", "recall", "plan", "write", "run", "revise", "run", "judge", "describe", "reflect_globally", "correct"),
    *("collect", "approve", "tune", "validate", "store", "run", "judge", "describe", "reflect_locally", "correct"),
    *("write", "run", "judge", "remember"),
)
"""What an unharmed thread does: its first run fails, and the program is revised; CLASSIFY learns what a dog is, and the
answer is still wrong until the program, which counts one dog too many, is written again."""

LEARNING = ("collect", "approve", "tune", "validate", "store")

_MODULES = {
    snellen.nodes.ask.reading: ("read",),
    snellen.nodes.ask.inference: ("recall", "plan", "write", "run"),
    snellen.nodes.ask.revision: ("revise",),
    snellen.nodes.ask.judgement: ("judge",),
    snellen.nodes.ask.reflection: ("describe", "reflect_globally", "reflect_locally"),
    snellen.nodes.ask.correction: ("correct",),
    snellen.nodes.learn.prompt_tuning: ("collect", "tune_prompts", "validate_prompts", "store"),
    snellen.nodes.learn.approval: ("approve",),
    snellen.nodes.ask.remembering: ("remember",),
}


@dataclass(frozen=True, kw_only=True)
class Job:
    """What one process does, and where it dies.

    Attributes:
        home: The memory.
        folder: Of the picture and the profile, as `save_profile` wrote them.
        graph: What the thread runs: ``ask``, or ``learn`` by itself.
        resume: Whether the thread is taken up; else it is begun.
        victim: The process kills itself on leaving this node, or at this point inside one; empty where it shall not.
        occurrence: Which time, from 1.
        since: It is killed by its parent ``delay`` seconds after this node began; empty where it is not.
        delay: See there.
        approve: Whether a person (who agrees) is asked before anything is learned.
        checkpoints: The address of a Postgres, empty for SQLite in the home; or ``memory``, where the run alone ends
            instead of the process, and is taken up in it with what the saver had at that moment.
        durability: When states are saved: ``sync`` as always, or ``async``.
    """

    home: str
    folder: str
    graph: str = "ask"
    resume: bool = False
    victim: str = ""
    occurrence: int = 1
    since: str = ""
    delay: float = 0.0
    approve: bool = False
    checkpoints: str = ""
    durability: str = "sync"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Crash(Exception):  # noqa: N818 - of a run, where the process lives on
    """The end of a run in the middle."""


@dataclass
class Witness:
    """Notes what happens in a process, and ends it where its job says."""

    job: Job
    pipe: int
    node: str = ""
    """The one that began last."""
    seen: Counter[str] = field(default_factory=Counter)
    end: Callable[[], None] = die

    def begins(self, node: str) -> None:
        self.node = node
        with Path(self.job.home, "log").open("a") as log:
            log.write(f"{node} {time.monotonic():.3f}\n")
        os.write(self.pipe, f"{node}\n".encode())

    def passes(self, point: str) -> None:
        self.seen[point] += 1
        if point == self.job.victim and self.seen[point] == self.job.occurrence:
            self.end()

    def watch(self, place: Any, name: str, point: str) -> None:  # noqa: ANN401 - a module or a class
        """Let the process pass a point whenever a function has done its work."""
        function = getattr(place, name)

        @functools.wraps(function)
        def watched(*args: object, **kwargs: object) -> object:
            result = function(*args, **kwargs)
            self.passes(point)
            return result

        setattr(place, name, watched)

    def watch_results(self) -> None:
        """Let the process pass a point whenever the result of a node is saved, but not yet the state after it."""
        saver = _saver_class(self.job)
        save = saver.aput_writes

        async def watched(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            node = self.node  # by the time that it is saved, the next one may have begun
            await save(*args, **kwargs)
            self.passes(f"{node}'s result was saved")

        saver.aput_writes = watched

    def watch_nodes(self) -> None:
        """Watch every node; before the graphs are imported, which take the nodes from their modules."""
        for module, names in _MODULES.items():
            for name in names:
                self._watch_node(module, name, name.removesuffix("_prompts"))

    def _watch_node(self, module: Any, name: str, node: str) -> None:  # noqa: ANN401
        function = getattr(module, name)

        @functools.wraps(function)
        async def watched(*args: object, **kwargs: object) -> object:
            self.begins(node)
            update = await function(*args, **kwargs)
            self.passes(node)
            return update

        setattr(module, name, watched)


def _saver_class(job: Job) -> Any:  # noqa: ANN401
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    if not job.checkpoints:
        return AsyncSqliteSaver
    if job.checkpoints == IN_MEMORY:
        return InMemorySaver
    from snellen.memory.postgres.saver import FencedSaver

    return FencedSaver


def watch_points(witness: Witness) -> None:
    """Watch points inside nodes, once the memory is open: what opening it does is no part of the run."""
    import snellen.memory.prompts.rows
    from snellen.learning.tuning_bench import TuningBench
    from snellen.memory.demonstrations import DemonstrationPool
    from snellen.memory.prompts.drafts import Drafts

    witness.watch(TuningBench, "keep", "a draft was written")
    witness.watch(snellen.memory.prompts.rows, "insert", "rows were written")
    witness.watch(snellen.memory.prompts.rows, "put_tensors", "tensors were written")
    witness.watch(snellen.nodes.learn.prompt_tuning, "_add", "prompts were added")
    witness.watch(snellen.nodes.learn.prompt_tuning, "_store", "a need was stored")
    witness.watch(DemonstrationPool, "add", "demonstrations were added")
    discard = Drafts.discard

    def one_by_one(drafts: Drafts, keys: Any) -> None:  # noqa: ANN401
        for key in keys:
            discard(drafts, [key])
            witness.passes("a draft was discarded")

    Drafts.discard = one_by_one  # type: ignore[assignment, method-assign]


class Accuser(ScriptedReasoner):
    """Blames CLASSIFY and LOC at first, then the program; writes it rightly once it has seen the wrong one."""

    async def plan(self, task: Task, examples: Examples) -> Plan:
        return Plan(["Look for a dog"])

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        return CORRECTED if examples.programs_incorrect else FAILING

    async def revise(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        examples: Examples,
    ) -> ProposedRevision | None:
        return ProposedRevision(plan, PROGRAM, "Divide by nothing.")

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        return ["apple", "car"][:limit]

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        said = "It did not know the dog."
        blamed = (Fault("tool", "2", name, "dog", said) for name in ("CLASSIFY", "LOC"))
        return Critique(tuple(blamed), 0.9, "global")

    async def check_step(
        self, case: FailedCase, address: str, checked: Sequence[StepCheck], replay: Replay
    ) -> StepCheck:
        wrong = "{ANSWER0} > 1" in case.program and address == "5"
        fault = Fault("program", address, "EVAL", "", "It counts one dog too many.") if wrong else None
        return StepCheck(address, right=fault is None, fault=fault)


def add_tools(witness: Witness) -> None:
    """Add the tool that makes the first step; in the child alone, so that tests see the tools that there are."""

    @tool("WHOLE")
    def whole(context: ToolContext, image: Picture) -> list[Region]:
        """Give the whole picture as a region."""
        witness.passes("a step was taken")
        return [Region((0, 0, image.width, image.height), 1.0)]


def save_profile(folder: Path) -> None:
    """Write random models, a profile by which CLIP learns in a few steps what a dog is (and OWL-ViT does not), and a
    picture in which it did not see one before."""
    import PIL.Image

    from tests.tuning.tiny import save_models

    save_models(folder, "small")
    file = folder / PROFILE
    text = file.read_text()
    for table, settings in {
        "models.clip": 'null = ["cat", "car"]\nthreshold = 0.7\n',
        "tuning.clip": "negatives = 0\nsteps = 40\n",
        "tuning.loc": "steps = 2\n",
    }.items():
        text = text.replace(f"[{table}]\n", f"[{table}]\n{settings}")
    numbers = "scenes = 3\nheld_out_scenes = 2\nfound = 3\nheld_out_found = 2\nrelated = 2\n"
    file.write_text(f"{text}[collection]\n{numbers}")
    PIL.Image.new("RGB", (40, 30), "teal").save(folder / PICTURE)


def make_context(profile: str, folder: Path, *, own: object = None) -> Context:
    """Gather models that learn, an empty memory and the Reasoner."""
    from snellen import microworld
    from snellen.collection import WorldLibrary
    from snellen.learning.prompt_recall import PromptRecall
    from snellen.learning.resources import Learning
    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.demonstrations import DemonstrationPool
    from snellen.memory.prompts import PromptPool
    from snellen.memory.prompts.drafts import Drafts
    from snellen.profiles import load_profile
    from snellen.tools.vision import Models

    chosen, prompts = load_profile(profile), PromptPool(folder)
    library = WorldLibrary(lambda: microworld, title="microworld")
    return Context(
        pictures=ArtifactStore(folder / "artifacts"),
        models=Models(chosen, PromptRecall(prompts, chosen), window=0),
        learning=Learning(prompts=prompts, drafts=Drafts(folder), annotated=library, found=library),
        reasoner=Accuser(),
        pool=DemonstrationPool(folder, embed=embed),
        profile=chosen,
    )


async def follow(job: Job, witness: Witness) -> None:
    """Begin or take up the thread and follow it to its end."""
    from snellen.threads import ask, events

    def opened(profile: str, folder: Path, *, own: object = None) -> Context:
        context = make_context(profile, folder, own=own)
        watch_points(witness)
        return context

    ask.make_context = opened
    async for event in _events(job):
        if isinstance(event, events.Finished):
            _note(job, event.state)


async def follow_in_memory(job: Job, witness: Witness) -> None:
    """Begin the thread with a saver in memory; after its crash, take it up with what was saved by then."""
    from langgraph.checkpoint.memory import InMemorySaver

    import snellen.memory.checkpoints
    import snellen.threads.thread
    from snellen.graphs.states import STATE_TYPES

    def saver() -> InMemorySaver:
        return InMemorySaver(serde=snellen.memory.checkpoints.serializer(STATE_TYPES))

    begun, saved = saver(), saver()

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[InMemorySaver]:
        yield begun if witness.job.victim else saved

    def crash() -> None:
        # What is saved on the way out was not saved when it crashed.
        for part in ("storage", "writes", "blobs"):
            setattr(saved, part, copy.deepcopy(getattr(begun, part)))
        run.cancel()
        raise Crash

    cast("Any", snellen.threads.thread).checkpoints = opened
    snellen.memory.checkpoints.thread_heads = lambda folder=None, thread=None: {THREAD: (job.graph, "")}
    witness.end = crash
    run = asyncio.create_task(follow(job, witness))
    with contextlib.suppress(Crash, asyncio.CancelledError):
        await run
        return
    witness.job = replace(job, victim="", resume=True)
    await follow(witness.job, witness)


def save_by(durability: str) -> None:
    """Have every run save its states when it is said to."""
    from langgraph.pregel import Pregel

    stream = Pregel.astream

    def saving(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return stream(*args, **kwargs | {"durability": durability})

    Pregel.astream = saving  # type: ignore[method-assign]


def _note(job: Job, state: Any) -> None:  # noqa: ANN401 - of either graph
    Path(job.home, "answer").write_text(json.dumps(asdict(state)))


def _events(job: Job) -> AsyncIterator[Any]:
    from snellen.threads import ask, learn

    if job.resume:
        resume: Any = learn.LEARN.resume if job.graph == "learn" else ask.ASK.resume
        return cast("AsyncIterator[Any]", resume(THREAD, decide=agree))
    profile, picture = str(Path(job.folder, PROFILE)), str(Path(job.folder, PICTURE))
    options: dict[str, Any] = {"profile": profile, "thread": THREAD, "decide": agree}
    if job.graph == "learn":
        return learn.stream_learn("dog", tools=("CLASSIFY", "LOC"), approve=job.approve, **options)
    when: Any = "approved" if job.approve else "always"
    return ask.stream_ask([picture], INSTRUCTION, expected="yes", learn=when, **options)


def agree(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Agree to everything, as a person who is asked may."""
    return [{"type": "approve"} for _ in request["action_requests"]]


def child(job: Job, pipe: int) -> int:
    """Do a job in this process."""
    os.environ["SNELLEN_HOME"] = job.home
    if job.checkpoints != IN_MEMORY:
        os.environ["SNELLEN_CHECKPOINTS"] = job.checkpoints
    save_by(job.durability)
    witness = Witness(job, pipe)
    add_tools(witness)
    witness.watch_nodes()
    witness.watch_results()
    try:
        asyncio.run(follow_in_memory(job, witness) if job.checkpoints == IN_MEMORY else follow(job, witness))
    except BaseException:  # noqa: BLE001 - whatever it is, the parent's code must not go on in the child
        Path(job.home, "trouble").write_text(traceback.format_exc())
        return 1
    return 0


def forked(work: Callable[[], int]) -> int:
    """Do work in another process and return its id."""
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os._exit(work())
    return process


def outcome(job: Job) -> int:
    """Have a process do a job, kill it when the job says so, and return its exit status, negative for a signal."""
    reading, writing = os.pipe()
    process = forked(lambda: child(job, writing))
    os.close(writing)
    if _is_time(job, reading):
        os.kill(process, signal.SIGKILL)  # nobody has waited for it yet, so the id is still its own
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(reading)
    return status


def _is_time(job: Job, pipe: int) -> bool:
    """Wait until a process must be killed; return False where it ends before."""
    told, until = b"", math.inf
    while True:
        left = max(0.0, until - time.monotonic())
        if left == 0 or not select.select([pipe], [], [], None if left == math.inf else left)[0]:
            return True
        news = os.read(pipe, 4096)
        if not news:
            return False
        told += news
        if until == math.inf and job.since and job.since.encode() in told.split():
            until = time.monotonic() + job.delay


def lane(jobs: Sequence[Job]) -> int:
    """Do jobs one after the other."""
    for job in jobs:
        line = json.dumps({"home": job.home, "status": outcome(job)}) + "\n"
        os.write(sys.stdout.fileno(), line.encode())
    return 0


def warm_up() -> None:
    """Import what every process needs, but no graph: it would take the nodes before they are watched."""
    import importlib

    heavy = ("aiosqlite", "faiss", "langgraph.graph", "langgraph.checkpoint.sqlite.aio", "microworld", "torch")
    tuning = ("snellen.threads.ask", "safetensors.torch", "sqlite_utils", "snellen.tuning", "snellen.tools.vision")
    tools = (
        "snellen.tools.editing",
        "snellen.collection",
        "snellen.tuning.clip",
        "snellen.tuning.loc",
        "snellen.tuning.vqa",
    )
    for name in (
        *heavy,
        *tuning,
        *tools,
        "snellen.memory.prompts",
        "snellen.memory.artifacts",
        "snellen.learning.prompt_recall",
    ):
        importlib.import_module(name)
    importlib.import_module("PIL.Image").init()
    from transformers import (  # noqa: F401 - lazy: importing one imports what it needs
        BertTokenizer,
        BlipForQuestionAnswering,
        BlipImageProcessorPil,
        CLIPImageProcessorPil,
        CLIPModel,
        CLIPTokenizer,
        OwlViTForObjectDetection,
        OwlViTImageProcessorPil,
    )


def main() -> None:
    """Do what stdin says."""
    warm_up()
    save_profile(Path(sys.argv[1]))
    for line in sys.stdin:
        lanes = [[Job(**job) for job in jobs] for jobs in json.loads(line)]
        for process in [forked(functools.partial(lane, jobs)) for jobs in lanes]:
            os.waitpid(process, 0)
        sys.stdout.write("\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
