"""The truth that was measured, in one file beside the results: nobody has to measure it again for models that stayed.

    python -m benchmarks.outside.truth_archive --folder out/outside    # adds what a folder has measured

Names within the file carry the fingerprints of the models, so that what another checkpoint answered is never taken for
this one's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from zipfile import ZIP_LZMA, ZipFile, ZipInfo

ARCHIVE: Final = Path(__file__).parents[2] / "docs" / "results" / "outside" / "truth.zip"
_DAY: Final = (2026, 1, 1, 0, 0, 0)
"""Stands for the time of every file, so that the same measurements make the same archive."""


def main() -> None:
    """Pack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="that of `python -m benchmarks.outside`")
    parser.add_argument("--archive", type=Path, default=ARCHIVE, help="the file (default: %(default)s)")
    options = parser.parse_args()
    pack(options.folder / "truth", options.archive)
    print(f"{options.archive}: {options.archive.stat().st_size:,} bytes")


def archived_lines(name: str, archive: Path = ARCHIVE) -> list[str]:
    """Return the lines that an archive has of a file of measurements; none where it has not the file.

    Args:
        name: The file, relative to the folder of measurements.
        archive: The archive, which need not exist.
    """
    if not archive.is_file():
        return []
    with ZipFile(archive) as packed:
        return packed.read(name).decode().splitlines() if name in packed.namelist() else []


def pack(folder: Path, archive: Path) -> None:
    """Add the measurements of a folder to an archive, all or none of them; a line that is there stays as it is."""
    files = dict(_known(archive))
    for path in sorted(folder.rglob("*.jsonl")):
        name = path.relative_to(folder).as_posix()
        files[name] = list(dict.fromkeys([*files.get(name, []), *path.read_text(encoding="utf-8").splitlines()]))
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_suffix(".new")
    with ZipFile(unfinished, "w", ZIP_LZMA) as packed:
        for name in sorted(files):
            text = "".join(f"{line}\n" for line in files[name])
            packed.writestr(ZipInfo(name, _DAY), text, compress_type=ZIP_LZMA)
    unfinished.replace(archive)


def _known(archive: Path) -> Iterator[tuple[str, list[str]]]:
    if archive.is_file():
        with ZipFile(archive) as packed:
            for name in packed.namelist():
                yield name, packed.read(name).decode().splitlines()


if __name__ == "__main__":
    main()
