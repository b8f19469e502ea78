"""Collecting what a tool learns from (CLOVA, section 3.4): annotated scenes, found pictures, and their division."""

from snellen.collection.class_folders import ClassFolders
from snellen.collection.coco import CocoCrops, CocoFolder
from snellen.collection.labelled_pictures import LabelledPictures, concepts_in, labelled_pictures
from snellen.collection.profile_sources import OwnPictures, annotated_source, picture_source
from snellen.collection.search import PictureSearch, SearchSettings
from snellen.collection.sources import Annotated, AnnotatedSource, OpenPicture, PictureSource, SearchedPicture
from snellen.collection.split import Item, Split, split
from snellen.collection.world_library import WorldLibrary

__all__ = [
    "Annotated",
    "AnnotatedSource",
    "ClassFolders",
    "CocoCrops",
    "CocoFolder",
    "Item",
    "LabelledPictures",
    "OpenPicture",
    "OwnPictures",
    "PictureSearch",
    "PictureSource",
    "SearchSettings",
    "SearchedPicture",
    "Split",
    "WorldLibrary",
    "annotated_source",
    "concepts_in",
    "labelled_pictures",
    "picture_source",
    "split",
]
