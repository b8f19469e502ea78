"""The command line as ``python -m snellen``."""

from __future__ import annotations

import sys

from snellen.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
