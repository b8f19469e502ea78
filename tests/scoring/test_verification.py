"""Verification programs: what they may ask of a graph, and that nothing leaves the box."""

from __future__ import annotations

import importlib.util
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from snellen.errors import SnellenError
from snellen.scoring.scene_graph import Fact, SceneGraph
from snellen.scoring.verification import SandboxLimits, Verifier

GRAPH = SceneGraph(
    [
        Fact("dog", attribute="red", kind="color"),
        Fact("dog", relation="in front of", target="house", kind="spatial"),
        Fact("dog (2)", attribute="big"),
        Fact("t-shirt", attribute="red", kind="color"),
    ],
    caption="Two dogs and a t-shirt.",
)


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(SandboxLimits(seconds=0.3), workers=2) as made:
        yield made


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("len(g.get_entities())", "4"),
        ("sorted(e for e in g.get_entities() if 'red' in g.get_attributes(e).values())", "dog, t-shirt"),
        ("g.get_attributes('dog')['color']", "red"),
        ("list(g.get_outgoing_relations('dog'))[0]", "house"),
        ("'dog' in g.get_incoming_relations('house')", "yes"),
        ("g.get_attributes('cat') == {}", "yes"),
        ("g.describe(g.generate_subgraph(['dog', 'house']))", "red dog; house; dog in front of house"),
        ("len([e for e in g.get_entities() if e.startswith('dog')]) / 4", "0.5"),
        ("{'b', 'a'}", "a, b"),
        ("g.caption", "Two dogs and a t-shirt."),
    ],
)
def test_programs_ask_the_graph_and_answer_in_words(verifier: Verifier, body: str, answer: str) -> None:
    found = verifier.run(f"def verify(g):\n    return {body}", GRAPH)
    assert (found.answer, found.trouble) == (answer, "")


def test_the_box_describes_as_the_graph_does(verifier: Verifier) -> None:
    program = "def verify(g):\n    return g.describe(g)"
    assert verifier.run(program, GRAPH).answer == GRAPH.describe(GRAPH)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "failed: NameError"),
        ("def verify(g):", "failed: "),
        ("def verify(g):\n    return", "a NoneType, which is no answer"),
        ("def verify(g):\n    return g", "which is no answer"),
        ("def verify(g):\n    return ''", "returned nothing"),
        ("def verify(g):\n    return []", "returned nothing"),
        ("def verify(g):\n    return 'x' * 5000", "too long"),
        ("def verify(g):\n    return [[1]]", "no answer"),
        ("def verify(g):\n    return 10 ** 100", "no answer"),
        ("def verify(g):\n    return g.get_attributes('dog')['size']", "failed: KeyError"),
        ("def verify(g):\n    assert False, 'two dogs'", "two dogs"),
        ("x = 1\n" * 5000, "more than 10,000 characters"),
    ],
)
def test_what_is_no_answer_is_a_sentence(verifier: Verifier, program: str, said: str) -> None:
    found = verifier.run(program, GRAPH)
    assert found.answer is None
    assert said in found.trouble


