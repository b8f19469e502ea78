"""Learned prompts as homes up to version 0.1 kept them: tensors in files, rows that say where they stand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sqlite_utils import Database

from snellen.memory.home import connect
from snellen.memory.prompts.blocks import OldBlocks, batches, encode, name_of
from snellen.memory.prompts.records import LearnedPrompt
from snellen.memory.prompts.rows import DATABASE, TENSORS, migrations


def old_pool(folder: Path, *added: Sequence[LearnedPrompt]) -> OldBlocks:
    """Make a home of the earlier version, to which prompts were added in some turns."""
    folder.mkdir(parents=True, exist_ok=True)
    old = OldBlocks(folder)
    with closing(connect(folder / DATABASE)) as connection:
        rows = Database(connection)
        migrations.apply(rows, stop_before=TENSORS)
        for prompts in added:
            for batch in batches(prompts):
                content = encode(batch)
                path = old.folder / name_of(content)[:2] / f"{name_of(content)}.safetensors"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                kept = [one.row.id for one in batch if one.prompt.any()]
                for place, one in enumerate(batch):
                    zeros = not one.prompt.any()
                    rows.table("prompts").insert(
                        vars(one.row)
                        | {"shape": json.dumps(one.row.shape), "dimension": len(one.feature), "block": path.stem}
                        | {"place": place, "prompt_place": -1 if zeros else kept.index(one.row.id)}
                    )
    return old
