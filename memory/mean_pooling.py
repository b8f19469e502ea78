"""Sentence embedding as most models of sentence-transformers do it: a transformer's mean state, of length one.

Such a model is read here without that library, which takes longer to import than the model to be read. Any other model
is left to it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_BATCH: Final = 32
_MODULES: Final = ("Transformer", "Pooling", "Normalize")


class MeanPooling:
    """A sentence embedding that was read from a folder.

    Args:
        folder: A folder that `is_mean_pooled`.
    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        self._longest = int(_read(folder / "sentence_bert_config.json")["max_seq_length"])

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed n texts, at least one: float32 (n, d), rows of length one."""
        import torch
        from torch.nn.functional import normalize

        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        rows: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            given = self._tokenizer(
                [texts[place] for place in places],
                padding=True, truncation=True, max_length=self._longest, return_tensors="pt",
            )  # fmt: skip
            with torch.inference_mode():
                states = self._model(**given).last_hidden_state
                mask = given["attention_mask"][..., None].to(states.dtype)
                means = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
                vectors = normalize(means, dim=1).float().numpy()
            rows |= dict(zip(places, vectors, strict=True))
        return np.stack([rows[place] for place in range(len(texts))])


def is_mean_pooled(folder: Path) -> bool:
    """Tell whether a folder holds a transformer whose mean state, made of length one, is the embedding."""
    try:
        modules = _read(folder / "modules.json")
        if tuple(each["type"].rpartition(".")[2] for each in modules) != _MODULES or modules[0]["path"]:
            return False
        pooling, sizes = _read(folder / modules[1]["path"] / "config.json"), _read(folder / "sentence_bert_config.json")
    except (OSError, ValueError, KeyError, TypeError):
        return False
    modes = {name for name, is_on in pooling.items() if name.startswith("pooling_mode_") and is_on}
    return modes == {"pooling_mode_mean_tokens"} and "max_seq_length" in sizes


def _read(file: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(file.read_text(encoding="utf-8"))
