"""Probabilities of several answers, with the picture and the question computed once.

Answer ranking (APEX, section 3.2, after Lin et al. 2022) asks for the likelihood of every choice after one prompt. The
prompt is long, a picture alone is hundreds of tokens, and choices are short. So the prompt goes through the model
once; its cache is shared by all choices, which go through as one padded batch. A causal model's choice does not see
what is padded behind it, so the likelihoods are those of one whole pass for each choice.

Prompts about one picture begin alike, with the picture. What they have in common goes through the model once, too, and
their ends follow from its cache.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from snellen.models.under_test.batches import batches

if TYPE_CHECKING:
    import torch

    Inputs = Mapping[str, torch.Tensor]
    Tokens = Sequence[Sequence[int]]

_LOOKED: Final = "image_attention_mask"
"""Which pictures each token looks at, for models that do so through cross-attention (n, length, pictures)."""
_ROWS: Final = 64


@dataclass(frozen=True)
class PromptEnd:
    """The end of a prompt, and the choices after it.

    Attributes:
        row: The place of the prompt's beginning.
        tokens: What follows it.
        choices: Tokens of each choice, at least one each.
    """

    row: int
    tokens: tuple[int, ...]
    choices: Tokens


def rank(model: Any, inputs: Inputs, choices: Tokens, *, rows: int = _ROWS) -> list[list[list[float]]]:  # noqa: ANN401 - any class
    """Return the log-probability of every token of the same choices after every prompt.

    Args:
        model: As for `rank_ends`.
        inputs: As there, of whole prompts.
        choices: Tokens of each choice, at least one each.
        rows: As there.

    Returns:
        For each prompt, for each choice, natural logarithms in the order of its tokens.

    Raises:
        ValueError: There is no choice, one has no token, or prompts are padded.
    """
    return rank_ends(model, inputs, [PromptEnd(row, (), choices) for row in range(len(inputs["input_ids"]))], rows=rows)


def rank_ends(
    model: Any,  # noqa: ANN401 - any class
    inputs: Inputs,
    ends: Sequence[PromptEnd],
    *,
    rows: int = _ROWS,
) -> list[list[list[float]]]:
    """Return the log-probability of every token of every choice after prompts that may begin alike.

    Args:
        model: An image-text-to-text model of transformers with a causal decoder.
        inputs: What its processor made of n pictures and the beginnings of prompts: `input_ids` and `attention_mask`,
            each (n, length), nothing padded, and what belongs to the pictures.
        ends: How prompts end, and what is ranked after them. Those of one length are computed together.
        rows: How many continuations are computed at once, at most; each holds a copy of its prompt's cache.

    Returns:
        For each end, for each choice, natural logarithms in the order of its tokens.

    Raises:
        ValueError: There is no choice, one has no token, or prompts are padded.
    """
    import torch

    _check(inputs, *(end.choices for end in ends))
    found: list[list[list[float]]] = [[] for _ in ends]
    with torch.inference_mode():
        after, begun = _prefix(model, inputs)
        for places in batches(range(len(ends)), lambda place: len(ends[place].tokens), rows):
            group = [ends[place] for place in places]
            chosen = [end.row for end in group]
            read, following = begun.of(chosen), after[chosen]
            if group[0].tokens:
                logits, read = read.read([end.tokens for end in group], last=True)
                following = _logarithms(logits[:, -1])
            for place, scores in zip(places, _ranked(read, following, group, rows), strict=True):
                found[place] = scores
    return found


def _ranked(read: _Read, following: torch.Tensor, ends: Sequence[PromptEnd], rows: int) -> list[list[list[float]]]:
    """Return the log-probabilities of the choices after prompts that were read.

    Args:
        read: The prompts, a row for each end.
        following: Log-probabilities of the token after each (n, vocabulary).
        ends: Their ends.
        rows: As for `rank_ends`.
    """
    import torch

    scores = [
        [[value] for value in row[[choice[0] for choice in end.choices]].tolist()]
        for row, end in zip(following, ends, strict=True)
    ]
    longer = [
        (row, place) for row, end in enumerate(ends) for place, choice in enumerate(end.choices) if len(choice) > 1
    ]
    longer.sort(key=lambda pair: len(ends[pair[0]].choices[pair[1]]))
    for begun in range(0, len(longer), rows):
        part = longer[begun : begun + rows]
        choices = [ends[row].choices[place] for row, place in part]
        longest = max(map(len, choices))
        # What is padded behind a choice is not masked: nothing of the choice sees it.
        padded = [[*choice, *[0] * (longest - len(choice))] for choice in choices]
        # The last token is only predicted.
        logits, _ = read.of([row for row, _ in part]).read([row[:-1] for row in padded])
        right = torch.tensor(padded, device=logits.device)[:, 1:, None]
        for (row, place), values in zip(part, _logarithms(logits).gather(-1, right)[..., 0].tolist(), strict=True):
            scores[row][place].extend(values[: len(ends[row].choices[place]) - 1])
    return scores


def _logarithms(logits: torch.Tensor) -> torch.Tensor:
    return logits.float().log_softmax(dim=-1)


def rank_plainly(model: Any, inputs: Inputs, choices: Tokens) -> list[list[list[float]]]:  # noqa: ANN401 - as above
    """As `rank`, with one whole pass for each choice: what `rank` is compared with."""
    import torch

    _check(inputs, choices)
    prompts = len(inputs["input_ids"])
    found = []
    for choice in choices:
        tail = torch.tensor(choice, device=inputs["input_ids"].device).repeat(prompts, 1)
        with torch.inference_mode():
            found.append(written(model, inputs, tail).gather(-1, tail[..., None])[..., 0].tolist())
    return [list(rows) for rows in zip(*found, strict=True)]


def written(model: Any, inputs: Inputs, answers: torch.Tensor) -> torch.Tensor:  # noqa: ANN401 - as above
    """Return how probable a model finds each token, wherever it would write a token of an answer, with gradients.

    Args:
        model: As for `rank`.
        inputs: As there, of n prompts.
        answers: The tokens of an answer to each, all equally many: (n, tokens).

    Returns:
        Natural logarithms (n, tokens, vocabulary).
    """
    import torch

    length = inputs["input_ids"].shape[1]
    whole = {
        **inputs,
        "input_ids": torch.cat([inputs["input_ids"], answers], dim=1),
        "attention_mask": torch.cat([inputs["attention_mask"], torch.ones_like(answers)], dim=1),
    }
    if _LOOKED in inputs:
        whole[_LOOKED] = torch.cat([inputs[_LOOKED], _looked(inputs, answers.shape[1])], dim=1)
    found: torch.Tensor = model(**whole).logits[:, length - 1 : -1].float().log_softmax(dim=-1)
    return found


@dataclass(frozen=True)
class _Read:
    """Rows of tokens that a decoder has read, and can read on from.

    Attributes:
        decoder: What reads on.
        cache: A cache of transformers; it is not changed.
        mask: Ones (n, length).
        shared: What a model that looks at pictures through cross-attention wants with every call, a row for each.
    """

    decoder: Any
    cache: Any
    mask: torch.Tensor
    shared: dict[str, torch.Tensor]

    def of(self, rows: Sequence[int]) -> _Read:
        """Return some of the rows, in an order and as often as wanted."""
        import torch

        if list(rows) == list(range(len(self.mask))):
            return self
        index = torch.tensor(rows, device=self.mask.device)
        cache = _copied(self.cache)
        cache.batch_select_indices(index)
        shared = {name: value[index] for name, value in self.shared.items()}
        return replace(self, cache=cache, mask=self.mask[index], shared=shared)

    def read(self, tokens: Tokens, *, last: bool = False) -> tuple[torch.Tensor, _Read]:
        """Read equally many tokens after each row.

        Args:
            tokens: Those of each row.
            last: Only what follows the last of them is wanted.

        Returns:
            Logits (n, tokens, vocabulary), or (n, 1, vocabulary), and what was read then.
        """
        import torch

        ids = torch.tensor(tokens, device=self.mask.device)
        cache, mask = _copied(self.cache), torch.cat([self.mask, self.mask.new_ones(ids.shape)], dim=1)
        more: dict[str, Any] = dict(self.shared)
        if _LOOKED in more:
            more[_LOOKED] = more[_LOOKED].expand(-1, ids.shape[1], -1)
        if last and _takes(self.decoder, "logits_to_keep"):
            more["logits_to_keep"] = 1
        output = self.decoder(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True, **more)
        return output.logits, replace(self, cache=cache, mask=mask)


def _copied(cache: Any) -> Any:  # noqa: ANN401 - of transformers
    """Return a cache that can be read on from while the other stays: layers put what is new into new tensors."""
    copied = copy.copy(cache)
    copied.layers = [copy.copy(layer) for layer in cache.layers]
    return copied


def _prefix(model: Any, inputs: Inputs) -> tuple[torch.Tensor, _Read]:  # noqa: ANN401 - as above
    """Read the beginnings: log-probabilities of the token after each (n, vocabulary), and what was read."""
    lean = {"logits_to_keep": 1} if _takes(model, "logits_to_keep") else {}
    output = model(**inputs, use_cache=True, **lean)
    following = _logarithms(output.logits[:, -1])
    inner = getattr(output, "language_model_outputs", None)  # BLIP-2: the whole model wants a picture with every call
    if inner is None:
        read = _Read(model, output.past_key_values, inputs["attention_mask"], _shared(model, inputs, output))
    else:
        read = _Read(model.language_model, inner.past_key_values, inputs["attention_mask"], {})
    return following, read


def _shared(model: Any, inputs: Inputs, output: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - as above
    """Return what a model that looks at pictures through cross-attention wants with every call.

    That is what it made of the pictures, and which of them the end of the prompt looks at.
    """
    if _LOOKED not in inputs:
        return {}
    name = "perceiver_embeddings" if model.config.use_resampler else "image_encoder_embeddings"
    return {name: output.image_hidden_states, _LOOKED: inputs[_LOOKED][:, -1:]}


def _looked(inputs: Inputs, tokens: int) -> torch.Tensor:
    """Which pictures each token of an answer looks at: those that the end of the prompt does."""
    return inputs[_LOOKED][:, -1:].expand(-1, tokens, -1)


def _check(inputs: Inputs, *choices: Tokens) -> None:
    if not all(each and all(each) for each in choices):
        msg = "every choice needs at least one token"
        raise ValueError(msg)
    if not bool(inputs["attention_mask"].all()):
        msg = "prompts of one batch must have one length"
        raise ValueError(msg)


def _takes(model: Any, name: str) -> bool:  # noqa: ANN401 - as above
    parameters = inspect.signature(model.forward).parameters.values()
    return any(parameter.name == name or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
