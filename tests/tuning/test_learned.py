"""What is done with prompts that were learned."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from snellen.models.loading import fingerprint
from snellen.models.vision.name_expansion import KnownConcept
from snellen.profiles import Profile, SnellenError, load_profile
from snellen.tools.vision import Expansion, Models
from snellen.tuning import tuner_of
from tests.tuning.conftest import Learned, noise, settings

PICTURES = [noise(1), noise(2)]


def _profile(folder: Path, body: str = "") -> Profile:
    file = folder / "mine.toml"
    file.write_text(f'extends = "hub"\n[models.clip]\nfolder = "clip"\n{body}')
    return load_profile(file)


def test_a_fingerprint_follows_the_weights_and_not_the_folder(
    tmp_path: Path, learner: Callable[[str], Profile]
) -> None:
    original = learner("small")
    shutil.copytree(original.resolve("clip"), tmp_path / "clip")
    copied = _profile(tmp_path)
    first = fingerprint(original, "clip")
    assert fingerprint(copied, "clip") == first
    assert len(first) == 16
    (tmp_path / "clip" / "statistics.safetensors").write_bytes(b"beside it")
    assert fingerprint(copied, "clip") == first
    weights = tmp_path / "clip" / "model.safetensors"
    weights.write_bytes(weights.read_bytes() + b" ")
    assert fingerprint(copied, "clip") != first
    assert fingerprint(original, "loc") != first


def test_a_checkpoint_that_was_not_downloaded_has_no_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    body = '[models.loc]\nid = "nobody/nothing"\nrevision = "0123456789012345678901234567890123456789"\n'
    with pytest.raises(SnellenError, match=r"models\.loc in .* is not downloaded yet"):
        fingerprint(_profile(tmp_path, body), "loc")


def test_groups_expand_to_what_was_learned() -> None:
    world = Expansion(
        concepts=[KnownConcept("bear", "animals"), KnownConcept("panda", "animals", taught=False)],
        singulars={"animal": "animals"},
    )
    assert world.names("animals") == ["bear"]
    assert world.taught(["panda", "yeti"]).names("animals") == ["bear", "panda"]
    assert world.names("animals") == ["bear"]


def test_a_tool_expands_to_what_it_has_learned_itself(models: Models, learned: Learned) -> None:
    learned.put("LOC", "panda", np.ones((1, 4, 32), dtype=np.float32), np.ones((1, 32), dtype=np.float32))
    models.__dict__["expansion"] = Expansion(concepts=[KnownConcept("panda", "animals", taught=False)])
    assert models.expansion_of("LOC").all_names() == ["panda"]
    assert models.expansion_of("CLIP").all_names() == []


def test_clip_leaves_out_prompts_of_something_unlike(learner: Callable[[str], Profile], learned: Learned) -> None:
    models = Models(settings(learner("small"), "CLIP", similarity=0.99), learned, window=0)
    before = models.similarity(PICTURES, ["cat"], names=["cat"])
    feature = models.encoder().pictures(PICTURES)[0].embedding
    prompts = np.ones((1, *tuner_of(models, "CLIP").shape), dtype=np.float32)
    learned.put("CLIP", "cat", prompts, -feature[None])
    assert np.array_equal(models.similarity(PICTURES, ["cat"], names=["cat"]), before)
    learned.put("CLIP", "cat", prompts, feature[None])
    assert models.similarity(PICTURES, ["cat"], names=["cat"])[0] != before[0]


def test_a_name_gains_by_what_looks_like_its_pictures(learner: Callable[[str], Profile], learned: Learned) -> None:
    """And loses by what does not, in proportion; other names and names without prompts stay as they are."""
    names = ["cat", "dog"]
    plain = Models(settings(learner("small"), "CLIP", similarity=-1.0), learned, window=0)
    weighed = Models(
        settings(learner("small"), "CLIP", similarity=-1.0, resemblance=10.0, alike=0.8), learned, window=0
    )
    features = np.stack([each.embedding for each in plain.encoder().pictures(PICTURES)])
    prompts = np.ones((2, *tuner_of(plain, "CLIP").shape), dtype=np.float32)
    learned.put("CLIP", "cat", prompts, np.stack([features[0], -features[1]]))
    gained = weighed.similarity(PICTURES, names, names=names) - plain.similarity(PICTURES, names, names=names)
    lengths = np.linalg.norm(features, axis=1)
    nearest = [1.0, float(features[0] @ features[1] / lengths.prod())]
    np.testing.assert_allclose(gained[:, 0], [10.0 * (each - 0.8) for each in nearest], atol=1e-4)
    assert not gained[:, 1].any()


def test_loc_needs_a_quorum_that_sees_the_concept(learner: Callable[[str], Profile], learned: Learned) -> None:
    """With a threshold that no prompt passes, none is used; with one that all pass, they are (CLOVA section 8.2.3)."""
    profile = settings(learner("small"), "LOC", quorum=0.5)
    prompts = np.random.default_rng(1).normal(size=(3, 4, 32)).astype(np.float32)
    learned.put("LOC", "cat", prompts, np.ones((3, 32), dtype=np.float32))
    models = Models(profile, learned, window=0)
    detector = models.detector()
    selected = []
    for threshold in (1.0, 0.0):
        detector.settings = detector.settings.model_copy(update={"threshold": threshold})
        with detector.checkpoint.inference():
            sight = detector.look(PICTURES[:1])
            selected.append(detector._select("cat", sight.patches, sight.features()[0]))
    assert selected[0] is None
    assert selected[1] is not None
    assert selected[1].shape == (4, 32)


def test_questions_unlike_those_learned_are_answered_as_ever(
    learner: Callable[[str], Profile], learned: Learned
) -> None:
    models = Models(settings(learner("small"), "VQA", similarity=0.5), learned, window=0)
    questions = ["is there a dog ?", "a cat ?"]
    before = models.answer(PICTURES, questions)
    learned.put("VQA", "", 9 * np.ones((2, 5, 32), dtype=np.float32), -np.ones((2, 64), dtype=np.float32))
    features = models.answerer()
    assert features._select(np.ones(64, dtype=np.float32)) is None
    assert features._select(-np.ones(64, dtype=np.float32)) is not None
    assert len(models.answer(PICTURES, questions)) == len(before)
