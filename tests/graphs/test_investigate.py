"""The investigate graph as a whole, over models that are right as often as the test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from snellen.errors import BadInput
from snellen.experiments.design import Design
from snellen.experiments.report import Report, verdict_of
from snellen.graphs.investigate import builder
from snellen.graphs.states import STATE_TYPES, InvestigateState
from snellen.memory.checkpoints import serializer
from snellen.runtime.context import Context
from snellen.tools.samples import Alignment
from tests.experiments.investigating import Oracle, Preferring, watched
from tests.graphs.scripted import make_context

GOOD: Callable[..., float] = lambda *_: 0.97  # noqa: E731
POOR: Callable[..., float] = lambda *_: 0.5  # noqa: E731
FRAGILE: Callable[..., float] = lambda _, changed: 0.6 if changed else 0.97  # noqa: E731
CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 4_000}


def context(folder: Path, oracle: Oracle, **more: Any) -> Context:  # noqa: ANN401 - fields of an examination
    return replace(make_context(folder), examination=watched(folder, oracle, **more))


def state(query: str, models: list[str], **more: Any) -> InvestigateState:  # noqa: ANN401 - fields of the state
    return InvestigateState(query=query, models=models, **{"investigation": "t"} | more)


async def investigated(folder: Path, oracle: Oracle, query: str, **more: Any) -> Report:  # noqa: ANN401 - as above
    graph = builder.compile()
    begun = state(query, list(oracle.rates), **more)
    found = await graph.ainvoke(begun, CONFIG, context=context(folder, oracle))
    return Report.model_validate(found["report"])


async def test_robust_models_and_fragile_ones_are_told_apart(tmp_path: Path) -> None:
    oracle = Oracle({"sound": GOOD, "fragile": FRAGILE})
    report = await investigated(tmp_path, oracle, "Are these models robust to noise?")
    assert {answer.about: verdict_of(answer) for answer in report.answers} == {"sound": "yes", "fragile": "no"}
    assert "fragile is not robust to Gaussian noise" in report.conclusion
    first, second = report.experiments
    assert {one.claim.model for one in first.findings} == {"sound", "fragile"}
    assert {one.claim.model for one in second.findings} == {"sound"}, "who failed is not asked the harder one"
    for experiment in report.experiments:
        assert experiment.stopped in {"all claims are decided", "what matters is decided"}
        for finding in experiment.findings:
            low, high = finding.interval
            if finding.verdict == "open":
                assert finding.claim.kind == "plain"
                continue
            assert not low <= finding.claim.threshold <= high
            assert low <= finding.mean <= high
    assert max(oracle.asked.values()) == 1, "each trial is measured once"
    assert report.trials == sum(oracle.asked.values())


async def test_abilities_are_climbed_to_the_first_that_is_missing(tmp_path: Path) -> None:
    coarse: Callable[..., float] = lambda question, _: 0.97 if len(question.choices) == 2 else 0.3  # noqa: E731
    oracle = Oracle({"sound": GOOD, "poor": POOR, "coarse": coarse})
    report = await investigated(tmp_path, oracle, "Can these models count?", budget={"experiments": 8})
    assert {answer.about: verdict_of(answer) for answer in report.answers} == {
        "sound": "yes",
        "poor": "no",
        "coarse": "no",
    }


async def test_who_fails_in_one_wording_alone_does_not_fail(tmp_path: Path) -> None:
    wording: Callable[..., float] = lambda question, _: 0.97 if question.text == "What is in the image?" else 0.3  # noqa: E731
    report = await investigated(tmp_path, Oracle({"picky": wording, "poor": POOR}), "Can these models recognize birds?")
    assert [verdict_of(answer) for answer in report.answers] == ["yes", "no"]
    told = report.answers[0].sentence
    assert "asked “Is the object in the image …?” it is right in " in told
    assert "a bird or a food" not in told, "who manages the members is not asked for the group by its name"
    assert "asked “Is the object in the image a bird or a food?” it is right in " in report.answers[1].sentence


async def test_the_better_of_two_is_found(tmp_path: Path) -> None:
    oracle = Oracle({"alpha": lambda *_: 0.6, "beta": GOOD})
    report = await investigated(tmp_path, oracle, "Which of alpha and beta is better at vehicles?")
    (answer,) = report.answers
    assert verdict_of(answer) == "no"
    assert answer.sentence.startswith("beta is better than alpha at recognizing vehicles")


async def test_who_loses_a_comparison_by_its_words_is_asked_in_others(tmp_path: Path) -> None:
    oracle = Preferring(
        {"fair": lambda *_: 0.7, "first": GOOD},
        prefers={"first": lambda question: None if question.text == "What is in the image?" else question.choices[0]},
    )
    report = await investigated(tmp_path, oracle, "Is fair better than first at telling vehicles from one another?")
    (answer,) = report.answers
    assert verdict_of(answer) == "no"
    assert answer.sentence.startswith("No, first is better than fair at telling vehicles from one another")
    assert "first chooses the first name for" in answer.sentence
    assert [one.design.question for one in report.experiments][:2] == [
        "Is the object in the image …?", "What is in the image?",
    ]  # fmt: skip


async def test_nobody_is_worse_than_another_model_for_saying_one_thing_in_all_words(tmp_path: Path) -> None:
    oracle = Preferring({"fair": GOOD, "first": GOOD}, prefers={"first": lambda question: question.choices[0]})
    report = await investigated(tmp_path, oracle, "Is fair better than first at telling vehicles from one another?")
    (answer,) = report.answers
    assert verdict_of(answer) == "open"
    assert "cannot be said" in answer.sentence
    assert answer.sentence.count("first chooses the first name for") > 1
    assert report.headline.endswith("Cannot be said.")


async def test_a_comparison_says_that_it_was_not_asked_in_other_words(tmp_path: Path) -> None:
    oracle = Preferring({"fair": GOOD, "first": GOOD}, prefers={"first": lambda question: question.choices[0]})
    query = "Is fair better than first at telling vehicles from one another?"
    report = await investigated(tmp_path, oracle, query, budget={"experiments": 1})
    (answer,) = report.answers
    assert verdict_of(answer) == "open"
    assert "they have to be asked in other words, “What is in the image?”, before one of them" in answer.sentence


async def test_of_a_ranking_only_those_are_asked_again_who_lost_by_their_words(tmp_path: Path) -> None:
    oracle = Preferring(
        {"good": GOOD, "fair": lambda *_: 0.8, "first": GOOD},
        prefers={"first": lambda question: question.choices[0]},
    )
    report = await investigated(tmp_path, oracle, "Which of good, fair and first is best at telling vehicles apart?")
    assert report.headline.startswith("good is best")
    assert "first cannot be compared" in report.headline
    again = [one for one in report.experiments if one.design.question == "What is in the image?"]
    assert again
    assert all("first" in claim.models for one in again for claim in one.design.claims)


async def test_who_cannot_see_the_plain_pictures_has_no_robustness_to_lose(tmp_path: Path) -> None:
    report = await investigated(tmp_path, Oracle({"poor": POOR}), "Is poor robust to noise?")
    assert verdict_of(report.answers[0]) == "open"
    assert "does not recognize enough" in report.conclusion


async def test_a_budget_ends_in_an_honest_partial_report(tmp_path: Path) -> None:
    oracle = Oracle({"close": lambda *_: 0.75})
    report = await investigated(tmp_path, oracle, "Can close recognize birds?", budget={"images": 60})
    assert verdict_of(report.answers[0]) == "open"
    assert "not decided" in report.conclusion
    assert report.images <= 60
    assert report.questions
    (tmp_path / "other").mkdir()
    oracle = Oracle({"close": GOOD})
    short = await investigated(tmp_path / "other", oracle, "Can close count?", budget={"experiments": 1})
    assert len(short.experiments) == 1
    assert any("its one experiment is used up" in note for note in short.notes)


async def test_a_model_that_fails_costs_only_its_own_answer(tmp_path: Path) -> None:
    oracle = Oracle({"sound": GOOD, "gone": GOOD}, broken={"gone": "The endpoint does not answer."})
    report = await investigated(tmp_path, oracle, "Can these models identify noise?")
    says = {answer.about: answer for answer in report.answers}
    assert verdict_of(says["sound"]) == "yes"
    assert verdict_of(says["gone"]) == "open"
    assert "The endpoint does not answer" in says["gone"].sentence


async def test_a_model_that_cannot_be_read_is_left_out_of_later_experiments(tmp_path: Path) -> None:
    oracle = Oracle({"sound": GOOD, "gone": GOOD}, unreadable={"gone": "There is no such folder."})
    report = await investigated(tmp_path, oracle, "Can these models count?")
    says = {answer.about: answer for answer in report.answers}
    assert (verdict_of(says["sound"]), verdict_of(says["gone"])) == ("yes", "open")
    assert "There is no such folder" in says["gone"].sentence
    assert len(report.experiments) == 2


async def test_no_pictures_are_made_that_nobody_could_be_asked_about(tmp_path: Path) -> None:
    oracle = Oracle({"gone": GOOD}, unreadable={"gone": "There is no such folder."})
    report = await investigated(tmp_path, oracle, "Can these models count?")
    assert (report.images, report.trials) == (0, 0)
    (answer,) = report.answers
    assert answer.answer == "undecided"
    assert "There is no such folder" in answer.sentence


async def test_trials_are_used_again_by_another_query_whose_seed_somebody_chose(tmp_path: Path) -> None:
    oracle = Oracle({"sound": GOOD})
    first = await investigated(tmp_path, oracle, "Can sound recognize birds?")
    before = sum(oracle.asked.values())
    again = await investigated(tmp_path, oracle, "Does sound know birds?", seed=first.seed)
    assert sum(oracle.asked.values()) == before
    assert again.trials == 0
    assert verdict_of(again.answers[0]) == "yes"


async def test_pictures_that_do_not_show_what_they_should_are_replaced_and_counted(tmp_path: Path) -> None:
    looks = iter(range(10_000))
    alignment = Alignment(lambda *_: [0.9 if next(looks) % 3 else 0.1])
    oracle = Oracle({"sound": GOOD})
    graph = builder.compile()
    begun = state("Is sound robust to zoom?", ["sound"], budget={"images": 40, "experiments": 1})
    found = await graph.ainvoke(begun, CONFIG, context=context(tmp_path, oracle, alignment=alignment))
    (experiment,) = Report.model_validate(found["report"]).experiments
    assert 0 < experiment.rejected < experiment.images


async def test_a_person_may_edit_or_refuse_a_design(tmp_path: Path) -> None:
    oracle = Oracle({"sound": GOOD})
    graph, resources = builder.compile(checkpointer=InMemorySaver()), context(tmp_path, oracle)
    begun = state("Can sound count?", ["sound"], approve=True)
    stopped = await graph.ainvoke(begun, CONFIG, context=resources)
    (asked,) = stopped["__interrupt__"]
    (action,) = asked.value["action_requests"]
    edited = Design.model_validate(action["args"]).model_copy(update={"question": "Which is it?"})
    answer = {"type": "edit", "edited_action": {"name": "experiment", "args": edited.model_dump(mode="json")}}
    stopped = await graph.ainvoke(Command(resume={"decisions": [answer]}), CONFIG, context=resources)
    assert Report.model_validate(stopped["report"]).experiments[0].design.question == "Which is it?"
    unreadable: list[Any] = [{"decisions": []}, {"decisions": [{"type": "edit", "edited_action": {"args": {}}}]}]
    for wrong in unreadable:
        stopped = await graph.ainvoke(Command(resume=wrong), CONFIG, context=resources)
        assert stopped["__interrupt__"][0].value["error"]
    refusal = {"decisions": [{"type": "reject", "message": "too hard"}]}
    for _ in range(6):
        if "__interrupt__" in stopped:
            stopped = await graph.ainvoke(Command(resume=refusal), CONFIG, context=resources)
    report = Report.model_validate(stopped["report"])
    assert len(report.experiments) == 1
    assert any("too hard" in note for note in report.notes)
    assert report.conclusion


async def test_a_person_may_bound_the_pictures_of_an_experiment(tmp_path: Path) -> None:
    graph, resources = (
        builder.compile(checkpointer=InMemorySaver()),
        context(tmp_path, Oracle({"close": lambda *_: 0.75})),
    )
    begun = state("Can close recognize birds?", ["close"], approve=True, budget={"experiments": 1})
    stopped = await graph.ainvoke(begun, CONFIG, context=resources)
    (action,) = stopped["__interrupt__"][0].value["action_requests"]
    assert action["preview"]["pictures"][2] > 40
    edit = {"type": "edit", "edited_action": {"name": "experiment", "args": action["args"] | {"least": 40, "most": 40}}}
    ended = await graph.ainvoke(Command(resume={"decisions": [edit]}), CONFIG, context=resources)
    (experiment,) = Report.model_validate(ended["report"]).experiments
    assert experiment.images == 40
    assert experiment.stopped == "its share of the pictures is used up"


async def test_a_person_is_asked_again_about_an_edit_that_cannot_be_done(tmp_path: Path) -> None:
    graph, resources = builder.compile(checkpointer=InMemorySaver()), context(tmp_path, Oracle({"sound": GOOD}))
    stopped = await graph.ainvoke(
        state("Can sound tell cats from vehicles?", ["sound"], approve=True), CONFIG, context=resources
    )
    args = stopped["__interrupt__"][0].value["action_requests"][0]["args"]
    args["arms"][0]["select"]["arguments"] = {"class_name": "unicorn"}
    answer = {"decisions": [{"type": "edit", "edited_action": {"name": "experiment", "args": args}}]}
    stopped = await graph.ainvoke(Command(resume=answer), CONFIG, context=resources)
    asked = stopped["__interrupt__"][0].value
    assert "unicorn" in asked["error"]
    assert asked["edited"]["arms"][0]["select"]["arguments"]["class_name"] == "unicorn", "nobody begins anew"
    assert asked["action_requests"][0]["preview"]
    approved = {"decisions": [{"type": "approve"}]}
    assert Report.model_validate(
        (await graph.ainvoke(Command(resume=approved), CONFIG, context=resources))["report"]
    ).images


async def test_what_cannot_be_examined_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be examined here"):
        await investigated(tmp_path, Oracle({"sound": GOOD}), "Can sound read clocks?")


@pytest.mark.slow
async def test_no_checkpoint_is_large(tmp_path: Path) -> None:
    oracle = Oracle({f"model-{number}": GOOD for number in range(8)})
    report = await investigated(tmp_path, oracle, "Are these models robust to geometric transformations?")
    assert len(report.model_dump_json()) < 64_000


@pytest.mark.slow
async def test_pictures_that_cannot_be_made_any_more_end_an_experiment_and_not_the_investigation(
    tmp_path: Path,
) -> None:
    made = 0

    def match(_picture: object, texts: Sequence[str]) -> list[float]:
        nonlocal made
        made += 1
        return [float(made < 40)] * len(texts)

    oracle = Oracle({"middling": lambda *_: 0.75})
    query = "Can middling recognize birds under cutmix?"
    given = context(tmp_path, oracle, alignment=Alignment(match))
    found = await builder.compile().ainvoke(state(query, ["middling"]), CONFIG, context=given)
    report = Report.model_validate(found["report"])
    first = report.experiments[0]
    assert first.rounds > 0
    assert "none does" in first.stopped
    assert first.findings[0].n == first.images
    assert report.conclusion


async def test_where_one_class_cannot_be_shown_another_one_is_drawn(tmp_path: Path) -> None:
    def match(_picture: object, texts: Sequence[str]) -> list[float]:
        return [float("hen" not in text) for text in texts]

    oracle = Oracle({"good": GOOD})
    given = context(tmp_path, oracle, alignment=Alignment(match))
    found = await builder.compile().ainvoke(
        state("Can good recognize birds under cutmix?", ["good"]), CONFIG, context=given
    )
    report = Report.model_validate(found["report"])
    assert "none does" not in "".join(one.stopped for one in report.experiments)
    assert report.experiments[0].rejected >= 40


async def test_what_is_asked_of_how_a_picture_was_changed_does_not_rest_on_what_it_shows(tmp_path: Path) -> None:
    oracle = Oracle({"good": GOOD})
    nothing_fits = Alignment(lambda _picture, texts: [0.0] * len(texts))
    given = context(tmp_path, oracle, alignment=nothing_fits)
    found = await builder.compile().ainvoke(state("Can good identify cutmix?", ["good"]), CONFIG, context=given)
    report = Report.model_validate(found["report"])
    assert verdict_of(report.answers[0]) == "yes"
    assert report.experiments[0].rejected == 0


async def test_pictures_that_would_hardly_decide_anything_are_not_made(tmp_path: Path) -> None:
    oracle = Oracle({"middling": lambda question, _: 0.75 if len(question.choices) == 2 else 0.97})
    report = await investigated(tmp_path, oracle, "Can middling count?", budget={"images": 800})
    assert verdict_of(report.answers[0]) == "open"
    assert "more pictures are unlikely to settle it" in report.experiments[0].stopped
    assert report.images < 600


async def test_a_harder_rung_may_decide_what_the_easy_one_does_not(tmp_path: Path) -> None:
    oracle = Oracle({"middling": lambda question, _: 0.75 if len(question.choices) == 2 else 0.3})
    report = await investigated(tmp_path, oracle, "Can middling count?", budget={"images": 400})
    assert [one.findings[0].verdict for one in report.experiments] == ["open", "no", "no"]
    assert verdict_of(report.answers[0]) == "no"
    assert report.again is None, "the easy rung makes no difference any more"


async def test_what_is_left_of_the_budget_goes_to_the_open_claims_that_matter(tmp_path: Path) -> None:
    close: Callable[..., float] = lambda question, _: 0.84 if len(question.choices) == 2 else 0.97  # noqa: E731
    oracle = Oracle({"middling": close, "sound": GOOD})
    report = await investigated(tmp_path, oracle, "Can models count?", budget={"images": 180}, seed=1)
    first = report.experiments[0]
    assert report.again == 0
    assert first.images > 90, "half of the budget was its share"
    assert [verdict_of(one) for one in report.answers] == ["yes", "yes"]
    assert [one.moot for one in first.findings] == [False, True]
    assert first.results[0].n > first.results[1].n, "who is done is not asked about pictures that are for others"


@pytest.mark.slow
async def test_who_goes_back_and_changes_a_design_gets_pictures_of_that_design(tmp_path: Path) -> None:
    oracle = Oracle({"sound": GOOD})
    given = context(tmp_path, oracle)
    graph = builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    first = await graph.ainvoke(state("Are these models robust to noise?", ["sound"]), CONFIG, context=given)
    history = [one async for one in graph.aget_state_history(CONFIG)]
    moment = [one for one in history if one.next == ("check_design",)][-1]
    changed = dict(moment.values["design"])
    changed["arms"] = [
        arm | {"transform": {"name": "GaussianBlur", "arguments": {"sigma": 2.0}}} for arm in changed["arms"]
    ]
    # As the node before it, so that what follows it comes next.
    address = await graph.aupdate_state(moment.config, {"design": changed}, as_node="design")
    second = await graph.ainvoke(None, {**CONFIG, **address}, context=given)

    assert (first["investigation"], second["investigation"]) == ("t", "t~1")
    samples = given.examiner().samples
    noisy, blurred = ({one.picture for one in samples.of(album, 0)} for album in ("t", "t~1"))
    assert noisy
    assert blurred
    assert not noisy & blurred
    before, after = (Report.model_validate(one["report"]) for one in (first, second))
    assert before.seed == after.seed
    assert before.seed_of(0) != after.seed_of(0), "what its pictures showed may have suggested the change"
    assert any("was designed otherwise the first time" in note for note in after.notes)
    thirdly = await graph.ainvoke(None, {**CONFIG, **address}, context=given)
    assert Report.model_validate(thirdly["report"]).seed_of(0) == after.seed_of(0), "the very same change, no news"
    assert thirdly["investigation"] == "t~2", "who goes back again goes yet another way"
