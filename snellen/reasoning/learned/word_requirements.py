"""Words that ask for a part of the meaning: what is read without it is not what was said.

In the wordings that the learned reader was trained on, "row" always came with a row in the meaning, and "foggy" with
fog or bad weather. `word_requirements.json` lists such words with the actions of which one wrote that part; it is
derived by `reader_training.requirements`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from snellen.reasoning.learned.mentions import MentionedText
from snellen.reasoning.learned.typed_actions import Action

_SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "striped": ("striped", "stripes", "stripy"), "checked": ("checked", "checks", "chequered", "checkered"),
    "dotted": ("dotted", "dots", "spotted"), "foggy": ("foggy", "fog", "misty"), "rainy": ("rainy", "rain", "raining"),
    "snowy": ("snowy", "snow", "snowing"), "sunny": ("sunny",), "clear": ("clear",), "plain": ("plain",),
}  # fmt: skip
"""Words for what the background and the weather may be, by one of them."""
_OF_SETTINGS: Final = frozenset({"kind QuerySetting", "kind ChooseCount"})
"""What asks which of them it is."""
_SIZES: Final[Mapping[str, tuple[str, ...]]] = {"large": ("big", "large"), "small": ("small", "little")}
_OF_SIZES: Final = frozenset({"value size", "kind ChooseCount", "kind CompareCounts", "kind SetsAlike"})
_LIMITING: Final = frozenset({"hardly", "barely", "scarcely", "rarely", "seldom", "never", "few"})
"""Words that limit what is said of a picture as no part of a meaning does."""
_EXCLUDING: Final = frozenset(
    {"kind IsNot", "kind EditPicture", "kind Negation", "value exactly", "value exactly one", "value at most"}
)
"""What "only" and "nobody" ask for one of: that other things are left out."""
_DENYING: Final = frozenset({"no", "none", "nothing", "neither"})
_AFTER_NOT: Final = frozenset({"one", "a", "an", "any", "single"})
"""Words before which "not" denies that there is something."""
_BOUNDING: Final = frozenset({"more", "fewer", "less", "other", "longer", "doubt"})
"""Words that "no" makes a bound, or an idiom."""
_DENIED_OTHERWISE: Final = _EXCLUDING | frozenset(
    {
        "value fewer", "kind IfThen", "kind Say", "kind Ordinal", "kind ByExtreme", "kind Are", "kind CheckEach",
        "kind AreAlike", "kind Choose", "kind CompareCounts", "kind SettingIs", "kind SettingsAlike",
        "kind QuerySetting",
    }
)  # fmt: skip
"""What a denial asks for one of: a part that denies, or one that says in another way that there is no such thing."""
_CONTRADICTING: Final = frozenset(
    {
        "false", "untrue", "wrong", "wrongly", "incorrect", "incorrectly", "mistaken", "mistake", "lack", "lacks",
        "lacking", "deny",
    }
)  # fmt: skip
"""Words that say of what follows that it is not so."""
_AGREEING: Final = frozenset({"true", "correct", "case"})
"""Words with which "not", or "not the", says the same."""
_CONTRADICTED: Final = frozenset({"kind IsNot", "kind Negation", "number 0", "value at most", "value fewer"})
"""What they ask for one of."""
REQUIREMENTS: Final = Path(__file__).parent / "word_requirements.json"


def unmet(text: MentionedText, actions: Sequence[Action], pictures: int) -> tuple[str, ...]:
    """Return the words of a text that ask for a part which actions do not write.

    Args:
        text: The text.
        actions: What writes a meaning.
        pictures: The number of pictures that the text is about; 0 where it is about models.
    """
    required, written = _requirements()["pictures" if pictures else "models"], set(actions)
    words = text.plain_words
    missed = [word for word in words if word in required and written.isdisjoint(required[word])]
    if pictures:
        a_few = {place for place, word in enumerate(words) if word == "few" and words[place - 1 : place] == ("a",)}
        missed += [word for place, word in enumerate(words) if word in _LIMITING and place not in a_few]
        missed += [word for word in ("only", "nobody") if word in words and written.isdisjoint(_EXCLUDING)]
        missed += _denials(text.words_now) if written.isdisjoint(_DENIED_OTHERWISE) else []
        missed += _contradictions(text.words_now) if written.isdisjoint(_CONTRADICTED) else []
    for alternatives, chosen in ((_SETTINGS, _OF_SETTINGS), (_SIZES, _OF_SIZES)):
        named = {one: word for one, synonyms in alternatives.items() for word in synonyms if word in words}
        if len(named) < 2:  # noqa: PLR2004 - one is no choice
            continue
        # "Is it striped or checked?" asks which it is, and neither for one of them nor whether it is one of them.
        if not chosen.isdisjoint(written):
            missed = [word for word in missed if word not in named.values()]
            continue
        used = [
            one for one in named if not written.isdisjoint({f"value {one}", *map("word {}".format, alternatives[one])})
        ]
        left = [word for one, word in named.items() if "or" in words or one not in used]
        missed += left if used else []
    return tuple(dict.fromkeys(missed))


def _denials(words: Sequence[str]) -> list[str]:
    """Return the words that deny that there is something: not a "no" by itself, nor the one of "yes or no"."""
    found = []
    for place, (before, word, after) in enumerate(zip(("", *words), words, (*words[1:], ""), strict=False)):
        is_asked = place == 1  # "Isn't a dog there?" asks whether there is one
        denies = word in _DENYING or (word == "not" and after in _AFTER_NOT and not is_asked)
        is_alone = word == "no" and not after.isalpha()
        if denies and not is_alone and after not in _BOUNDING and before not in {"yes", "or", "/"}:
            found.append(word)
    return found


def _contradictions(words: Sequence[str]) -> list[str]:
    """Return the words that say of something that it is not so.

    "True or false?" asks what any question does, and so does "isn't it true?".
    """
    found = []
    for place, word in enumerate(words):
        follows = next((one for one in words[place + 1 :] if one != "the"), "")
        denies = word in _CONTRADICTING or (word == "lie" and words[place - 1] == "a")
        denies |= word == "not" and place > 1 and follows in _AGREEING
        if denies and "or" not in words[max(place - 3, 0) : place]:
            found.append(word)
    return found


@cache
def _requirements() -> Mapping[str, Mapping[str, Sequence[str]]]:
    table: dict[str, dict[str, list[str]]] = json.loads(REQUIREMENTS.read_text(encoding="utf-8"))
    return table
