"""Drawing scenes that fit a question: the answer is chosen first, so that answers are balanced whatever the wording."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from snellen.microworld.concepts import Share, plural, vocabulary
from snellen.microworld.scenes import CLEARLY, Dice, Relation, Scene, SceneObject, recipe, sample_scene
from snellen.microworld.tasks.task import Expected, Family, Split, WorldTask
from snellen.microworld.tasks.wording import Instruction

COLOUR_STYLES = (*("flat",) * 6, "pastel", "mosaic", "posterized")
# Groups whose members anybody would call so, and that can be counted.
COUNTABLE_GROUPS = (
    "animals", "birds", "insects", "vegetables", "drinks", "vehicles", "buildings", "instruments", "plants",
)  # fmt: skip
ATTEMPTS = 400
_TRIES = 16
ANSWER_DRAWS = 20
# Inside a half of the picture from this share of an object's square on, outside up to one minus it.
MOSTLY = 0.9
COLOUR_WORDS = frozenset({"red", "green", "orange", "blue"})

# Pairs that a name fits both of, or that even a person may take for each other; names that share a word are, too.
_ALIKE = (
    "tree pine", "tree palm", "phone telephone", "rat mouse", "chick hen", "hen rooster", "dog poodle", "dog wolf",
    "goat ram", "cow buffalo", "car taxi", "bus minibus", "shirt blouse", "train locomotive", "train tram",
    "ship sailboat", "ship speedboat", "sailboat speedboat", "notebook book", "shoe sandal", "shoe boot", "man boy",
    "man builder", "man guard", "man santa", "man runner", "man cyclist", "woman girl", "woman bride",
    "woman dancer", "woman princess", "cocktail juice", "castle temple", "cyclist bicycle", "runner dancer",
)  # fmt: skip


@dataclass(frozen=True)
class TaskDraft:
    """A task before it has a name: see `WorldTask` for the fields."""

    instruction: Instruction
    scenes: tuple[Scene, ...]
    expected: Expected
    concepts: tuple[str, ...]
    options: tuple[str, ...] = ()


def drafted(
    instruction: Instruction,
    scene: Scene | None,
    expected: Expected,
    concepts: tuple[str, ...],
    options: tuple[str, ...] = (),
) -> TaskDraft | None:
    """Return a draft about one picture, or None where the scene came out unfit."""
    return None if scene is None else TaskDraft(instruction, (scene,), expected, concepts, options)


@dataclass(frozen=True)
class TaskSampler:
    """Sampler of the parts of one task.

    Attributes:
        split: The split, which decides the wordings.
        share: The share, which decides the concepts.
        fixed: Decides the kind, the answer and the wording: the same at every attempt, so that a scene which is hard
            to draw does not make an answer rare.
        dice: Decides everything else, anew at each attempt.
        seed: Seed of the scenes of this attempt.
        toss: What `yes` says.
    """

    split: Split
    share: Share
    fixed: Dice
    dice: Dice
    seed: str
    toss: bool

    def yes(self) -> bool:
        """Decide whether the answer is yes: of every two tasks of a type that ask, about one."""
        return self.toss

    def even(self) -> bool:
        """Decide between two equally likely kinds."""
        return self.fixed.chance(0.5)

    def keys(self) -> tuple[str, ...]:
        """Return the names that a question may be about; of a mixed share, known or novel ones by a toss."""
        if self.share == "mixed":
            return key_names("novel" if self.dice.chance(0.5) else "known")
        return key_names(self.share)

    def key(self, *fits: Callable[[str], bool], apart: Sequence[str] = ()) -> str:
        """Choose a key concept that satisfies all of `fits` and cannot be taken for any of `apart`.

        Raises:
            IndexError: If there is none.
        """
        names = self.keys()
        for _ in range(_TRIES):
            name = self.dice.choice(names)
            if all(fit(name) for fit in fits) and not _alike_any(name, apart):
                return name
        return self.dice.choice([n for n in names if all(fit(n) for fit in fits) and not _alike_any(n, apart)])

    def scene(
        self,
        required: Sequence[str],
        *,
        avoid: Sequence[str] = (),
        groups: Sequence[str] = (),
        without: Collection[str] = (),
        counts: tuple[int, int] = (2, 6),
        colour: bool = False,
        part: str = "",
    ) -> Scene | None:
        """Draw a scene, or return None where it came out unfit.

        Args:
            required: What must appear, each exactly as often as it is listed.
            avoid: What must appear no more often than `required` lists it, nor anything that looks like it.
            groups: Hypernyms of which only what is required may appear.
            without: Names that the rest of the picture must not show.
            counts: Smallest and largest number of objects.
            colour: Whether colours must be visible.
            part: Tells the scenes of one task apart.
        """
        named = {*required, *avoid}
        rest = [name for name in _rest(self.share, frozenset(named), tuple(groups)) if name not in without]
        made = recipe(
            rest,
            required=tuple(required),
            counts=(max(counts[0], len(required)), max(counts[1], len(required))),
            styles=COLOUR_STYLES if colour else None,
        )
        scene = sample_scene(f"{self.seed}/{part}", made)
        exact = all(len(scene.named(name)) == list(required).count(name) for name in named)
        members = sum(_in(o.concept, groups) for o in scene.objects) == sum(_in(name, groups) for name in required)
        return scene if exact and members else None


@cache
def key_names(share: Share) -> tuple[str, ...]:
    """Return the concepts of a share that questions may name (a fork and knife would read as two things)."""
    return tuple(c.name for c in vocabulary().share(share) if " and " not in c.name)


def _others(share: Share) -> tuple[str, ...]:
    """Return what may fill the rest of a picture: in a known task only known concepts, else anything."""
    return key_names("known" if share == "known" else "mixed")


@lru_cache(maxsize=4096)
def _rest(share: Share, named: frozenset[str], groups: tuple[str, ...]) -> tuple[str, ...]:
    taken: frozenset[str] = frozenset().union(*(_lookalikes(name) for name in named))
    return tuple(name for name in _others(share) if name not in taken and not _in(name, groups))


@cache
def _lookalikes(name: str) -> frozenset[str]:
    return frozenset(other for other in key_names("mixed") if alike(name, other))


def alike(first: str, second: str) -> bool:
    """Tell whether two names are equal, share a word, or name things that may be taken for each other."""
    shared = set(first.split()) & set(second.split())
    return bool(shared) or f"{first} {second}" in _ALIKE or f"{second} {first}" in _ALIKE


def _alike_any(name: str, others: Collection[str]) -> bool:
    return any(name in _lookalikes(other) for other in others)


def _in(name: str, groups: Sequence[str]) -> bool:
    words = vocabulary()
    return any(words.belongs(words.concept(name), group) for group in groups)


def countable(name: str) -> bool:
    """Tell whether a name can be counted by its plural: not `rice`, nor `cherries`, which are many already."""
    return plural(name) != name


def tintable(name: str) -> bool:
    """Tell whether a tint leaves a name true: a red green apple is no green apple."""
    return not COLOUR_WORDS & set(name.split())


def member(group: str) -> Callable[[str], bool]:
    """Return a test for `key`: whether a name belongs to a hypernym."""
    return lambda name: _in(name, (group,))


def singular(group: str) -> str:
    """Return the singular of a hypernym."""
    return vocabulary().groups[group].singular


def the(scene: Scene, name: str) -> SceneObject:
    """Return the only object of a name.

    Raises:
        ValueError: If there is none, or more than one.
    """
    (item,) = scene.named(name)
    return item


def tinted(scene: Scene, name: str, tint: str) -> Scene:
    """Give every object of a name this tint."""
    objects = tuple(replace(o, tint=tint) if o.concept == name else o for o in scene.objects)
    return replace(scene, objects=objects)


def beside(scene: Scene, item: SceneObject, relation: Relation) -> tuple[SceneObject, ...] | None:
    """Return what lies on one side of an object, or None where something is on neither side for certain.

    An object counts when it lies almost wholly beyond the line through the other's centre and its centre is clearly
    beyond it; it does not count when it lies almost wholly on the other side of that line.
    """
    neighbours = []
    for other in scene.objects:
        if other is item:
            continue
        share = _share_beyond(other, item, relation)
        if 1 - MOSTLY < share < MOSTLY or abs(_ahead(other, item, relation)) < CLEARLY:
            return None
        if share >= MOSTLY:
            neighbours.append(other)
    return tuple(neighbours)


def _ahead(other: SceneObject, item: SceneObject, relation: Relation) -> int:
    axis = 0 if relation in {"left", "right"} else 1
    distance = other.centre[axis] - item.centre[axis]
    return -distance if relation in {"left", "above"} else distance


def _share_beyond(other: SceneObject, item: SceneObject, relation: Relation) -> float:
    """Share of an object's square beyond the line through another's centre."""
    axis = 0 if relation in {"left", "right"} else 1
    line = item.centre[axis]
    start = (other.left, other.top)[axis]
    before = min(max(line - start, 0), other.side) / other.side
    return before if relation in {"left", "above"} else 1 - before


Maker = Callable[[TaskSampler], "TaskDraft | None"]


def make(family: Family, kinds: dict[str, Maker], *, split: Split, share: Share, seed: int, index: int) -> WorldTask:
    """Draw task number `index` of a family; the same arguments give the same task.

    Types take turns. Of every two tasks of a type, one tosses yes and the other no.

    Raises:
        RuntimeError: If no scene fits after thousands of attempts, which a type must not let happen.
    """
    turn, place = divmod(index, len(kinds))
    kind = tuple(kinds)[place]
    name = f"{family}-{split}-{share}-{seed}-{index}"
    toss = Dice("toss", family, split, share, seed, kind, turn // 2).chance(0.5) == (turn % 2 == 0)
    for number in range(ANSWER_DRAWS):
        for attempt in range(ATTEMPTS):
            decided, anew = Dice("task", name, number), Dice("task", name, number, attempt)
            sampler = TaskSampler(split, share, decided, anew, f"{name}/{number}/{attempt}", toss)
            draft = kinds[kind](sampler)
            if draft is not None:
                return _task(name, family, kind, draft, sampler, seed)
    msg = f"no scene was found for the task {name} of type {kind}"
    raise RuntimeError(msg)


def _task(name: str, family: Family, kind: str, draft: TaskDraft, sampler: TaskSampler, seed: int) -> WorldTask:
    return WorldTask(
        id=name,
        family=family,
        type=kind,
        instruction=draft.instruction.text,
        scenes=draft.scenes,
        expected=draft.expected,
        concepts=draft.concepts,
        share=sampler.share,
        split=sampler.split,
        seed=seed,
        blind=f"{kind}: {draft.instruction.masked}",
        options=draft.options,
    )
