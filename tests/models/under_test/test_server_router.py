"""The router of questions: laws that hold whatever servers do."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from snellen.models.under_test.server_router import (
    LONGEST_REST,
    PooledServer,
    RoutedQuestion,
    ServerFailedError,
    ServerRouter,
    ranked,
)

AT_ONCE = 3


def addresses(count: int) -> list[str]:
    return [f"http://server-{place}/v1" for place in range(count)]


class Routing(RuleBasedStateMachine):
    """Questions come, are answered and fail, in any order; time passes."""

    @initialize(count=st.integers(1, 4))
    def begin(self, count: int) -> None:
        self.now = 0.0
        self.router = ServerRouter(addresses(count), at_once=AT_ONCE, pause=1.0)
        self.waiting: list[RoutedQuestion] = []
        self.under_way: list[tuple[RoutedQuestion, PooledServer, float]] = []
        self.come = self.answered = self.dropped = 0

    @rule(pictures=st.lists(st.sampled_from("abcdef"), max_size=12), call=st.integers(0, 2))
    def ask(self, pictures: list[str], call: int) -> None:
        questions = [RoutedQuestion(call, place, each) for place, each in enumerate(pictures)]
        self.come += len(questions)
        self.waiting += questions
        self.router.add(questions)
        self.start()

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), seconds=st.floats(0, 5))
    def answer(self, data: st.DataObject, seconds: float) -> None:
        _, server, began = self.ended(data, seconds)
        self.router.answered(server, began=began, now=self.now)
        self.answered += 1
        self.start()

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), seconds=st.floats(0, 5), wait=st.floats(0, 1e6), again=st.booleans())
    def fail(self, data: st.DataObject, seconds: float, wait: float, *, again: bool) -> None:
        question, server, began = self.ended(data, seconds)
        self.router.failed(
            question, server, ServerFailedError("fails", again=again, wait=wait), began=began, now=self.now
        )
        assert self.now <= server.rests_until <= self.now + LONGEST_REST
        if len(question.refused) < len(self.router.servers):
            self.waiting.append(question)
        else:
            assert self.router.hopeless(question, tries=99)
            self.router.drop(question.call)
            self.forget(question.call)
            self.dropped += 1
        self.start()

    @rule(seconds=st.floats(0, 100))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.start()

    @rule(call=st.integers(0, 2))
    def drop(self, call: int) -> None:
        self.router.drop(call)
        self.forget(call)

    def forget(self, call: object) -> None:
        kept = [question for question in self.waiting if question.call != call]
        self.dropped += len(self.waiting) - len(kept)
        self.waiting = kept

    def ended(self, data: st.DataObject, seconds: float) -> tuple[RoutedQuestion, PooledServer, float]:
        self.now += seconds
        return self.under_way.pop(data.draw(st.integers(0, len(self.under_way) - 1)))

    def start(self) -> None:
        for question, server in self.router.assign(self.now):
            assert server not in question.refused
            assert self.now >= server.rests_until, "who rests gets nothing"
            self.waiting.remove(question)  # raises if it was not waiting: none is asked at two servers
            self.under_way.append((question, server, self.now))

    @invariant()
    def none_is_lost(self) -> None:
        assert self.come == self.answered + self.dropped + len(self.waiting) + len(self.under_way)

    @invariant()
    def servers_have_no_more_than_their_bound(self) -> None:
        counted = Counter(server for _, server, _ in self.under_way)
        for server in self.router.servers:
            assert server.under_way == counted[server]
            assert counted[server] <= AT_ONCE

    @invariant()
    def none_is_idle_while_a_question_waits_for_it(self) -> None:
        idle = [each for each in self.router.servers if each.room(self.now, AT_ONCE) > 0]
        for question in self.waiting:
            fresh = [each for each in idle if each not in question.failed]
            assert not fresh, "a server with room could be asked"
            awake = [
                each for each in self.router.servers if self.now >= each.rests_until and each not in question.refused
            ]
            if all(each in question.failed for each in awake):
                assert not [each for each in idle if each not in question.refused]

    @invariant()
    def somebody_wakes_up(self) -> None:
        """What waits while nothing is under way waits for a server that rests."""
        if self.waiting and not self.under_way:
            assert self.router.wakes_at(self.now) is not None


TestRouting = Routing.TestCase
TestRouting.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@given(st.sets(st.integers(0, 30), min_size=2, max_size=8), st.data())
def test_pictures_of_a_server_that_is_gone_move_and_no_others(places: set[int], data: st.DataObject) -> None:
    servers = [PooledServer(f"http://server-{place}/v1") for place in places]
    gone = data.draw(st.sampled_from(servers))
    for picture in map(str, range(40)):
        before = ranked(picture, servers)
        after = ranked(picture, [server for server in servers if server is not gone])
        assert after == [server for server in before if server is not gone]


def test_pictures_are_spread_evenly() -> None:
    servers = ServerRouter(addresses(4), at_once=1, pause=1.0).servers
    owners = Counter(ranked(str(picture), servers)[0] for picture in range(4_000))
    assert all(850 < count < 1_150 for count in owners.values())


def proved(router: ServerRouter) -> ServerRouter:
    for server in router.servers:
        server.proved = True
    return router


def played(
    router: ServerRouter, questions: list[RoutedQuestion], seconds: dict[str, float]
) -> dict[RoutedQuestion, str]:
    """Answer questions in so many seconds each, by the server's address; return where each was asked."""
    router.add(questions)
    asked: dict[RoutedQuestion, str] = {}
    now, under_way = 0.0, []
    while True:
        for question, server in router.assign(now):
            asked[question] = server.address
            under_way.append((now + seconds[server.address], now, server))
        if not under_way:
            return asked
        under_way.sort(key=lambda each: each[:2])
        now, began, server = under_way.pop(0)
        router.answered(server, began=began, now=now)


