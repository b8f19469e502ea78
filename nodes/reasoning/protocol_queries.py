"""Reading questions about free answers and judges of pairs: which protocol, which models, what is asked of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nodes.reasoning.inflection import listing
from nodes.reasoning.inquiry import Measured, Protocol
from nodes.reasoning.queries import UnexaminableError, named_models

if TYPE_CHECKING:
    from profiles import Profile

_PAIRS: Final = re.compile(
    r"\bsimilar\w*|\balike\b|\bresembl\w+|\bjudge[sd]?\b|\bjudg(?:e?ment|ing)\b|\bpairs?\b|\bsymmetr\w+|\bsame(?:ness)?\b.*"
    r"\b(?:pictures?|images?|photos?)\b|\b(?:score|rate|rank|compare)s? (?:two |both )?(?:pictures?|images?|photos?)\b|"
    r"\bhow (?:close|different) (?:two|both)\b|\border of (?:the )?(?:two )?(?:pictures?|images?|photos?)\b",
    re.IGNORECASE,
)
_FREE: Final = re.compile(
    r"\btruth\w*|\btells? the true\b|\btrue (?:things|answers?|statements?)\b|\bhonest\w*|\bhallucinat\w+|\blies?\b|"
    r"\blying\b|\bma(?:ke|kes|king|de)(?: \w+){0,2} up\b|\binvent\w*|\bfabricat\w+|\bhelpful\w*|\binformative\b|"
    r"\bfaithful\w*|\bfree(?:ly)?[- ](?:form |text )?(?:answer|respon|form|text)\w*|\bopen[- ]ended\b|\bown words\b|"
    r"\b(?:believe|rely on|trust) (?:what|in what|the answers?|its answers?|their answers?)\b|"
    r"\bwhat (?:\S+ )?(?:say|says|tells?)\b",
    re.IGNORECASE,
)
_HELP: Final = re.compile(
    r"\bhelpful\w*|\binformative\b|\bcomplete(?:ly)?\b|\bsays? the most\b|\buseful\w*", re.IGNORECASE
)
_SYMMETRY: Final = re.compile(
    r"\bsymmetr\w+|\border\b|\bswap\w*|\bwhich (?:picture|image|one)? ?(?:is|comes) first\b|\bboth ways\b|\bexchang\w+",
    re.IGNORECASE,
)
_HEED: Final = re.compile(
    r"\bheed\w*|\bprompt\w*|\binstruct\w*|\bcontrol\w*|\bignore\w*|\boverlook\w*|\bwhat counts\b|\btold\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\b(?:which|who|better|worse|best|worst|most|least|more|less|fewer|compare[ds]?|versus|vs\.?|than)\b",
    re.IGNORECASE,
)
_SPLITS: Final = {
    r"\bblur\w*|\bfocus\w*": "GB",
    r"\brotat\w+|\bturn(?:ed|s|ing)\b|\borientation\w*": "R",
    r"\bcolou?rs?\b|\bjitter\w*|\bbrightness\b|\bcontrast\b|\bsaturation\b": "CJ",
    r"\bperspectiv\w+|\bviewpoint\w*": "PS",
    r"\belastic\w*|\bwarp\w*|\bdistort\w*|\bdeform\w*": "ET",
    r"\bplaces?\b|\bposition\w*|\bspatial\w*|\barrang\w+|\blayout\w*|\bwhere things\b": "SP",
}
SPLIT_WORDS: Final = {
    "GB": "blur", "R": "rotation", "CJ": "color jitter", "PS": "changes of perspective", "ET": "elastic warping",
    "SP": "exchanged places",
}  # fmt: skip
_USUAL: Final = ("CJ", "R", "GB", "PS", "ET")


@dataclass(frozen=True)
class Wanted:
    """What a query asks of free answers or of judges.

    Attributes:
        protocol: How it is examined.
        models: Those that can be, of those that it is about.
        measures: What of.
        compared: Whether it asks which of them is better.
        splits: What changes between pictures, for judges.
        notes: What cannot be examined, in sentences.
    """

    protocol: Protocol
    models: tuple[str, ...]
    measures: tuple[Measured, ...]
    compared: bool
    splits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def protocol_of(query: str) -> Protocol:
    """Choose how a query is examined, from its words: pairs before free answers, choices where it speaks of neither."""
    if _PAIRS.search(query):
        return "pairs"
    return "freeform" if _FREE.search(query) else "choice"


def read_wanted(query: str, models: Sequence[str], profile: Profile, protocol: Protocol) -> Wanted:
    """Read a query about free answers or judges.

    Args:
        query: In the user's words.
        models: The models that can be examined.
        profile: Says what they can do.
        protocol: How the query is examined.

    Raises:
        UnexaminableError: It is about a model that there is not, or none of its models can do that.
    """
    named, rest = named_models(query, models)
    chosen = named or list(models)
    able = [name for name in chosen if not _unable(name, profile, protocol)]
    notes = tuple(f"{name} is not examined: {_unable(name, profile, protocol)}." for name in chosen if name not in able)
    if not able:
        msg = f"None of the models can be examined so: {' '.join(notes)}"
        raise UnexaminableError(msg[:900])
    compared = len(able) > 1 and bool(_COMPARED.search(rest))
    if protocol == "freeform":
        return Wanted(protocol, tuple(able), ("help" if _HELP.search(rest) else "truth",), compared, notes=notes)
    splits = tuple(name for pattern, name in _SPLITS.items() if re.search(pattern, rest, re.IGNORECASE)) or _USUAL
    narrow: tuple[Measured, ...] = (
        ("symmetry",) if _SYMMETRY.search(rest) else ("heed",) if _HEED.search(rest) else ("order", "symmetry", "heed")
    )
    return Wanted(protocol, tuple(able), narrow[:1] if compared else narrow, compared, splits, notes)


def said_of(splits: Sequence[str]) -> str:
    """Name what changes, for people."""
    return listing([SPLIT_WORDS[name] for name in splits])


def _unable(name: str, profile: Profile, protocol: Protocol) -> str:
    """Say why a model cannot be examined so; empty where it can."""
    settings = profile.tested.get(name) or profile.tested.get(name.partition("+")[0])
    class_name = getattr(settings, "class_name", "")
    if class_name.endswith("Model"):
        does = "compares vectors, and answers nothing"
        return f"it {does}" + (" (`snellen pairs run` measures encoders)" if protocol == "pairs" else "")
    if protocol == "pairs" and getattr(settings, "pictures", 1) < 2:  # noqa: PLR2004 - a pair
        return "it reads one picture at once, and cannot compare two"
    return ""
