"""A command that a resident process runs does what it does in a process of its own, whoever is killed when."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from snellen.cli.resident.client import asked, end
from snellen.cli.resident.folder import FOLDER, NotOurs, opened
from snellen.cli.resident.memory_left import memory_left

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="resident processes are forked")

_ROOT = Path(__file__).resolve().parents[3]
_SCRIPT = Path(__file__).with_name("scripted.py")
_PATIENCE = 60.0


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Have a home, and leave nothing running in it."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    yield home
    if home.exists():
        end(home)
        with opened(home, make=True) as folder:
            assert folder.noted() is None


def begun(home: Path, *words: str, **options: Any) -> subprocess.Popen[str]:  # noqa: ANN401 - those of subprocess
    """Begin a command of the scripted command line."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), **options.pop("env", {})}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
    command = [sys.executable, str(_SCRIPT), str(home), *words]
    return subprocess.Popen(command, env=environment, text=True, **streams)


def done(home: Path, *words: str, said: str = "", **options: Any) -> tuple[int, str, str]:  # noqa: ANN401
    """Run a command to its end: its status and what it wrote."""
    with begun(home, *words, **options) as process:
        out, err = process.communicate(said, timeout=_PATIENCE)
        return process.returncode, out, err


def resident(home: Path) -> int:
    """Return the number of the resident process; 0 where there is none."""
    said = asked(home, "status", seconds=_PATIENCE)
    return int(said["process"]) if said else 0


