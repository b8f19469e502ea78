"""Sources of the pictures of experiments."""

from snellen.tools.samples.alignment import HIDING, Alignment, NotShown
from snellen.tools.samples.folder_source import FolderSource, SimilarPictures
from snellen.tools.samples.metaclasses import METACLASSES
from snellen.tools.samples.painter_source import PainterSource
from snellen.tools.samples.photo_studio import PhotoStudio, prompt_for
from snellen.tools.samples.select import (
    SELECTS,
    BatchedSource,
    SampleSelection,
    SampleSource,
    Selected,
    prepare,
    select,
)
from snellen.tools.samples.sources import folder_classes, groups_of, picture_size, sources_of
from snellen.tools.samples.world_source import WorldSource, WorldStudio

__all__ = [
    "HIDING",
    "METACLASSES",
    "SELECTS",
    "Alignment",
    "BatchedSource",
    "FolderSource",
    "NotShown",
    "PainterSource",
    "PhotoStudio",
    "SampleSelection",
    "SampleSource",
    "Selected",
    "SimilarPictures",
    "WorldSource",
    "WorldStudio",
    "folder_classes",
    "groups_of",
    "picture_size",
    "prepare",
    "prompt_for",
    "select",
    "sources_of",
]
