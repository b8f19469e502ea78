"""Where the pictures of experiments come from."""

from tools.samples.alignment import HIDING, Alignment
from tools.samples.metaclasses import METACLASSES
from tools.samples.select import SELECTS, Selected, Selection, Source, select
from tools.samples.sources import (
    FolderSource,
    PainterSource,
    WorldSource,
    WorldStudio,
    folder_classes,
    groups_of,
    sources_of,
)

__all__ = [
    "HIDING",
    "METACLASSES",
    "SELECTS",
    "Alignment",
    "FolderSource",
    "PainterSource",
    "Selected",
    "Selection",
    "Source",
    "WorldSource",
    "WorldStudio",
    "folder_classes",
    "groups_of",
    "select",
    "sources_of",
]
