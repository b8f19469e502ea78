# ruff: noqa: SLF001 - the plain arm takes the same model and the same targets from inside the tuners
"""Three ways to tune the same prompts: as CLOVA's release does, with frozen features cached, and together.

All take the same instances from the same beginnings through the same number of Adam steps, so they differ in the order
of float additions alone. `in_double_precision` shows it: there, they agree to ten digits and more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from snellen.models.injection import answer_prompts, deep_prompts, query_prompts
from snellen.tuning import Instance, TunedPrompt, tune
from snellen.tuning.loc import patch_losses
from snellen.tuning.loop import initial
from snellen.tuning.seg import mask_losses

Arm = Callable[[Sequence[Instance]], list[TunedPrompt]]


def arms(tuner: Any) -> dict[str, Arm]:  # noqa: ANN401 - a tuner of any tool
    """Return the arms by their names.

    - ``release``: an instance after another, in each step one picture after another, each through the whole model
      (picture encoder, text encoder and heads), as in CLOVA's release.
    - ``cached``: an instance after another, in each step all of its pictures at once; what no step changes is computed
      once an instance.
    - ``together``: `snellen.tuning.tune` on all instances.
    """
    plain = Plain(tuner, PLAIN[tuner.pool])
    return {
        "release": plain.tune,
        "cached": lambda instances: [tuned for each in instances for tuned in tune(tuner, [each])],
        "together": lambda instances: tune(tuner, instances),
    }


@contextmanager
def in_double_precision(module: torch.nn.Module) -> Iterator[None]:
    """Compute everything in float64; afterwards the module's float32 weights are bit for bit what they were."""
    module.double()
    torch.set_default_dtype(torch.float64)
    try:
        with _Doubled():
            yield
    finally:
        torch.set_default_dtype(torch.float32)
        module.float()


class _Doubled(TorchFunctionMode):
    """Whatever comes in single precision is taken in double precision, and asked to stay so."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        with torch._C.DisableTorchFunction():
            args, kwargs = tree_map(_doubled, (args, kwargs or {}))
        return func(*args, **kwargs)


def _doubled(value: object) -> object:
    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.double()
    return torch.float64 if value is torch.float32 else value


@dataclass(frozen=True)
class Plain:
    """One instance after another, one picture after another, the whole model every step.

    Attributes:
        tuner: The tool's tuner, for its model and settings.
        losses: From an instance to its loss on one of its pictures with a prompt ``(1, *shape)``; what even the
            plainest loop prepares once (pixels, tokens, targets) is prepared in between.
    """

    tuner: Any
    losses: Callable[[Any, Instance], Callable[[torch.Tensor, int], torch.Tensor]]

    def tune(self, instances: Sequence[Instance]) -> list[TunedPrompt]:
        """Learn a prompt for each with torch's own Adam."""
        for parameter in self.tuner.module.parameters():
            parameter.requires_grad = False
        return [self._tune(each) for each in instances]

    def _tune(self, learned: Instance) -> TunedPrompt:
        prompt = initial(self.tuner, learned)[None].to(self.tuner.device).requires_grad_()
        optimizer = torch.optim.Adam([prompt], lr=self.tuner.settings.rate)
        loss = self.losses(self.tuner, learned)
        for _ in range(self.tuner.settings.steps):
            optimizer.zero_grad()
            for index in range(1 + len(learned.negatives)):
                torch.autograd.backward(loss(prompt, index))
            optimizer.step()
        (feature,) = self.tuner.features([learned.example])
        return TunedPrompt(
            instance=learned.id,
            pool=self.tuner.pool,
            concept=learned.concept,
            prompt=prompt.detach()[0].cpu().numpy(),
            feature=feature,
            steps=self.tuner.settings.steps,
            loss=float("nan"),
            accepted=False,
        )


def _clip_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    checkpoint, model = tuner._encoder.checkpoint, tuner.module
    with torch.no_grad():
        batch = tuner.prepare([learned])
    pixels = checkpoint.pixels([each.picture for each in (learned.example, *learned.negatives)])
    names = [learned.concept, *tuner._rivals(learned)]
    tokens = checkpoint.tokens([tuner._template.format(name) for name in names])

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        with deep_prompts(model.vision_model, prompt):
            seen = model.get_image_features(pixels[index : index + 1]).pooler_output[0].float()
        texts = model.get_text_features(**tokens).pooler_output.float()
        own = model.logit_scale.exp() * functional.cosine_similarity(seen, texts[0], dim=0)
        weight = 1.0 if index == 0 else 1 / len(learned.negatives)
        return weight * functional.softplus(-batch.signs[0, index] * (own - batch.rivals[0, index]))

    return loss


