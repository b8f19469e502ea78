from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.models.under_test import rank, rank_plainly
from snellen.models.under_test.choice_ranking import PromptEnd, rank_ends
from tests.models.under_test.architectures import ARCHITECTURES, PICTURE, made

TOKEN = st.integers(3, PICTURE - 1)
CHOICES = st.lists(st.lists(TOKEN, min_size=1, max_size=6), min_size=2, max_size=20)

prepared = cache(made)


def differences(one: list[list[list[float]]], other: list[list[list[float]]]) -> list[float]:
    return [
        abs(a - b)
        for blocks in zip(one, other, strict=True)
        for rows in zip(*blocks, strict=True)
        for a, b in zip(*rows, strict=True)
    ]


@settings(max_examples=15, deadline=None)
@given(choices=CHOICES, rows=st.integers(1, 50))
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_shared_prompt_gives_what_whole_passes_give(name: str, choices: list[list[int]], rows: int) -> None:
    model, inputs = prepared(name)
    found = rank(model, inputs, choices, rows=rows)
    assert [[len(row) for row in block] for block in found] == [[len(choice) for choice in choices]] * 2
    assert max(differences(found, rank_plainly(model, inputs, choices))) < 1e-4


END = st.tuples(st.lists(TOKEN, max_size=4), st.lists(st.lists(TOKEN, min_size=1, max_size=3), min_size=1, max_size=4))


@settings(max_examples=15, deadline=None)
@given(ends=st.lists(st.tuples(st.integers(0, 1), END), min_size=1, max_size=6), rows=st.integers(1, 8))
@pytest.mark.parametrize("name", sorted(set(ARCHITECTURES) - {"idefics"}))
def test_prompts_that_begin_alike_give_what_whole_prompts_give(
    name: str, ends: list[tuple[int, tuple[list[int], list[list[int]]]]], rows: int
) -> None:
    model, inputs = prepared(name)

    found = rank_ends(model, inputs, [PromptEnd(row, tuple(tail), choices) for row, (tail, choices) in ends], rows=rows)

    for scores, (row, (tail, choices)) in zip(found, ends, strict=True):
        alone = {key: value[row : row + 1] for key, value in inputs.items()}
        ids = torch.cat([alone["input_ids"], torch.tensor([tail], dtype=torch.long)], dim=1)
        whole = {**alone, "input_ids": ids, "attention_mask": torch.ones_like(ids)}
        assert max(differences([scores], rank_plainly(model, whole, choices))) < 1e-4


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_choices_that_begin_alike_or_are_part_of_each_other(name: str) -> None:
    model, inputs = prepared(name)
    choices = [[7], [7, 8], [7, 8, 9], [7, 9], [8]]
    found = rank(model, inputs, choices)
    assert max(differences(found, rank_plainly(model, inputs, choices))) < 1e-4
    for block in found:
        assert block[0][0] == block[1][0] == block[2][0] == block[3][0]
        assert block[1][1] == pytest.approx(block[2][1], abs=1e-5)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_picture_matters(name: str) -> None:
    model, inputs = prepared(name)
    other = {**inputs, "pixel_values": inputs["pixel_values"] + 1}
    choices = [[7, 8], [9]]
    assert max(differences(rank(model, inputs, choices), rank(model, other, choices))) > 1e-4


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_ranking_leaves_the_model_and_its_inputs_as_they_were(name: str) -> None:
    model, inputs = prepared(name)
    before = {key: value.clone() for key, value in inputs.items()}
    first = rank(model, inputs, [[5, 6], [7, 8, 9]])
    assert rank(model, inputs, [[5, 6], [7, 8, 9]]) == first
    assert all(torch.equal(inputs[key], value) for key, value in before.items())


def test_one_prompt_pass_serves_all_choices() -> None:
    model, inputs = prepared("llava")
    lengths: list[int] = []
    hook = model.register_forward_hook(
        lambda _model, _arguments, keywords, _output: lengths.append(keywords["input_ids"].shape[1]),
        with_kwargs=True,
    )
    try:
        rank(model, inputs, [[5], [6, 7], [8, 9, 10]])
    finally:
        hook.remove()
    assert lengths == [inputs["input_ids"].shape[1], 2]


def test_a_model_that_answers_nan_says_nan() -> None:
    model, inputs = made("llava")
    with torch.no_grad():
        model.lm_head.weight.fill_(math.nan)
    assert all(math.isnan(value) for block in rank(model, inputs, [[5, 6], [7]]) for row in block for value in row)


@pytest.mark.parametrize("choices", [[], [[5], []]])
def test_a_choice_without_tokens_is_refused(choices: list[list[int]]) -> None:
    model, inputs = prepared("llava")
    with pytest.raises(ValueError, match="at least one token"):
        rank(model, inputs, choices)


def test_prompts_of_different_lengths_are_refused() -> None:
    model, inputs = prepared("llava")
    mask = inputs["attention_mask"].clone()
    mask[0, 0] = 0
    with pytest.raises(ValueError, match="one length"):
        rank(model, {**inputs, "attention_mask": mask}, [[5]])
