"""What sharing is worth: choices share their prompt, and prompts about one picture share the picture.

    python -m benchmarks.ranking --json

A LLaVA with random weights reads pictures of 576 tokens and questions of 24. The ways of a comparison take turns on the
same batch. One whole pass for each choice, pictures batched, is how APEX's release ranks.

Keys of the JSON: `picture_tokens`, `parameters`, `pictures`, `threads`; `choices`, a list with, for each number,

    choices        how many
    shared, plain  seconds of a processor, the median of the rounds: from one prompt, and one whole pass for each choice
    ratio          plain over shared
    bound          the ratio of the computations that the two ways need: what `ratio` would be if nothing else took time
    share          ratio over bound
    difference     the largest between the log-probabilities of both
    shared_flops, plain_flops   billions of operations a second that each way reaches
    peak_flops     those that a large matrix product reaches on this machine: the roof

`questions`, the same for each number of questions about a picture, with four choices each: `shared`, all from one
picture; `plain`, one prompt after the other, choices shared; and `ratio`, by the number of choices.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from timeit import timeit
from typing import Any

import torch
from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

from snellen.models.under_test import rank, rank_plainly
from snellen.models.under_test.choice_ranking import PromptEnd, rank_ends

SIDE, PATCH = 336, 14
PICTURE_TOKENS = (SIDE // PATCH) ** 2
QUESTION_TOKENS = 24
PICTURE, VOCABULARY = 1999, 2000
CHOICE_TOKENS = (1, 2, 3, 2, 1, 4, 2, 3, 1, 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choices", type=int, nargs="+", default=[2, 4, 10, 20], help="numbers of choices")
    parser.add_argument("--questions", type=int, nargs="+", default=[1, 2, 4, 8], help="numbers of questions a picture")
    parser.add_argument("--pictures", type=int, default=2, help="pictures in a batch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, default=256, help="hidden size of both towers")
    parser.add_argument("--layers", type=int, default=6, help="layers of each tower")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    torch.manual_seed(3)
    model = _model(options.width, options.layers)
    inputs = _inputs(options.pictures)
    peak = _peak()
    rows = [_measured(model, inputs, count, options.rounds, peak) for count in options.choices]
    asked = [_asked(model, inputs, count, options.rounds, peak) for count in options.questions]
    report = {
        "picture_tokens": PICTURE_TOKENS,
        "parameters": sum(each.numel() for each in model.parameters()),
        "pictures": options.pictures,
        "threads": torch.get_num_threads(),
        "choices": rows,
        "questions": asked,
        "ratio": {str(row["choices"]): row["ratio"] for row in rows},
    }
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for row in rows:
        print(f"{row['choices']:3} choices: {row['ratio']:.1f} times faster (at most {row['bound']:.1f})")
    for row in asked:
        print(f"{row['questions']:3} questions: {row['ratio']:.1f} times faster (at most {row['bound']:.1f})")


def _model(width: int, layers: int) -> Any:  # noqa: ANN401 - of transformers
    tower = {
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": width // 32,
    }
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=SIDE, patch_size=PATCH, **tower),
        text_config=LlamaConfig(vocab_size=VOCABULARY, **tower),
        image_token_id=PICTURE,
    )
    return LlavaForConditionalGeneration(config).eval()


def _inputs(pictures: int) -> dict[str, torch.Tensor]:
    question = torch.randint(0, PICTURE, (pictures, QUESTION_TOKENS))
    ids = torch.cat([torch.full((pictures, PICTURE_TOKENS), PICTURE), question], dim=1)
    return {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "pixel_values": torch.randn(pictures, 3, SIDE, SIDE),
    }


def _measured(model: Any, inputs: dict[str, torch.Tensor], count: int, rounds: int, peak: float) -> dict[str, Any]:  # noqa: ANN401
    """Compare one prompt for all choices with one whole pass for each."""
    choices = _choices(count)
    needed = {way: len(inputs["input_ids"]) * each for way, each in _operations(model, choices).items()}
    return {"choices": count} | _compared(
        lambda: rank(model, inputs, choices), lambda: rank_plainly(model, inputs, choices), needed, rounds, peak
    )


def _asked(model: Any, inputs: dict[str, torch.Tensor], count: int, rounds: int, peak: float) -> dict[str, Any]:  # noqa: ANN401
    """Compare one picture for all questions with one prompt after the other."""
    choices, pictures = _choices(4), len(inputs["input_ids"])
    tails = torch.randint(0, PICTURE, (count, QUESTION_TOKENS)).tolist()
    begun = {name: value[:, :PICTURE_TOKENS] if value.dim() == 2 else value for name, value in inputs.items()}  # noqa: PLR2004
    ends = [PromptEnd(row, tuple(tail), choices) for tail in tails for row in range(pictures)]

    def one_by_one() -> list[list[list[float]]]:
        found = []
        for tail in tails:
            ids = torch.cat([begun["input_ids"], torch.tensor([tail] * pictures)], dim=1)
            whole = {**inputs, "input_ids": ids, "attention_mask": torch.ones_like(ids)}
            found += rank(model, whole, choices)
        return found

    alone, head = _operations(model, choices)["shared"], _operations(model, [], question=0)["shared"]
    needed = {"shared": pictures * (head + count * (alone - head)), "plain": pictures * count * alone}
    return {"questions": count} | _compared(lambda: rank_ends(model, begun, ends), one_by_one, needed, rounds, peak)


def _choices(count: int) -> list[list[int]]:
    return [torch.randint(0, PICTURE, (CHOICE_TOKENS[place % len(CHOICE_TOKENS)],)).tolist() for place in range(count)]


def _compared(
    shared: Callable[[], list[list[list[float]]]],
    plain: Callable[[], list[list[list[float]]]],
    needed: dict[str, float],
    rounds: int,
    peak: float,
) -> dict[str, Any]:
    """Time two ways in turns.

    Args:
        shared: One way.
        plain: The other.
        needed: The operations of each.
        rounds: How often.
        peak: Billions of operations a second that this machine reaches.
    """
    pairs = [pair for rows in zip(shared(), plain(), strict=True) for pair in zip(*rows, strict=True)]
    times: dict[str, list[float]] = {"shared": [], "plain": []}
    for _ in range(rounds):
        for way, do in (("shared", shared), ("plain", plain)):
            times[way].append(timeit(do, number=1, timer=time.process_time))
    seconds = {way: statistics.median(found) for way, found in times.items()}
    ratio, bound = seconds["plain"] / seconds["shared"], needed["plain"] / needed["shared"]
    return {
        **{way: round(found, 4) for way, found in seconds.items()},
        "ratio": round(ratio, 2),
        "bound": round(bound, 2),
        "share": round(ratio / bound, 2),
        "difference": max(abs(a - b) for one, other in pairs for a, b in zip(one, other, strict=True)),
        **{f"{way}_flops": round(needed[way] / 1e9 / found, 1) for way, found in seconds.items()},
        "peak_flops": round(peak, 1),
    }


def _operations(model: Any, choices: list[list[int]], *, question: int = QUESTION_TOKENS) -> dict[str, float]:  # noqa: ANN401
    """Count multiplications and additions of the layers' products and of attention, for one picture and question."""

    def tower(config: Any, tokens: float, seen: float) -> float:  # noqa: ANN401 - a configuration
        width, inner = config.hidden_size, config.intermediate_size
        gates = 3 if config.model_type == "llama" else 2
        return config.num_hidden_layers * tokens * (8 * width**2 + 2 * gates * width * inner + 4 * width * seen)

    vision, text = model.config.vision_config, model.config.text_config
    prompt = PICTURE_TOKENS + question
    seeing = tower(vision, PICTURE_TOKENS + 1, PICTURE_TOKENS + 1)
    reading = tower(text, prompt, prompt)
    beyond = [max(len(choice) - 1, 0) for choice in choices]
    plain = sum(seeing + tower(text, prompt + len(choice), prompt + len(choice)) for choice in choices)
    return {"shared": seeing + reading + sum(tower(text, each, prompt + each) for each in beyond), "plain": plain}


def _peak() -> float:
    """Measure billions of operations a second of a large product in float32."""
    size = 1536
    one, other = torch.randn(size, size), torch.randn(size, size)
    best = min(timeit(lambda: one @ other, number=1) for _ in range(5))
    return 2 * size**3 / best / 1e9


if __name__ == "__main__":
    main()