def test_questions_of_a_picture_stay_together_and_fast_servers_do_more() -> None:
    here = addresses(4)
    router = proved(ServerRouter(here, at_once=4, pause=1.0))
    questions = [RoutedQuestion(None, place, str(place // 8)) for place in range(8 * 200)]
    seconds = dict(zip(here, (1.0, 1.0, 1.0, 4.0), strict=True))
    asked = played(router, questions, seconds)
    together = Counter((question.pictures, address) for question, address in asked.items())
    most = {picture: max(together[picture, address] for address in here) for picture in {q.pictures for q in questions}}
    assert sum(most.values()) > 0.95 * len(questions), "of eight questions about a picture eight go to one server"
    counts = Counter(asked.values())
    assert 0.8 < counts[here[0]] / (4 * counts[here[3]]) < 1.3, "a server four times as slow does a quarter"


def test_one_picture_alone_is_asked_about_everywhere() -> None:
    router = proved(ServerRouter(addresses(2), at_once=2, pause=1.0))
    router.add([RoutedQuestion(None, place, "one") for place in range(4)])
    made = router.assign(0.0)
    owner = ranked("one", router.servers)[0]
    assert [server is owner for _, server in made] == [True, True, False, False]


@given(
    seconds=st.lists(st.floats(0.001, 3), min_size=1, max_size=4),
    pictures=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8),
    tries=st.integers(1, 4),
)
def test_where_every_server_fails_this_is_found_out(seconds: list[float], pictures: list[str], tries: int) -> None:
    router = ServerRouter(addresses(len(seconds)), at_once=AT_ONCE, pause=1.0)
    router.add(RoutedQuestion("call", place, each) for place, each in enumerate(pictures))
    takes = dict(zip(router.servers, seconds, strict=True))
    now, failures = 0.0, 0
    under_way: list[tuple[float, RoutedQuestion, PooledServer]] = []
    while failures <= (len(pictures) + tries) * len(seconds):
        under_way += [(now + takes[server], question, server) for question, server in router.assign(now)]
        wakes = router.wakes_at(now)
        now = min([ends for ends, *_ in under_way] + ([] if wakes is None else [wakes]))
        for one in [each for each in under_way if each[0] <= now]:
            under_way.remove(one)
            _, question, server = one
            failures += 1
            router.failed(question, server, ServerFailedError("fails"), began=now - takes[server], now=now)
            if router.hopeless(question, tries):
                return
    pytest.fail("servers that fail were asked on and on")
