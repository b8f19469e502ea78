"""The world of a profile: a module that draws pictures of which everything is known, and tasks on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import PIL.Image


class WorldPortrait(Protocol):
    """A picture of one thing, or of an arrangement of several."""

    @property
    def class_name(self) -> str:
        """The thing or the arrangement, in words."""
        ...

    def picture(self) -> PIL.Image.Image:
        """Draw it, RGB."""
        ...

    def restyled(self, *, style: str = "", weather: str = "") -> Self:
        """Return the same in another style or weather; the empty one stays.

        Raises:
            BadInput: There is no such style or weather.
        """
        ...

    def boxes(self) -> Sequence[tuple[int, int, int, int]]:
        """Return where its things are: (x0, y0, x1, y1) in pixels."""
        ...

    def exchanged(self) -> Self:
        """Return the same with its two things in each other's places.

        Raises:
            BadInput: It does not show two things, or they have no room for it.
        """
        ...


class WorldScene(Protocol):
    """A picture of which everything is known."""

    def picture(self) -> PIL.Image.Image:
        """Draw it, RGB."""
        ...

    @property
    def caption(self) -> str:
        """All of it in sentences."""
        ...

    @property
    def tuples(self) -> Sequence[str]:
        """All of it as tuples of a scene graph, in DOCCI's form."""
        ...


class World(Protocol):
    """A world that draws pictures; the same arguments give the same picture."""

    __name__: str

    def portrait(self, class_name: str, seed: str, *, image_type: str = "photo") -> WorldPortrait:
        """Draw what a class or an arrangement says.

        Raises:
            BadInput: There is no such class or style, or it cannot be drawn.
        """
        ...

    def cut_out(self, class_name: str, side: int, seed: str) -> PIL.Image.Image:
        """Return one thing of a class on nothing: RGBA, `side` pixels high and wide.

        Raises:
            BadInput: There is no such class.
        """
        ...

    def members(self, class_name: str) -> Sequence[str]:
        """Return the concepts that a class stands for.

        Raises:
            BadInput: There is no such class.
        """
        ...

    def described(self, number: int, seed: int) -> WorldScene:
        """Return one of any number of scenes with all that can be said of them."""
        ...


class DrawnTask(Protocol):
    """A task of a world: pictures, and an instruction about them."""

    @property
    def id(self) -> str:
        """Its unique name, which also says how to draw it again."""
        ...

    @property
    def family(self) -> str:
        """Its family: ``vqa``, ``statement``, ``edit`` or ``tag``."""
        ...

    @property
    def type(self) -> str:
        """The kind of task within its family."""
        ...

    @property
    def instruction(self) -> str:
        """The instruction in words."""
        ...

    def pictures(self) -> Sequence[PIL.Image.Image]:
        """Draw its pictures, RGB, in the order in which the instruction counts them."""
        ...


class NamedRegion(Protocol):
    """A region with its name; `box` is (x0, y0, x1, y1) in pixels."""

    @property
    def name(self) -> str:
        """The name."""
        ...

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The box."""
        ...


class Outcome(Protocol):
    """The outcome of a task, as a world can judge it."""

    @property
    def error(self) -> str:
        """The reason why there is no result; empty where there is one."""
        ...


class OutcomeScore(Protocol):
    """The score of an outcome."""

    @property
    def value(self) -> float:
        """Between 0 and 1."""
        ...

    @property
    def correct(self) -> bool:
        """True where nothing at all is wrong."""
        ...

    @property
    def reason(self) -> str:
        """The mistake, in a few words."""
        ...


class UserFeedback(Protocol):
    """The feedback of a user who knows the truth."""

    @property
    def expected(self) -> str:
        """The right answer, in words."""
        ...

    @property
    def region(self) -> NamedRegion | None:
        """The thing that was meant, where it is one."""
        ...


class TaskWorld(World, Protocol):
    """A world that also gives tasks, and judges what comes of them."""

    def sample_tasks(self, family: str, split: str, share: str, n: int, seed: int) -> Sequence[DrawnTask]:
        """Draw tasks.

        Raises:
            BadInput: There are no such tasks.
        """
        ...

    def TaggedRegion(self, name: str, box: tuple[int, int, int, int]) -> NamedRegion:  # noqa: N802 - a class there
        """Make a region of an outcome."""
        ...

    def TaskOutcome(  # noqa: N802 - a class there
        self,
        answer: str | float | None = None,
        regions: tuple[NamedRegion, ...] = (),
        picture: PIL.Image.Image | None = None,
        error: str = "",
    ) -> Outcome:
        """Make the outcome of a task."""
        ...

    def score(self, task: DrawnTask, outcome: Outcome) -> OutcomeScore:
        """Judge an outcome."""
        ...

    def feedback(self, task: DrawnTask, outcome: Outcome) -> UserFeedback:
        """Say what is wrong with an outcome, as a user would."""
        ...

    def blind_score(self, tasks: Sequence[DrawnTask]) -> float:
        """Return what the best answers from the text alone would have scored."""
        ...
