"""The form of a design: what it shows, and what comes of what a person enters."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.forecast import simulated_runs
from snellen.experiments.report import Report
from snellen.experiments.templates import battery
from snellen.page.approval_html import form_html
from snellen.page.design_entry import EnteredDesign, entered_design, placed
from snellen.page.design_form import MODELS, FormField, fields_of
from snellen.profiles import load_profile
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import TRANSFORMS

NAMES = ["clip", "blip", "llava-upright"]
NEEDED: dict[str, dict[str, Any]] = {
    "ChangeBrightness": {"brightness_factor": 2.0},
    "ChangeContrast": {"contrast_factor": 0.5},
    "EditImageStyle": {"style": "mosaic"},
    "EditImageWeather": {"weather": "rainy"},
    "FlipImage": {"orientation": "vertical"},
    "OverlayColor": {"color": [10, 20, 30]},
    "PasteGeometricShapeAtRandomPosition": {"shape": "circle"},
    "PasteTextAtRandomPosition": {"text": "cat"},
    "RotateImage": {"angle": 90},
}


def changed_by(transform: str, *, compared: bool = False) -> Design:
    """Return a paired design under a transform."""
    call = ToolCall(name=transform, arguments=NEEDED.get(transform, {}))
    arms = [
        Arm(
            answer=f"a {name}",
            select=ToolCall(name="TextToImageRetrieval", arguments={"class_name": name}),
            transform=call,
        )
        for name in ("dog", "horse")
    ]
    claims = [Claim(kind="drop", model=name, threshold=0.1) for name in NAMES[:2]]
    if compared:
        claims = [Claim(kind="better", model="clip", other="blip", threshold=0)]
    design = Design(
        difficulty=1, purpose="One.", skill="telling dogs from horses", condition="changed", question="Which is it?",
        arms=arms, paired=True, claims=claims,
    )  # fmt: skip
    return checked(design, NAMES)


@cache
def designs() -> list[Design]:
    """Return designs of all kinds: with pools, with kinds, under each transform."""
    known = battery(Subjects.of(load_profile("embedded")))
    claims = [Claim(kind="ability", model=name, threshold=1 / 3) for name in NAMES]
    own = [checked(one.model_copy(update={"claims": claims}), NAMES) for one in known]
    return [*own, *(changed_by(one.name) for one in TRANSFORMS if one.name != "Identity")]


def shown(design: Design) -> dict[str, Any]:
    """Return what stands in the form of a design."""
    return {one.name: one.value for one in fields_of(design, NAMES)}


def entered(design: Design, **values: Any) -> EnteredDesign:  # noqa: ANN401 - any JSON
    return entered_design(design, NAMES, json.dumps(shown(design) | {_name(key): one for key, one in values.items()}))


def _name(key: str) -> str:
    """Return a field's name; in Python's names there is no dash."""
    return key.replace("__", "-")


def test_a_form_that_is_left_as_it_was_is_the_same_design() -> None:
    for design in designs():
        assert entered_design(design, NAMES, json.dumps(shown(design))).design == design


def test_a_field_has_one_place_of_its_own() -> None:
    for design in designs():
        fields = fields_of(design, NAMES)
        places = [place for one in fields for place in one.places]
        assert len(set(places)) == len(places)
        assert len({one.name for one in fields}) == len(fields)


def test_a_number_is_entered_with_its_unit_within_the_bounds_of_its_tool() -> None:
    design = changed_by("RotateImage")
    by_label = {one.label: one for one in fields_of(design, NAMES)}
    turned = entered(design, transform__0__angle="-30", **{by_label["Loses more than"].name.replace("-", "__"): "12.5"})

    angle = by_label["angle"]
    assert (angle.low, angle.high, angle.value) == (-360, 360, "90")
    assert "Degrees to the right" in angle.hint
    assert by_label["Loses more than"].unit == "points"
    assert turned.design is not None
    assert {arm.transform.arguments["angle"] for arm in turned.design.arms} == {-30}
    assert {one.threshold for one in turned.design.claims} == {0.125}


@pytest.mark.parametrize(
    ("transform", "field", "value", "said"),
    [
        ("RotateImage", "transform-0-angle", "400", "Enter a whole number from -360 to 360"),
        ("RotateImage", "transform-0-angle", "1.5", "Enter a whole number"),
        ("RotateImage", "transform-0-angle", "", "Enter a whole number"),
        ("RotateImage", "threshold-0", "900", "Enter a number from -100 to 100"),
        ("RotateImage", "threshold-0", "nan", "Enter a number"),
        ("RotateImage", "question", " ", "at least 1 character"),
        ("RotateImage", "answer-1", "x" * 90, "at most 80"),
        ("RotateImage", "most", "1", ""),
        ("RotateImage", "select-1-class_name", "", "at least 1 character"),
        ("RotateImage", MODELS, [], "Choose one model"),
        ("RotateImage", MODELS, ["nobody"], ""),
        ("OverlayColor", "transform-0-color", "1, 2", "valid integer|Field required|at least 3"),
        ("OverlayColor", "transform-0-color", "1, 2, 300", "less than or equal to 255"),
        ("FlipImage", "transform-0-orientation", "sideways", "'horizontal' or 'vertical'"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(transform: str, field: str, value: object, said: str) -> None:
    design = changed_by(transform)
    found = entered_design(design, NAMES, json.dumps(shown(design) | {field: value}))

    assert found.design is None
    if said:
        assert list(found.errors) == [field]
    html = form_html(design, NAMES, found, "x")
    assert html.count('aria-invalid="true"') == len([name for name in found.errors if name])
    assert not said or any(part in found.errors[field] for part in said.split("|")), found.errors


def test_what_is_left_empty_where_it_may_be_is_left_out() -> None:
    design = changed_by("PasteGeometricShapeAtRandomPosition")
    sized = entered(design, transform__0__size="20", transform__0__fill=False, transform__0__color="1, 2, 3")
    assert sized.design is not None
    arguments = sized.design.arms[0].transform.arguments
    assert (arguments["size"], arguments["fill"], arguments["color"]) == (20, False, [1, 2, 3])
    again = entered(sized.design, transform__0__size="")
    assert again.design is not None
    assert again.design.arms[0].transform.arguments["size"] is None


def test_a_model_leaves_with_its_claims_and_joins_with_those_of_the_others() -> None:
    found = entered(changed_by("RotateImage"), models=["blip", "llava-upright"])
    assert found.design is not None
    assert [(one.model, one.kind, one.threshold) for one in found.design.claims] == [
        ("blip", "drop", 0.1),
        ("llava-upright", "drop", 0.1),
    ]
    compared = changed_by("RotateImage", compared=True)
    (models,) = (one for one in fields_of(compared, NAMES) if one.name == MODELS)
    assert models.options == ("clip", "blip"), "who is compared follows from who is there"
    assert entered(compared, models=["clip"]).errors == {MODELS: "Choose two models at least that are compared."}


def test_an_answer_is_changed_wherever_it_stands() -> None:
    design = changed_by("RotateImage")
    kinds = {"an animal": ["a dog"], "a beast": ["a horse"]}
    found = entered(checked(design.model_copy(update={"kinds": kinds}), NAMES), answer__0="a hound")
    assert found.design is not None
    assert found.design.classes == ["a hound", "a horse"]
    assert found.design.kinds["an animal"] == ["a hound"]
    assert entered(design, answer__0="a horse").design is None, "answers differ"


def test_classes_of_a_pool_are_one_in_each_line() -> None:
    design = next(one for one in designs() if one.pools)
    name = next(iter(design.pools))
    found = entered(design, pool__0="dog\n\n  cat \nbus\nkey\nrose\n")
    assert found.design is not None
    assert found.design.pools[name] == ["dog", "cat", "bus", "key", "rose"]


def test_what_a_tool_cannot_do_is_said_beside_its_argument() -> None:
    fields = fields_of(changed_by("AddGaussianNoise"), NAMES)
    place = placed("AddGaussianNoise: variance_factor=90 is out of reach: at most 3.", fields)
    assert place == "transform-0-variance_factor"
    assert placed("Something else: variance_factor=90.", fields) == ""


def test_a_form_is_escaped_and_has_a_label_for_each_field() -> None:
    hostile = '"><img src=x onerror=alert(1)>'
    design = changed_by("PasteTextAtRandomPosition").model_copy(update={"question": hostile})
    html = form_html(design, NAMES, EnteredDesign(None, {"skill": hostile}, {"skill": hostile, "": hostile}), "x")

    assert "<img" not in html
    labelled = [one for one in fields_of(design, NAMES) if one.kind not in {"names", "switch"}]
    assert all(f'for="x-field-{one.name}"' in html and f'id="x-field-{one.name}"' in html for one in labelled)


ENTERED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_is_entered_is_a_design_that_can_be_run_or_is_refused(data: st.DataObject) -> None:
    design = data.draw(st.sampled_from(designs()))
    fields: list[FormField] = fields_of(design, NAMES)
    names = st.sampled_from([one.name for one in fields]) | st.text(max_size=5)
    values = data.draw(st.dictionaries(names, ENTERED, max_size=4))
    found = entered_design(design, NAMES, json.dumps(shown(design) | values))

    assert (found.design is None) == bool(found.errors)
    if found.design is not None:
        assert checked(found.design, NAMES) == found.design
    form_html(design, NAMES, found, "x")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 50_000, json.dumps({"question": "x" * 70_000})])
def test_what_is_no_form_is_refused(text: str) -> None:
    found = entered_design(changed_by("RotateImage"), NAMES, text)
    assert found.design is None
    assert list(found.errors) == [""]


@pytest.mark.parametrize(
    "query",
    [
        "Does blur hurt clip more than blip?",
        "Does clip call birds planes?",
        "Does clip lose half its accuracy under blur?",
    ],
)
def test_every_kind_of_claim_has_its_threshold_in_the_form_and_a_forecast(query: str) -> None:
    report = Report(query=query, models=NAMES, alpha=0.05, seed=0)
    design = CaseExaminer(load_profile("embedded")).next_design(report)
    assert design is not None
    thresholds = [one for one in fields_of(design, NAMES) if one.name.startswith(("threshold", "share"))]
    assert {place for one in thresholds for place in one.places} == {
        ("claims", number, "share" if claim.share else "threshold") for number, claim in enumerate(design.claims)
    }
    assert all(run.pictures > 0 for run in simulated_runs(design, report))
