"""Templates of all pages and reports: one environment, which escapes whatever it is given."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_TEMPLATES: Final = Path(__file__).resolve().parent / "templates"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Everything is escaped, whatever the template's name; a misspelt variable is an error, not a gap.
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.globals["source"] = _source
    # What the filter `tojson` writes into pages: compact, and no element whatever the texts say.
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return environment


@cache
def _source(name: str) -> Markup:
    """Return a script or style of ours as it is; its path in ``templates`` is written in a template, nowhere else."""
    from markupsafe import Markup

    return Markup((_TEMPLATES / name).read_text("utf-8"))  # noqa: S704 - a file of the package


def rendered(template: str, **values: object) -> str:
    """Fill in a template.

    Args:
        template: Its path in ``templates`` without ``.html.j2``.
        values: The values that it shows; all of them are escaped.
    """
    return _environment().get_template(f"{template}.html.j2").render(**values)
