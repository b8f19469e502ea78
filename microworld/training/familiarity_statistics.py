"""Measure what pictures of the microworld look like to CLIP, so that others are noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import recipe, sample_scene
from snellen.models.vision.familiarity import fit
from snellen.models.vision.models import Models
from snellen.profiles import load_profile

SCENES = 3000


def learn_looks(*, seed: int) -> str:
    """Fit the familiarity statistics of the embedded profile and write them beside its CLIP checkpoint.

    Scenes of known and of novel concepts both count as the microworld: an unknown bird is still drawn like a bird.

    Returns:
        What was written, in a sentence.
    """
    profile = load_profile("embedded")
    models = Models(profile)
    every = recipe(vocabulary().concepts)
    pictures = [draw(sample_scene(f"looks/{seed}/{index}", every)) for index in range(SCENES)]
    features = np.concatenate([models.appearances(pictures[i : i + 64]) for i in range(0, SCENES, 64)])
    third = SCENES // 3
    settings = profile.familiarity
    if settings is None:
        return "the embedded profile asks for no familiarity statistics"
    file = Path(profile.resolve(settings.file))
    found = fit(features[third:], file, held_out=features[:third], notes=f"looks, seed {seed}")
    return f"wrote {file.name}: limit {found.threshold:.2f}, from {SCENES - third} scenes, {third} held out"