def _loc_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    detector, model = tuner._detector, tuner.module
    with torch.no_grad():
        batch = tuner.prepare([learned])
    pixels = detector.checkpoint.pixels([each.picture for each in (learned.example, *learned.negatives)])
    own, others = detector.tokens([learned.concept]), detector.tokens(learned.names)
    wanted, counted = (each[0].view(len(pixels), -1) for each in (batch.wanted, batch.counted))

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        feature_map, _ = model.image_embedder(pixel_values=pixels[index : index + 1])
        patches = feature_map.flatten(1, 2)
        model.box_predictor(patches, feature_map)
        with query_prompts(model.owlvit.text_model, prompt):
            query = model.owlvit.get_text_features(**own).pooler_output
        queries = torch.cat([query, model.owlvit.get_text_features(**others).pooler_output])
        queries = queries / queries.norm(dim=-1, keepdim=True)
        logits, classes = model.class_predictor(patches, queries[None])
        logits = logits[0].float()
        rivals = logits[:, 1:].amax(-1).detach()
        cosine = classes[0].float() @ (queries[0] / (queries[0].norm() + 1e-6)).float()
        scales = model.class_head.elu(model.class_head.logit_scale(patches))[0, :, 0].float() + 1
        short = scales * functional.relu(tuner.settings.alignment - cosine) * wanted[index]
        losses = patch_losses(logits[:, 0], rivals, wanted[index], counted[index]) + short
        mean: torch.Tensor = losses.sum() / wanted.sum().clamp(min=1)
        return mean

    return loss


def _vqa_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    checkpoint, model = tuner._answerer.checkpoint, tuner.module
    every = (learned.example, *learned.negatives)
    pixels = checkpoint.pixels([each.picture for each in every])
    questions = [checkpoint.tokens([each.question]) for each in every]
    answers = [tuner._spelled([each.answer])[0] for each in every]

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        with answer_prompts(model.text_decoder, prompt):
            out = model(pixel_values=pixels[index : index + 1], **questions[index], labels=answers[index])
        weighted: torch.Tensor = out.loss * (1.0 if index == 0 else 1 / len(learned.negatives))
        return weighted

    return loss


def _seg_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    segmenter, weights = tuner._segmenter, tuner.module.config
    with torch.no_grad():
        batch = tuner.prepare([learned])
    every = (learned.example, *learned.negatives)

    def loss(prompt: torch.Tensor, index: int) -> torch.Tensor:
        (sight,) = segmenter.look([every[index].picture])
        states = segmenter.states(prompt, sight.heard)
        named = functional.softplus(-batch.signs[0, index] * segmenter.something(states)).mean().float()
        if index:
            silence: torch.Tensor = weights.cross_entropy_weight * named / len(learned.negatives)
            return silence
        drawn = segmenter.outlines(states, sight.pixels.flatten(2))
        focal, dice = mask_losses(drawn, batch.masks, batch.real[:, None])
        outlines = (weights.mask_weight * focal + weights.dice_weight * dice).mean()
        both: torch.Tensor = outlines + weights.cross_entropy_weight * named
        return both

    return loss


def _replace_losses(tuner: Any, learned: Instance) -> Callable[[torch.Tensor, int], torch.Tensor]:  # noqa: ANN401
    painter, canvas = tuner._painter, tuner._canvas(learned.example)
    with torch.no_grad():
        batch = tuner.prepare([learned])

    def loss(prompt: torch.Tensor, _: int) -> torch.Tensor:
        with torch.no_grad():
            truth, around = painter.latents([canvas.picture]), painter.look([canvas])
        errors: torch.Tensor = tuner.judge(prompt, replace(batch, truth=truth, seen=around.seen)).loss
        return errors.sum()

    return loss


PLAIN = {
    "CLIP": _clip_losses, "LOC": _loc_losses, "SEG": _seg_losses, "VQA": _vqa_losses, "REPLACE": _replace_losses,
}  # fmt: skip
