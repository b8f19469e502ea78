"""The library: what is asked for is there, and search results are wrong as often as is documented."""

from __future__ import annotations

import pytest

from snellen.errors import BadInput
from snellen.microworld.library import WRONG, pictures, scenes


@pytest.mark.parametrize("concept", ["dog", "penguin", "cherries"])
def test_scenes_show_their_concept_with_box_and_mask(concept: str) -> None:
    found = scenes(concept, 12, seed=3)
    assert len(found) == 12
    for one in found:
        assert 1 <= len(one.scene.named(concept)) <= 2
        assert [t.concept for t in one.truths()] == [o.concept for o in one.scene.objects]
    assert found[0].picture().size == (128, 128)


def test_scenes_and_pictures_follow_their_seed() -> None:
    assert scenes("dog", 5, seed=1) == scenes("dog", 8, seed=1)[:5] != scenes("dog", 5, seed=2)
    assert pictures("dog", 5, seed=1) == pictures("dog", 8, seed=1)[:5] != pictures("dog", 5, seed=2)


def test_the_documented_share_of_found_pictures_is_wrong() -> None:
    found = [one for concept in ("wolf", "dog", "hen") for one in pictures(concept, 300, seed=1)]
    assert all(len(one.scene.objects) == 1 for one in found)
    wrong = sum(not one.rightly_labelled for one in found) / len(found)
    assert abs(wrong - WRONG) < 0.03


def test_an_unknown_concept_is_the_users_error() -> None:
    with pytest.raises(BadInput, match="no concept 'unicorn'"):
        scenes("unicorn", 1, seed=0)
    with pytest.raises(BadInput, match="no concept 'unicorn'"):
        pictures("unicorn", 1, seed=0)
