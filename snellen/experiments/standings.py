"""Standings of models in a question: what the experiments so far say, and whether a further one may change it.

Who fails at an experiment is asked the same in other words (`further_wordings`); who manages that has not failed to
see. Who answers the same whatever is shown (`constant_answers`) has not, either, or who fails at the name of a group
("a bird"): the wordings and experiments after that decide, and where there are none, there is no answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from snellen.experiments.design import BY_CLASS, Claim, Design
from snellen.experiments.examination_plan import ExaminedQuestion
from snellen.experiments.further_wordings import further_wordings, is_further_wording, is_further_wording_of
from snellen.experiments.model_outcomes import ModelOutcome, blind_told, wordings_told
from snellen.experiments.report import Experiment, Finding
from snellen.experiments.severity_search import bound_in_words, limit_figures, limit_in_words, limit_of
from snellen.experiments.verdicts import TURNED, Verdict
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.abilities import Favour, IdentifyType
from snellen.reasoning.queries.model_query import Contrast, ModelQuestion


@dataclass(frozen=True)
class ModelStanding:
    """Standing of a model, or of two that are compared, in a question, as far as is known.

    Attributes:
        about: The model, or the two.
        says: Whether what the question is about holds, as far as is known: it is good, robust, within a bound, better.
        pending: Whether a further experiment may change it.
        decisive: The verdict of the claims that the answer rests on.
        moot: Why there is no answer, other than too little evidence.
        claimed: Whom its claims are about: `Claim.about`.
        form: What came of each wording, where it was asked in several, or one says nothing of what it sees.
        again: The place of the experiment that it is to be asked in other words, and of these; None for the next one.
        level: The place of the experiment that a search for a limit wants next.
        found: Up to which severity it holds, where that is asked and known: "up to blur by a factor of 8"; or the class
            that is recognized worst or best.
        bound: What is decided of a limit that is not found: "at least up to blur by a factor of 8".
        among: The classes that may be it, and how many there are.
        lacks: Why it is not decided, and what would decide it.
        figures: What was measured: what decides, or how often it was right at each severity that was tried.
        beside: What was measured in its other experiments.
    """

    about: str
    says: Verdict
    pending: bool
    decisive: Verdict
    moot: str = ""
    claimed: tuple[str, ...] = ()
    form: str = ""
    again: tuple[int, int] | None = None
    level: int | None = None
    found: str = ""
    bound: str = ""
    among: tuple[tuple[str, ...], int] = ((), 0)
    lacks: str = ""
    figures: str = ""
    beside: str = ""


def experiments_of(parts: Sequence[ExaminedQuestion], experiments: Sequence[Experiment]) -> list[list[Experiment]]:
    """Return the experiments that were begun for each question, in their order.

    One that a person edited goes to the first question that has fewest and still lacks one.
    """
    done: list[list[Experiment]] = [[] for _ in parts]
    for experiment in experiments:
        matching = [number for number, part in enumerate(parts) if _may_follow(part, done[number], experiment.design)]
        lacking = [number for number, part in enumerate(parts) if len(_planned(done[number])) < len(part.designs)]
        candidates = matching or lacking or [0]
        done[min(candidates, key=lambda number: len(done[number]))].append(experiment)
    return done


def _planned(experiments: Sequence[Experiment]) -> list[Experiment]:
    return [one for one in experiments if not is_further_wording(one.design)]


def _may_follow(part: ExaminedQuestion, done: Sequence[Experiment], design: Design) -> bool:
    """Tell whether a design is that of the next experiment of a question, or one of the last ones in other words."""
    number = len(_planned(done))
    if part.question.asks == "limit":
        begun = {one.design.condition for one in done}
        return any(_is_like(each, design) for each in part.designs if each.condition not in begun)
    repeated = part.designs[:number] if is_further_wording(design) else []
    following = [wording for one in repeated for wording in further_wordings(one)]
    return any(_is_like(planned, design) for planned in following or part.designs[number : number + 1])


def _is_like(planned: Design, design: Design) -> bool:
    """Tell whether a design is one that was planned, with some of its claims; earlier versions had other wordings."""
    is_further = is_further_wording(design)
    fields = ("condition", "purpose", "paired", "against", *(() if is_further else ("skill", "question")))
    same = all(getattr(planned, name) == getattr(design, name) for name in fields)
    return same and set(design.claims) <= set(planned.claims)


def next_of(part: ExaminedQuestion, experiments: Sequence[Experiment]) -> Design | None:
    """Return the next experiment of a question, with the claims about those whose standing it may change.

    Args:
        part: The question.
        experiments: Those that were begun for it.
    """
    pending = [one for one in standings(part, experiments) if one.pending]
    if not pending:
        return None
    if part.question.asks == "limit":
        level = max((one.level for one in pending if one.level is not None), key=[one.level for one in pending].count)
        names = {one.about for one in pending if one.level == level}
        return _of_those(part.designs[level], names, part.question)
    again = [one.again for one in pending if one.again is not None]
    wanted = min(again, default=None)
    design = part.designs[len(_planned(experiments))] if wanted is None else again_of(part, wanted)
    return _of_those(design, {one.about for one in pending if one.again == wanted}, part.question)


def again_of(part: ExaminedQuestion, again: tuple[int, int]) -> Design:
    """Return an experiment of a question in the other words that a standing waits for (`ModelStanding.again`)."""
    place, wording = again
    return further_wordings(part.designs[place])[wording]


def _of_those(design: Design, names: Collection[str], question: ModelQuestion) -> Design:
    """Return a design with the claims that concern some models, or pairs of them."""
    claims = [claim for claim in design.claims if any(_concerns(claim, name, question) for name in names)]
    return design.model_copy(update={"claims": claims})


def _concerns(claim: Claim, name: str, question: ModelQuestion) -> bool:
    """Tell whether the standing of a model, or of a pair, rests on a claim: of a pair, also on what is said of each."""
    of_one = question.comparison is not None and not claim.other and claim.model in name.split(" and ")
    return of_one or about(claim, question) == name


def about(claim: Claim, question: ModelQuestion) -> str:
    """Name the model that a claim is about, or both, in the order of the question, whichever is said to be better."""
    if not claim.other:
        return claim.model
    order = question.models.index
    return " and ".join(sorted((claim.model, claim.other), key=order))


def standings(part: ExaminedQuestion, experiments: Sequence[Experiment]) -> list[ModelStanding]:
    """Return where every model, or every pair that is compared, stands in a question."""
    pairs = part.question.comparison is not None
    names = dict.fromkeys(about(claim, part.question) for claim in part.designs[0].claims if claim.other or not pairs)
    return [_standing(name, part, experiments) for name in names]


def outcomes_of(name: str, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> list[ModelOutcome]:
    """Return what each planned experiment gave for a model, all of its wordings together."""
    outcomes: list[ModelOutcome] = []
    exact = _states_how_much(part.question)
    for experiment in experiments:
        findings = [one for one in experiment.findings if _concerns(one.claim, name, part.question)]
        outcome = ModelOutcome.of(experiment, findings, exact=exact)
        if not is_further_wording(experiment.design):
            outcomes.append(outcome)
            continue
        for place, planned in enumerate(part.designs[: len(outcomes)]):
            if findings and is_further_wording_of(experiment.design, planned):
                outcomes[place] = outcomes[place].together(outcome, exact=exact)
    return outcomes


def _states_how_much(question: ModelQuestion) -> bool:
    """Tell whether a question states a share of the pictures, or by how many points one model is better."""
    if question.robust:
        return False
    bound, comparison = question.threshold, question.comparison
    return (bound is not None and not bound.guessing) or (comparison is not None and comparison.margin > 0)


def _standing(name: str, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> ModelStanding:
    question = part.question
    claimed = tuple(dict.fromkeys(one.about for one in part.designs[0].claims if _concerns(one, name, question)))
    outcomes = outcomes_of(name, part, experiments)
    trouble = next((one.trouble for each in outcomes for one in each.findings if one.trouble), "")
    if trouble:
        return ModelStanding(name, "open", pending=False, decisive="open", moot=trouble, claimed=claimed)
    if question.asks == "limit":
        return replace(_limit(name, part, experiments), claimed=claimed)
    form = wordings_told(outcomes)
    left = len(outcomes) < len(part.designs)
    asked_next = [(place, one.next_wording) for place, one in enumerate(outcomes) if one.is_doubtful]
    doubtful = [(place, wording) for place, wording in asked_next if wording is not None]
    again = ModelStanding(name, "open", pending=True, decisive="open", again=next(iter(doubtful), None))
    if question.comparison is not None:
        standing = again if doubtful else _comparison(name, question, outcomes, left=left)
    elif isinstance(question.ability, Favour):
        standing = _favour(name, question, outcomes, left=left)
    elif question.than is not None:
        standing = _contrast(name, question.than, outcomes, left=left)
    elif doubtful:
        standing = again
    elif question.asks == "which classes" or question.classes is not None:
        standing = _of_classes(name, question, outcomes, left=left)
    else:
        turn = question.threshold is not None and question.threshold.above == question.robust
        if question.robust:
            standing = _robustness(name, outcomes, left=left)
        else:
            by_name = all(one.of_names for one in part.designs[len(outcomes) :])
            standing = _ability(name, question, outcomes, left=left, by_name=by_name)
        seeing = [one.counts for one in outcomes if not one.design.of_names]
        if not left and seeing and not seeing[-1] and standing.says == "open":
            standing = replace(standing, moot=standing.moot or form)
        standing = replace(standing, says=TURNED[standing.says] if turn else standing.says)
    return replace(standing, claimed=claimed, form=form)


def _ability(
    name: str, question: ModelQuestion, outcomes: Sequence[ModelOutcome], *, left: bool, by_name: bool
) -> ModelStanding:
    """Return whether a model is good in all experiments, as far as they say what it sees.

    Where those that are left ask for a group by its name alone, they can only take back that a model fails.
    """
    verdicts = [verdict for one in outcomes if one.counts for verdict in one.verdicts()]
    if "no" not in verdicts and any(one.depends for one in outcomes):
        return ModelStanding(name, "open", pending=False, decisive="open", moot=_depending(outcomes))
    ability = question.ability
    together = isinstance(ability, IdentifyType) and len(ability.condition.types) > 1
    if "no" in verdicts:
        named = [one for one in outcomes if one.design.of_names and "yes" in one.verdicts()]
        if named:  # and it manages that: what it sees is not what differs
            return ModelStanding(name, "open", pending=False, decisive="no", moot=_depending(outcomes))
        return ModelStanding(name, "no", pending=left and (together or by_name), decisive="no")
    left = left and not by_name
    if "open" in verdicts or left or not outcomes:
        return ModelStanding(name, "open", pending=left, decisive="open" if "open" in verdicts else "yes")
    if not outcomes[-1].counts or (together and not all(one.counts for one in outcomes)):
        return ModelStanding(name, "open", pending=False, decisive="no")
    return ModelStanding(name, "yes", pending=False, decisive="yes")


def _depending(outcomes: Sequence[ModelOutcome]) -> str:
    """Say that an answer depends on the words, and on which."""
    return f"that depends on the words: {wordings_told(outcomes)}"


def _comparison(name: str, question: ModelQuestion, outcomes: Sequence[ModelOutcome], *, left: bool) -> ModelStanding:
    """Return whether the first of two is better, or both are alike, as far as both say what they see."""
    counting = [one for one in outcomes if one.counts]
    if any(one.depends for one in outcomes):
        return ModelStanding(name, "open", pending=False, decisive="open", moot=_depending(outcomes))
    if outcomes and not counting and not left:
        return ModelStanding(name, "open", pending=False, decisive="open", moot=wordings_told(outcomes))
    if _is_blind(counting):
        moot = "" if left else blind_told(counting)
        return ModelStanding(name, "open", pending=left, decisive="open", moot=moot)
    counting = [one for one in counting if not one.is_blind]
    findings = [one for each in counting for one in each.findings if one.claim.other]
    decided = [one for one in findings if one.verdict != "open"]
    how, margin = (question.comparison.how, question.comparison.margin) if question.comparison else ("better", 0)
    if how == "alike" or (how == "best" and margin > 0):
        first = next((one for one in decided if one.verdict == "yes"), None)
        if first is not None:
            is_first = question.models.index(first.claim.model) < question.models.index(first.claim.other)
            says: Verdict = "no" if how == "alike" or not is_first else "yes"
            return ModelStanding(name, says, pending=False, decisive="yes")
        ruled_out = bool(findings) and len(counting) == len(outcomes) and all(one.verdict == "no" for one in findings)
        if how == "alike" and ruled_out and not left:
            return ModelStanding(name, "yes", pending=False, decisive="no")
        return ModelStanding(name, "open", pending=left, decisive="no" if ruled_out else "open")
    verdict = _verdict_of_one(findings, left=left or len(counting) < len(outcomes))
    says = TURNED[verdict] if how == "as good" else verdict
    return ModelStanding(name, says, pending=left and verdict == "open", decisive=verdict)


def _verdict_of_one(findings: Sequence[Finding], *, left: bool) -> Verdict:
    """Return whether a model is better than another one, by some points if its claims have a margin.

    Any experiment may show a difference. That there is none so large only follows from all of them: two that guess at
    the hardest one are alike there.

    Args:
        findings: Of all experiments that count.
        left: Whether there are others.
    """
    found = {one.verdict for one in findings}
    if all(one.claim.of_gain for one in findings):
        found -= {"open"}
        return found.pop() if len(found) == 1 else "open"
    if "yes" in found:
        return "yes"
    return "no" if found == {"no"} and not left else "open"


def _contrast(name: str, than: Contrast, outcomes: Sequence[ModelOutcome], *, left: bool) -> ModelStanding:
    """Return whether a model is better at the first of two tasks, or under the first of two conditions.

    Under the first condition it is better if it loses less from the second to that.
    """
    counting = [one for one in outcomes if one.counts]
    verdicts = [verdict for one in counting for verdict in one.verdicts() if verdict != "open"]
    decided: Verdict = verdicts[0] if verdicts else "open"
    says = decided if than.ability is not None else TURNED[decided]
    return ModelStanding(name, says, pending=left and decided == "open", decisive=decided)


def _favour(name: str, question: ModelQuestion, outcomes: Sequence[ModelOutcome], *, left: bool) -> ModelStanding:
    """Return whether a model gives an answer too often to one of the questions, or always: to each of them.

    Where it is asked which one, it may be another to each question.
    """
    verdicts = [next((one for one in ("yes", "open") if one in of.verdicts()), "no") for of in outcomes if of.findings]
    always = isinstance(question.ability, Favour) and question.ability.always
    once: Verdict = "no" if always else "yes"
    found = dict.fromkeys(one.claim.said for of in outcomes for one in of.findings if one.verdict == "yes")
    says: Verdict = once if once in verdicts else "open" if left or {"open"} & {*verdicts} else TURNED[once]
    pending = left and (says == "open" or question.asks == "which answer")
    return ModelStanding(name, says, pending=pending, decisive=says, found=listing(list(found)) if found else "")


def _of_classes(name: str, question: ModelQuestion, outcomes: Sequence[ModelOutcome], *, left: bool) -> ModelStanding:
    """Return whether a model recognizes so many classes; or which one worst, or best, or those among which it is."""
    findings = [one for each in outcomes for one in each.findings if one.claim.kind in BY_CLASS]
    if not findings:
        return ModelStanding(name, "open", pending=left, decisive="open")
    last = findings[-1]
    if question.classes is not None:
        moot = _unsaid_of_classes(last, outcomes[-1])
        says: Verdict = "open" if moot else TURNED[last.verdict] if question.classes.is_upper else last.verdict
        return ModelStanding(name, says, pending=left, decisive=last.verdict, moot=moot)
    found, among = (last.likeliest if last.verdict == "yes" else ""), (tuple(last.among), len(last.against))
    return ModelStanding(name, last.verdict, pending=left, decisive=last.verdict, found=found, among=among)


def _unsaid_of_classes(found: Finding, outcome: ModelOutcome) -> str:
    """Say why it cannot be said of how many classes a model recognizes; empty where it can.

    Each wording may fail other classes by its words. What fails by sight is short in both of them.
    """
    told = wordings_told([outcome])
    if not outcome.counts:
        return told
    recognized = len(found.by_class) - len(outcome.short)
    is_of_words = found.verdict == "no" and outcome.is_repeated and recognized >= found.claim.count
    return f"which kinds it fails at depends on the words: {told}" if is_of_words else ""


def _limit(name: str, part: ExaminedQuestion, experiments: Sequence[Experiment]) -> ModelStanding:
    """Return up to which severity a model is right often enough."""
    limit, condition = limit_of(name, part, experiments), part.question.condition
    if limit.is_blind:
        moot = "it is not right often enough in the pictures as they were"
        return ModelStanding(name, "open", pending=False, decisive="no", moot=moot)
    change = condition.change.type if condition is not None and condition.change is not None else ""
    found = limit_in_words(limit, change)
    pending = limit.wanted is not None
    says: Verdict = "yes" if limit.is_found and not pending else "open"
    return ModelStanding(
        name,
        says,
        pending=pending,
        decisive=says,
        level=limit.wanted,
        found=found,
        bound="" if found else bound_in_words(limit, change),
        figures=limit_figures(limit, change),
    )


def _is_blind(outcomes: Sequence[ModelOutcome]) -> bool:
    """Tell whether some change was only tried where not enough is recognized in the pictures as they were."""
    tried = [one.design.condition for one in outcomes]
    judged = [one.design.condition for one in outcomes if not one.is_blind]
    return any(condition not in judged for condition in tried)


def _robustness(name: str, outcomes: Sequence[ModelOutcome], *, left: bool) -> ModelStanding:
    """Return whether a model loses nothing in all experiments that say what it sees in the plain pictures.

    One in which it does not recognize enough says nothing, if another one is about the same change. Where that is not
    decided it is near the bar, and there is something to lose.
    """
    seeing = [one for one in outcomes if one.counts]
    if any("yes" in one.verdicts("drop") for one in seeing):
        return ModelStanding(name, "no", pending=False, decisive="yes")
    drops = [verdict for one in seeing if not one.is_blind for verdict in one.verdicts("drop")]
    if _is_blind(seeing):
        # What it loses of what it does recognize may still be decided; of what it does not, there is nothing to lose.
        is_open = left or "open" in drops
        moot = "" if is_open else "it does not recognize enough in the pictures as they were to lose anything"
        return ModelStanding(name, "open", pending=left, decisive="open", moot=moot)
    if "open" in drops or left or not outcomes:
        return ModelStanding(name, "open", pending=left, decisive="open" if "open" in drops else "no")
    if not outcomes[-1].counts:
        return ModelStanding(name, "open", pending=False, decisive="no")
    return ModelStanding(name, "yes", pending=False, decisive="no")
