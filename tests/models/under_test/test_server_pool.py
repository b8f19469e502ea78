"""A model at several servers, over real HTTP: slow ones, dying ones, busy ones, and ones that have something else."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from snellen.experiments.trial_runner import TrialRunner
from snellen.experiments.trial_runner import served as served_by
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.trials import TrialKey, TrialTable
from snellen.models.under_test import EndpointModel, EndpointSettings, InProcess, Question, Ranking
from snellen.profiles import Profile, SnellenError, load_profile
from tests.models.under_test.test_contract import picture
from tests.servers.vision_server import Fault, Kind, Served, vision_server

CHOICES = ("yes", "no", "a red dog")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def serving(stack: ExitStack, *kinds: Kind) -> list[Served]:
    return [stack.enter_context(vision_server(kind)) for kind in kinds]


def pool(servers: Sequence[Served | str], **changed: object) -> EndpointModel:
    urls = tuple(each if isinstance(each, str) else each.base_url for each in servers)
    settings = EndpointSettings(urls, "small", timeout=5, pause=0.02, at_once=2)
    return EndpointModel("theirs", replace(settings, **changed))  # type: ignore[arg-type]


def questions(pictures: int, each: int = 1, first: int = 0) -> list[Question]:
    """Each has words of its own, so that it can be told how often it was asked."""
    number = count(first)
    return [
        Question((picture(seed),), f"question {next(number)} ?", CHOICES)
        for seed in range(pictures)
        for _ in range(each)
    ]


def right(asked: Sequence[Question], **changed: object) -> list[Ranking]:
    """What one calm server says."""
    with vision_server("vllm") as calm:
        return pool([calm], **changed).rank(asked)


def times_asked(servers: Sequence[Served]) -> Counter[str]:
    return Counter(text for served in servers for text in served.texts)


@pytest.mark.parametrize("kind", ["vllm", "openai", "plain"])
def test_many_servers_rank_as_one_and_answer_each_question_once(kind: Kind, stack: ExitStack) -> None:
    servers, asked = serving(stack, kind, kind, kind), questions(12, each=2)
    with vision_server(kind) as calm:
        alone = pool([calm]).rank(asked)
        answers = pool([calm]).answer(asked)
    together = pool(servers)
    assert together.rank(asked) == alone
    assert together.answer(asked) == answers
    first, *others = asked
    requests = {"vllm": 1 + len(CHOICES), "openai": 1, "plain": 1}[kind]
    counts = times_asked(servers)
    assert {counts[one.text] for one in others} == {requests + 1}, "ranked once, answered once"
    tried = {"vllm": 0, "openai": 2, "plain": 2 + 1}[kind]  # requests that show what is not offered
    assert counts[first.text] <= 3 * (requests + tried) + 1, "the first is what servers are compared by"
    assert all(served.most_under_way <= 2 for served in servers)
    assert all(f"{served.base_url} answered" in together.card.servers for served in servers)


def test_questions_about_a_picture_go_to_one_server(stack: ExitStack) -> None:
    servers, asked = serving(stack, "plain", "plain", "plain"), questions(30, each=6)
    for served in servers:
        served.delay = 0.01
    pool(servers, offer="answer").rank(asked)
    places = Counter(
        (request["messages"][0]["content"][0]["image_url"]["url"], served.base_url)
        for served in servers
        for request in served.requests
    )
    most: Counter[str] = Counter()
    for (url, _), times in places.items():
        most[url] = max(most[url], times)
    assert sum(most.values()) > 0.8 * len(asked)
    assert min(len(served.requests) for served in servers) > 0.2 * len(asked), "none is idle"


def test_a_slow_server_holds_up_its_own_questions_alone(stack: ExitStack) -> None:
    slow, *_ = servers = serving(stack, "plain", "plain", "plain")
    asked = questions(40)
    model = pool(servers, offer="answer", timeout=60)
    model.rank(asked[:6])  # the servers are known to have the same
    slow.gate, before = Event(), times_asked(servers)
    with ThreadPoolExecutor(8) as callers:  # shards of one model, side by side
        shards = [callers.submit(model.rank, asked[begun : begun + 5]) for begun in range(0, 40, 5)]
        while (times_asked(servers) - before).total() < 40:
            time.sleep(0.01)
        assert slow.under_way == 2, "all else was asked while it had not answered anything"
        slow.gate.set()
        done = [shard.result() for shard in shards]
    assert [ranking for shard in done for ranking in shard] == right(asked, offer="answer")
    assert max((times_asked(servers) - before).values()) == 1


@pytest.mark.parametrize("fault", ["refuse", "cut", "html", "forbid", "miscount", "silent", "endless"])
def test_what_fails_at_one_server_is_asked_at_another(fault: Fault, stack: ExitStack) -> None:
    servers, asked = serving(stack, "vllm", "vllm"), questions(8)
    model = pool(servers)
    assert model.rank(asked[:4]) == right(asked[:4])
    servers[0].faults = [fault] * 200
    assert model.rank(asked) == right(asked)
    assert f"{servers[0].base_url} answered" in model.card.servers
    servers[0].faults = []
    time.sleep(0.1)
    assert model.rank(asked) == right(asked)


def test_a_server_that_dies_gets_nothing_until_it_has_answered_again(stack: ExitStack) -> None:
    dying, _ = servers = serving(stack, "vllm", "vllm")
    for served in servers:
        served.delay = 0.005
    asked = questions(12)
    model = pool(servers, pause=0.2, tries=8)
    wanted = right(asked)
    assert model.rank(asked) == wanted
    dying.dead, before, began = True, len(dying.requests), time.monotonic()
    while time.monotonic() - began < 1.0:
        assert model.rank(asked) == wanted
    tried = len(dying.requests) - before
    assert 1 <= tried <= 2 + 3, "both under way; after 0.2, 0.4 and 0.8 s one question each"
    dying.dead = False
    before = len(dying.requests)
    while len(dying.requests) < before + 30:
        assert model.rank(asked) == wanted
        assert time.monotonic() - began < 30
    first = dying.texts[before : before + 1 + len(CHOICES)]
    assert set(first) == {asked[0].text}, "it is compared once more before it counts"


def test_a_server_that_comes_back_as_another_model_is_not_asked(stack: ExitStack) -> None:
    servers, asked = serving(stack, "vllm", "vllm"), questions(12)
    model = pool(servers)
    wanted = right(asked)
    assert model.rank(asked) == wanted
    servers[0].dead = True
    assert model.rank(asked) == wanted
    servers[0].dead, servers[0].weights = False, "others"
    for _ in range(5):
        time.sleep(0.05)
        assert model.rank(asked) == wanted
    assert "came back as another model" in model.card.servers


def test_a_server_started_late_is_asked_too(stack: ExitStack) -> None:
    (there,) = serving(stack, "vllm")
    with vision_server("vllm") as served:
        port = int(served.base_url.split(":")[2].removesuffix("/v1"))
    asked = questions(10)
    model = pool([f"http://127.0.0.1:{port}/v1", there])
    assert model.rank(asked) == right(asked)
    with vision_server("vllm", port=port) as late:
        deadline = time.monotonic() + 20
        while len(late.requests) < 20 and time.monotonic() < deadline:
            assert model.rank(asked) == right(asked)
        assert len(late.requests) >= 20


def test_a_question_that_fails_everywhere_says_so(stack: ExitStack) -> None:
    servers = serving(stack, "vllm", "vllm")
    servers[0].dead, servers[1].faults = True, ["refuse"] * 99
    with pytest.raises(SnellenError, match="No server of theirs can be asked") as error:
        pool([*servers, "http://user:secret@127.0.0.1:9/v1"]).rank(questions(4))
    assert "secret" not in str(error.value)
    for told in (servers[0].base_url, f"{servers[1].base_url} does not answer (HTTP 503: overloaded)", "127.0.0.1:9"):
        assert told in str(error.value)


def test_all_shards_under_way_learn_that_nobody_is_there() -> None:
    model = pool(["http://127.0.0.1:9/v1"], pause=0.2, tries=3)
    with ThreadPoolExecutor(6) as callers:
        began = time.monotonic()
        shards = [callers.submit(model.answer, questions(4)) for _ in range(6)]
        assert all(isinstance(shard.exception(), SnellenError) for shard in shards)
    assert time.monotonic() - began < 10, "the tries of one are enough: after six times as many rests are long"


def test_a_question_that_is_at_fault_is_asked_once(stack: ExitStack) -> None:
    servers = serving(stack, "vllm", "vllm", "vllm")
    for served in servers:
        served.faults = ["reject"]
    with pytest.raises(SnellenError, match=r"refuses what small is asked \(HTTP 400: no\)"):
        pool(servers).rank(questions(1))
    assert sum(len(served.requests) for served in servers) == 1


def test_what_a_busy_server_asks_for_is_honoured_and_bounded(stack: ExitStack) -> None:
    busy, _ = servers = serving(stack, "plain", "plain")
    busy.faults, busy.retry_after = ["limit"] * 2, "1"
    asked = questions(20)
    model = pool(servers, offer="answer")
    began = time.monotonic()
    while time.monotonic() - began < 1.5:
        model.rank(asked)
    later = [each - min(busy.times) for each in busy.times]
    assert sum(each < 0.95 for each in later) <= 2, "both that were under way"
    assert max(later) > 0.95, "it is asked again after that"
    busy.faults, busy.retry_after = ["limit"], "999999"
    model.rank(asked)
    (rests,) = [each.rests_until for each in model._pool._router.servers if each.address == busy.base_url]
    assert rests < time.monotonic() + 61


@pytest.mark.parametrize(
    ("kinds", "offer", "told"),
    [
        (("vllm", "openai"), None, "on 'tokens' at .* on 'letters' at|on 'letters' at .* on 'tokens' at"),
        (("openai", "plain"), None, "rankings could rest on"),
        (("openai", "plain"), "letters", "does not tell what offer = 'letters' needs"),
    ],
)
def test_servers_that_tell_different_things_are_refused(
    kinds: tuple[Kind, ...], offer: str | None, told: str, stack: ExitStack
) -> None:
    servers, asked = serving(stack, *kinds), questions(12)
    model = pool(servers, offer=offer)
    if offer is None:
        for _ in range(2):
            with pytest.raises(SnellenError, match=told):
                model.rank(asked)
        with vision_server("openai") as calm:
            common = "letters" if "vllm" in kinds else "answer"
            assert pool(servers, offer=common).rank(asked) == pool([calm], offer=common).rank(asked)
    else:
        assert {each.basis for each in model.rank(asked)} == {offer}
        assert told in model.card.servers


@pytest.mark.parametrize("offer", [None, "tokens", "letters"])
def test_servers_with_different_models_are_refused(offer: str | None, stack: ExitStack) -> None:
    servers = serving(stack, "vllm", "vllm")
    servers[1].weights = "others"
    with pytest.raises(SnellenError, match=r"The servers of theirs differ: '.*' has a log-probability of"):
        pool(servers, offer=offer).rank(questions(12))


def test_servers_with_different_names_for_the_model_are_refused(stack: ExitStack) -> None:
    servers = serving(stack, "plain", "plain")
    servers[0].model, servers[1].model = "small-2026-08", "small-2026-11"
    for model in (pool(servers), pool(servers, offer="answer")):
        with pytest.raises(SnellenError, match="says that it is 'small-2026-"):
            model.answer(questions(12))
        with pytest.raises(SnellenError, match="says that it is 'small-2026-"):
            model.rank(questions(12))


def test_trials_are_those_of_the_first_address_or_of_the_weights() -> None:
    def fingerprint(*urls: str, weights: str = "", **changed: object) -> str:
        return pool(urls, weights=weights, **changed).card.fingerprint

    one, two = "http://a/v1", "http://b/v1"
    assert fingerprint(one) == fingerprint(one, two) == fingerprint(f"{one}/", two)
    assert fingerprint(one, two) != fingerprint(two, one)
    assert fingerprint(one, weights="w") == fingerprint(two, one, weights="w")
    assert len({fingerprint(one), fingerprint(one, weights="w"), fingerprint(one, weights="v")}) == 3
    assert fingerprint(one, weights="w") != fingerprint(one, weights="w", offer="letters")


def profile(folder: Path, **urls: Sequence[str]) -> Profile:
    tables = [f'[tested.{name}]\nurl = {json.dumps(each)}\nmodel = "m"\nat_once = 32' for name, each in urls.items()]
    (folder / "mine.toml").write_text("\n".join(['extends = "embedded"', *tables]))
    return load_profile(folder / "mine.toml")


def test_trials_are_the_same_at_any_number_of_servers_and_none_is_measured_twice(
    tmp_path: Path, stack: ExitStack
) -> None:
    one, *others = serving(stack, "vllm", "vllm", "vllm")
    asked = questions(10, each=4)
    trials = {}
    for name, served in {"alone": [one], "together": [others[0], others[1], one]}.items():
        settings = profile(tmp_path, m=[each.base_url for each in served])
        pictures = ArtifactStore(tmp_path / name / "pictures")
        runner = TrialRunner(InProcess(settings), TrialTable(tmp_path / name), pictures)
        fingerprint = runner.executor.card("m").fingerprint
        keys = [TrialKey(fingerprint, (pictures.put(each.pictures[0]).id,), each.text, each.choices) for each in asked]
        dying = Timer(0.05, lambda: setattr(others[0], "dead", True)) if name == "together" else Timer(0, list)
        dying.start()
        trials[name] = runner.run("m", keys)
        dying.join()
        before = times_asked([one, *others])
        more = [*(each.base_url for each in served), "http://127.0.0.1:9/v1"]
        again = TrialRunner(InProcess(profile(tmp_path, m=more)), runner.trials, pictures)
        assert again.run("m", keys) == trials[name]
        assert times_asked([one, *others]) == before, "one address more, and nothing is measured anew"
        told = " ".join(served_by(runner.executor, ["m"]))
        assert ("was asked at 3 servers" in told) == (name == "together")
    said = [[(each.key.question, each.scores, each.basis) for each in of] for of in trials.values()]
    assert said[0] == said[1]


def test_a_model_with_more_servers_has_more_shards_under_way(tmp_path: Path) -> None:
    executor = InProcess(profile(tmp_path, one=["http://a/v1"], many=[f"http://{place}/v1" for place in range(8)]))
    assert executor.at_once("one") < executor.at_once("many") <= 16


def test_executors_of_a_process_give_a_server_no_more_together_than_it_bears(tmp_path: Path, stack: ExitStack) -> None:
    (served,) = serving(stack, "plain")
    served.delay = 0.05
    settings = profile(tmp_path, m=[served.base_url])  # 32 questions at once
    executors = [InProcess(settings), InProcess(settings)]
    with ThreadPoolExecutor(2) as callers:
        for one in [callers.submit(each.answer, "m", questions(48)) for each in executors]:
            one.result()
    assert 16 < served.most_under_way <= 32


def test_nobody_waits_for_an_interrupted_call(stack: ExitStack) -> None:
    servers = serving(stack, "plain", "plain")
    for served in servers:
        served.delay = 0.3
    model = pool(servers, offer="answer")
    failing = [replace(each, pictures=(picture(1),)) for each in questions(30)]
    servers[0].faults = servers[1].faults = ["reject"] * 2
    caller = Thread(target=model.rank, args=(questions(2),))
    with pytest.raises(SnellenError, match="refuses"):
        model.rank(failing)
    assert sum(len(served.requests) for served in servers) <= 4, "what waited is dropped"
    caller.start()
    caller.join(10)
    assert not caller.is_alive()
