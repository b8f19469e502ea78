"""The store that several machines share: ``SNELLEN_STORE`` names its database, and where its pictures lie.

Without the variable, a memory is the files of its home.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Final

from snellen.errors import BadInput

STORE_VARIABLE: Final = "SNELLEN_STORE"

DATABASE_SCHEMES: Final = ("postgresql://", "postgres://")

_FILES: Final = re.compile(r"/|[a-z][a-z0-9+.-]*://.")
"""How an address of files begins: a folder's path, or a scheme of fsspec."""


@dataclass(frozen=True)
class StoreAddresses:
    """The addresses of a store, which may hold passwords: not to be shown.

    Attributes:
        database: Of the Postgres that has its tables; empty where these are SQLite files of the home.
        files: Of the folder that has its pictures, as fsspec reads it; empty where that is in the home.
    """

    database: str = field(default="", repr=False)
    files: str = field(default="", repr=False)


def store_addresses() -> StoreAddresses:
    """Return the addresses that ``SNELLEN_STORE`` names.

    Raises:
        BadInput: it names something else than a Postgres and, after it, at most one place for files.
    """
    given = os.environ.get(STORE_VARIABLE, "").split()
    if not given:
        return StoreAddresses()
    database, *files = given
    # Pictures are deleted once no table refers to them, so that whoever shares them must share the tables.
    if not database.startswith(DATABASE_SCHEMES) or len(files) > 1 or not all(map(_FILES.match, files)):
        # What was given is not repeated: it may have a password anywhere.
        msg = (
            f"{STORE_VARIABLE} names no store: give postgresql://USER:PASSWORD@HOST:PORT/DATABASE and, if pictures are "
            "to be shared too, a space and s3://BUCKET/FOLDER, another address that fsspec knows, or the path of a "
            "folder; an address has no spaces."
        )
        raise BadInput(msg)
    return StoreAddresses(database, files[0] if files else "")
