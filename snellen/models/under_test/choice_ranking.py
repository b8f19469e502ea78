"""Probabilities of several answers, with the picture and the question computed once.

Answer ranking (APEX, section 3.2, after Lin et al. 2022) asks for the likelihood of every choice after one prompt. The
prompt is long, a picture alone is hundreds of tokens, and choices are short. So the prompt goes through the model
once; its cache is shared by all choices, which go through as one padded batch. A causal model's choice does not see
what is padded behind it, so the likelihoods are those of one whole pass for each choice.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import torch

    Inputs = Mapping[str, torch.Tensor]
    Tokens = Sequence[Sequence[int]]

_LOOKED: Final = "image_attention_mask"
"""Which pictures each token looks at, for models that do so through cross-attention (n, length, pictures)."""


def rank(model: Any, inputs: Inputs, choices: Tokens, *, rows: int = 64) -> list[list[list[float]]]:  # noqa: ANN401 - any class
    """Return the log-probability of every token of every choice after every prompt.

    Args:
        model: An image-text-to-text model of transformers with a causal decoder.
        inputs: What its processor made of n pictures and questions: `input_ids` and `attention_mask`, each (n, length),
            nothing padded, and what belongs to the pictures.
        choices: Tokens of each choice, at least one each.
        rows: How many continuations of prompts are computed at once, at most; each holds a copy of a prompt's cache.

    Returns:
        For each prompt, for each choice, natural logarithms in the order of its tokens.

    Raises:
        ValueError: There is no choice, one has no token, or prompts are padded.
    """
    import torch

    _check(inputs, choices)
    prompts = len(inputs["input_ids"])
    with torch.inference_mode():
        first, cache, decoder, seen = _prefix(model, inputs)
        heads = torch.tensor([choice[0] for choice in choices], device=first.device)
        scores = [[[value] for value in row] for row in first[:, heads].tolist()]
        longer = sorted(
            (place for place, choice in enumerate(choices) if len(choice) > 1), key=lambda i: len(choices[i])
        )
        at_once = max(rows // prompts, 1)
        for begun in range(0, len(longer), at_once):
            part = longer[begun : begun + at_once]
            last = begun + at_once >= len(longer)
            shared = cache if last else copy.deepcopy(cache)
            found = _continued(decoder, inputs, shared, [choices[i] for i in part], seen)
            for prompt, place, values in found:
                scores[prompt][part[place]].extend(values)
    return scores


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


def _prefix(model: Any, inputs: Inputs) -> tuple[torch.Tensor, Any, Any, dict[str, torch.Tensor]]:  # noqa: ANN401 - as above
    """Log-probabilities of the first token (n, vocabulary), the cache, what continues from it and what it looks at."""
    lean = {"logits_to_keep": 1} if _takes(model, "logits_to_keep") else {}
    output = model(**inputs, use_cache=True, **lean)
    first = output.logits[:, -1].float().log_softmax(dim=-1)
    inner = getattr(output, "language_model_outputs", None)  # BLIP-2: the whole model wants a picture with every call
    if inner is None:
        return first, output.past_key_values, model, _seen(model, inputs, output)
    return first, inner.past_key_values, model.language_model, {}


def _seen(model: Any, inputs: Inputs, output: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - as above
    """What a model that looks at pictures through cross-attention wants with every call: what it made of them."""
    if _LOOKED not in inputs:
        return {}
    name = "perceiver_embeddings" if model.config.use_resampler else "image_encoder_embeddings"
    return {name: output.image_hidden_states}


def _looked(inputs: Inputs, tokens: int) -> torch.Tensor:
    """Which pictures each token of an answer looks at: those that the end of the prompt does."""
    return inputs[_LOOKED][:, -1:].expand(-1, tokens, -1)


def _continued(
    decoder: Any,  # noqa: ANN401 - as above
    inputs: Inputs,
    cache: Any,  # noqa: ANN401 - a cache of transformers; it is used up
    choices: Tokens,
    seen: Inputs,
) -> Iterator[tuple[int, int, list[float]]]:
    """Yield, for each prompt and each choice, their places and log-probabilities from the second token on."""
    import torch

    prompts, longest = len(inputs["input_ids"]), max(map(len, choices))
    padded = torch.zeros(len(choices), longest, dtype=torch.long, device=inputs["input_ids"].device)
    for row, choice in enumerate(choices):
        padded[row, : len(choice)] = torch.tensor(choice)
    # The last token is only predicted. What is padded behind a choice is not masked: nothing of the choice sees it.
    tail = padded[:, :-1].repeat(prompts, 1)
    cache.batch_repeat_interleave(len(choices))
    shared = {**seen, _LOOKED: _looked(inputs, tail.shape[1])} if seen else {}
    more = {name: value.repeat_interleave(len(choices), dim=0) for name, value in shared.items()}
    before = inputs["attention_mask"].repeat_interleave(len(choices), dim=0)
    mask = torch.cat([before, torch.ones_like(tail, dtype=before.dtype)], dim=1)
    logits = decoder(input_ids=tail, attention_mask=mask, past_key_values=cache, use_cache=True, **more).logits
    right = padded[:, 1:].repeat(prompts, 1)[..., None]
    found = logits.float().log_softmax(dim=-1).gather(-1, right)[..., 0].tolist()
    for row, values in enumerate(found):
        prompt, place = divmod(row, len(choices))
        yield prompt, place, values[: len(choices[place]) - 1]


def _check(inputs: Inputs, choices: Tokens) -> None:
    if not choices or not all(choices):
        msg = "every choice needs at least one token"
        raise ValueError(msg)
    if not bool(inputs["attention_mask"].all()):
        msg = "prompts of one batch must have one length"
        raise ValueError(msg)


def _takes(model: Any, name: str) -> bool:  # noqa: ANN401 - as above
    parameters = inspect.signature(model.forward).parameters.values()
    return any(parameter.name == name or parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