def eventually(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    until = time.monotonic() + _PATIENCE
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def serving(home: Path) -> set[str]:
    """Return the numbers of the processes that serve a home, or wait to do so."""
    words = f"{home}\0serve\0".encode()
    found = set()
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            found |= {one.parent.name} if words in one.read_bytes() else set()
    return found


def test_a_command_finds_and_leaves_what_it_would_alone(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "working here"
    folder.mkdir()
    told = {"TOLD": "a \udcff byte"}

    def run(env: dict[str, str]) -> tuple[int, str, str]:
        return done(place, "tell", "ä", "b c", said="typed\nlines", cwd=folder, umask=0o027, env=env)

    alone = run({**told, "CANNOT_START": "1"})
    assert resident(place) == 0
    served = run(told)

    assert served == alone
    assert served[0] == 3
    assert "aside" in served[2]
    assert resident(place)


def test_the_second_command_is_run_by_the_same_process_and_none_touches_the_next(place: Path) -> None:
    first, second = (done(place, "where")[1].split() for _ in range(2))

    assert first[1] == second[1] == str(resident(place))
    assert first[0] != second[0]
    assert done(place, "leave")[0] == 5


def test_two_clients_that_come_at_once_have_one_process(place: Path) -> None:
    env = {"SLOW_IMPORT": "0.5"}
    clients = [begun(place, "where", env=env) for _ in range(3)]

    told = [client.communicate(timeout=_PATIENCE)[0].split()[1] for client in clients]

    assert set(told) == {str(resident(place))} == serving(place)


def test_a_killed_process_takes_no_running_command_along_and_its_socket_is_used_no_more(place: Path) -> None:
    with begun(place, "ask") as running:
        assert running.stderr is not None
        assert running.stderr.read(8) == "Do you m"
        killed = resident(place)
        os.kill(killed, signal.SIGKILL)
        out, _ = running.communicate("yes\n", timeout=_PATIENCE)

    assert (running.returncode, out) == (0, "said yes\n")
    assert (place / FOLDER / "socket").exists()
    assert done(place, "where")[1].split()[1] == str(resident(place)) != str(killed)


def test_a_command_that_began_is_not_run_again(place: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    status, _, said = done(place, "note", str(notes), "die")

    assert status == 1
    assert "was killed" in said
    assert len(notes.read_text().splitlines()) == 1


def test_a_process_that_is_killed_while_it_gets_ready_costs_no_answer(place: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with begun(place, "note", str(notes), env={"SLOW_IMPORT": "600"}) as client:
        with opened(place, make=True) as folder:
            eventually(lambda: folder.noted() and folder.noted().process)  # type: ignore[union-attr]
            noted = folder.noted()
        assert noted is not None
        eventually((place / FOLDER / "socket").exists)
        os.kill(noted.process, signal.SIGKILL)
        client.communicate(timeout=_PATIENCE)

    assert client.returncode == 0
    assert notes.read_text().splitlines() == [str(client.pid)]


def test_another_environment_has_another_process(place: Path) -> None:
    one = done(place, "where", env={"OMP_NUM_THREADS": "1"})[1].split()[1]
    _, said, told = done(place, "where", env={"OMP_NUM_THREADS": "2"})
    other = said.split()[1]

    assert one != other
    assert told == "snellen: another resident process begins, as OMP_NUM_THREADS is set otherwise\n"
    eventually(lambda: not is_alive(int(one)))
    assert other == str(resident(place))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_signals_reach_the_command(place: Path, number: int, status: int) -> None:
    with begun(place, "wait") as client:
        assert client.stdout is not None
        child = int(client.stdout.readline().split()[1])
        client.send_signal(number)
        out, _ = client.communicate(timeout=_PATIENCE)

    assert client.returncode == (status if number == signal.SIGINT else 1)
    assert out == ("interrupted\n" if number == signal.SIGINT else "")
    eventually(lambda: not is_alive(child))


def test_a_command_ends_with_its_client(place: Path) -> None:
    with begun(place, "wait") as client:
        assert client.stdout is not None
        child = int(client.stdout.readline().split()[1])
        client.kill()
        eventually(lambda: not is_alive(child))


def test_a_person_at_a_terminal_is_asked_and_may_press_ctrl_c(place: Path) -> None:
    def own_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def at_terminal(word: str, key: bytes, until: bytes) -> int:
        ours, theirs = pty.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        with begun(place, word, **streams, start_new_session=True, preexec_fn=own_terminal) as client:
            os.close(theirs)
            shown = b""
            while until not in shown:
                shown += os.read(ours, 1000)
            os.write(ours, key)
            status = client.wait(timeout=_PATIENCE)
        os.close(ours)
        return status

    assert at_terminal("ask", b"y\n", b"[y/N]") == 0
    assert at_terminal("wait", b"\x03", b"waiting") == 130
    assert resident(place)


def test_it_ends_when_nobody_needs_it_and_when_its_home_is_deleted(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTES", "0.01")
    idle = int(done(place, "where")[1].split()[1])
    eventually(lambda: not is_alive(idle))
    assert resident(place) == 0

    monkeypatch.setenv("MINUTES", "10")
    homeless = int(done(place, "where")[1].split()[1])
    shutil.rmtree(place)
    eventually(lambda: not is_alive(homeless))


def test_it_is_ended_also_while_it_hangs(place: Path) -> None:
    done(place, "where")
    hanging = resident(place)
    os.kill(hanging, signal.SIGSTOP)

    assert end(place, seconds=0.5)
    eventually(lambda: not is_alive(hanging))
    assert not end(place)


def test_a_home_of_any_length_has_a_socket(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 40) / "home"
    home.mkdir(parents=True)
    try:
        assert done(home, "where")[1].split()[1] == str(resident(home))
    finally:
        assert end(home)


def test_a_folder_that_others_may_enter_is_not_used(place: Path) -> None:
    (place / FOLDER).mkdir()
    (place / FOLDER).chmod(0o755)

    assert done(place, "where")[1].split()[1] == "none"
    with pytest.raises(NotOurs):
        asked(place, "status")
    (place / FOLDER).chmod(0o700)


def test_a_folder_that_is_a_link_is_not_used(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (place / FOLDER).symlink_to(tmp_path / "elsewhere")

    assert done(place, "where")[1].split()[1] == "none"
    assert not list((tmp_path / "elsewhere").iterdir())
    (place / FOLDER).unlink()


def test_the_socket_is_for_this_user_alone(place: Path) -> None:
    done(place, "where")

    modes = {path.name: path.lstat().st_mode & 0o777 for path in (place / FOLDER).iterdir()}

    assert modes == dict.fromkeys(("lock", "log", "socket"), 0o600)
    assert (place / FOLDER).stat().st_mode & 0o777 == 0o700


def test_bytes_that_are_no_request_are_left(place: Path) -> None:
    done(place, "where")
    before = resident(place)
    for sent in (b"", b"\xff" * 8, b"\0\0\0\x02{}", b"\0\0\0\x0e" + b'{"kind": "hm"}'):
        with opened(place) as folder:
            connection = folder.connect()
            assert connection is not None
            with connection:
                connection.sendall(sent)

    assert resident(place) == before


def test_what_is_left_is_the_less_of_machine_and_container(tmp_path: Path) -> None:
    machine = tmp_path / "meminfo"
    machine.write_text("MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\n")
    for name, said in {
        "memory.max": "1000",
        "memory.current": "900",
        "memory.stat": "anon 1\ninactive_file 100",
    }.items():
        (tmp_path / name).write_text(f"{said}\n")

    assert memory_left(machine, tmp_path) == pytest.approx(0.2)
    assert memory_left(machine, tmp_path / "none") == pytest.approx(0.4)
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_left(machine, tmp_path) == pytest.approx(0.4)
    assert memory_left(tmp_path / "none", tmp_path) == 1.0
