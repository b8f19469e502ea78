"""A process that learns with ``snellen learn`` and keeps everything, for ``test_learning_together.py``.

python learner.py WORDS…
"""

from __future__ import annotations

import sys
from unittest.mock import patch

from interfaces import cli
from nodes import learning
from tests.interfaces.teachable import keep_all

with patch.object(learning, "validate", keep_all):
    sys.exit(cli.main(["learn", *sys.argv[1:]]))
