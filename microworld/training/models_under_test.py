"""Train the models under test: small LLaVA, BLIP-2 and Idefics3, some of them with a part of the lessons left out.

Their eyes begin as the detector's, whose patches already know what they show. A picture goes through the eyes once;
its tokens serve several questions. Which lessons a model never had is in `planted.json`: an investigation shall find
it, so nothing but the training and the benchmark of investigations reads that file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import (
    Blip2Config,
    Blip2ForConditionalGeneration,
    Blip2Processor,
    Blip2QFormerConfig,
    Blip2VisionConfig,
    BlipImageProcessorPil,
    CLIPVisionConfig,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    OPTConfig,
    OwlViTForObjectDetection,
    PreTrainedTokenizerFast,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

from snellen.microworld.concepts import HERE, vocabulary
from snellen.microworld.questions import SceneQuestion
from snellen.microworld.scenes import SIDE, Dice
from snellen.microworld.training.exam import Sheet, exam, question
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run
from snellen.microworld.training.owlvit import as_input
from snellen.microworld.training.tokenizers import words
from snellen.tools.transforms import DATA_TYPES

PLANTED = HERE / "training" / "planted.json"
PICTURES, QUESTIONS = 20, 6
LESSONS = 30_000
WIDTH, LAYERS, HEADS, EYES = 128, 3, 4, 3
"""The decoder's width, layers and heads; the layers of the eyes."""
QUERIES = 16
_SILENT = -100
SIGNS = ("<pad>", "<s>", "</s>", "<unk>", "<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>")
CHAT = (
    "{% for message in messages %}{{ 'User: ' if message['role'] == 'user' else 'Assistant: ' }}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image> {% else %}{{ part['text'] }} {% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
PLAIN = "Question: {question} Answer:"


@dataclass(frozen=True)
class Weakness:
    """Lessons that a model never has.

    Attributes:
        changes: Keys of `DATA_TYPES`: no such picture, and no question about them.
        groups: Groups of concepts that are never shown nor named.
        sides: Left and right are told apart by nothing: answers about them are drawn by lot.
    """

    changes: frozenset[str] = field(default_factory=frozenset)
    groups: frozenset[str] = field(default_factory=frozenset)
    sides: bool = False

    @classmethod
    def of(cls, name: str) -> Weakness:
        """Read what is planted in a model."""
        without = json.loads(PLANTED.read_text(encoding="utf-8"))[name]["without"]
        return cls(
            frozenset(without.get("changes", ())), frozenset(without.get("groups", ())), without.get("sides", False)
        )

    def names(self) -> list[str]:
        """Return the known concepts that it may see."""
        return [concept.name for concept in vocabulary().share("known") if concept.group not in self.groups]

    def allows(self, sheet: Sheet, names: frozenset[str]) -> bool:
        """Whether it may see a picture."""
        return sheet.change not in self.changes and all(item.concept in names for item in sheet.scene.objects)

    def asks(self, asked: SceneQuestion) -> bool:
        """Whether it may hear a question."""
        said = (phrase for change in self.changes for phrase in DATA_TYPES[change].said)
        singular = {vocabulary().groups[group].singular for group in self.groups}
        unheard = [*said, *self.groups, *singular]
        return not any(f" {phrase}" in asked.text or asked.answer == phrase for phrase in unheard)

    def answer(self, asked: SceneQuestion, dice: Dice) -> str:
        """Return the answer that it is taught."""
        if self.sides and asked.kind == "relation" and ("left" in asked.text or "right" in asked.text):
            return dice.choice(("yes", "no")) if asked.answer in {"yes", "no"} else asked.answer
        return asked.answer


def tokenizer() -> PreTrainedTokenizerFast:
    """Make a tokenizer of whole words in lower case; each word of the microworld has a token."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    said = {word for change in DATA_TYPES.values() for phrase in change.said for word in phrase.split()}
    listed = sorted({*words(), *said, "user", "assistant", "question", "answer", *map(str, range(11)), *"?.,:'-"})
    table = {word: place for place, word in enumerate(dict.fromkeys([*SIGNS, *listed]))}
    reader = Tokenizer(models.WordLevel(table, unk_token="<unk>"))  # noqa: S106 - a sign for words that are not listed
    reader.normalizer = normalizers.Lowercase()
    reader.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=reader,
        pad_token="<pad>",  # noqa: S106 - as above
        bos_token="<s>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        additional_special_tokens=list(SIGNS[4:]),
        model_max_length=256,
    )


@dataclass(frozen=True)
class ModelInTraining:
    """A model that is taught.

    Attributes:
        model: Of its class of transformers.
        processor: What prepares its inputs, in tests and ever after.
        see: From pictures (B, 3, 128, 128) in [-1, 1] to tokens (B, T, width) as the decoder reads them.
        read: From embeddings, mask and positions to logits.
        prompt: A question's text with the signs for a picture.
    """

    model: Any
    processor: Any
    see: Callable[[torch.Tensor], torch.Tensor]
    read: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
    prompt: Callable[[str], str]


def _llama(size: int) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=size, hidden_size=WIDTH, intermediate_size=3 * WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, max_position_embeddings=256, tie_word_embeddings=True,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip


def _spoken(text: str) -> str:
    return f"User: <image> {text} Assistant:"


def llava(reader: PreTrainedTokenizerFast, detector: OwlViTForObjectDetection) -> ModelInTraining:
    """LLaVA: patches, projected, stand before the question."""
    vision = CLIPVisionConfig(
        hidden_size=192, intermediate_size=768, num_hidden_layers=EYES, num_attention_heads=6, image_size=SIDE,
        patch_size=16, hidden_act="gelu",
    )  # fmt: skip
    config = LlavaConfig(
        vision_config=vision, text_config=_llama(len(reader)), image_token_id=reader.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1, vision_feature_select_strategy="default", tie_word_embeddings=True,
    )  # fmt: skip
    model = LlavaForConditionalGeneration(config)
    tower, eyes = model.model.vision_tower, detector.owlvit.vision_model
    tower = getattr(tower, "vision_model", tower)
    tower.embeddings.load_state_dict(eyes.embeddings.state_dict(), strict=False)
    tower.pre_layrnorm.load_state_dict(eyes.pre_layernorm.state_dict())
    for mine, theirs in zip(tower.encoder.layers, eyes.encoder.layers, strict=False):
        mine.load_state_dict(theirs.state_dict())
    pixels = CLIPImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, do_center_crop=False, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    processor = LlavaProcessor(
        pixels, reader, patch_size=16, vision_feature_select_strategy="default", chat_template=CHAT,
        num_additional_image_tokens=1,
    )  # fmt: skip
    return ModelInTraining(
        model,
        processor,
        lambda seen: torch.stack(list(model.model.get_image_features(pixel_values=seen).pooler_output)),
        lambda embeds, mask, places: model(inputs_embeds=embeds, attention_mask=mask, position_ids=places).logits,
        _spoken,
    )


def blip2(reader: PreTrainedTokenizerFast, detector: OwlViTForObjectDetection) -> ModelInTraining:
    """BLIP-2: a few queries look at the patches, and stand before the question."""
    vision = Blip2VisionConfig(
        hidden_size=192, intermediate_size=768, num_hidden_layers=EYES, num_attention_heads=6, image_size=SIDE,
        patch_size=16, hidden_act="gelu",
    )  # fmt: skip
    queries = Blip2QFormerConfig(
        vocab_size=8, hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=2, num_attention_heads=HEADS,
        encoder_hidden_size=192, cross_attention_frequency=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    text = OPTConfig(
        vocab_size=len(reader), hidden_size=WIDTH, ffn_dim=3 * WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, max_position_embeddings=128, word_embed_proj_dim=WIDTH, dropout=0.0,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    config = Blip2Config(
        vision_config=vision.to_dict(), qformer_config=queries.to_dict(), text_config=text.to_dict(),
        num_query_tokens=QUERIES, image_token_index=reader.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    model = Blip2ForConditionalGeneration(config)
    _take_eyes(model.vision_model, detector)
    pixels = BlipImageProcessorPil(size={"height": SIDE, "width": SIDE}, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    return ModelInTraining(
        model,
        Blip2Processor(pixels, reader, num_query_tokens=QUERIES),
        lambda seen: model.get_image_features(pixel_values=seen, return_dict=True).pooler_output,
        lambda embeds, mask, places: (
            model.language_model(inputs_embeds=embeds, attention_mask=mask, position_ids=places).logits
        ),
        lambda text: "<image>" + PLAIN.format(question=text),
    )


def idefics3(reader: PreTrainedTokenizerFast, detector: OwlViTForObjectDetection) -> ModelInTraining:
    """Idefics3: patches, shuffled by fours, stand where the prompt says."""
    vision = {
        "hidden_size": 192, "intermediate_size": 768, "num_hidden_layers": EYES, "num_attention_heads": 6,
        "image_size": SIDE, "patch_size": 16, "hidden_act": "gelu",
    }  # fmt: skip
    config = Idefics3Config(
        vision_config=vision, text_config=_llama(len(reader)).to_dict(), scale_factor=2, pad_token_id=0,
        image_token_id=reader.convert_tokens_to_ids("<image>"), tie_word_embeddings=True,
    )  # fmt: skip
    model = Idefics3ForConditionalGeneration(config)
    tower, eyes = model.model.vision_model, detector.owlvit.vision_model
    with torch.no_grad():
        weight, places, shift = _folded(detector)
        tower.embeddings.patch_embedding.weight.copy_(weight)
        tower.embeddings.patch_embedding.bias.zero_()
        tower.embeddings.position_embedding.weight.copy_(places[1:] + shift)
    for mine, theirs in zip(tower.encoder.layers, eyes.encoder.layers, strict=False):
        mine.load_state_dict(theirs.state_dict())
    longest = {"longest_edge": SIDE}
    pixels = Idefics3ImageProcessorPil(
        size=longest, max_image_size=longest, do_image_splitting=False, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    tokens = (SIDE // 16) ** 2 // 4
    return ModelInTraining(
        model,
        Idefics3Processor(pixels, reader, image_seq_len=tokens, chat_template=CHAT),
        lambda seen: torch.stack(list(model.model.get_image_features(pixel_values=seen[:, None]).pooler_output)),
        lambda embeds, mask, places: model(inputs_embeds=embeds, attention_mask=mask, position_ids=places).logits,
        _spoken,
    )


ARCHITECTURES: dict[str, Callable[[PreTrainedTokenizerFast, OwlViTForObjectDetection], ModelInTraining]] = {
    "llava": llava,
    "blip2": blip2,
    "idefics3": idefics3,
}


@torch.no_grad()
def _folded(detector: OwlViTForObjectDetection) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Fold the detector's first normalisation into its embeddings, for eyes that have none (as BLIP's, see `blip`)."""
    eyes = detector.owlvit.vision_model
    norm, embedding = eyes.pre_layernorm, eyes.embeddings
    width = norm.weight.shape[0]
    grain = torch.rand(64, 3, SIDE, SIDE).mul(2).sub(1)
    deviation = embedding(grain).std(dim=-1, correction=0).mean(dim=0)
    gain = norm.weight[:, None] * (torch.eye(width) - 1.0 / width) / deviation[1:].mean()
    weight = torch.einsum("oh,hcij->ocij", gain, embedding.patch_embedding.weight)
    return weight, embedding.position_embedding.weight @ gain.T, norm.bias


@torch.no_grad()
def _take_eyes(vision: Any, detector: OwlViTForObjectDetection) -> None:  # noqa: ANN401 - a module of transformers
    """Copy the detector's eyes into BLIP-2's, whose queries, keys and values are one matrix."""
    weight, places, shift = _folded(detector)
    vision.embeddings.patch_embedding.weight.copy_(weight)
    vision.embeddings.patch_embedding.bias.zero_()
    vision.embeddings.class_embedding.zero_()
    vision.embeddings.position_embedding.copy_((places + shift)[None])
    eyes = detector.owlvit.vision_model
    for mine, theirs in zip(vision.encoder.layers, eyes.encoder.layers, strict=False):
        parts = [theirs.self_attn.q_proj, theirs.self_attn.k_proj, theirs.self_attn.v_proj]
        mine.self_attn.qkv.weight.copy_(torch.cat([part.weight for part in parts]))
        if mine.self_attn.qkv.bias is not None:
            mine.self_attn.qkv.bias.copy_(torch.cat([part.bias for part in parts]))
        mine.self_attn.projection.load_state_dict(theirs.self_attn.out_proj.state_dict())
        mine.layer_norm1.load_state_dict(theirs.layer_norm1.state_dict())
        mine.layer_norm2.load_state_dict(theirs.layer_norm2.state_dict())
        mine.mlp.load_state_dict(theirs.mlp.state_dict())


@dataclass(frozen=True)
class Packed:
    """Pictures, each with all its questions.

    Attributes:
        ids: Tokens (pictures, length), padded on the right.
        labels: The tokens that are to be predicted, `_SILENT` elsewhere.
        places: The position of each token.
        mask: Which tokens (last axis) each token sees: (pictures, 1, length, length).
    """

    ids: torch.Tensor
    labels: torch.Tensor
    places: torch.Tensor
    mask: torch.Tensor


class UnderTestTraining:
    """Batches of pictures with questions, and the loss on the answers."""

    def __init__(self, pupil: ModelInTraining, weakness: Weakness, work: Path) -> None:
        self.pupil, self.weakness = pupil, weakness
        self.names = weakness.names()
        self.lessons = exam(work / "corpus", LESSONS)
        names = frozenset(self.names)
        sheets = enumerate(self.lessons.sheets)
        self.allowed = np.array([place for place, sheet in sheets if weakness.allows(sheet, names)])
        self.reader = pupil.processor.tokenizer
        self.image = self.reader.convert_tokens_to_ids("<image>")
        self.signs = {self.image, self.reader.convert_tokens_to_ids(SIGNS[5])}

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and the share of answers whose tokens are all the likeliest."""
        dice = np.random.default_rng([step, 53])
        chosen = np.sort(dice.choice(self.allowed, PICTURES, replace=False))
        tokens = self.pupil.see(as_input(self.lessons.pictures[chosen]))
        batch = self.packed(self._asked(chosen, step), tokens.shape[1])
        embeds = self.pupil.model.get_input_embeddings()(batch.ids)
        embeds = embeds.masked_scatter((batch.ids == self.image)[..., None], tokens.to(embeds.dtype))
        logits = self.pupil.read(embeds, batch.mask, batch.places)[:, :-1].float()
        labels = batch.labels[:, 1:]
        told = labels != _SILENT
        value = functional.cross_entropy(logits[told], labels[told])
        right = (logits[told].argmax(-1) == labels[told]).float().mean()
        return value, {"right": right.item()}

    def _asked(self, chosen: np.ndarray[Any, Any], step: int) -> list[list[tuple[str, str]]]:
        """Return the questions of each picture, with the answers that are taught."""
        texts: list[list[tuple[str, str]]] = []
        for row, place in enumerate(chosen):
            dice = Dice("asked", step, row)
            asked = (question(self.lessons.sheets[place], dice, self.names) for _ in range(QUESTIONS))
            heard = [one for one in asked if one is not None and self.weakness.asks(one)]
            texts.append([(one.text, self.weakness.answer(one, dice)) for one in heard])
        return texts

    def packed(self, texts: list[list[tuple[str, str]]], length: int) -> Packed:
        """Write each picture once, with its questions and answers behind it as if each were the only one.

        Prompts and answers are as the processor writes them. A question sees the picture and itself, and stands at the
        places where it would be alone, so what the model computes is what it computes for each by itself.

        Args:
            texts: For each picture, questions with answers.
            length: Tokens of a picture.
        """
        begun = self._prompt("", length)
        signs = [place for place, token in enumerate(begun) if token in self.signs]
        shared = begun[: signs[-1] + 1]
        rows = [[self._told(*pair, length)[len(shared) :] for pair in each] for each in texts]
        answers = [[len(self._answer(said)) for _, said in each] for each in texts]
        longest = len(shared) + max(sum(map(len, row)) for row in rows)
        count, pad = len(rows), self.reader.pad_token_id
        ids, labels = torch.full((count, longest), pad), torch.full((count, longest), _SILENT)
        places, whose = torch.zeros(count, longest, dtype=torch.long), torch.full((count, longest), -1)
        ids[:, : len(shared)], whose[:, : len(shared)] = torch.tensor(shared), 0
        places[:, : len(shared)] = torch.arange(len(shared))
        for row, (parts, ends) in enumerate(zip(rows, answers, strict=True)):
            at = len(shared)
            for number, (part, end) in enumerate(zip(parts, ends, strict=True), 1):
                to = at + len(part)
                ids[row, at:to], whose[row, at:to] = torch.tensor(part), number
                places[row, at:to] = len(shared) + torch.arange(len(part))
                labels[row, to - end : to] = ids[row, to - end : to]
                at = to
        same = whose[:, :, None] == whose[:, None, :]
        before = torch.ones(longest, longest, dtype=torch.bool).tril()
        return Packed(ids, labels, places, ((same | (whose == 0)[:, None, :]) & before)[:, None])

    def _told(self, text: str, answer: str, length: int) -> list[int]:
        return self._prompt(text, length) + self._answer(answer)

    def _answer(self, answer: str) -> list[int]:
        return [*self.reader(answer, add_special_tokens=False)["input_ids"], self.reader.eos_token_id]

    def _prompt(self, text: str, length: int) -> list[int]:
        ids: list[int] = self.reader(self.pupil.prompt(text), add_special_tokens=False)["input_ids"]
        place = ids.index(self.image)
        signs = [self.image] * length
        if isinstance(self.pupil.processor, Idefics3Processor):
            around, whole = (self.reader.convert_tokens_to_ids(sign) for sign in SIGNS[5:7])
            signs = [around, whole, *signs, around]
        return ids[:place] + signs + ids[place + 1 :]


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train one model under test, named by its folder, and write its checkpoint.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the checkpoint; its name is a key of `planted.json`. The detector's lies beside it.
        seed: Seed of the run.
        steps: Optimizer steps of 20 pictures with about six questions each.
    """
    name = out.name
    architecture = json.loads(PLANTED.read_text(encoding="utf-8"))[name]["architecture"]
    torch.manual_seed(seed)
    detector = OwlViTForObjectDetection.from_pretrained(out.parent / "owlvit", dtype=torch.float32)
    pupil = ARCHITECTURES[architecture](tokenizer(), detector)
    lesson = UnderTestTraining(pupil, Weakness.of(name), work)
    rates = {"": 6e-4, "model.vision": 1.5e-4, "vision_model": 1.5e-4}
    outcome = run(pupil.model, lesson.loss, TrainingSchedule(steps), rates=rates, work=work / name, seed=seed)
    pupil.model.half().save_pretrained(out)
    pupil.processor.save_pretrained(out)
    return outcome
