# The calls that `snellen.memory` offers, for type checkers and editors.

from snellen.api.memory import export as export
from snellen.api.memory import forget as forget
from snellen.api.memory import import_ as import_
from snellen.api.memory import list as list  # noqa: A004
from snellen.api.memory import stats as stats
from snellen.api.memory import verify as verify
