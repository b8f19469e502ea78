"""Reading questions about free answers and judges of pairs: which protocol, which models, what is asked of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from snellen.experiments.design import Protocol
from snellen.experiments.queries.model_queries import UnexaminableError, named_models, named_types
from snellen.experiments.queries.polarity import Measured, Polarity, of_measure
from snellen.reasoning.language.inflection import listing

if TYPE_CHECKING:
    from snellen.profiles import Profile

_PICTURES: Final = r"(?:pictures?|images?|photos?)"
_PAIRS: Final = re.compile(
    rf"\bsimilarity\b|\bresemblance\b|\blikeness\b|\bhow (?:similar|alike|close|different|distant)\b|"
    rf"\b(?:similar|alike) {_PICTURES}|\b(?:a|as|the|good|better|best|fair|which) (?:\w+ )?judges?\b|"
    r"\bjudges? (?:of|heed)\b|"
    rf"\bsymmetr(?:y|ic|ical)\b(?! flip)|\bpairs? of {_PICTURES}|\b(?:in|with|over|of) (?:a )?pairs?\b(?! of)|"
    rf"\b(?:judge|score|rate|rank|order|compare)s? (?:\w+ )?pairs\b(?! of (?!{_PICTURES}))|\bswap\w*|"
    rf"\b(?:score|rate|rank|compare)s? (?:two |both |these )?{_PICTURES}|\b(?:two|both|between) (?:two )?{_PICTURES}|"
    rf"\b{_PICTURES} (?:\w+ )?comparison|\bscores?\b.*\b(?:order|exchanged)\b",
    re.IGNORECASE,
)
_FREE: Final = re.compile(
    r"\btruth\w*|\btells? the true\b|\btrue (?:things|answers?|statements?)\b|\bhonest\w*|\bhallucinat\w+|\bliars?\b|"
    r"\b(?:do|does|did) (?:\S+ ){1,4}lie\b(?! (?:in|on|at|to))|\btells? lies\b|\blying about\b|\bconfabulat\w+|"
    r"\bma(?:ke|kes|king|de) (?:things |stuff |objects |facts |details |something |anything )?up\b(?! close)|"
    r"\binvent(?:s|ing|ed)?\b|\bfabricat\w+|\bhelpful\w*|\binformative\b|\bfaithful\w*|\bfactual\w*|"
    r"\b(?:answers?|descriptions?|captions?|says?)\b.*\b(?:useful|reliable|trustworthy|accurate|true|false|wrong)\b|"
    r"\b(?:useful|reliable|trustworthy|accurate|true|false) (?:answers?|descriptions?|captions?)\b|"
    r"\b(?:useful|reliable|trustworthy|accurate|true) (?:are|is) (?:the |its |their )?"
    r"(?:answers?|descriptions?|captions?)\b|"
    r"\btrust (?:\S+ )?(?:descriptions?|answers?|captions?)|"
    r"\b(?:say|says|mention|mentions|claim|claims|describe|describes|see|sees)\b.*"
    r"\b(?:not there|not exist|(?:are|is)n't|doesn't exist|don't exist|not in the)\b|"
    r"\bfree(?:ly)?[- ](?:form |text )?(?:answer|respon|form|text)\w*|\bopen[- ]ended\b|\bown words\b|"
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
class ProtocolQuery:
    """A query about free answers or about judges.

    Attributes:
        protocol: How it is examined.
        models: Those that can be, of those that it is about.
        measures: What of.
        compared: Whether it asks which of them is better.
        splits: What changes between pictures, for judges.
        notes: What cannot be examined, in sentences.
        polarity: Whether "yes" to it means that what is measured holds of models, or that it does not.
    """

    protocol: Protocol
    models: tuple[str, ...]
    measures: tuple[Measured, ...]
    compared: bool
    splits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    polarity: Polarity = "unknown"


def protocol_of(query: str, models: Sequence[str] = ()) -> Protocol:
    """Choose how a query is examined, from its words.

    Args:
        query: In the user's words.
        models: Whose names say nothing about that: a judge may be asked anything.

    Returns:
        Pairs where it speaks of similarity or judges, free answers where it speaks of truth and help; else choices.
    """
    masked = query
    for name in sorted(models, key=len, reverse=True):
        masked = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "MODEL", masked, flags=re.IGNORECASE)
    if _FREE.search(masked) and not re.search(r"\b(?:similarity|judges? of)\b", masked, re.IGNORECASE):
        return "freeform"
    return "pairs" if _PAIRS.search(masked) else "choice"


def read_wanted(query: str, models: Sequence[str], profile: Profile, protocol: Protocol) -> ProtocolQuery:
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
    left_out = _left_out(rest, protocol)
    notes += (f"Not examined here is what the question says about {listing(left_out)}.",) if left_out else ()
    if not able:
        msg = f"None of the models can be examined so: {' '.join(notes)}"
        raise UnexaminableError(msg[:900])
    compared = len(able) > 1 and bool(_COMPARED.search(rest))
    if protocol == "freeform":
        parsed = ProtocolQuery(
            protocol, tuple(able), ("help" if _HELP.search(rest) else "truth",), compared, notes=notes
        )
        return replace(parsed, polarity=_polarity(parsed, rest, left_out))
    splits = tuple(name for pattern, name in _SPLITS.items() if re.search(pattern, rest, re.IGNORECASE)) or _USUAL
    narrow: tuple[Measured, ...] = (
        ("symmetry",) if _SYMMETRY.search(rest) else ("heed",) if _HEED.search(rest) else ("order", "symmetry", "heed")
    )
    parsed = ProtocolQuery(protocol, tuple(able), narrow[:1] if compared else narrow, compared, splits, notes)
    return replace(parsed, polarity=_polarity(parsed, rest, left_out))


def _polarity(query: ProtocolQuery, words: str, left_out: Sequence[str]) -> Polarity:
    """Return the polarity of a query of which models are masked; unknown where it asks more than is examined."""
    if left_out or (query.compared and len(query.models) != 2):  # noqa: PLR2004 - a pair
        return "unknown"
    for pattern in _SPLITS:
        words = re.sub(pattern, lambda match: "_" * len(match[0]), words, flags=re.IGNORECASE)
    return of_measure(words, query.measures[0], compared=query.compared)


def _left_out(words: str, protocol: Protocol) -> list[str]:
    """Return what a query names that its protocol does not vary or measure."""
    types, type_group, _ = named_types(words)
    known = [pattern for pattern in _SPLITS if re.search(pattern, words, re.IGNORECASE)]
    unread = [] if protocol == "pairs" and known else [type_group] if type_group else list(types)
    return [*unread, *(["smoothness"] if re.search(r"\bsmooth\w*", words) else [])]


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
