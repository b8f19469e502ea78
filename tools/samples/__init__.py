"""Where the pictures of experiments come from."""

from tools.samples.select import SELECTS, Selected, Selection, Source, select
from tools.samples.sources import FolderSource, WorldSource, WorldStudio

__all__ = ["SELECTS", "FolderSource", "Selected", "Selection", "Source", "WorldSource", "WorldStudio", "select"]
