"""Select tools: where an experiment's pictures come from (APEX, section 3.4 and appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from snellen.errors import BadInput
from snellen.tools.calls import Declarations, ToolCall, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import PIL.Image

    from snellen.tools.transforms import Studio


@dataclass(frozen=True)
class Selected:
    """A picture that was retrieved or made.

    Attributes:
        picture: RGB, of any size.
        class_name: What it is said to show: a single class, also where a group or any class was asked for.
        studio: What else its source can do with it; see `snellen.tools.transforms`.
        origin: Where it is from, for people.
        certain: Whether it is known to show that: drawn so, or labelled by a person.
    """

    picture: PIL.Image.Image
    class_name: str
    studio: Studio | None
    origin: str
    certain: bool = True


class SampleSource(Protocol):
    """A world, a model or a folder that gives pictures of classes."""

    def select(self, class_name: str, image_type: str, seed: str) -> Selected:
        """Return a picture of a class; the same arguments give the same one.

        Args:
            class_name: A class, a group of classes, or "random" for any class.
            image_type: Such as "photo" or "pencil sketch".
            seed: Chooses among those that there are.

        Raises:
            BadInput: It has no such class, or none of that type.
        """
        ...


@runtime_checkable
class BatchedSource(SampleSource, Protocol):
    """A source that makes several pictures faster at once than one after the other."""

    def prepare(self, wanted: Sequence[tuple[str, str, str]]) -> None:
        """Make pictures that will be selected.

        Args:
            wanted: Class, type and seed of each, as `select` takes them.
        """
        ...


@dataclass(frozen=True)
class SampleSelection:
    """Resources of select tools.

    Attributes:
        seed: Chooses the picture.
        retrieval: Where pictures are looked up; None where there is nothing.
        generation: Where they are made; None where nothing makes any.
    """

    seed: str
    retrieval: SampleSource | None = None
    generation: SampleSource | None = None


SELECTS: Declarations[Selected] = Declarations("select tool")


_GENERATING: Final = "TextToImageGeneration"


@SELECTS.declare(_GENERATING)
def generate(selection: SampleSelection, *, class_name: Words, image_type: Words = "photo") -> Selected:
    """Generate a picture of a class.

    Args:
        class_name: What it shows: a class, a group of classes ("birds"), or "random" for any class.
        image_type: The type of picture, such as "photo" or "pencil sketch".
    """
    if selection.generation is None:
        msg = "Nothing here generates pictures: use TextToImageRetrieval, or a profile that can."
        raise BadInput(msg)
    return selection.generation.select(class_name, image_type, selection.seed)


@SELECTS.declare("TextToImageRetrieval")
def retrieve(selection: SampleSelection, *, class_name: Words, image_type: Words = "photo") -> Selected:
    """Retrieve a picture of a class; what cannot be retrieved is generated.

    Args:
        class_name: What it shows: a class, a group of classes ("birds"), or "random" for any class.
        image_type: The type of picture, such as "photo" or "pencil sketch".
    """
    if selection.retrieval is None:
        return generate(selection, class_name=class_name, image_type=image_type)
    try:
        return selection.retrieval.select(class_name, image_type, selection.seed)
    except BadInput:
        if selection.generation is None:
            raise
        return generate(selection, class_name=class_name, image_type=image_type)


def prepare(calls: Sequence[tuple[ToolCall, str]], generation: SampleSource | None) -> None:
    """Have the pictures made together that calls will select, where their source can.

    Args:
        calls: Calls of select tools with the seeds of their selections. What is retrieved is not prepared.
        generation: Where pictures are made.

    Raises:
        BadInput: A call cannot be used.
    """
    if not isinstance(generation, BatchedSource):
        return
    read = [(SELECTS.read(call).arguments, seed) for call, seed in calls if call.name == _GENERATING]
    if read:
        generation.prepare([(values["class_name"], values["image_type"], seed) for values, seed in read])


def select(call: ToolCall, selection: SampleSelection) -> Selected:
    """Run a select tool.

    Args:
        call: Name and arguments of the tool.
        selection: Where pictures come from, and the seed; the same call and selection give the same picture.

    Raises:
        BadInput: There is no such tool, its arguments cannot be used, or there is no such picture.
    """
    read = SELECTS.read(call)
    return SELECTS.named(read.name)(selection, read.arguments)
