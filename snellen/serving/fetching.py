"""Fetches a picture from a host that is allowed: one request, no redirects, bounded in size and time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.serving.addresses import Address, is_public

if TYPE_CHECKING:
    import httpx

_SECONDS: Final = 15.0

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Return all IP addresses of a host.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


async def fetch(
    address: Address,
    *,
    most: int,
    seconds: float = _SECONDS,
    resolve: Resolve = resolve,
    public: Callable[[str], bool] = is_public,
) -> bytes:
    """Return what lies at an address.

    The host is looked up once, all its addresses must be public, and one of them is connected to: a second look-up
    could give another answer. TLS is checked against the host's name.

    Args:
        address: What to ask for.
        most: Bytes that may come.
        seconds: Time for all of it.
        resolve: Looks a host up.
        public: Decides whether an IP address may be connected to.

    Raises:
        BadInput: the host leads into a private network, does not answer in time, answers with anything else than a
            file, or with a larger one.
    """
    import httpx

    try:
        async with asyncio.timeout(seconds):
            found = await resolve(address.host, address.port)
            if not found or not all(public(one) for one in found):
                msg = f"The host {address.host} is not in the public network; send the picture's file."
                raise BadInput(msg)
            return await _asked(address, found[0], most)
    except TimeoutError as error:
        msg = f"The host {address.host} did not send the picture within {seconds:g} seconds; send the file."
        raise BadInput(msg) from error
    except (OSError, UnicodeError, ValueError, httpx.HTTPError, httpx.InvalidURL) as error:
        msg = f"The host {address.host} could not be reached; send the picture's file."
        raise BadInput(msg) from error


async def _asked(address: Address, place: str, most: int) -> bytes:
    import httpx

    url = httpx.URL(scheme=address.scheme, host=place, port=address.port, raw_path=address.target.encode())
    # Compressed bytes could unpack to any size; a picture's file is compressed already.
    headers = {"host": address.host, "accept": "image/*", "accept-encoding": "identity", "user-agent": "snellen"}
    # The environment may name proxies, and a file of passwords.
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=None) as client:  # noqa: S113 - bounded by the caller
        request = client.build_request("GET", url, headers=headers, extensions={"sni_hostname": address.host})
        answer = await client.send(request, stream=True)
        try:
            return await _read(answer, address, most)
        finally:
            await answer.aclose()


async def _read(answer: httpx.Response, address: Address, most: int) -> bytes:
    if answer.status_code != 200 or answer.headers.get("content-encoding", "identity") != "identity":  # noqa: PLR2004
        msg = f"The host {address.host} answered with status {answer.status_code} and no plain file; send the file."
        raise BadInput(msg)
    content = bytearray()
    async for part in answer.aiter_raw():
        content += part
        if len(content) > most:
            msg = f"The picture at {address.host} is larger than {most:,} bytes; send a smaller one."
            raise BadInput(msg)
    return bytes(content)
