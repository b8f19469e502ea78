"""Which pages of a browser may reach the server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from snellen.serving import ServerSettings
from snellen.serving.origins import host_allowed, page_allowed

_LOOPBACK = ServerSettings()
_OPEN = ServerSettings(host="0.0.0.0", names=("snellen.example",))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:7860", "localhost:1", "LOCALHOST", "localhost.", "[::1]:7860"]
)
def test_loopback_is_known_by_its_names(host: str) -> None:
    assert host_allowed(host, _LOOPBACK)


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:7860", "127.0.0.1.evil.example", "localhost.evil.example", "evil@127.0.0.1",
     "127.0.0.1@evil.example", "127.0.0.1:x", "[::1", "192.168.1.5", "127.0.0.1/", "127.0.0.1, evil.example",
     "::1:99999"],
)  # fmt: skip
def test_a_name_that_was_made_to_point_here_is_refused(host: str) -> None:
    assert not host_allowed(host, _LOOPBACK)


def test_configured_names_and_literal_addresses_are_known_elsewhere() -> None:
    assert host_allowed("snellen.example", _OPEN)
    assert host_allowed("192.168.1.5:7860", _OPEN)
    assert host_allowed("[2001:db8::1]", _OPEN)
    assert not host_allowed("evil.example", _OPEN)


@given(st.text(alphabet=st.characters(codec="latin-1")))
def test_any_host_is_judged_without_harm(host: str) -> None:
    if host_allowed(host, _LOOPBACK):
        name = (
            host.lower().rpartition(":")[0] if host.rpartition(":")[2].isdigit() or host.endswith(":") else host.lower()
        )
        assert name.rstrip(".") in {"localhost", "127.0.0.1", "[::1]"}


def _allowed(settings: ServerSettings = _LOOPBACK, *, changes: bool, **said: str) -> bool:
    headers = {"host": "127.0.0.1:7860"} | {name.replace("_", "-"): value for name, value in said.items()}
    return page_allowed(Headers(headers), settings, changes=changes)


@pytest.mark.parametrize("changes", [True, False])
def test_programs_and_our_own_pages_may(changes: bool) -> None:  # noqa: FBT001
    assert _allowed(changes=changes)
    assert _allowed(changes=changes, origin="http://127.0.0.1:7860", sec_fetch_site="same-origin")
    assert _allowed(changes=changes, sec_fetch_site="none")


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", "http://127.0.0.1:8888", "http://localhost:7860", "file://", "http://127.0.0.1:7860/x",
     "http://evil@127.0.0.1:7860", "http://[", "ftp://127.0.0.1:7860", "http://127.0.0.1:7860.evil.example"],
)  # fmt: skip
def test_other_pages_may_change_nothing(origin: str) -> None:
    assert not _allowed(changes=True, origin=origin)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "odd"])
def test_other_pages_may_link_here_but_not_embed(site: str) -> None:
    assert not _allowed(changes=True, sec_fetch_site=site)
    assert not _allowed(changes=False, sec_fetch_site=site)
    assert not _allowed(changes=False, sec_fetch_site=site, sec_fetch_mode="no-cors", sec_fetch_dest="image")
    assert not _allowed(changes=False, sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="iframe")
    assert _allowed(changes=False, sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document")
    assert not _allowed(changes=True, sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document")


def test_an_allowed_origin_may() -> None:
    settings = ServerSettings(origins=("https://studio.example",))
    assert _allowed(settings, changes=True, origin="https://studio.example", sec_fetch_site="cross-site")
    assert not _allowed(settings, changes=True, origin="http://studio.example", sec_fetch_site="cross-site")
