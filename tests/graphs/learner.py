"""A process that learns with ``snellen learn`` and keeps everything, for ``test_learning_together.py``.

python learner.py WORDS…
"""

from __future__ import annotations

import sys
from unittest.mock import patch

from snellen.cli import main
from snellen.nodes.learn import prompt_tuning
from tests.cli.teachable import keep_all

with patch.object(prompt_tuning, "validate", keep_all):
    sys.exit(main.main(["learn", *sys.argv[1:]]))
