"""Wordings of questions about one picture."""

from __future__ import annotations

from snellen.microworld.scenes import Relation
from snellen.microworld.tasks.wording import Wordings

RELATIONS: dict[Relation, Wordings] = {
    "left": Wordings(("to the left of", "left of", "on the left side of"), ("on the left of",)),
    "right": Wordings(("to the right of", "right of", "on the right side of"), ("on the right of",)),
    "above": Wordings(("above", "over"), ("higher than",)),
    "below": Wordings(("below", "under"), ("beneath", "underneath")),
}
EXISTENCE = Wordings(
    (
        "{be} there {a_x} in the {picture}?",
        "can you see {a_x} in the {picture}?",
        "does the {picture} show {a_x}?",
        "are there any {xs} in the {picture}?",
        "{be} {a_x} visible?",
    ),
    ("does the scene contain {a_x}?", "do you see any {xs} here?"),
)
COUNTING = Wordings(
    (
        "how many {xs} are there in the {picture}?",
        "how many {xs} can you see?",
        "how many {xs} are in the {picture}?",
        "count the {xs} in the {picture}.",
        "what is the number of {xs} in the {picture}?",
    ),
    ("how many {xs} does the {picture} show?", "tell me how many {xs} there are."),
)
COLOUR = Wordings(
    (
        "what color {be} the {x}?",
        "what is the color of the {x}?",
        "which color does the {x} in the {picture} have?",
    ),
    ("tell me the color of the {x}.", "in which color {be} the {x} shown?"),
)
COLOUR_TRUTH = Wordings(
    ("{be} the {x} {tint}?", "{be} the {x} in the {picture} {tint}?", "is the color of the {x} {tint}?"),
    ("would you say that the {x} {be} {tint}?",),
)
COLOUR_CHOICE = Wordings(("{be} the {x} {first} or {second}?", "what color {be} the {x}, {first} or {second}?"))
SIZE = Wordings(
    ("{be} the {x} {first} or {second}?", "what size {be} the {x}, {first} or {second}?"),
    ("would you call the {x} {first} or {second}?",),
)
RELATION_TRUTH = Wordings(
    (
        "{be} the {x} {relation} the {y}?",
        "{be} there {a_x} {relation} the {y}?",
        "does the {picture} show {a_x} {relation} the {y}?",
    ),
    ("can you see {a_x} {relation} the {y}?",),
)
RELATION_QUERY = Wordings(
    ("what is {relation} the {y}?", "what can you see {relation} the {y}?", "which object is {relation} the {y}?"),
    ("name the thing {relation} the {y}.",),
)
MORE = Wordings(
    ("are there more {xs} than {ys} in the {picture}?", "does the {picture} show more {xs} than {ys}?"),
    ("is the number of {xs} greater than the number of {ys}?",),
)
FEWER = Wordings(
    ("are there fewer {xs} than {ys} in the {picture}?", "does the {picture} show fewer {xs} than {ys}?"),
    ("is the number of {xs} smaller than the number of {ys}?",),
)
EQUAL = Wordings(
    ("are there as many {xs} as {ys} in the {picture}?", "is the number of {xs} equal to the number of {ys}?"),
    ("does the {picture} show the same number of {xs} and {ys}?",),
)
SAME_COLOUR = Wordings(
    ("do the {x} and the {y} have the same color?", "are the {x} and the {y} the same color?"),
    ("is the color of the {x} the same as the color of the {y}?",),
)
LARGER = Wordings(("{be} the {x} larger than the {y}?",), ("{be} the {x} bigger than the {y}?",))
SMALLER = Wordings(("{be} the {x} smaller than the {y}?",))
CHOICE = Wordings(
    (
        "is it {a_x} or {a_y}?",
        "which one is in the {picture}, {a_x} or {a_y}?",
        "what does the {picture} show: {a_x} or {a_y}?",
    ),
    ("which of the two can you see, {a_x} or {a_y}?",),
)
SIDE_CHOICE = Wordings(
    ("{be} the {x} to the {first} or to the {second} of the {y}?", "{be} the {x} {first} or {second} of the {y}?"),
    ("on which side of the {y} {be} the {x}, {first} or {second}?",),
)
HEIGHT_CHOICE = Wordings(("{be} the {x} {first} or {second} the {y}?", "{be} the {x} {first} the {y} or {second} it?"))
AND = Wordings(
    (
        "is there {a_x} and {a_y} in the {picture}?",
        "are there both {a_x} and {a_y} in the {picture}?",
        "does the {picture} show {a_x} and {a_y}?",
    ),
    ("can you see both {a_x} and {a_y}?",),
)
OR = Wordings(
    ("is there {a_x} or {a_y} in the {picture}?", "can you see {a_x} or {a_y} in the {picture}?"),
    ("does the {picture} show at least one of these: {a_x} or {a_y}?",),
)
BUT_NOT = Wordings(
    ("is there {a_x} but no {y} in the {picture}?", "does the {picture} show {a_x} but not {a_y}?"),
    ("is there {a_x} and no {y} in the {picture}?",),
)
HOP_COLOUR = Wordings(
    ("what color is the {z} {relation} the {y}?", "what is the color of the {z} {relation} the {y}?"),
    ("tell me the color of the {z} {relation} the {y}.",),
)
HOP_COLOUR_TRUTH = Wordings(("is the {z} {relation} the {y} {tint}?", "is the {z} that is {relation} the {y} {tint}?"))
HOP_COUNT = Wordings(
    ("how many {zs} are {relation} the {y}?", "how many {zs} are there {relation} the {y}?"),
    ("count the {zs} {relation} the {y}.",),
)
HOP_NAME = Wordings(
    ("what {z} is {relation} the {y}?", "which {z} is {relation} the {y}?", "what is the {z} {relation} the {y}?"),
    ("name the {z} that is {relation} the {y}.",),
)
