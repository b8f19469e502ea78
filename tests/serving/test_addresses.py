"""Which addresses a request may have the server ask: none of the network that it lives in, however they are written."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.serving.remote_pictures import is_public, read_address

_HOSTS = ("pictures.example", "Other.Example")
_PRIVATE = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/29",
    "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
]  # fmt: skip
_PRIVATE_SIX = [
    "::/128",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
    "2001:db8::/32",
    "2002::/16",
    "2001::/32",
]


def _inside(networks: list[str]) -> st.SearchStrategy[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    return st.sampled_from(networks).flatmap(lambda network: st.ip_addresses(network=network))


@given(_inside(_PRIVATE) | _inside(_PRIVATE_SIX))
def test_private_local_and_shared_addresses_are_not_asked(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    assert not is_public(str(address))


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:0:0/96", "64:ff9b::/96", "::/96", "2002::/16"]))
def test_no_ipv4_address_hides_in_an_ipv6_one(inner: ipaddress.IPv4Address, network: str) -> None:
    base = ipaddress.IPv6Network(network)
    shift = 80 if network == "2002::/16" else 0
    assert not is_public(str(base.network_address + (int(inner) << shift)))


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:4700:4700::1111", "172.15.255.255", "172.32.0.0"]
)
def test_public_addresses_are_asked(address: str) -> None:
    assert is_public(address)


@given(st.integers(0, 2**32 - 1))
def test_an_odd_way_to_write_an_address_is_none(number: int) -> None:
    parts = [number >> shift & 255 for shift in (24, 16, 8, 0)]
    for text in (str(number), hex(number), oct(number), f"0{number:o}", ".".join(f"0{part:o}" for part in parts)):
        # "00.00.00.00" is refused by ipaddress as well: leading zeros are ambiguous.
        assert not is_public(text)


@pytest.mark.parametrize("text", ["", "x", "127.1", "8.8.8.8%eth0", "8.8.8.8 ", "fe80::1%lo", "localhost"])
def test_what_is_no_address_is_not_asked(text: str) -> None:
    assert not is_public(text)


@pytest.mark.parametrize(
    ("text", "host", "target"),
    [
        ("https://pictures.example/a/b.png?x=1#part", "pictures.example", "/a/b.png?x=1"),
        ("HTTP://PICTURES.example:80", "pictures.example", "/"),
        ("https://other.example:443/?", "other.example", "/"),
    ],
)
def test_an_allowed_host_is_read(text: str, host: str, target: str) -> None:
    address = read_address(text, _HOSTS)
    assert (address.host, address.target) == (host, target)


@pytest.mark.parametrize(
    "text",
    ["http://evil.example/", "http://pictures.example.evil.example/", "http://pictures.example@evil.example/",
     "http://evil.example@pictures.example/", "http://user:pass@pictures.example/", "http://pictures.example:22/",
     "https://pictures.example:80/", "http://pictures.example\\@evil.example/", "http://evil.example#@pictures.example/",
     "http://pictures.example:x/", "http://pictures.example:99999/", "file:///etc/passwd", "gopher://pictures.example/",
     "ftp://pictures.example/", "//pictures.example/", "http:/pictures.example/", "http:///x", "http://",
     "http://127.0.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/",
     "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[fe80::1%25eth0]/", "http://localhost/",
     "http://169.254.169.254/latest/", "http://pictures。example/", "http://pictures.example/ x",
     "http://pictures.example/\r\nX: y", "http://%70ictures.example/", "http://pictures.example./", "http://[",
     "http://pictures.example/" + "x" * 3000, ""],
)  # fmt: skip
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_address(text, _HOSTS)


@given(st.text() | st.from_regex(r"https?://[!-~]{0,40}(pictures\.example)?[!-~]{0,40}"))
def test_whatever_is_read_leads_to_an_allowed_host(text: str) -> None:
    try:
        address = read_address(text, _HOSTS)
    except BadInput:
        return
    assert address.host in {"pictures.example", "other.example"}
    assert address.target.startswith("/")
    assert address.target.isascii()
    assert not set(address.target) & set(" \r\n\t\\")


@given(st.text())
def test_nothing_is_asked_where_no_host_is_allowed(text: str) -> None:
    with pytest.raises(BadInput):
        read_address(f"http://{text}", ())
