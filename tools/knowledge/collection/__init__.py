"""Collecting what a tool learns from (CLOVA, section 3.4): annotated scenes, found pictures, and their division."""

from tools.knowledge.collection.choosing import OwnPictures, annotated_source, picture_source
from tools.knowledge.collection.coco import CocoCrops, CocoFolder
from tools.knowledge.collection.folders import ClassFolders, concepts_in
from tools.knowledge.collection.records import Annotated, AnnotatedSource, Found, OpenPicture, PictureSource
from tools.knowledge.collection.search import PictureSearch, SearchSettings
from tools.knowledge.collection.split import Item, Split, split
from tools.knowledge.collection.world import WorldLibrary

__all__ = [
    "Annotated",
    "AnnotatedSource",
    "ClassFolders",
    "CocoCrops",
    "CocoFolder",
    "Found",
    "Item",
    "OpenPicture",
    "OwnPictures",
    "PictureSearch",
    "PictureSource",
    "SearchSettings",
    "Split",
    "WorldLibrary",
    "annotated_source",
    "concepts_in",
    "picture_source",
    "split",
]
