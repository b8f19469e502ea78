"""The polarity of a question about models: whether its "yes" means that what is examined holds, or does not.

Experiments establish a property ("robust to rotation"). "Is it robust to rotation?" and "Does rotation hurt it?" ask
for the same experiments, and their answers are opposite. A question is read here by a closed grammar: one word that
it does not know, and its polarity is unknown, so nothing is answered that was not asked.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Measured = Literal["", "truth", "help", "order", "symmetry", "heed"]
"""The measure of free answers or of judges that a claim is about; empty for accuracy."""

Polarity = Literal["same", "opposite", "unknown"]
"""Whether "yes" to a question means that the property holds, that it does not, or cannot be told from the wording."""

_TOKEN: Final = re.compile(r"[a-z]+|_+|[^\w\s]|\w+")
_OR_NOT: Final = re.compile(r"\s*,?\s*\bor not\b(?=[\s?.!]*$)")
_END: Final = re.compile(r"[\s?.!]+$")

_MODELS: Final = r"(?=(?:[\w',]+ )*?(?:model|it) )(?:(?:model|it|its|the|of|and|both|all|each|these|,|'|s) )+"
_ANSWERS: Final = r"(?:(?:answers?|descriptions?|captions?|of|model|it|the|and|,|'|s) )+"
_TYPES: Final = r"(?=(?:[\w,]+ )*?TYPE )(?:(?:TYPE|a|an|the|and|of|,|pictures?|images?) )+"
_STILL: Final = r"(?:(?:really|actually|still|also|indeed|truly|even) )*"
_BE: Final = "(?:is|are)"
_DO: Final = "(?:does|do|will|would)"
_CAN: Final = "(?:can|could|does|do|will|would)"

_SEE: Final = (
    r"(?:recogni[sz]e|identify|distinguish|differentiate|discern|tell|notice|detect|spot|classify|categori[sz]e|"
    r"understand|perceive|count|name|see|know|determine)"
)
_SEEING: Final = (
    r"(?:recogni[sz]ing|identifying|distinguishing|differentiating|discerning|telling|noticing|detecting|spotting|"
    r"classifying|categori[sz]ing|understanding|perceiving|counting|naming|seeing|knowing|determining)"
)
_HURT: Final = (
    "(?:hurt|harm|affect|degrade|fool|confuse|weaken|damage|disturb|break|impair|worsen|trouble|bother|throw off)"
)
_HURT_BY: Final = (
    "(?:hurt|harmed|affected|degraded|fooled|confused|weakened|damaged|disturbed|broken|impaired|troubled|bothered|"
    "thrown off) (?:by )?"
)
_SUFFER: Final = (
    "(?:suffer|struggle|fail|degrade|deteriorate|break|break down|lose accuracy|"
    "(?:get|become) (?:worse|fragile|confused|unreliable)|have (?:trouble|difficulty|difficulties))"
)
_LIE: Final = (
    "(?:lie|hallucinate|confabulate|fabricate|make (?:things|stuff|objects) up|make up (?:things|stuff|objects)|"
    "invent (?:things|objects))"
)
_WITH: Final = "(?:(?:to|at|in|of|on|with|from|under|against|by|for|when|as) )?"
_REST: Final = (
    r"(?:(?:TYPE|model|it|its|they|their|'|s|,|a|an|the|of|in|on|at|to|from|under|with|by|for|against|and|between|"
    r"as|about|among|is|are|was|were|when|whether|if|that|how|many|where|what|ability|accuracy|performance|recognition|"
    r"things?|objects?|pictures?|images?|photos?|colou?rs?|numbers?|positions?|locations?|relations?|relationships?|"
    r"spatial|left|right|above|below|sides?|or (?=right|left|below|above)|several|multiple|identical|present|"
    r"apart|two|pairs?|similarity|likeness|resemblance|similar|alike|same|changes?|changed|given|judging|scoring|"
    rf"comparing|judge|score|compare|counts|{_SEE}|{_SEEING}) )*"
)

_Pattern = tuple[Literal["same", "opposite"], str]
_ABILITY: Final[tuple[_Pattern, ...]] = (
    ("same", rf"{_BE} {_MODELS}{_STILL}(?:good|reliable|capable|able) {_WITH}{_REST}"),
    ("same", rf"{_CAN} {_MODELS}{_STILL}(?:{_SEE}|do well|perform well) {_REST}"),
    ("opposite", rf"{_BE} {_MODELS}{_STILL}(?:bad|poor|weak|unreliable|incapable|unable) {_WITH}{_REST}"),
    ("opposite", rf"{_DO} {_MODELS}{_STILL}(?:fail|struggle|have (?:trouble|difficulty|difficulties)) {_WITH}{_REST}"),
)
_ROBUSTNESS: Final[tuple[_Pattern, ...]] = (
    ("same", rf"{_BE} {_MODELS}{_STILL}(?:robust|resilient|resistant|stable|tolerant) {_WITH}{_REST}"),
    ("same", rf"{_CAN} {_MODELS}{_STILL}(?:cope|withstand|resist|tolerate|handle) {_WITH}{_REST}"),
    ("same", rf"{_CAN} {_MODELS}still {_SEE} {_REST}"),
    ("opposite", rf"{_BE} {_MODELS}{_STILL}(?:sensitive|fragile|vulnerable|brittle|susceptible) {_WITH}{_REST}"),
    ("opposite", rf"{_BE} {_MODELS}{_STILL}{_HURT_BY}{_REST}"),
    ("opposite", rf"{_DO} {_MODELS}{_STILL}{_SUFFER} {_WITH}{_REST}"),
    ("opposite", rf"{_DO} {_TYPES}{_STILL}{_HURT} {_MODELS}{_REST}"),
    ("opposite", rf"{_DO} {_TYPES}{_STILL}throw model off {_REST}"),
)
_COMPARISON: Final[tuple[_Pattern, ...]] = (
    ("same", rf"{_BE} model (?:better|stronger|superior|more accurate) {_WITH}{_REST}(?:than|to) model {_WITH}{_REST}"),
    (
        "opposite",
        rf"{_BE} model (?:worse|weaker|inferior|less accurate) {_WITH}{_REST}(?:than|to) model {_WITH}{_REST}",
    ),
    ("same", rf"{_CAN} model (?:beat|outperform) model {_WITH}{_REST}"),
    ("same", rf"{_CAN} model {_SEE} {_REST}better than model "),
    ("opposite", rf"{_CAN} model {_SEE} {_REST}worse than model "),
)
_TRUST: Final[_Pattern] = ("same", rf"can (?:i|we|one|you) trust (?:{_MODELS}|{_ANSWERS}){_WITH}{_REST}")
_TRUSTED: Final[_Pattern] = ("same", rf"can {_MODELS}be trusted {_WITH}{_REST}")
_MEASURED: Final[dict[str, tuple[_Pattern, ...]]] = {
    "truth": (
        _TRUST,
        _TRUSTED,
        (
            "same",
            rf"{_BE} (?:{_MODELS}|{_ANSWERS})(?:truthful|honest|factual|faithful|trustworthy|true) {_WITH}{_REST}",
        ),
        ("same", rf"{_CAN} {_MODELS}{_STILL}tell the truth {_REST}"),
        ("opposite", rf"{_DO} {_MODELS}{_STILL}{_LIE} {_REST}"),
    ),
    "help": (("same", rf"{_BE} (?:{_MODELS}|{_ANSWERS})(?:helpful|informative|useful) {_WITH}{_REST}"),),
    "order": (
        _TRUST,
        _TRUSTED,
        ("same", rf"{_BE} {_MODELS}(?:a )?(?:good|fair|reliable|trustworthy) judges? {_WITH}{_REST}"),
        ("same", rf"{_BE} {_MODELS}good {_WITH}{_REST}"),
        ("same", rf"{_CAN} {_MODELS}{_STILL}(?:judge|score|compare) {_REST}"),
        ("opposite", rf"{_BE} {_MODELS}(?:a )?(?:bad|poor|unreliable) judges? {_WITH}{_REST}"),
    ),
    "symmetry": (("same", rf"{_BE} {_MODELS}symmetric(?:al)? {_WITH}{_REST}"),),
    "heed": (
        ("same", rf"{_CAN} {_MODELS}heed {_REST}"),
        ("opposite", rf"{_DO} {_MODELS}(?:ignore|overlook) {_REST}"),
    ),
}
_MORE: Final[dict[str, tuple[_Pattern, ...]]] = {
    "truth": (
        ("same", rf"{_BE} model more (?:truthful|honest|factual|faithful|trustworthy) than model {_WITH}{_REST}"),
        ("opposite", rf"{_BE} model less (?:truthful|honest|factual|faithful|trustworthy) than model {_WITH}{_REST}"),
        ("same", rf"{_DO} model (?:lie|hallucinate|confabulate|fabricate) less than model {_REST}"),
        ("opposite", rf"{_DO} model (?:lie|hallucinate|confabulate|fabricate) more than model {_REST}"),
    ),
    "help": (
        ("same", rf"{_BE} model more (?:helpful|informative|useful) than model {_WITH}{_REST}"),
        ("opposite", rf"{_BE} model less (?:helpful|informative|useful) than model {_WITH}{_REST}"),
    ),
    "order": (
        ("same", rf"{_BE} model (?:a )?better judge {_WITH}{_REST}than model {_WITH}{_REST}"),
        ("opposite", rf"{_BE} model (?:a )?worse judge {_WITH}{_REST}than model {_WITH}{_REST}"),
    ),
}


def names_seeing(words: str) -> bool:
    """Tell whether a question has a verb of seeing, such as "recognize" or "telling"."""
    return bool(re.search(rf"\b(?:{_SEE}|{_SEEING})\b", words.casefold()))


def of_ability(words: str, *, robust: bool, compared: bool) -> Polarity:
    """Return the polarity of a question about what models can do.

    Args:
        words: The question, with the word "model" for each model, and underscores for types and groups.
        robust: Whether it is read as a question about what is lost under the types; else about being able.
        compared: Whether it is read as a comparison: the property is then that the first model is better.
    """
    return _read(words, _COMPARISON if compared else _ROBUSTNESS if robust else _ABILITY)


def of_measure(words: str, measure: Measured, *, compared: bool) -> Polarity:
    """Return the polarity of a question about free answers or about judges of pairs.

    Args:
        words: As for `of_ability`.
        measure: What is measured first.
        compared: Whether two models are compared by it.
    """
    return _read(words, (_MORE if compared else _MEASURED).get(measure, ()))


def _read(words: str, patterns: tuple[_Pattern, ...]) -> Polarity:
    """Return what all patterns that match the whole question agree on."""
    query = _END.sub("", _OR_NOT.sub("", words.casefold().strip()))
    text = "".join(("TYPE " if token.startswith("_") else f"{token} ") for token in _TOKEN.findall(query))
    polarities = {polarity for polarity, pattern in patterns if re.fullmatch(pattern, text)}
    return polarities.pop() if len(polarities) == 1 else "unknown"
