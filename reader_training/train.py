"""Train the learned reader.

    python -m reader_training.train out/examples.pkl out/reader.pt --minutes 40

The encoder stays as it is but for its adapters. Saves every 500 steps and goes on from what it finds.
"""

from __future__ import annotations

import argparse
import math
import pickle
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import AutoTokenizer

from reader_training.asides import Asides
from reader_training.example import Example
from snellen.reasoning.learned.languages import START, VOCABULARY, action_number
from snellen.reasoning.learned.mentions import KINDS, MentionedText
from snellen.reasoning.learned.network import ActionDecoder
from snellen.reasoning.learned.reader import encoder_folder, new_network
from snellen.reasoning.learned.text_encoding import TextEncoder

_WEIGHTS: Final = {"echo": 0.5, "grammar": 0.5}
_NOISY: Final = 0.15
_ASIDE: Final = 0.15
"""The share of texts that get an aside before or after them."""
_KEPT: Final = 0.999
"""How much of the averaged weights stays with each step; those are saved."""
_BESIDE: Final = 3
"""Worded examples for each stiff one in a round."""
_IGNORED: Final = -100


def batches(examples: Sequence[Example], size: int, dice: random.Random) -> Iterator[list[Example]]:
    """Yield all examples in batches of similar lengths, in random order."""
    keyed = sorted(examples, key=lambda each: len(each.text.words) + len(each.actions) + dice.random() * 12)
    cut = [keyed[start : start + size] for start in range(0, len(keyed), size)]
    dice.shuffle(cut)
    yield from cut


def noisy(text: MentionedText, dice: random.Random) -> MentionedText:
    """Misspell a word that belongs to no mention, or leave one out."""
    taken = {place for mention in text.mentions for start, end in mention.spans for place in range(start, end)}
    free = [place for place, word in enumerate(text.words) if place not in taken and word.isalpha() and len(word) > 3]  # noqa: PLR2004
    if not free:
        return text
    place = dice.choice(free)
    word = text.words[place]
    at = dice.randrange(len(word) - 1)
    swapped, dropped = word[:at] + word[at + 1] + word[at] + word[at + 2 :], word[:at] + word[at + 1 :]
    ways = (swapped, dropped, word[:at] + word[at] + word[at:])
    words = (*text.words[:place], dice.choice(ways), *text.words[place + 1 :])
    return MentionedText(words, text.mentions)


def varied(example: Example, asides: Asides, dice: random.Random) -> MentionedText:
    """Return the text of an example, now and then with an aside or a misspelt word."""
    text = example.text
    if example.source.startswith("worded") and example.source != "worded talk" and dice.random() < _ASIDE:
        text = asides.beside(example.pictures, text, dice)
    return noisy(text, dice) if dice.random() < _NOISY else text


def loss_of(
    network: ActionDecoder,
    encode: TextEncoder,
    batch: Sequence[Example],
    vary: Callable[[Example], MentionedText] | None = None,
    *,
    half: bool = False,
) -> Tensor:
    """Return the mean loss of an action, weighted by the sources of the texts; `half` computes in bfloat16."""
    texts = [(each.pictures, each.text if vary is None else vary(each)) for each in batch]
    longest = max(len(each.actions) for each in batch)
    target = torch.full((len(batch), longest), _IGNORED)
    for row, each in enumerate(batch):
        target[row, : len(each.actions)] = torch.tensor(list(map(action_number, each.actions)))
    before = torch.cat((torch.full((len(batch), 1), START), target[:, :-1].clamp(min=0)), dim=1)
    tensors = encode(texts)
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        encoded = network.encode(tensors.ids, tensors.mask, tensors.membership, tensors.kinds)
        scores = network.decode(encoded, before)
    losses = functional.cross_entropy(
        scores.float().flatten(0, 1), target.flatten(), ignore_index=_IGNORED, reduction="none"
    )
    weights = torch.tensor([_WEIGHTS.get(each.source, 1.0) for each in batch])[:, None].expand(-1, longest)
    weights = (weights * (target != _IGNORED)).flatten()
    return (losses * weights).sum() / weights.sum()


