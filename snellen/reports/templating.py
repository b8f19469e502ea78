"""Templates of all pages and reports: one environment, which escapes whatever it is given."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES: Final = Path(__file__).resolve().parent / "templates"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Everything is escaped, whatever the template's name; a misspelt variable is an error, not a gap.
    return Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip


def rendered(template: str, **values: object) -> str:
    """Fill in a template.

    Args:
        template: Its path in ``templates`` without ``.html.j2``.
        values: The values that it shows; all of them are escaped.
    """
    return _environment().get_template(f"{template}.html.j2").render(**values)
