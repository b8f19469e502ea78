"""Designs as text: JSON that a person has edited, read or refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from snellen.errors import BadInput
from snellen.experiments.design import Design
from snellen.experiments.design_checks import checked

_MOST_TEXT: Final = 64_000
"""Characters of an edited design."""


def design_of(text: str, models: Sequence[str]) -> Design:
    """Read the design of an experiment that a person has changed.

    Args:
        text: The design as JSON.
        models: The models that are examined.

    Raises:
        BadInput: It is not a design, or cannot be run.
    """
    if len(text) > _MOST_TEXT:
        msg = f"The design has {len(text):,} characters; at most {_MOST_TEXT:,} are allowed."
        raise BadInput(msg)
    try:
        return checked(Design.model_validate(json.loads(text)), list(models))
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        msg = f"The design's {'.'.join(map(str, wrong['loc'])) or 'text'} cannot be used: {wrong['msg']}."
        raise BadInput(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"The design is not valid JSON ({str(error)[:120]}); correct it, or allow the original design."
        raise BadInput(msg) from error


def json_of(design: Design) -> str:
    """Write a design as a person edits it."""
    return json.dumps(design.model_dump(mode="json"), indent=2, ensure_ascii=False)