def train(examples: Sequence[Example], out: Path, *, minutes: float, rate: float, size: int, seed: int) -> None:
    """Train for so many minutes; a round has all worded examples, and a draw of the others."""
    torch.manual_seed(seed)
    dice = random.Random(seed)
    encode = TextEncoder(AutoTokenizer.from_pretrained(encoder_folder()))
    network = new_network()
    if out.exists():
        network.load_state_dict(weights_of(out), strict=False)
    trained = [each for each in network.parameters() if each.requires_grad]
    moving = get_ema_multi_avg_fn(_KEPT)  # type: ignore[no-untyped-call]
    average = AveragedModel(network, multi_avg_fn=moving)
    averaged: ActionDecoder = average.module  # type: ignore[assignment]  # what it was made of
    vary = partial(varied, asides=Asides.read(), dice=dice)
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.01)
    used = [each for each in examples if not each.validation]
    worded = [each for each in used if each.source.startswith("worded")]
    stiff = [each for each in used if not each.source.startswith("worded")]
    validation = [each for each in examples if each.validation]
    print(len(worded), "worded,", len(stiff), "stiff,", len(validation), "for validation", flush=True)
    half = half_is_faster(network, encode, used[:48])
    print("bfloat16" if half else "float32", flush=True)
    begun, step, running = time.monotonic(), 0, 0.0
    while time.monotonic() - begun < 60 * minutes:
        beside = dice.sample(stiff, min(len(stiff), len(worded) // _BESIDE)) if worded else stiff
        for batch in batches(worded + beside, size, dice):
            share = (time.monotonic() - begun) / (60 * minutes)
            if share >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1, (step + 1) / 200) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share)))
            network.train()
            loss = loss_of(network, encode, batch, vary, half=half)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            average.update_parameters(network)
            step += 1
            running = loss.item() if step == 1 else 0.98 * running + 0.02 * loss.item()
            if step % 100 == 0:
                print(f"step {step} loss {running:.3f} {time.monotonic() - begun:.0f} s", flush=True)
            if step % 500 == 0:
                save(averaged, out)
                if validation:
                    print(f"validation {_loss(averaged, encode, validation):.3f}", flush=True)
    save(averaged, out)


def half_is_faster(network: ActionDecoder, encode: TextEncoder, batch: Sequence[Example]) -> bool:
    """Tell whether this machine computes in bfloat16 faster than in float32: without AMX it is three times slower."""
    seconds = {}
    for half in (False, True):
        loss_of(network, encode, batch, half=half).backward()  # type: ignore[no-untyped-call]
        begun = time.perf_counter()
        loss_of(network, encode, batch, half=half).backward()  # type: ignore[no-untyped-call]
        seconds[half] = time.perf_counter() - begun
    return seconds[True] < seconds[False]


def _loss(network: ActionDecoder, encode: TextEncoder, examples: Sequence[Example]) -> float:
    network.eval()
    with torch.no_grad():
        losses = [
            float(loss_of(network, encode, examples[start : start + 64])) for start in range(0, len(examples), 64)
        ]
    return sum(losses) / len(losses)


def save(network: ActionDecoder, out: Path) -> None:
    """Write what was trained."""
    torch.save({"weights": network.own_state(), "vocabulary": list(VOCABULARY)}, out)


def weights_of(file: Path) -> dict[str, Tensor]:
    """Return saved weights for the actions and kinds of mentions that there are now, of which some may be new."""
    saved = torch.load(file, weights_only=True)
    weights: dict[str, Tensor] = saved["weights"]
    table, rows = weights["action.weight"], {name: number for number, name in enumerate(saved["vocabulary"])}
    new = torch.randn(len(VOCABULARY) + 1, table.shape[1]) * table.shape[1] ** -0.5
    for number, name in enumerate(VOCABULARY):
        if name in rows:
            new[number] = table[rows[name]]
    new[START] = table[len(rows)]
    kinds = torch.randn(len(KINDS), table.shape[1]) * table.shape[1] ** -0.5
    kinds[: len(weights["kind.weight"])] = weights["kind.weight"]
    return weights | {"action.weight": new, "kind.weight": kinds}


def main() -> None:
    """Train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("examples", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    examples: list[Example] = pickle.loads(options.examples.read_bytes())  # noqa: S301 - our own file
    train(
        examples, options.out, minutes=options.minutes, rate=options.rate, size=options.size, seed=options.seed,
    )  # fmt: skip


if __name__ == "__main__":
    main()
