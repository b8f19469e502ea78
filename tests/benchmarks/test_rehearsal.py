"""The settings of learning that come with the hub profile teach, as far as the embedded checkpoints can show."""

from __future__ import annotations

import pytest

from benchmarks.rehearsal import rehearsal_of, rehearse
from snellen.profiles import load_profile


def test_a_rehearsal_has_the_settings_of_the_one_and_the_checkpoints_of_the_other() -> None:
    hub, embedded = load_profile("hub"), load_profile("embedded")
    rehearsed = rehearsal_of(hub, embedded, scenes=6)
    assert rehearsed.models == embedded.models
    assert rehearsed.world_settings == embedded.world_settings
    assert (rehearsed.tuning.loc, rehearsed.tuning.vqa) == (hub.tuning.loc, hub.tuning.vqa)
    assert (rehearsed.collection.found, rehearsed.collection.related) == (hub.collection.found, hub.collection.related)
    assert rehearsed.collection.annotated == "world"
    assert (rehearsed.collection.scenes, rehearsed.collection.outlined) == (6, 6)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["CLASSIFY", "LOC", "VQA", "REPLACE"])
def test_the_hub_profiles_settings_keep_prompts(tool: str) -> None:
    """SEG is not among them: it keeps nothing on these checkpoints, whatever the settings (docs/tuning.md)."""
    found = rehearse(load_profile("hub"), "embedded", tools=[tool])[tool]
    assert found.of >= 12
    assert found.kept >= found.of // 3, found.reasons
    if tool == "LOC":
        assert found.after["recall"] > found.before["recall"]
