"""The page of a run: one self-contained HTML file with its pictures, plan, program and steps.

Whatever the run says (instruction, plan, program, answers, file contents) is escaped; the page runs no script and
loads nothing.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from interfaces.runs import Run, in_words, notices_of, outcome, regions_of, steps_of
from tools.program import StepRecord, inputs_for
from tools.values import Picture, Region, from_json

if TYPE_CHECKING:
    from memory.artifacts import ArtifactStore

_TEMPLATES: Final = Path(__file__).resolve().parent / "pages"
_SHOWN_PIXELS: Final = 1024
"""The longer side of an embedded picture; larger ones are scaled down."""
_LOSSLESS_PIXELS: Final = 512
"""Pictures up to this size stay PNG; larger ones, photographs as a rule, become JPEG."""


@dataclass(frozen=True)
class _Figure:
    """A picture on the page, perhaps with regions outlined."""

    anchor: str
    """The id under which the picture is embedded, once, however often it is shown."""
    width: int
    height: int
    label: str
    """What it shows, for those who cannot see it."""
    caption: str = ""
    regions: list[Region] = field(default_factory=list)


@dataclass
class _Album:
    """The pictures of a page, each embedded once."""

    store: ArtifactStore
    embedded: dict[str, tuple[_Figure, str]] = field(default_factory=dict)
    """By picture id: its size and anchor, and its data URI."""

    def figure(self, value: Any, caption: str = "") -> _Figure | None:  # noqa: ANN401 - any value of a program
        """Show a picture, or the regions of one; None for a value that has nothing to show."""
        regions = regions_of(value)
        shown = value.id if isinstance(value, Picture) else regions[0].picture if regions else ""
        if not shown:
            return None
        if shown not in self.embedded:
            self.embedded[shown] = self._embed(shown)
        picture, _ = self.embedded[shown]
        return replace(picture, label=in_words(value), caption=caption, regions=regions)

    def _embed(self, picture_id: str) -> tuple[_Figure, str]:
        picture = self.store.get(picture_id)
        size = picture.size
        picture.thumbnail((_SHOWN_PIXELS, _SHOWN_PIXELS))
        kind = "PNG" if max(picture.size) <= _LOSSLESS_PIXELS else "JPEG"
        buffer = BytesIO()
        picture.save(buffer, kind, **({"quality": 88} if kind == "JPEG" else {}))
        uri = f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"
        return _Figure(f"p{len(self.embedded)}", *size, label=""), uri


@dataclass(frozen=True)
class _ShownStep:
    record: StepRecord
    outcome: str
    figure: _Figure | None


def render(run: Run, store: ArtifactStore) -> str:
    """Return the HTML of a run.

    Raises:
        SnellenError: A picture of the run is missing from the store, or damaged.
    """
    import jinja2

    album = _Album(store)
    names = inputs_for(len(run.state.pictures))
    inputs = [album.figure(from_json(each), name) for each, name in zip(run.state.pictures, names, strict=True)]
    steps = [_ShownStep(step, outcome(step), album.figure(step.value)) for step in steps_of(run.state)]
    answer = album.figure(run.answer)
    # Everything is escaped, whatever the template's name; a misspelt variable is an error, not a gap.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("run.html.j2").render(
        run=run,
        state=run.state,
        notices=notices_of(run.state),
        inputs=inputs,
        steps=steps,
        answer=answer,
        seconds=sum(shown.record.seconds for shown in steps),
        embedded=list(album.embedded.values()),
    )
