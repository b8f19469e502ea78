"""Whether the hub can be asked is found out at once, and is said in one sentence."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from snellen.cli.main import main
from snellen.models.loading import load_checkpoint, load_whole
from snellen.models.vision.inpainting import Painter
from snellen.profiles import Profile, SnellenError, hub_access, load_profile

CLOSED = "http://127.0.0.1:9"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what puts the hub at an address, where nothing is known of it yet."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def put(address: str) -> None:
        monkeypatch.setattr(hub_access, "_known", {})
        monkeypatch.setenv("HF_ENDPOINT", address)

    return put


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))


def test_a_hub_that_listens_can_be_asked(hub: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        hub(f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert hub_access.can_download()
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        assert not hub_access.can_download()
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert hub_access.can_download(), "what was found out is believed for a while"
    hub(CLOSED)
    assert not hub_access.can_download()


def test_a_proxy_is_what_must_be_reached(hub: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        hub("http://hub.invalid")
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert hub_access.can_download()


def test_a_look_up_that_hangs_is_not_waited_for(hub: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, looks = threading.Event(), []

    def hang(*_: object, **__: object) -> socket.socket:
        looks.append(1)
        go_on.wait(30)
        raise OSError

    monkeypatch.setattr(hub_access, "_PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(socket, "create_connection", hang)
    hub("http://hub.invalid")
    began = time.monotonic()
    assert [hub_access.can_download() for _ in range(5)] == [False] * 5
    assert time.monotonic() - began < 5
    assert len(looks) == 1
    go_on.set()


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize(
    ("key", "load"),
    [
        ("loc", lambda profile: load_checkpoint(profile, "loc")),
        ("replace", lambda profile: Painter(profile, profile.models.replace)),
        ("tested.llava-1_5-7b", lambda profile: load_whole(profile, "tested.llava-1_5-7b")),
    ],
)
def test_without_a_network_every_loader_says_so_in_a_sentence(
    key: str, load: Callable[[Profile], object], hub: Callable[[str], None]
) -> None:
    hub(CLOSED)
    with pytest.raises(SnellenError, match=r"is not downloaded, and http://127\.0\.0\.1:9 cannot be reached") as error:
        load(load_profile("hub"))
    assert "\n" not in str(error.value)
    assert f"{key}.folder" in str(error.value)


@pytest.mark.usefixtures("empty_cache")
def test_asking_without_a_network_ends_in_a_sentence_before_anything_is_loaded(
    hub: Callable[[str], None], home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub(CLOSED)
    monkeypatch.setattr("snellen.threads.ask.make_context", lambda *_: pytest.fail("the models' libraries are loaded"))
    for words in (["ask", "examples/scene.png", "How many dogs are there?"], ["learn", "penguin", "--tool", "LOC"]):
        assert main([*words, "--profile", "hub"]) == 1
        said = capsys.readouterr().err
        assert "No model of the profile 'hub' is downloaded, and http://127.0.0.1:9 cannot be reached" in said
    assert not list(home.glob("checkpoints*"))


def test_list_is_answered_in_the_hub_profile_as_it_comes(tmp_path: Path) -> None:
    assert "banana" in load_profile("hub").knowledge().list_names("fruit that grows on trees")
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\n')
    with pytest.raises(SnellenError, match=r"set knowledge = 'microworld' or kind = 'chat' under \[reasoner\] in"):
        load_profile(mine).knowledge()
