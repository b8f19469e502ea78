"""Requests to a chat model as Snellen makes them, for tests of recordings and of the mailbox."""

from __future__ import annotations

from benchmarks.recordings import RecordedRequest, Reply
from snellen.memory.demonstrations import demonstration
from snellen.reasoning.llm.prompt_files import Prompt, planner_prompt, programmer_prompt
from snellen.reasoning.llm.reasoner import PlanReply, ProgramReply
from snellen.reasoning.task import Examples, Plan, Task

COUNTED = "How many cats are there?"
PLAN: Reply = {"steps": ["Locate the cats.", "Count them."]}
PROGRAM: Reply = {"program": "BOX0=LOC(image=IMAGE,object='cat')\nFINAL_RESULT=RESULT(var=len(BOX0))"}


def plan_request(says: str = COUNTED, *, tools: str = "LOC", example: str = "") -> RecordedRequest:
    """Return a request for a plan, with other tools and examples if asked for."""
    shown = [demonstration("plan", example, plan=["Look."])] if example else []
    prompt = planner_prompt(Task(says, {"IMAGE": "Picture"}), Examples(plans_correct=shown), tools)
    return RecordedRequest("PlanReply", PlanReply.model_json_schema(), _messages(prompt))


def program_request(says: str = COUNTED, plan: Reply = PLAN) -> RecordedRequest:
    """Return a request for a program."""
    task = Task(says, {"IMAGE": "Picture"})
    prompt = programmer_prompt(task, Plan(plan["steps"]), Examples(), "LOC")
    return RecordedRequest("ProgramReply", ProgramReply.model_json_schema(), _messages(prompt))


def corrected(request: RecordedRequest, reply: str, complaint: str) -> RecordedRequest:
    """Return the request that follows a reply that could not be used."""
    again = [
        {"role": "assistant", "content": reply},
        {"role": "user", "content": f"That reply cannot be used:\n| {complaint}\nReply again."},
    ]
    return RecordedRequest(request.kind, request.schema, [*request.messages, *again])


def _messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
