"""Programs of any origin are hostile input: whatever the text, it runs within bounds or is refused."""

from __future__ import annotations

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.tools.program import ProgramError, ProgramLimits, load, parse, run
from snellen.tools.registry import ToolContext, catalogue
from snellen.values import Region, Value
from tests.tools.doubles import Shelf, context_of

MUTATED = 10_000
SEEDS = [
    """BOX0=[BOX]
IMAGE0=CROP(image=IMAGE,box=BOX0)
N=COUNT(box=BOX0)
A=EVAL(expr="'yes' if {N} > 0 else 'no'")
FINAL_RESULT=RESULT(var=A)""",
    """N=COUNT(box=BOXES)
if N > 2 xor N == 1:
    A='many'
elif not N:
    A='none'
else:
    A='few'
FINAL_ANSWER=RESULT(var=A)""",
    """TOTAL=0
for B in BOXES:
    I=CROP_LEFTOF(image=IMAGE,box=B)
    TOTAL=TOTAL + COUNTED
R=RESULT(var=TOTAL)""",
    """T=''
for X in ['a', 'b', 'c']:
    for Y in [1, 2, 3]:
        T='{T}{X}{Y}'
R=RESULT(var=T)""",
    """Step1: NAMES=LIST(query='fruit',max=3)
Step2: A=EVAL(expr='sorted({NAMES})[0] + str(len({NAMES}) ** 2)')
Step3: R=RESULT(var=A)""",
    """```python
I=COLORPOP(image=IMAGE,object=BOXES)
J=BGBLUR(image=I,object=BOXES[:1])
R=RESULT(var=J)
```""",
    """A=TAG(image=IMAGE,object=BOXES)
B=EMOJI(image=A,object=BOX,emoji='red_heart')
R=RESULT(var=B)""",
    """BIG=FILTER(object=BOXES,where='area > 10 and label == {NAME}')
S=SORT(object=BIG,by='-left',descending=True)
F=FIRST(object=S,n=1)
A=S[0].label + ' {F.label}'
R=RESULT(var=A)""",
    """G=GROUP(object=BOXES + BOX,by='width // 3')
N=0
for X in G:
    Y=LAST(object=X,n=2)
    N=N + len(unique(Y.label)) + Y[0].height
R=RESULT(var=N)""",
    """L=LEFT_OF(object=BOXES,of=BOX)
M=BETWEEN(object=BOXES,of=BOX,other=L)
N=NEAREST(object=BOXES,of=BOX,n=2)
I=INSIDE(object=N + M,of=BOX)
D=distance(BOX, BOXES) + overlap(BOXES, BOX)
R=RESULT(var=D)""",
    """T=AT(image=IMAGE,object=BOXES,place='top left corner')
W=WIDEN(image=IMAGE,object=BOXES,by=0.5)
O=ONLY_IN(object=W,other=T,by='area')
P=PICTURE(object=BOX)
S=SAME(object=BOX,other=BOXES,by='size')
R=RESULT(var=[P.width, max(W.area), S])""",
    """C=ROWS(object=BOXES)
if C[0][0].x < IMAGE.width / 2 and count(BOXES.label, 'dog') > 0:
    A=C[0]
else:
    A=SELECT(image=IMAGE,object=BOXES,query='dog')
R=RESULT(var=A.score)""",
]
FRAGMENTS = [
    "__import__('os').system('false')", "().__class__.__bases__[0].__subclasses__()", "{BOXES.__class__}", "eval('1')",
    "exec(", "lambda: 0", "9**9**9", "'x'*10**9", "[0]*10**9", "{A!r:>99999999}", "f'{IMAGE}'", "{", "}", "(", ")", "[",
    "]", "'", '"', "'''", "\\", "\n", "\n    ", "\t", ";", ":", ",", "=", "==", "**", "//", " xor ", "^", " and ",
    " or ",
    " not ", " if ", " else ", " in ", "...", "#", "```", "Step1:", "\x00", "\ud800", "\u202e", "é", "\U0001d49c",
    "\r", "\f",
    "IMAGE", "BOXES", "BOX", "LOC", "CROP", "RESULT", "EVAL", "expr=", "var=", "box=", "while True:", "import os\n",
    "def f():\n", "async ", "await ", "yield ", "global A\n", "del A\n", "@", ":=", "->", "*BOXES", "**BOXES", "-1",
    "1e999", "1j", "9" * 5000, "(" * 300, "[" * 300, "-" * 3000, "not " * 500, "A." * 500, "A+" * 2000, "'{T}{T}'",
    ".label", ".area", "[0].x", "where=", "by=", "of=", "region", "{BOX.label}", "{BOXES[0].area}",
    "'{BOX." + "label" * 40,
    "{BOX[0][0][0][0].label}", "distance(", ".__class__", "BOXES.area", "sorted(BOXES.label)", "SORT(object=BOXES,by='",
    "if 1:\n" * 30, "for X in BOXES:\n ", "elif A:\n A=1\n" * 100, "None", "True", "sorted(BOXES)", "max(IMAGE, 1)",
]  # fmt: skip


