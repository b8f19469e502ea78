"""Where a server listens."""

from __future__ import annotations

import socket

import pytest

from snellen.errors import BadInput
from snellen.serving.listener import listener


def test_answers_are_not_held_back_for_the_clients_acknowledgement() -> None:
    with listener("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_in_use_is_told() -> None:
    with listener("127.0.0.1", 0) as taken, pytest.raises(BadInput, match=r"cannot listen on 127\.0\.0\.1:"):
        listener("127.0.0.1", taken.getsockname()[1])
