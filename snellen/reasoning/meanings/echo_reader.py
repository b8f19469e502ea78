"""The inverse of the echo: from a sentence that says a meaning to that meaning.

Sentences and clauses are cut into the spans that patterns name, for which meanings are proposed; as in `phrase_reader`,
those are kept that are said in the words of the span.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Final, get_args

from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.echo import JOINTS, LISTED, ORDERS, QUESTIONS, echo, statement
from snellen.reasoning.meanings.meanings import (
    Are,
    AreAlike,
    CheckEach,
    Choose,
    ChooseCount,
    CompareCounts,
    Count,
    Describe,
    EditAction,
    EditPicture,
    Exist,
    IfThen,
    Junction,
    ListEach,
    Meaning,
    Negation,
    Query,
    QuerySetting,
    Say,
    SettingAspect,
    SettingIs,
    SettingsAlike,
    Several,
    Truth,
)
from snellen.reasoning.meanings.phrase_reader import (
    AnyPart,
    KnownNames,
    P,
    PhraseReader,
    TooManySteps,
    cuts,
    made,
    pieces,
)
from snellen.reasoning.meanings.phrases import NUMBERS
from snellen.reasoning.meanings.things import Things

_ASPECTS: Final = "|".join(sorted(get_args(SettingAspect), key=len, reverse=True))  # of two, the longer is said
_SETTING: Final = f"the (?P<aspect>{_ASPECTS})(?: of the (?P<picture>left|right) picture)?"
_VALUE: Final = "(?P<value>(?!.*the same in both pictures).+)"
_ORDER: Final = f"(?:, (?P<order>{'|'.join(ORDERS.values())}))?"
_EDITS: Final = {
    "colour pop": "keep (?P<things>.+) in colour and make the rest grey", "remove": "remove (?P<things>.+)",
    "blur the rest": "blur everything but (?P<things>.+)", "replace": "replace (?P<things>.+) with (?:an? )?(?P<by>.+)",
    "emoji": "cover (?P<things>.+) with the emoji: (?P<by>.+)", "tag": "tag (?P<things>.+)",
    "crop": "crop the picture to (?P<things>.+)",
}  # fmt: skip


def read_echo(text: str, names: KnownNames) -> Meaning | None:
    """Return the meaning, in its canonical form, of which a text is the echo; None where it is that of none or several.

    Args:
        text: The text.
        names: The names that it may have.
    """
    try:
        found = set(map(canonical, _EchoReader(names).meanings(text)))
    except (TooManySteps, RecursionError):
        return None
    return found.pop() if len(found) == 1 else None


class _EchoReader(PhraseReader):
    """Reads meanings and truths from the spans of one text."""

    def meanings(self, span: str) -> tuple[Meaning, ...]:
        """Return the meanings that `echo` says so."""
        return self.read(self._meanings, echo, span)

    def truths(self, span: str) -> tuple[Truth, ...]:
        """Return the truths that `statement` says so."""
        return self.read(self._truths, statement, span)

    def _meanings(self, span: str) -> Iterator[Meaning]:
        queries = {what: form[:-1].format(be="(?:is|are)", things="(?P<things>.+)") for what, form in QUESTIONS.items()}
        return _proposed(
            span,
            (r"\(1\) (.+)", self._several),
            ("If (.+)", self._if_then),
            ("Is it true that (.+)[?]", self.truths),
            ("Is it false that (?P<truth>.+)[?]", partial(self._made, Negation)),
            (f"Is {_SETTING} the same in both pictures[?]", partial(self._made, SettingsAlike)),
            (f"Is {_SETTING} {_VALUE}[?]", partial(self._made, SettingIs)),
            ("(?:Is|Are) (?P<things>.+) all of the same (?P<by>kind|colour|size)[?]", partial(self._made, AreAlike)),
            ("(Is|Are) there (.+)[?]", self._whether_there),
            ("(Is|Are) (.+)[?]", self._whether),
            ("Which is true of (.+)[?]", self._which),
            ("Which are there (most|fewest) of: (.+)[?]", self._choose_count),
            ("How many (kinds of )?(.+)[?]", self._count),
            ("How many more (kinds of )?(.+) are there[?]", self._count_more),
            (f"What is {_SETTING}[?]", partial(self._made, QuerySetting)),
            *((f"{query}[?]", partial(self._made, Query, what=what)) for what, query in queries.items()),
            *(
                (f"List the {said} of (?P<things>.+?){_ORDER}[.]", partial(self._made, ListEach, what=what))
                for what, said in LISTED.items()
            ),
            (
                f"For each of (?P<things>.+?){_ORDER}, say whether it (?P<property>.+)[.]",
                partial(self._made, CheckEach),
            ),
            ("Describe (?P<things>.+)[.]", partial(self._made, Describe)),
            ("Describe the (?:(two|left|right) )?pictures?[.]", self._describe_picture),
            ('Say (?:nothing|"(?P<words>.+)")[.]', partial(self._made, Say)),
            ("([A-Z].+)[.]", self._edit_picture),
        )

    def _truths(self, span: str) -> Iterator[Truth]:
        return _proposed(
            span,
            ("exactly one of these holds: (.+)", partial(self._junction, how="exactly one")),
            ("(.+, and .+)", partial(self._junction, how="and")),
            ("(.+, or .+)", partial(self._junction, how="or")),
            ("it is not true that (?P<truth>.+)", partial(self._made, Negation)),
            ("there (?:is|are) (?:(at least|exactly|at most) (\\w+) )?(.+)", self._exist),
            ("there are (?:(?:(more|fewer) than )?(\\w+) times )?(more|fewer|as many) (.+)", self._compare),
            (f"{_SETTING} is the same in both pictures", partial(self._made, SettingsAlike)),
            (f"{_SETTING} is {_VALUE}", partial(self._made, SettingIs)),
            ("(?P<things>.+) (?:is|are) all of the same (?P<by>kind|colour|size)", partial(self._made, AreAlike)),
            ("(.+)", self._said),
        )

    def _made(self, kind: type[AnyPart], **spans: str | None) -> Iterator[AnyPart]:
        """Make parts of what the spans of their fields say."""
        options: dict[str, Iterable[object]] = {name: (span,) for name, span in spans.items() if span is not None}
        if things := spans.get("things"):
            options["things"] = self.closed(things)
        if truth := spans.get("truth"):
            options["truth"] = self._unit(truth)
        if clause := spans.get("property"):
            options["property"] = self.properties(clause, is_plural=False)
        if order := spans.get("order"):
            options["order"] = (name for name, said in ORDERS.items() if said == order)
        for values in product(*options.values()):
            yield from made(kind, **dict(zip(options, values, strict=True)))

    def _enclosed(self, span: str) -> tuple[Meaning, ...]:
        return self.meanings(span[1:-1] if span[:1] == "[" else span)

    def _several(self, span: str) -> Iterator[Meaning]:
        parts = [span]
        while cut := next(cuts(parts[-1], f" ({len(parts) + 1}) "), None):
            parts[-1:] = cut
        for each in product(*map(self._enclosed, parts)) if len(parts) > 1 else ():
            yield from made(Several, parts=each)

    def _if_then(self, span: str) -> Iterator[Meaning]:
        for condition, rest in cuts(span, ": "):
            for then, otherwise in (*cuts(rest, " Otherwise: "), (rest, "Say nothing.")):
                options = self.truths(condition), self._enclosed(then), self._enclosed(otherwise)
                yield from (IfThen(condition=one, then=two, otherwise=three) for one, two, three in product(*options))

    def _whether_there(self, verb: str, span: str) -> Iterator[Meaning]:
        yield from self.truths(f"there {verb.lower()} {span}")

    def _whether(self, verb: str, span: str) -> Iterator[Meaning]:
        for subject, complement in cuts(span, " "):
            yield from self._are(subject, f"{verb.lower()} {complement}")
            yield from self._choose(subject, [f"is {each}" for each in pieces(complement, ", or ")])

    def _which(self, span: str) -> Iterator[Meaning]:
        for subject, clauses in cuts(span, ": it "):
            yield from self._choose(subject, pieces(clauses, ", or it "))

    def _choose(self, subject: str, clauses: Sequence[str]) -> Iterator[Meaning]:
        sets = self.things(subject.removeprefix("one of ")) if len(clauses) > 1 else ()
        said = [self.properties(each, is_plural=False, is_last=False) for each in clauses] if sets else []
        for things, properties in product(sets, product(*said)):
            yield from made(Choose, things=things, properties=properties)

    def _choose_count(self, how: str, span: str) -> Iterator[Meaning]:
        for options in product(*map(self._several_of, pieces(span, ", or "))):
            yield from made(ChooseCount, how=how, options=options)

    def _count(self, kinds: str | None, span: str) -> Iterator[Meaning]:
        for before, after in cuts(f"{span} ", " are there"):
            for things in self._several_of(f"{before}{after}".strip(), kinds):
                yield Count(things=things, kinds=bool(kinds))

    def _count_more(self, kinds: str | None, span: str) -> Iterator[Meaning]:
        for one, other in cuts(span, f" than {kinds or ''}"):
            for sets in product(self._several_of(one, kinds), self._several_of(other, kinds)):
                yield Count(things=sets[0], kinds=bool(kinds), more_than=sets[1])

    def _several_of(self, span: str, kinds: str | None = None) -> tuple[Things, ...]:
        """Return the sets that are counted so: "cats", "of the two largest dogs", "kinds of the two largest dogs"."""
        definite = self.closed(span.removeprefix("of ")) if kinds or span.startswith("of ") else ()
        return (*self.closed(span, "bare"), *definite)

    def _describe_picture(self, which: str | None) -> Iterator[Meaning]:
        picture = "both" if which == "two" else which or "picture"
        yield from made(Describe, things={"kind": "everything", "picture": picture})

    def _edit_picture(self, span: str) -> Iterator[Meaning]:
        span = span[0].lower() + span[1:]
        for actions in product(*map(self._edits, pieces(span, ", then "))):
            yield from made(EditPicture, actions=actions)

    def _edits(self, span: str) -> tuple[EditAction, ...]:
        forms = ((form, partial(self._made, EditAction, operation=operation)) for operation, form in _EDITS.items())
        return tuple(_proposed(span, *forms))

    def _exist(self, quantity: str | None, number: str | None, span: str) -> Iterator[Truth]:
        if quantity is None and (none := re.match("no |none (?=of )", span)):
            quantity, number, span = "exactly", "no", span[none.end() :]
        if span.startswith("of "):
            sets = self.things(span.removeprefix("of "))
        elif quantity is None:
            sets = self.things(span, "a")
        else:
            sets = (*self.things(span, "bare"), *self.things(f"any {span}", "any"))
        for things in sets:
            yield from made(Exist, things=things, quantity=quantity or "at least", number=_number(number or "one"))

    def _compare(self, than: str | None, times: str | None, how: str, span: str) -> Iterator[Truth]:
        for sides in cuts(span, " as " if how == "as many" else " than "):
            for one, other in product(*map(self._several_of, sides)):
                yield from made(CompareCounts, one=one, how=than or how, other=other, times=_number(times or "one"))

    def _are(self, subject: str, said: str) -> Iterator[Truth]:
        share = "most" if subject.startswith("most of ") else "all"
        whole = subject.removeprefix("most of ")
        sets = {*self.things(whole), *self.things(whole.removeprefix("all "))}
        for is_plural in (True, False) if sets else ():
            for things, each in product(sets, self.properties(said, is_plural=is_plural)):
                yield from made(Are, things=things, property=each, share=share)

    def _said(self, span: str) -> Iterator[Truth]:
        for subject, said in cuts(span, " "):
            yield from self._are(subject, said)

    def _junction(self, span: str, *, how: str) -> Iterator[Truth]:
        for parts in product(*map(self._unit, pieces(span, JOINTS[how]))):
            yield from made(Junction, how=how, parts=parts)

    def _unit(self, span: str) -> tuple[Truth, ...]:
        return self.truths(span[1:-1] if span[:1] + span[-1:] == "()" else span)


def _number(word: str) -> int | str:
    return NUMBERS.index(word) if word in NUMBERS else word


def _proposed(span: str, *forms: tuple[str, Callable[..., Iterable[P]]]) -> Iterator[P]:
    """Propose what each form that a span has says: of the parts that are named in it, else of those in their order."""
    for form, propose in forms:
        if match := re.fullmatch(form, span):
            named = match.groupdict()
            yield from propose(**named) if named else propose(*match.groups())
