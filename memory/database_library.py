"""sqlite-utils, which brings databases up to date, imported without numpy and pandas.

It takes them along where they are installed, which costs more than all that it does here, for types of columns that no
table of ours has.
"""

from __future__ import annotations

from snellen.lean_imports import importing_without

with importing_without("numpy", "pandas"):
    from sqlite_utils import Database as Database
    from sqlite_utils import Migrations as Migrations
