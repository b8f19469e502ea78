"""The Reasoner over a chat model: prompts, structured replies, validation, self-healing, accounting."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import BaseModel

from snellen.errors import BadInput
from snellen.profiles import Profile, ReasonerSettings
from snellen.reasoning.llm.critic import (
    CheckReply,
    CritiqueReply,
    StepAnswerReply,
    accept_answer,
    accept_check,
    accept_critique,
    accept_program,
    checker_prompt,
    critic_prompt,
    inferrer_prompt,
)
from snellen.reasoning.llm.endpoint_errors import Endpoint
from snellen.reasoning.llm.prompt_files import (
    lister_prompt,
    plain,
    planner_prompt,
    programmer_prompt,
    router_prompt,
    without_number,
)
from snellen.reasoning.llm.reviser import RevisionReply, accept_revision, reviser_prompt
from snellen.reasoning.llm.structured_model import Prices, StructuredModel, UnusableError, converse
from snellen.reasoning.reasoner import MAX_EXAMPLES, MAX_PLAN_STEPS, MAX_STEP_LENGTH, ReasonerUsage, Route
from snellen.reasoning.task import Examples, Plan, Task
from snellen.tools.knowledge.scope import catalogue_for
from snellen.tools.program import ProgramLimits
from snellen.tools.registry import catalogue

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from snellen.reasoning.critique import Critique, DescribedStep, FailedCase, Replay, StepCheck
    from snellen.reasoning.revision import ProposedRevision
    from snellen.reasoning.trouble import Trouble
    from snellen.tools.program import StepRecord

MAX_INFERENCES = 2
"""How often a chat model is asked for the right answer of a step, the second time with what came of the first."""
MAX_NAME_LENGTH = 80
"""Characters of one name in an answer to LIST."""


class PlanReply(BaseModel):
    """The plan for an instruction."""

    steps: list[str]


class ProgramReply(BaseModel):
    """The program for a plan."""

    program: str


class ListReply(BaseModel):
    """Names that fit a description."""

    names: list[str]


class RouteReply(BaseModel):
    """The part that a message is for."""

    route: Route


class ChatReasoner:
    """Reasons with any LangChain chat model (CLOVA, sections 3.1 and 3.2, figures 12 and 13).

    Args:
        model: The chat model.
        endpoint: Who that is, for the messages of failures; its own name if not given.
        prices: What tokens cost; `usage.cost` stays None without it.
        limits: What a program may use.
        catalogue: The tools as the model reads them; all registered ones if not given.
    """

    examples_wanted = MAX_EXAMPLES
    needs_one_meaning = False
    """Four correct and four incorrect (CLOVA, section 4.1); more would cost tokens with every request."""

    def __init__(
        self,
        model: BaseChatModel,
        *,
        endpoint: Endpoint | None = None,
        prices: Prices | None = None,
        limits: ProgramLimits | None = None,
        catalogue: str | None = None,
    ) -> None:
        named = str(getattr(model, "model_name", "") or type(model).__name__)
        self.model = StructuredModel(model, endpoint=endpoint or Endpoint(named), prices=prices)
        self._limits = limits or ProgramLimits()
        self._catalogue = catalogue

    @property
    def usage(self) -> ReasonerUsage:
        """Calls, tokens and cost so far, failed attempts included."""
        return self.model.usage

    async def plan(self, task: Task, examples: Examples) -> Plan:
        """Decompose the instruction into 1 to 20 steps.

        Raises:
            BadInput: The instruction is empty or too long.
            ReasoningFailed: No valid plan within eight replies, or the endpoint failed.
        """
        self._check_instruction(task)
        prompt = planner_prompt(task, examples, self._tools())
        return await converse(self.model, prompt, PlanReply, accept=_accept_plan, wanted="a plan")

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        """Write the program of a plan: text that parses and passes `tools.program.check` with the task's inputs.

        Raises:
            BadInput: The instruction is empty or too long.
            ReasoningFailed: No valid program within eight replies, or the endpoint failed.
        """
        self._check_instruction(task)
        prompt = programmer_prompt(task, plan, examples, self._tools())

        def accept(reply: ProgramReply) -> str:
            return accept_program(reply.program, task, self._limits)

        return await converse(self.model, prompt, ProgramReply, accept=accept, wanted="a program")

    async def revise(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        examples: Examples,
    ) -> ProposedRevision | None:
        """Revise a program whose run was in trouble; None where the model says that the answer stands.

        Raises:
            ReasoningFailed: No valid revision within eight replies, or the endpoint failed.
        """
        prompt = reviser_prompt(task, plan, program, steps, trouble, examples, self._tools())

        def accept(reply: RevisionReply) -> ProposedRevision | None:
            return accept_revision(
                reply, task, self._limits, accept_plan=lambda written: _accept_plan(PlanReply(steps=written))
            )

        return await converse(self.model, prompt, RevisionReply, accept=accept, wanted="a revision")

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        """Name at most `limit` things that fit the query, only of `candidates` where any are given.

        An empty query or a limit below one gets an empty list, without a call.

        Raises:
            ReasoningFailed: No valid list within eight replies, or the endpoint failed.
        """
        if limit < 1 or not query.strip():
            return []
        prompt = lister_prompt(query, limit, candidates)

        def accept(reply: ListReply) -> list[str]:
            return _accept_names(reply, limit=limit, candidates=candidates)

        return await converse(self.model, prompt, ListReply, accept=accept, wanted="a list")

    async def route(self, message: str) -> Route:
        """Say which part of Snellen a message is for; an empty one is "unclear", without a call.

        Raises:
            ReasoningFailed: No valid answer within eight replies, or the endpoint failed.
        """
        if not message.strip():
            return "unclear"
        prompt = router_prompt(message)
        return await converse(self.model, prompt, RouteReply, accept=lambda reply: reply.route, wanted="a route")

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        """Find at one go what made the answer wrong (CLOVA, section 3.3 and figure 14).

        A corrected program that does not give the right answer either is dropped, and halves the certainty.

        Raises:
            ReasoningFailed: No valid critique within eight replies, or the endpoint failed.
        """

        def accept(reply: CritiqueReply) -> Critique:
            return accept_critique(reply, case, self._limits)

        critique = await converse(self.model, critic_prompt(case), CritiqueReply, accept=accept, wanted="a critique")
        if not critique.program or (await replay({}, critique.program)).agrees:
            return critique
        return replace(critique, program="", certainty=critique.certainty / 2)

    async def check_step(
        self,
        case: FailedCase,
        address: str,
        checked: Sequence[StepCheck],
        replay: Replay,  # noqa: ARG002 - a chat model judges by what it reads
    ) -> StepCheck:
        """Judge one step with those found right before it in view (CLOVA, section 3.3 and figure 15).

        Raises:
            ReasoningFailed: No valid judgement within eight replies, or the endpoint failed.
            BadInput: The case has no step at this address.
        """
        step = _step_at(case, address)

        def accept(reply: CheckReply) -> StepCheck:
            return accept_check(reply, step, case)

        prompt = checker_prompt(case, step, checked)
        return await converse(self.model, prompt, CheckReply, accept=accept, wanted="a judgement")

    async def infer_answer(self, case: FailedCase, address: str, replay: Replay) -> str:
        """Infer what a VQA step should have answered (CLOVA, section 3.4 and figure 16).

        An answer with which the result is still wrong is shown to the model once; its last answer counts.

        Raises:
            ReasoningFailed: No valid answer within eight replies, or the endpoint failed.
            BadInput: The case has no step at this address.
        """
        step, tried, answer = _step_at(case, address), list[str](), ""
        for _ in range(MAX_INFERENCES):
            prompt = inferrer_prompt(case, step, tried)
            answer = await converse(self.model, prompt, StepAnswerReply, accept=accept_answer, wanted="an answer")
            outcome = await replay({address: answer})
            if outcome.agrees:
                break
            tried.append(f"{answer}: the result was {' '.join(str(outcome.answer).split())[:MAX_NAME_LENGTH]}")
        return answer

    def _tools(self) -> str:
        if self._catalogue is None:
            self._catalogue = str(catalogue()).strip()
        return self._catalogue

    def _check_instruction(self, task: Task) -> None:
        if not plain(task.instruction).strip():
            msg = "The instruction is empty: say what to do with the pictures."
            raise BadInput(msg)
        if len(task.instruction.encode(errors="replace")) > self._limits.text:
            msg = f"The instruction is longer than {self._limits.text} bytes: shorten it."
            raise BadInput(msg)


def chat_reasoner(profile: Profile) -> ChatReasoner:
    """Make a `ChatReasoner` over ``ChatOpenAI`` as the profile's ``[reasoner]`` says.

    The address is the profile's ``base_url``, else ``OPENAI_BASE_URL``, else OpenAI's own. The key is
    ``OPENAI_API_KEY``, which an address other than OpenAI's may do without.

    Raises:
        BadInput: No key for OpenAI, or an address that is not one.
    """
    from langchain_openai import ChatOpenAI

    # Its advice to program otherwise is taken: an endpoint that refuses a schema is asked in another way.
    for advice in ("This model does not support OpenAI's structured", "Cannot use method='json_schema'"):
        warnings.filterwarnings("ignore", message=advice, category=UserWarning)
    settings = profile.reasoner
    base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or None
    model = ChatOpenAI(
        model=settings.model,
        api_key=_key(base_url),
        base_url=base_url,
        temperature=settings.temperature,
        timeout=settings.timeout,
        max_retries=settings.max_retries,
        max_tokens=settings.max_tokens,
        # A connection kept for reuse belongs to an event loop that may be closed by the next call.
        default_headers={"Connection": "close"},
        # Endpoints other than OpenAI's seldom have its newer interface, whatever their models are called.
        use_responses_api=False if base_url else None,
    )
    endpoint = Endpoint(settings.model, base_url, timeout=settings.timeout, tries=1 + settings.max_retries)
    limits, tools = ProgramLimits.of(profile), str(catalogue_for(profile)).strip()
    return ChatReasoner(model, endpoint=endpoint, prices=_prices(settings), limits=limits, catalogue=tools)


def _step_at(case: FailedCase, address: str) -> DescribedStep:
    step = case.step(address)
    if step is None:
        msg = f"There is no step {address!r} in this run; its steps are {', '.join(one.address for one in case.steps)}."
        raise BadInput(msg)
    return step


def _key(base_url: str | None) -> str:
    if base_url and not _is_web_address(base_url):
        msg = "base_url under [reasoner] in the profile, or OPENAI_BASE_URL, is no web address: give one such as "
        msg += "http://localhost:8000/v1."
        raise BadInput(msg)
    key = os.environ.get("OPENAI_API_KEY")
    if key:
        return key
    if base_url:
        return "not-needed"
    msg = (
        "There is no key for the chat model: set OPENAI_API_KEY, name a server of your own as base_url under "
        '[reasoner] in the profile, or set kind = "cases" there.'
    )
    raise BadInput(msg)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _prices(settings: ReasonerSettings) -> Prices | None:
    if not settings.input_price and not settings.output_price:
        return None
    return Prices(input=settings.input_price, output=settings.output_price)


def _accept_plan(reply: PlanReply) -> Plan:
    steps = [without_number(step) for step in reply.steps]
    if not 1 <= len(steps) <= MAX_PLAN_STEPS:
        msg = f"A plan has 1 to {MAX_PLAN_STEPS} steps; this one has {len(steps)}."
        raise UnusableError(msg)
    for number, step in enumerate(steps, start=1):
        if not step:
            msg = f"Step {number} is empty."
            raise UnusableError(msg)
        if len(step) > MAX_STEP_LENGTH:
            msg = f"Step {number} has {len(step)} characters; at most {MAX_STEP_LENGTH} are allowed."
            raise UnusableError(msg)
    return Plan(steps)


def _accept_names(reply: ListReply, *, limit: int, candidates: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(" ".join(plain(name).split()) for name in reply.names))
    if any(not name or len(name) > MAX_NAME_LENGTH for name in names):
        msg = f"A name has 1 to {MAX_NAME_LENGTH} characters."
        raise UnusableError(msg)
    if not candidates:
        return names[:limit]
    spelled = {each.casefold(): each for each in candidates}
    known = [spelled[name.casefold()] for name in names if name.casefold() in spelled]
    # One stray name is dropped, for the running program is better served by the rest; a list of strays goes back.
    if names and not known:
        msg = "None of these names is among the candidates."
        raise UnusableError(msg)
    return list(dict.fromkeys(known))[:limit]
