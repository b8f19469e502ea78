"""Tools that compute and that know: COUNT, EVAL, RESULT, LIST."""

from snellen.tools.knowledge.answers import count, evaluate_expression, result
from snellen.tools.knowledge.names import list_names

__all__ = ["count", "evaluate_expression", "list_names", "result"]