ESCAPES = {
    # Python's object model
    "class of a tuple": "().__class__.__bases__[0].__subclasses__()",
    "class of text": "''.__class__.__mro__",
    "class of a dict": "{}.__class__",
    "class of a number": "(1).__class__.__base__",
    "subclasses": "object.__subclasses__()",
    "mro": "str.__mro__",
    "globals of a lambda": "(lambda: 0).__globals__",
    "code of a function": "verify.__code__",
    "closure": "verify.__closure__",
    "defaults": "verify.__defaults__",
    "builtins": "__builtins__",
    "import function": "__import__('os')",
    "loader": "__loader__",
    "spec": "__spec__.loader",
    "module of a method": "g.get_entities.__func__.__globals__",
    "globals of init": "g.__init__.__globals__",
    "getattr dunder": "getattr((), '__cl' + 'ass__')",
    "format dunder": "'{0.__class__.__init__.__globals__}'.format(g)",
    "format map": "'{a.__class__}'.format_map({'a': 1})",
    "dict of a class": "g.__class__.__dict__",
    "exception traceback": "\ntry:\n    1 / 0\nexcept Exception as e:\n    result = e.__traceback__.tb_frame.f_globals",
    "generator frame": "(x for x in [1]).gi_frame.f_back",
    "coroutine frame": "\nasync def c():\n    return 1\nresult = c().cr_frame",
    "globals function": "globals()['__builtins__']",
    "locals function": "locals()['__builtins__']",
    "vars": "vars(g)['__class__']",
    "type with three": "type('X', (), {'__del__': lambda s: None}).__base__",
    "metaclass": "type(g).__bases__[0].__subclasses__()",
    "reduce": "g.__reduce_ex__(2)[0].__globals__",
    "breakpoint": "breakpoint()",
    "help": "help()",
    "input": "input()",
    "memoryview": "memoryview(b'a').obj.__class__",
    # files, processes, sockets, environment
    "open": "open('/etc/passwd').read()",
    "open to write": "open('/tmp/escaped', 'w').write('x')",
    "list a folder": "\nimport os\nresult = os.listdir('/')",
    "environment": "\nimport os\nresult = os.environ['PATH']",
    "getenv": "\nimport os\nresult = os.getenv('PATH').lower()",
    "system": "\nimport os\nresult = os.system('touch /tmp/escaped')",
    "path": "\nfrom pathlib import Path\nresult = Path('/etc/passwd').read_text()",
    "path to write": "\nfrom pathlib import Path\nresult = Path('/tmp/escaped').write_text('x')",
    "folder of the process": "\nfrom pathlib import Path\nresult = str(list(Path('/proc').iterdir()))",
    "subprocess": "\nimport subprocess\nresult = subprocess.run(['id'])",
    "socket": "\nimport socket\nresult = socket.socket()",
    "url": "\nimport urllib.request\nresult = urllib.request.urlopen('http://localhost')",
    "http": "\nimport http.client\nresult = 1",
    "ctypes": "\nimport ctypes\nresult = ctypes.CDLL(None)",
    "pickle": "\nimport pickle\nresult = pickle.loads(b'cos\\nsystem\\n(S\"id\"\\ntR.')",
    "marshal": "\nimport marshal\nresult = marshal.loads(b'')",
    "importlib": "\nimport importlib\nresult = importlib.import_module('os')",
    "sys modules": "\nimport sys\nresult = sys.modules['os']",
    "sys frames": "\nimport sys\nresult = sys._getframe()",
    "threading": "\nimport threading\nresult = threading.Thread()",
    "multiprocessing": "\nimport multiprocessing\nresult = 1",
    "signal": "\nimport signal\nresult = signal.alarm(1)",
    "shutil": "\nimport shutil\nresult = shutil.rmtree('/tmp')",
    "tempfile": "\nimport tempfile\nresult = tempfile.mkdtemp()",
    "gc": "\nimport gc\nresult = gc.get_objects()",
    "inspect": "\nimport inspect\nresult = inspect.stack()",
    "code module": "\nimport code\nresult = code.interact()",
    "numpy": "\nimport numpy\nresult = 1",
    "this project": "\nimport snellen.scoring\nresult = 1",
    # time and memory
    "endless loop": "\nwhile True:\n    pass",
    "endless sum": "sum(range(10 ** 15))",
    "endless sleep": "\nimport time\ntime.sleep(1000)\nresult = 1",
    "endless recursion": "\ndef f(n):\n    return f(n + 1)\nresult = f(0)",
    "mutual recursion": "\ndef a():\n    return b()\ndef b():\n    return a()\nresult = a()",
    "large list": "[0] * 10 ** 10",
    "large text": "'x' * 10 ** 10",
    "large power": "10 ** 10 ** 9",
    "large shift": "1 << 10 ** 12",
    "growing list": "\nl = [1]\nwhile True:\n    l += l",
    "growing text": "\ns = 'a'\nwhile True:\n    s += s",
    "growing dict": "\nd = {}\ni = 0\nwhile True:\n    d[i] = str(i) * 100\n    i += 1",
    "nested list": "\nl = []\nfor i in range(10 ** 7):\n    l = [l]\nresult = l",
    "endless output": "\nwhile True:\n    print('x' * 100000)",
    "slow pattern": "\nimport re\nresult = re.match('(a+)+$', 'a' * 40 + 'b').group()",
    "long number": "int('9' * 10 ** 6)",
    "format bomb": "'%1000000000d' % 1",
    "padding bomb": "'x'.rjust(10 ** 10)",
    "join bomb": "('x' * 10 ** 6).join(['y'] * 10 ** 6)",
    "set bomb": "len({str(i) for i in range(10 ** 9)})",
    "itself": "\nl = []\nl.append(l)\nresult = l",
}


def _written(escape: str) -> str:
    lines = escape.strip("\n").split("\n")
    if not escape.startswith("\n"):
        return f"def verify(g):\n    return ('escaped', {escape})[0]"
    return "def verify(g):\n" + "\n".join(f"    {line}" for line in lines) + "\n    return 'escaped'"


