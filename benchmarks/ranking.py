"""What sharing the prompt is worth: ranking choices from one prefix, against one whole pass for each choice.

    python -m benchmarks.ranking --json

A LLaVA with random weights reads pictures of 576 tokens and questions of 24. Both ways rank the same choices of the
same batch in turns; one whole pass for each choice, pictures batched, is how APEX's release does it.

Keys of the JSON: `picture_tokens`, `parameters`, `pictures`, `threads`, and `choices`, a list with, for each number,

    choices        how many
    shared, plain  seconds, the median of the rounds
    ratio          plain over shared
    bound          the ratio of the computations that the two ways need: what `ratio` would be if nothing else took time
    difference     the largest between the log-probabilities of both
    shared_flops, plain_flops   billions of operations a second that each way reaches
    peak_flops     those that a large matrix product reaches on this machine: the roof

and `ratio`, by the number of choices.
"""

from __future__ import annotations

import argparse
import json
import statistics
from timeit import timeit
from typing import Any

import torch
from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

from snellen.models.under_test import rank, rank_plainly

SIDE, PATCH = 336, 14
PICTURE_TOKENS = (SIDE // PATCH) ** 2
QUESTION_TOKENS = 24
PICTURE, VOCABULARY = 1999, 2000
CHOICE_TOKENS = (1, 2, 3, 2, 1, 4, 2, 3, 1, 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choices", type=int, nargs="+", default=[2, 4, 10, 20], help="numbers of choices")
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
    report = {
        "picture_tokens": PICTURE_TOKENS,
        "parameters": sum(each.numel() for each in model.parameters()),
        "pictures": options.pictures,
        "threads": torch.get_num_threads(),
        "choices": rows,
        "ratio": {str(row["choices"]): row["ratio"] for row in rows},
    }
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for row in rows:
        print(f"{row['choices']:3} choices: {row['ratio']:.1f} times faster (at most {row['bound']:.1f})")


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
    choices = [
        torch.randint(0, PICTURE, (CHOICE_TOKENS[place % len(CHOICE_TOKENS)],)).tolist() for place in range(count)
    ]
    shared, plain = rank(model, inputs, choices), rank_plainly(model, inputs, choices)
    times: dict[str, list[float]] = {"shared": [], "plain": []}
    for _ in range(rounds):
        times["shared"].append(timeit(lambda: rank(model, inputs, choices), number=1))
        times["plain"].append(timeit(lambda: rank_plainly(model, inputs, choices), number=1))
    seconds = {way: statistics.median(found) for way, found in times.items()}
    pictures = len(inputs["input_ids"])
    needed = {way: pictures * each / 1e9 for way, each in _operations(model, choices).items()}
    return {
        "choices": count,
        **{way: round(found, 4) for way, found in seconds.items()},
        "ratio": round(seconds["plain"] / seconds["shared"], 2),
        "bound": round(needed["plain"] / needed["shared"], 2),
        "difference": max(
            abs(a - b)
            for rows in zip(shared, plain, strict=True)
            for pair in zip(*rows, strict=True)
            for a, b in zip(*pair, strict=True)
        ),
        **{f"{way}_flops": round(needed[way] / found, 1) for way, found in seconds.items()},
        "peak_flops": round(peak, 1),
    }


def _operations(model: Any, choices: list[list[int]]) -> dict[str, float]:  # noqa: ANN401 - as above
    """Count multiplications and additions of the layers' products and of attention, for one picture."""

    def tower(config: Any, tokens: float, seen: float) -> float:  # noqa: ANN401 - a configuration
        width, inner = config.hidden_size, config.intermediate_size
        gates = 3 if config.model_type == "llama" else 2
        return config.num_hidden_layers * tokens * (8 * width**2 + 2 * gates * width * inner + 4 * width * seen)

    vision, text = model.config.vision_config, model.config.text_config
    prompt = PICTURE_TOKENS + QUESTION_TOKENS
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
