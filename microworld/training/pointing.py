"""Teach words to look at what they name, and to know how many there are and where.

Answers alone are a faint teacher of looking: after two thousand steps the word `dog` still did not attend to the dog
(existence 0.59). The truth is known here, so some heads of the cross-attention are told.

- *Pointing* heads: a name attends to the patches of the things it names, and to the picture's class token where there
  are none, which is how absence becomes visible (existence 0.88 within 800 further steps).
- *Sharing* heads: each of n things and the class token get the same share of attention, 1 / (n + 1). A softmax forgets
  how many things it looks at; the share that is left for the class token tells.
- From the state of a name, a linear probe that is thrown away afterwards reads the number of the things and, of a
  single one, its place: what counting and relations need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.scenes import NUMBERS, PATTERNS, SIDE, TINTS, Scene, SceneObject, place

PATCH = 16
ROW = SIDE // PATCH
TOKENS = 1 + ROW * ROW
# Heads of each taught layer: the first ones point, the next ones share, the others stay free.
POINTING = 2
SHARING = 2
LAYERS = 2
FACTS = 3

Chosen = Callable[[Scene], Sequence[SceneObject]]


@dataclass(frozen=True)
class Pointed:
    """Targets of n words of a batch of texts that name things.

    Attributes:
        rows: The text of each word (n).
        words: Its position in the text (n).
        patches: 1 for each picture token that the word may look at (n, 65).
        shares: How much of its attention each picture token should get (n, 65).
        facts: Number of the things, halved; centre of a single one, from -1 to 1 (n, 3).
        single: Whether there is exactly one, so that its place is told (n).
    """

    rows: torch.Tensor
    words: torch.Tensor
    patches: torch.Tensor
    shares: torch.Tensor
    facts: torch.Tensor
    single: torch.Tensor


class Watch:
    """Keeps what the first cross-attentions of a BLIP text model look at, and the states after them."""

    def __init__(self, layers: Any) -> None:  # noqa: ANN401 - a module list of transformers, untyped
        self._maps: list[torch.Tensor] = []
        self._states: list[torch.Tensor] = []
        for layer in list(layers)[:LAYERS]:
            layer.crossattention.register_forward_hook(lambda _m, _i, output: self._maps.append(output[1]))
            layer.register_forward_hook(self._after)

    def _after(self, _layer: object, _inputs: object, output: torch.Tensor) -> None:
        # A text that is read without a picture passes no cross-attention and looks at nothing.
        if len(self._states) < len(self._maps):
            self._states.append(output)

    def taken(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Return what was kept since the last call, and forget it.

        Returns:
            An attention map (texts, heads, words, patches) of each taught layer, and the states (texts, words, width)
            after each.
        """
        maps, states, self._maps, self._states = self._maps, self._states, [], []
        return maps, states


class Pointer:
    """Knows which words of a text name which things of a scene.

    Args:
        ids: Tokenizes a text without special tokens.
        names: Concepts that texts may name.
    """

    def __init__(self, ids: Callable[[str], list[int]], names: Sequence[str]) -> None:
        words = vocabulary()
        phrases: dict[str, Chosen] = {"objects": lambda scene: scene.objects}
        for side in ("top left", "top right", "bottom left", "bottom right"):
            phrases[f"the {side}"] = partial(_at, side=side)
        for group in words.groups.values():
            for form in (group.name, group.singular):
                phrases[form] = partial(Scene.grouped, group=group.name)
        for name in names:
            for form in (name, plural(name)):
                phrases[form] = partial(Scene.named, concept=name)
        self._phrases: dict[int, list[tuple[tuple[int, ...], Chosen]]] = {}
        for phrase, chosen in phrases.items():
            tokens = tuple(ids(phrase))
            self._phrases.setdefault(tokens[0], []).append((tokens, chosen))
        for items in self._phrases.values():
            items.sort(key=lambda item: -len(item[0]))
        self._tints = {ids(tint)[0]: tint for tint in TINTS}
        self._counts = {ids(word)[0] for word in ("a", "an", *NUMBERS)}
        # `an orange striped background` names no fruit.
        self._patterns = {ids(word)[0] for word in PATTERNS}

    def questions(self, ids: torch.Tensor, scenes: Sequence[Scene | None]) -> Pointed | None:
        """Return where the names in questions should look.

        Args:
            ids: Token ids (texts, words).
            scenes: What the picture of each text shows; None where it is not known where.

        Returns:
            The words that name something, or None if none does.
        """
        found = [
            (row, word, tuple(chosen(scene)))
            for row, (text, scene) in enumerate(zip(ids.tolist(), scenes, strict=True))
            if scene is not None
            for start, stop, chosen in self._spans(text)
            for word in range(start, stop)
        ]
        return _stacked(found)

    def captions(self, ids: torch.Tensor, scenes: Sequence[Scene]) -> Pointed | None:
        """Return where a decoder should look just before each word of a phrase (`two red dogs`) that names things."""
        found = []
        for row, (text, scene) in enumerate(zip(ids.tolist(), scenes, strict=True)):
            for begin, stop, chosen in self._spans(text):
                start, tint = begin, ""
                if text[start - 1] in self._tints:
                    start, tint = start - 1, self._tints[text[start - 1]]
                if text[start - 1] in self._counts:
                    start -= 1
                things = tuple(o for o in chosen(scene) if not scene.shows_colour or o.tint == tint)
                found += [(row, word - 1, things) for word in range(start, stop)]
        return _stacked(found)

    def _spans(self, text: list[int]) -> list[tuple[int, int, Chosen]]:
        spans, index = [], 0
        while index < len(text):
            for tokens, chosen in self._phrases.get(text[index], ()):
                stop = index + len(tokens)
                if tuple(text[index:stop]) == tokens and text[stop] not in self._patterns:
                    spans.append((index, stop, chosen))
                    index = stop - 1
                    break
            index += 1
        return spans


