"""Build the two tokenizers: BPE for CLIP and OWL-ViT, WordPiece for BLIP, as the hub's checkpoints have them.

Their vocabulary covers every name, novel ones included: a novel concept is a word without a meaning yet, not a
word that cannot be read.
"""

from __future__ import annotations

import re
from pathlib import Path

from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.questions import KINDS, ask
from snellen.microworld.scenes import Dice, caption, detailed_caption, recipe, sample_scene

START, END = "<|startoftext|>", "<|endoftext|>"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]", "[ENC]")
EXTRA = (
    "what which where who how many much is are was be the a an of on in at to by for with without and or not no yes "
    "this that these there here it its picture image photo photograph scene background foreground color colour object "
    "objects thing things animal left right top bottom above below over under next behind front middle center side "
    "red green blue yellow purple orange pink white black gray brown small medium large big little tiny huge "
    "zero one two three four five six seven eight nine ten same different more fewer less than both only any all "
    "does do can could see show shows contain contains have has look looks like kind type style weather crop emoji"
)


def words() -> list[str]:
    """Return every word the microworld can say, sorted."""
    known = vocabulary()
    texts = [EXTRA, *(phrase for phrases in known.facts.values() for phrase in phrases)]
    texts += [f"{c.name} {plural(c.name)}" for c in known.concepts]
    texts += [f"{g.name} {g.singular}" for g in known.groups.values()]
    everything, dice = recipe(known.concepts), Dice("words")
    for index in range(400):
        scene = sample_scene(f"words/{index}", everything)
        texts += [caption(scene), detailed_caption(scene)]
        asked = [ask(scene, dice, kinds=[kind], distractors=everything.concepts) for kind in KINDS for _ in range(4)]
        texts += [f"{q.text} {q.answer}" for q in asked if q]
    return sorted(set(re.findall(r"[a-z]+", " ".join(texts).lower())))


def save_clip_tokenizer(folder: Path, *, length: int) -> None:
    """Write a CLIP tokenizer (byte-level BPE in which every known word is one token) into `folder`.

    The end token has the highest id, because OWL-ViT's text encoder pools at the position of the highest id.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import CLIPTokenizer

    learner = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    learner.pre_tokenizer = pre_tokenizers.Whitespace()
    letters = [chr(code) for code in range(ord("!"), ord("~") + 1)]
    trainer = trainers.BpeTrainer(
        vocab_size=20_000, min_frequency=1, end_of_word_suffix="</w>", initial_alphabet=letters, show_progress=False
    )
    learner.train_from_iterator([*words(), *letters], trainer)
    data = learner.to_str()
    table, merges = _vocabulary(data, letters)
    CLIPTokenizer(vocab=table, merges=merges, model_max_length=length).save_pretrained(folder)


def _vocabulary(data: str, letters: list[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    import json

    model = json.loads(data)["model"]
    merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]]
    tokens = sorted(set(model["vocab"]) | set(letters) | {letter + "</w>" for letter in letters})
    table = {token: index for index, token in enumerate([*tokens, START, END])}
    return table, merges


def save_bert_tokenizer(folder: Path, *, length: int) -> None:
    """Write a BERT tokenizer (WordPiece) with BLIP's two extra tokens into `folder`."""
    from transformers import BertTokenizer

    letters = [chr(code) for code in range(ord("!"), ord("~") + 1) if not chr(code).isupper()]
    pieces = [f"##{letter}" for letter in letters if letter.isalnum()]
    tokens = [*SPECIAL, *letters, *pieces, *(word for word in words() if len(word) > 1)]
    table = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = BertTokenizer(vocab=table, do_lower_case=True, model_max_length=length)
    tokenizer.add_special_tokens({"bos_token": "[DEC]", "additional_special_tokens": ["[ENC]"]})
    tokenizer.save_pretrained(folder)
