"""Claims about free answers and judges of pairs in words, by what is measured of them."""

from __future__ import annotations

from typing import Final

MEASURED: Final = {
    "truth": "{0} tells more than {bar} % truth in {task}",
    "help": "{0} says more than {bar} % of what is asked for in {task}",
    "order": "{0} scores pairs in the right order in {task}",
    "symmetry": "{0} gives alike scores both ways round to more than {bar} % of pairs in {task}",
    "heed": "{0} follows the criterion for more than {bar} % of changed pairs in {task}",
}
COMPARED: Final = {
    "truth": "{0} tells more truth than {other} in {task}{margin}",
    "help": "{0} says more of what is asked for than {other} in {task}{margin}",
    "order": "{0} scores pairs in the right order more often than {other} in {task}{margin}",
    "symmetry": "{0} gives alike scores both ways round more often than {other} in {task}{margin}",
    "heed": "{0} follows the criterion more often than {other} in {task}{margin}",
}