def _at(scene: Scene, side: str) -> list[SceneObject]:
    return [o for o in scene.objects if place(o) == side]


def patches(things: Sequence[SceneObject]) -> NDArray[np.float32]:
    """Return which of the 65 picture tokens show any of `things`: the class token if there are none."""
    if not things:
        return _nothing()
    return np.maximum.reduce([_covered(o.left, o.top, o.side) for o in things])


def shares(things: Sequence[SceneObject]) -> NDArray[np.float32]:
    """Return equal shares (65) of attention for each thing, spread over its patches, and for the class token."""
    spread = [_nothing(), *(_covered(o.left, o.top, o.side) for o in things)]
    return np.sum([each / each.sum() for each in spread], axis=0) / np.float32(len(spread))


def facts(things: Sequence[SceneObject]) -> tuple[float, float, float]:
    """Return the number of things, halved, and the centre of a single one, from -1 (left, top) to 1."""
    x, y = things[0].centre if len(things) == 1 else (SIDE // 2, SIDE // 2)
    return len(things) / 2, 2 * x / SIDE - 1, 2 * y / SIDE - 1


@cache
def _nothing() -> NDArray[np.float32]:
    out = np.zeros(TOKENS, dtype=np.float32)
    out[0] = 1.0
    return out


@cache
def _covered(left: int, top: int, side: int) -> NDArray[np.float32]:
    """A patch shows a thing if the thing's square covers a third of it, or more of it than of any other patch."""
    edges = np.arange(ROW) * PATCH
    x = np.clip(np.minimum(edges + PATCH, left + side) - np.maximum(edges, left), 0, None)
    y = np.clip(np.minimum(edges + PATCH, top + side) - np.maximum(edges, top), 0, None)
    area = np.outer(y, x).ravel()
    out = np.zeros(TOKENS, dtype=np.float32)
    out[1:] = area >= min(PATCH * PATCH / 3, area.max())
    return out


def _stacked(found: list[tuple[int, int, tuple[SceneObject, ...]]]) -> Pointed | None:
    if not found:
        return None
    rows, words, things = zip(*found, strict=True)
    return Pointed(
        torch.tensor(rows),
        torch.tensor(words),
        torch.from_numpy(np.stack([patches(each) for each in things])),
        torch.from_numpy(np.stack([shares(each) for each in things])),
        torch.tensor([facts(each) for each in things]),
        torch.tensor([len(each) == 1 for each in things]),
    )


def pointing_loss(maps: Sequence[torch.Tensor], pointed: Pointed | None) -> torch.Tensor:
    """Return the mean of −log of the attention that pointing heads give to where they should look.

    Args:
        maps: Attention (texts, heads, words, 65) of each taught layer.
        pointed: What the words name; None gives 0.
    """
    if pointed is None:
        return torch.zeros(())
    at = (pointed.rows, slice(POINTING), pointed.words)
    kept = [(layer[at] * pointed.patches[:, None]).sum(-1) for layer in maps]
    return -torch.stack(kept).clamp(min=1e-6).log().mean()


def sharing_loss(maps: Sequence[torch.Tensor], pointed: Pointed | None) -> torch.Tensor:
    """Return the mean divergence (KL) of the sharing heads' attention from equal shares; arguments as above."""
    if pointed is None:
        return torch.zeros(())
    at = (pointed.rows, slice(POINTING, POINTING + SHARING), pointed.words)
    wanted = pointed.shares[:, None]
    found = torch.stack([layer[at] for layer in maps]).clamp(min=1e-6)
    # The logarithm of a share of 0 is left out by hand: its gradient would not be a number.
    return (wanted * (wanted.clamp(min=1e-6).log() - found.log())).sum(-1).mean()


def knowing_loss(readings: Sequence[torch.Tensor], pointed: Pointed | None) -> torch.Tensor:
    """Return the squared error of what a probe reads off the states of names.

    Args:
        readings: The probe's reading (texts, words, 3) of every word after each taught layer: number and place, as
            `facts` has them.
        pointed: What the words name; None gives 0.
    """
    if pointed is None:
        return torch.zeros(())
    read = torch.stack([each[pointed.rows, pointed.words] for each in readings])
    error = (read - pointed.facts).square()
    return error[..., 0].mean() + (error[..., 1:] * pointed.single[:, None]).mean()
