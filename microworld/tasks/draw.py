"""Drawing tasks of any family."""

from __future__ import annotations

from snellen.errors import BadInput
from snellen.microworld.concepts import Share
from snellen.microworld.tasks import edit, statement, tag, vqa
from snellen.microworld.tasks.sampling import Maker, make
from snellen.microworld.tasks.task import FAMILIES, SHARES, SPLITS, Family, Split, WorldTask

TYPES: dict[Family, dict[str, Maker]] = {
    "vqa": vqa.TYPES,
    "statement": statement.TYPES,
    "edit": edit.TYPES,
    "tag": tag.TYPES,
}


def sample_tasks(family: Family, split: Split, share: Share, n: int, seed: int) -> list[WorldTask]:
    """Draw tasks; the same arguments give the same tasks, and more of them begin with the same ones.

    Args:
        family: `vqa`, `statement`, `edit` or `tag`.
        split: `train`, `val` or `test`: different scenes, and in `test` also wordings that the others never use.
        share: `known` has only known concepts in instruction and pictures, `novel` asks about novel ones only, in
            pictures that may show others beside them, `mixed` asks about either.
        n: How many, at least none.
        seed: Any integer.

    Raises:
        BadInput: If family, split or share is unknown, or `n` is negative.
    """
    _check("family", family, FAMILIES)
    _check("split", split, SPLITS)
    _check("share of concepts", share, SHARES)
    if n < 0:
        msg = f"{n} tasks cannot be drawn; ask for at least one."
        raise BadInput(msg)
    return [make(family, TYPES[family], split=split, share=share, seed=seed, index=index) for index in range(n)]


def _check(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        msg = f"There is no {what} {name!r}; choose one of {', '.join(known)}."
        raise BadInput(msg)
