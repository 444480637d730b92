"""Public IP addresses, and others that an operator opened. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _table(*rows: tuple[str, str]) -> tuple[tuple[Network, str], ...]:
    return tuple((ip_network(network), what) for network, what in rows)


# A table of our own, since the one in `ipaddress` differs between releases of Python.
# Source: IANA IPv4 and IPv6 Special-Purpose Address Registries, read 2026-08.
SPECIAL: Final = _table(
    ("0.0.0.0/8", "this machine or network"),
    ("10.0.0.0/8", "a private network"),
    ("100.64.0.0/10", "the inner network of a provider (CGNAT)"),
    ("127.0.0.0/8", "this machine"),
    ("169.254.0.0/16", "the local link"),
    ("172.16.0.0/12", "a private network"),
    ("192.0.0.0/24", "protocols, not hosts"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "relays of 6to4"),
    ("192.168.0.0/16", "a private network"),
    ("198.18.0.0/15", "benchmarks"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "groups (multicast)"),
    ("240.0.0.0/4", "nobody (reserved)"),
    ("::/128", "this machine or network"),
    ("::1/128", "this machine"),
    ("fc00::/7", "a private network"),
    ("fe80::/10", "the local link"),
    ("fec0::/10", "a private network"),
    ("ff00::/8", "groups (multicast)"),
    # Tunnels: the IPv4 address inside says where it comes out, which may be anywhere, so none is dialled.
    ("2001::/32", "a tunnel (Teredo)"),
    ("2001::/23", "protocols, not hosts"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "a tunnel (6to4)"),
    ("3fff::/20", "documentation"),
)
PUBLIC_V6: Final = IPv6Network("2000::/3")
"""What has been given out of IPv6. Anything else is not public, whatever it will be one day."""

# Where clouds hand their keys to the machine itself. A wider opening does not reach them: each is opened by itself.
METADATA: Final = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
        ),
    )
)

NAT64: Final = IPv6Network("64:ff9b::/96")
ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})


def meant(address: Ip) -> Ip:
    """The IPv4 address that an IPv6 one only wraps; others as they are."""
    if isinstance(address, IPv6Address) and address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return unmapped(address)


def unmapped(address: Ip) -> Ip:
    """An IPv4 address that is only written as an IPv6 one, as itself. (One behind NAT64 must be dialled as it is.)"""
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def special(address: Ip) -> str | None:
    """Purpose of an address that is not a public host."""
    real = meant(address)
    if real in METADATA:
        return "the metadata of a cloud"
    if what := next((what for network, what in SPECIAL if real in network), None):
        return what
    if isinstance(real, IPv6Address):
        if real not in PUBLIC_V6:
            return "no public host"
        if (int(real) >> 32) & 0xFFFFFFFF in ISATAP:
            return "a tunnel (ISATAP)"
    return None


@dataclass(frozen=True, slots=True)
class Opening:
    """A network that an operator opened though it is not public. With `port` only that port, which need not be usual."""

    network: Network
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Opening:
        """`10.1.0.0/16`, `127.0.0.1:8000`, `fd12::/48` or `[::1]:8000`. Errors: ValueError, saying these."""
        place, port = _split(text)
        try:
            number = int(port) if port is not None else None
            if "%" in place:  # a zone, which says nothing about other machines
                raise ValueError(place)
            if port is not None and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
                raise ValueError(port)
            return cls(ip_network(place), number)
        except ValueError:
            raise ValueError(
                'an address, or a network with its last bits zero; with a port if only that one is meant: "10.1.0.0/16", '
                '"127.0.0.1:8000", "[::1]:8000"'
            ) from None

    def admits(self, address: Ip, port: int) -> bool:
        real = meant(address)
        if real in METADATA and self.network.num_addresses > 1:
            return False
        return real in self.network and self.port in (None, port)


def _split(text: str) -> tuple[str, str | None]:
    """The network and the port of an opening, as they are written."""
    if text.startswith("["):
        place, bracket, port = text[1:].partition("]")
        return (place, port.removeprefix(":")) if bracket and port.startswith(":") else (text, None)
    if text.count(":") == 1:
        place, _, port = text.partition(":")
        return place, port
    return text, None


def trouble(address: Ip, port: int, *, is_usual: bool, openings: Iterable[Opening]) -> str | None:
    """The reason `address` may not be dialled on `port`, or None. A usual port needs no opening of its own."""
    admitting = [opening for opening in openings if opening.admits(address, port)]
    what = special(address)
    if what is not None and not admitting:
        return f"is for {what}"
    if not is_usual and not any(opening.port == port for opening in admitting):
        return f"is not open on port {port}"
    return None
