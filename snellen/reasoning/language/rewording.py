"""Questions about pictures read and put in other words, so that an answer can be compared with other witnesses'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from snellen.reasoning.language.inflection import with_article

COLOURS: Final = frozenset(
    {
        "red", "green", "blue", "yellow", "purple", "white", "gray", "pink", "orange", "black", "brown", "golden",
        "silver", "violet", "turquoise",
    }
)  # fmt: skip
SIZES: Final = frozenset({"small", "large", "big", "little", "tiny", "huge", "medium"})

COLOUR_OF: Final = re.compile(
    r"(?:what|which) colou?r (?:(?:is|are|does) (?:the )?|is of the )(?P<thing>[\w ]+?)(?: have)?"
)
COLOUR_NAMED: Final = re.compile(r"what is the colou?r of (?:the )?(?P<thing>[\w ]+)")
IS_COLOUR: Final = re.compile(r"(?:is|are) the (?P<thing>[\w ]+?) (?P<first>\w+)(?: or (?P<second>\w+))?")
RELATION: Final = re.compile(
    r"(?:is|are) the (?P<first>[\w ]+?) (?:to the )?"
    r"(?P<relation>left of|right of|above|over|below|under) the (?P<second>[\w ]+)"
)


def colours_in(text: str) -> list[str]:
    """Return the colours that a text names, in order."""
    return [word for word in re.findall(r"[a-z]+", text) if word in COLOURS]


def holds(first: Sequence[int], relation: str, second: Sequence[int]) -> bool:
    """Tell whether one box stands in a relation to another, by their middles."""
    x = first[0] + first[2] - second[0] - second[2]
    y = first[1] + first[3] - second[1] - second[3]
    return {"left of": x < 0, "right of": x > 0, "above": y < 0, "over": y < 0, "below": y > 0, "under": y > 0}[
        relation
    ]


_REWORDINGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (r"what colou?r (?:is|are) the (?P<x>[\w ]+)", ("what is the color of the {x}?", "which color does the {x} have?")),
    (r"what is the colou?r of the (?P<x>[\w ]+)", ("what color is the {x}?", "which color does the {x} have?")),
    (
        r"(?:is|are) the (?P<x>[\w ]+?) (?P<a>\w+) or (?P<b>\w+)",
        ("is the {x} {b} or {a}?", "is the {x} {a}?", "is the {x} {b}?"),
    ),
    (r"what is (?:this|shown)", ("what is in the picture?", "what can you see?", "what is shown?", "what is this?")),
    (r"how many (?P<x>[\w ]+?) are there", ("how many {x} are in the picture?", "count the {x}.")),
    (r"how many (?P<x>[\w ]+?) are in the picture", ("how many {x} are there?", "count the {x}.")),
    (r"(?:is|are) there (?:an? |any )?(?P<x>[\w ]+)", ("is there any {x}?", "can you see a {x}?")),
    (r"what is the weather(?: like)?", ("what weather is it?", "what is the weather like?", "what is the weather?")),
    (r"what (?:is the )?weather(?: is it)?", ("what is the weather like?", "what is the weather?")),
    (r"(?:what|which) style is the picture(?: in)?", ("what is the style of the picture?", "which style is it?")),
    (r"what is the background", ("what kind of background is it?", "what background does the picture have?")),
)


def reworded(low: str) -> list[str]:
    """Return a question, in lower case and without its mark, in other words; nothing where none are known."""
    for pattern, wordings in _REWORDINGS:
        match = re.fullmatch(pattern, low)
        if match:
            rewordings = (wording.format(**match.groupdict()) for wording in wordings)
            return [rewording for rewording in rewordings if rewording != f"{low}?"]
    return []


def as_asked(low: str, question: str, said: str) -> str:
    """Turn the answer to one half of a choice into the choice: "is it red?" "no" speaks for the other one."""
    choice = re.search(r"(\w+) or (\w+)$", low)
    if choice is None or said not in {"yes", "no"}:
        return "" if said in {"", "unknown"} else said
    first, second = choice[1], choice[2]
    asked = first if re.search(rf"\b{first}\?$", question) else second
    return asked if said == "yes" else (second if asked == first else first)


def statements(low: str, answer: str) -> dict[str, str]:
    """Return a statement for each answer that a question may have; none where the question is not understood."""
    choice = re.fullmatch(r"(?:is|are) the (?P<x>[\w ]+?) (?P<a>\w+) or (?P<b>\w+)", low)
    if choice:
        return {
            option: f"the {choice['x']} is {option}" for option in dict.fromkeys((choice["a"], choice["b"], answer))
        }
    colour = re.fullmatch(r"what colou?r (?:is|are) the ([\w ]+)", low)
    if colour:
        return {option: f"{with_article(option)} {colour[1]}" for option in dict.fromkeys([answer, *sorted(COLOURS)])}
    exists = re.fullmatch(r"(?:is|are) there (?:an? |any )?([\w ]+)", low)
    if exists and answer in {"yes", "no"}:
        return {"yes": f"there is {with_article(exists[1])}", "no": f"there is no {exists[1]}"}
    size = re.fullmatch(r"(?:is|are) the ([\w ]+?) (\w+)", low)
    if size and size[2] in COLOURS | SIZES and answer in {"yes", "no"}:
        return {"yes": f"the {size[1]} is {size[2]}", "no": f"the {size[1]} is not {size[2]}"}
    return {}
