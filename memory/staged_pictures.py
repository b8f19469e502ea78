"""Pictures that are stored together, once all of them are there, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.memory.artifacts import ArtifactStore, encoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import PIL.Image

    from snellen.values import Picture


class StagedPictures(ArtifactStore):
    """The pictures of a store, and further ones that are in memory alone.

    Args:
        store: Holds the others; nothing is written to it.
    """

    def __init__(self, store: ArtifactStore) -> None:
        super().__init__(store.files)
        self._staged: dict[str, bytes] = {}

    @property
    def staged(self) -> Mapping[str, bytes]:
        """The pictures in memory, by their ids: PNG files, for ``ArtifactStore.put_all``."""
        return self._staged

    def put(self, picture: PIL.Image.Image) -> Picture:
        """Take a picture into memory; see ``ArtifactStore.put``."""
        stored, content = encoded(picture)
        self._staged[stored.id] = content
        return stored

    def get_all(self, picture_ids: Iterable[str]) -> dict[str, PIL.Image.Image]:
        """Return pictures, from memory or from the store; see ``ArtifactStore.get_all``."""
        return {one: self.get(one) for one in picture_ids}

    def read(self, picture_id: str) -> bytes:
        """Return the PNG file of a picture, from memory or from the store; see ``ArtifactStore.read``."""
        content = self._staged.get(picture_id)
        return super().read(picture_id) if content is None else content
