"""Those models are examined that a question names, also where a profile has more than can be examined at once."""

from __future__ import annotations

import pytest

from snellen.profiles import BadInput, Profile, load_profile
from snellen.runtime.investigation_requests import MAX_MODELS, examined


@pytest.fixture(scope="module")
def large() -> Profile:
    """A profile with one model under many names."""
    profile = load_profile("embedded")
    many = {f"vlm-{number}": profile.tested["blip"] for number in range(MAX_MODELS + 1)}
    return profile.model_copy(update={"tested": many})


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("Can vlm-3 recognize birds?", ["vlm-3"]),
        ("Is vlm-12 better than vlm-3 at recognizing birds?", ["vlm-3", "vlm-12"]),
        ("hark! vlm-5 ???", ["vlm-5"]),
    ],
)
def test_of_too_many_those_that_are_named(query: str, named: list[str], large: Profile) -> None:
    assert examined(large, [], query) == named


def test_too_many_are_refused(large: Profile) -> None:
    for models, query in (([], "Can the models recognize birds?"), (list(large.tested), "Can vlm-3 recognize birds?")):
        with pytest.raises(BadInput, match="At most 12 models are examined at once, not 13"):
            examined(large, models, query)
