"""Which addresses are public: one of each network that is not, and the borders."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.egress import Opening
from runtime.egress.addresses import NAT64, SPECIAL, Ip, special, trouble

PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"),
    *("128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255"),
    *("192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "93.184.215.14"),
    *("2606:4700::1111", "2a00:1450::1", "2001:200::1", "2400::1", "::ffff:8.8.8.8", "64:ff9b::808:808"),
]
NOT_PUBLIC = [
    *(
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
    ),
    *("169.254.0.1", "172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.0"),
    *("192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "240.0.0.1"),
    *("255.255.255.255", "169.254.169.254", "168.63.129.16", "100.100.100.200"),
    *("::", "::1", "::127.0.0.1", "::8.8.8.8", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff02::1"),
    *("100::1", "2001:db8::1", "3fff::1", "4000::1", "5f00::1", "64:ff9b:1::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2606:4700::5efe:a00:1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_host_is_no_special_one(address: str) -> None:
    assert special(ip_address(address)) is None


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_whatever_is_not_a_public_host_has_a_name(address: str) -> None:
    assert special(ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_within_another_is_judged_as_itself(inner: IPv4Address) -> None:
    wrapped: list[Ip] = [IPv6Address(f"::ffff:{inner}"), IPv6Address(int(NAT64.network_address) + int(inner))]
    assert {special(address) for address in wrapped} == {special(inner)}


@given(st.sampled_from(SPECIAL).flatmap(lambda row: st.ip_addresses(network=row[0])))
def test_nothing_in_the_table_is_dialled(address: Ip) -> None:
    assert trouble(address, 443, is_usual=True, openings=[])


@given(st.ip_addresses(v=6))
def test_only_what_was_given_out_is_public(address: IPv6Address) -> None:
    given_out = int(address) >> 125 == 0b001 or address in NAT64 or address.ipv4_mapped is not None
    assert special(address) is not None or given_out


# ---------------------------------------------------------------------------------------------------------- openings


@pytest.mark.parametrize(
    ("opening", "address", "port", "is_open"),
    [
        ("10.1.0.0/16", "10.1.2.3", 443, True),
        ("10.1.0.0/16", "10.2.0.1", 443, False),
        ("10.1.0.0/16", "::ffff:10.1.2.3", 443, True),
        ("10.1.2.3", "10.1.2.3", 80, True),
        ("10.1.2.3", "10.1.2.3", 8000, False),
        ("127.0.0.1:8000", "127.0.0.1", 8000, True),
        ("127.0.0.1:8000", "127.0.0.1", 80, False),
        ("127.0.0.1:8000", "127.0.0.2", 8000, False),
        ("[::1]:8000", "::1", 8000, True),
        ("fd12::/32", "fd12::7", 443, True),
        ("fd12::/32", "fd13::7", 443, False),
        ("0.0.0.0/0", "10.0.0.1", 443, True),
        ("0.0.0.0/0", "169.254.169.254", 80, False),
        ("169.254.169.254", "169.254.169.254", 80, True),
        ("::/0", "fd00:ec2::254", 80, False),
        ("8.8.8.8:8443", "8.8.8.8", 8443, True),
    ],
)
def test_an_opening_opens_what_it_says(opening: str, address: str, port: int, is_open: bool) -> None:
    why = trouble(ip_address(address), port, is_usual=port in (80, 443), openings=[Opening.parse(opening)])
    assert (why is None) == is_open, why


def test_another_port_is_not_open_on_a_public_host_either() -> None:
    assert trouble(ip_address("8.8.8.8"), 22, is_usual=False, openings=[]) == "is not open on port 22"


@pytest.mark.parametrize(
    "text",
    ["", "x", "10.0.0.0/33", "10.1.2.3/16", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "[::1]",
     "[::1]x", "::1:8000:", "localhost", "localhost:80", "127.1", "0x7f000001", "fe80::1%eth0", "127.0.0.1:٨٠", " 10.0.0.1"],
)  # fmt: skip
def test_what_is_no_opening_is_told_what_one_looks_like(text: str) -> None:
    with pytest.raises(ValueError, match=r'"10\.1\.0\.0/16"'):
        Opening.parse(text)