REPLACEMENTS = {
    "another class": "class SceneGraph:\n    def __init__(self, data): pass\n"
                     "    def get_attributes(self, name): return {'color': 'blue'}\n"
                     "def verify(g):\n    return g.get_attributes('dog')['color']",
    "a function of its name": "def SceneGraph(data):\n    return 1\ndef verify(g):\n    return 'blue'",
    "its name in a loop": "for SceneGraph in [1]:\n    pass\ndef verify(g):\n    return 'blue'",
    "its name imported": "import math as SceneGraph\ndef verify(g):\n    return 'blue'",
    "a method of the class": "SceneGraph.get_attributes = lambda self, name: {'color': 'blue'}\n"
                             "def verify(g):\n    return g.get_attributes('dog')['color']",
    "a method by its type": "def verify(g):\n    type(g).get_attributes = lambda s, n: {'color': 'blue'}\n"
                            "    return g.get_attributes('dog')['color']",
    "a method of the graph": "def verify(g):\n    g.get_attributes = lambda name: {'color': 'blue'}\n"
                             "    return g.get_attributes('dog')['color']",
    "by setattr": "def verify(g):\n    setattr(g, 'caption', 'blue')\n    return g.caption",
    "the data behind it": "def verify(g):\n    g._data['attributes']['dog'] = {'color': 'blue'}\n"
                          "    return g.get_attributes('dog')['color']",
    "the data before it": "data['attributes']['dog'] = {'color': 'blue'}\n"
                          "def verify(g):\n    return g.get_attributes('dog')['color']",
    "the parameter": "def verify(scene_graph):\n    scene_graph = {'dog': 'blue'}\n    return scene_graph['dog']",
    "the parameter, walrus": "def verify(g):\n    return (g := {'dog': 'blue'})['dog']",
    "the parameter, unpacked": "def verify(g):\n    g, x = {'dog': 'blue'}, 1\n    return g['dog']",
    "the parameter, in a loop": "def verify(g):\n    for g in ['blue']:\n        pass\n    return g",
    "the parameter, deleted": "def verify(g):\n    del g\n    return 'blue'",
}  # fmt: skip


@pytest.mark.parametrize("name", REPLACEMENTS)
def test_a_program_cannot_replace_its_graph(verifier: Verifier, name: str) -> None:
    found = verifier.run(REPLACEMENTS[name], GRAPH)
    assert found.answer is None, found.answer
    assert found.trouble.endswith(".")


@pytest.mark.parametrize("name", ["list", "dict", "sorted", "str", "len"])
def test_a_program_that_renames_what_python_offers_changes_no_graph(verifier: Verifier, name: str) -> None:
    asks = f"def {name}(*rest):\n    return ['blue']\ndef verify(g):\n    return g.get_entities()"
    assert verifier.run(asks, GRAPH).answer == "dog, house, dog (2), t-shirt"
    asks = f"{name} = 1\ndef verify(g):\n    return g.describe(g.generate_subgraph(['dog', 'house']))"
    assert verifier.run(asks, GRAPH).answer == "red dog; house; dog in front of house"


def test_annotations_and_helpers_are_no_replacement(verifier: Verifier) -> None:
    program = """
        def red(graph: SceneGraph, key: str) -> bool:
            return graph.get_attributes(key).get("color") == "red"

        def verify(scene_graph: SceneGraph) -> list[str]:
            class Seen:
                def __init__(self, key):
                    self.key = key
            return [Seen(key).key for key in scene_graph.get_entities() if red(scene_graph, key)]
    """
    assert verifier.run(program, GRAPH).answer == "dog, t-shirt"


def test_what_a_text_warns_of_reaches_nobody(verifier: Verifier, recwarn: pytest.WarningsRecorder) -> None:
    assert verifier.run("def verify(g):\n    return '\\d' if 1 is 1 else 'x'", GRAPH).answer
    assert not list(recwarn)


def test_there_are_enough_escapes() -> None:
    assert len(ESCAPES) >= 60


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_leaves_the_box_and_nothing_stops_the_run(verifier: Verifier, name: str) -> None:
    environment, alive = dict(os.environ), threading.active_count()
    began = time.monotonic()
    found = verifier.run(_written(ESCAPES[name]), GRAPH)
    assert found.answer is None or name in HARMLESS, found.answer
    assert time.monotonic() - began < 5
    assert not Path("/tmp/escaped").exists()
    assert dict(os.environ) == environment
    assert threading.active_count() <= alive + 2
    assert verifier.run("def verify(g):\n    return len(g.get_entities())", GRAPH).answer == "4", "the next one runs"


HARMLESS = frozenset({"itself", "nested list"})
"""What does nothing outside: a value that the box keeps to itself."""


def test_programs_run_at_once_and_answer_in_their_order(verifier: Verifier) -> None:
    jobs = [(f"def verify(g):\n    return {number}", GRAPH) for number in range(50)]
    jobs[7] = ("def verify(g):\n    while True:\n        pass", GRAPH)
    found = list(verifier.run_all(jobs))
    assert [one.answer for one in found] == [None if number == 7 else str(number) for number in range(50)]


def test_without_the_box_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "pydantic_monty" else find(name, *rest)
    )
    with pytest.raises(SnellenError, match="in a box only"):
        Verifier()
