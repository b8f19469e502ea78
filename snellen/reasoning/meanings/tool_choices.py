"""The tools that do an operation, where more than one can: a table that demonstrations may fill."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class ToolChoices(BaseModel):
    """The tools for each operation of a meaning that several tools can do.

    The defaults measured best with the embedded models (``python -m benchmarks.tool_choices``).

    Attributes:
        everything: All things of a picture: THINGS segments and names them, LOC detects them.
        colour_filter: Things of a colour: VQA is asked about each, or LOC is given the colour with the name.
        fact_filter: Things of which a fact holds: by their label in LIST, or by CLASSIFY with LIST.
        colour_answer: The colour of a thing: VQA is asked about its crop, or about its crop with a margin.
        background: The kind of the background: VQA is asked, or it is the label of BACKGROUND.
        outlines: Things that colour pop and blur keep: by their masks, or by their boxes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    everything: Literal["THINGS", "LOC"] = "THINGS"
    colour_filter: Literal["VQA", "LOC"] = "VQA"
    fact_filter: Literal["label", "CLASSIFY"] = "label"
    colour_answer: Literal["crop", "margin"] = "crop"
    background: Literal["VQA", "BACKGROUND"] = "VQA"
    outlines: Literal["masks", "boxes"] = "masks"
