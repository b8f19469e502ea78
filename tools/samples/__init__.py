"""Sources of the pictures of experiments."""

from snellen.tools.samples.alignment import HIDING, Alignment
from snellen.tools.samples.metaclasses import METACLASSES
from snellen.tools.samples.select import SELECTS, SampleSelection, SampleSource, Selected, select
from snellen.tools.samples.sources import (
    FolderSource,
    PainterSource,
    WorldSource,
    WorldStudio,
    folder_classes,
    groups_of,
    picture_size,
    sources_of,
)

__all__ = [
    "HIDING",
    "METACLASSES",
    "SELECTS",
    "Alignment",
    "FolderSource",
    "PainterSource",
    "SampleSelection",
    "SampleSource",
    "Selected",
    "WorldSource",
    "WorldStudio",
    "folder_classes",
    "groups_of",
    "picture_size",
    "select",
    "sources_of",
]