TOOLS = frozenset(catalogue().names())
TOKEN = re.compile(r"[A-Za-z]\w*|\d+|'[^'\n]*'|[-+*/<>=^]+|\.(?=[a-z])")
TOKENS = sorted({token for seed in SEEDS for token in TOKEN.findall(seed)} | {"99", "-7", "''", "**", "%", "None"})


def sort_of(token: str) -> str:
    if token in TOOLS:
        return "tool"
    if token[0].isalpha():
        return "variable" if token.upper() == token else "word"
    return "value" if token[0].isdigit() or token[0] == "'" else "operator"


def mutated(rng: random.Random) -> str:
    text = rng.choice(SEEDS)
    mutate = rng.choice((respelt, respelt, respelt, torn))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = mutate(text, rng)
    return text


def respelt(text: str, rng: random.Random) -> str:
    """Put one word, number, text or operator in another's place: programs that may still run."""
    found = rng.choice([*TOKEN.finditer(text)])
    alike = [token for token in TOKENS if sort_of(token) == sort_of(found[0])]
    return text[: found.start()] + rng.choice(alike) + text[found.end() :]


def torn(text: str, rng: random.Random) -> str:
    """Cut something out and put anything in."""
    start = rng.randrange(len(text) + 1)
    stop = start + rng.choice((0, 0, 1, 3, 12))
    donor = rng.choice(SEEDS)
    cut = rng.randrange(len(donor))
    inserted = rng.choice((*rng.choices(FRAGMENTS, k=2), donor[cut : cut + 20], "", chr(rng.randrange(128))))
    return text[:start] + inserted + text[stop:]


ESCAPES = {"exec", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename", "os.mkdir",
           "subprocess.Popen", "socket.connect", "ctypes.dlopen", "import"}  # fmt: skip
"""What the interpreter reports about itself (PEP 578) when code runs that no program may run."""


@contextmanager
def watched() -> Iterator[list[str]]:
    """Note every escape while the block runs; a hook can never be taken away, so it is made deaf at the end."""
    seen: list[str] = []
    listening = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if listening and (event in ESCAPES or (event == "open" and set(str(arguments[1])) & set("wax+"))):
            seen.append(f"{event} {arguments[:2]}")

    sys.addaudithook(hook)
    try:
        yield seen
    finally:
        listening = False


def outcome_of(text: str, context: ToolContext, inputs: Mapping[str, Value]) -> str:
    try:
        records = list(run(parse(text), inputs, context, ProgramLimits(steps=60)))
    except ProgramError as error:
        assert error.problems  # noqa: PT017 - being refused is as good as running
        return "refused"
    assert len(records) <= 61
    assert all(record.error is None for record in records[:-1])
    return "failed" if records[-1].error else "ran"


@pytest.mark.slow
def test_ten_thousand_mutated_programs_neither_crash_nor_escape() -> None:
    rng, shelf = random.Random(3), Shelf()
    image = shelf.put(PIL.Image.new("RGB", (16, 16), "red"))
    box, far = Region((2, 2, 8, 8), 0.9, "dog", picture=image.id), Region((10, 9, 15, 16), 0.4, "cat")
    inputs: dict[str, Value] = {"IMAGE": image, "BOXES": [box, box, far], "BOX": box, "COUNTED": 2, "NAME": "dog"}
    context, outcomes, slowest = context_of(shelf), Counter[str](), 0.0
    assert [outcome_of(text, context, inputs) for text in SEEDS] == ["ran"] * len(SEEDS)  # imports what they need
    with watched() as escapes:
        for _ in range(MUTATED):
            text, started = mutated(rng), time.process_time()
            outcomes[outcome_of(text, context, inputs)] += 1
            slowest = max(slowest, time.process_time() - started)
    assert not escapes
    assert slowest < 2
    assert min(outcomes[each] for each in ("ran", "refused", "failed")) > MUTATED // 200, outcomes


@pytest.mark.parametrize(
    "unit",
    [
        "\\'",
        '\\"',
        "'''a",
        "\"'''",
        "'\n",
        "'\\\n",
        "\\",
        "{A}",
        "Step 1 ",
        "- ",
        "**",
        "(",
        "`",
        "\r",
        "^",
        "xor ",
        "A=1;",
    ],
)
@pytest.mark.parametrize("frame", ["{}", "A='{}'", "A={}1", "Program{}", "{}x", "Step1{}="])
def test_long_texts_are_refused_in_linear_time(unit: str, frame: str) -> None:
    text = frame.format(unit * (19_900 // len(unit)))
    started = time.thread_time()
    with pytest.raises(ProgramError):
        load(text, {"A": "Number"})
    # Loose, so that it holds on a slow or busy machine: it guards against exponential and cubic time.
    assert time.thread_time() - started < 10


@settings(max_examples=200, deadline=2_000)
@given(st.text(max_size=200) | st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_any_text_is_a_program_or_is_refused(text: str) -> None:
    try:
        load(text, {"IMAGE": "Picture", "BOXES": "Regions"})
    except ProgramError as error:
        assert str(error).startswith("the program cannot run: line ")  # noqa: PT017 - either way is right
