"""Addresses that nothing from outside may lead us to, in the spellings of programs that would go there. `PORT` is a listener's."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Final

V4: Final = (
    *("127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.254", "172.16.0.1"),
    *("172.31.255.254", "192.168.0.1", "192.168.255.254", "169.254.0.1", "169.254.169.254", "169.254.170.2"),
    *(
        "169.254.170.23",
        "168.63.129.16",
        "100.64.0.1",
        "100.127.255.254",
        "100.100.100.200",
        "192.0.0.1",
        "192.0.0.192",
    ),
    *("192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.254", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("224.0.0.251", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
)
V6: Final = (
    *("::", "::1", "::2", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
    *("::ffff:0:127.0.0.1", "::ffff:0.0.0.0", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "2001::1"),
    *("2001:0:4136:e378:8000:63bf:80ff:fffe", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1"),
    *(
        "fc00::1",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
    ),
    *("100::1", "2001:db8::1", "2001:10::1", "3fff::1", "4000::1", "5f00::1"),
)
NAMES: Final = (
    *("localhost", "LOCALHOST", "a.localhost", "localhost.localdomain", "metadata.google.internal", "x.internal"),
    *(
        "printer.local",
        "nas.home.arpa",
        "x.onion",
        "\uff4cocalhost",
        "\u24dbocalhost",
        "kubernetes.default.svc.cluster.local",
    ),
)
TARGETS: Final = ("127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1")
SCHEMES: Final = (
    *("file:///etc/passwd", "file://127.0.0.1:PORT/etc/passwd", "ftp://127.0.0.1:PORT/", "gopher://127.0.0.1:PORT/_x"),
    *(
        "dict://127.0.0.1:PORT/d:x",
        "unix:///run/docker.sock",
        "http+unix://%2Frun%2Fdocker.sock/info",
        "ldap://127.0.0.1:PORT",
    ),
    *("ws://127.0.0.1:PORT/", "wss://127.0.0.1:PORT/", "sftp://127.0.0.1:PORT/", "tftp://127.0.0.1:PORT/x"),
    *("jar:http://127.0.0.1:PORT/!/", "netdoc:///etc/passwd", "data:text/plain,x", "javascript:alert(1)"),
    *("view-source:http://127.0.0.1:PORT/", "smb://127.0.0.1/x", "telnet://127.0.0.1:PORT", "//127.0.0.1:PORT/"),
    *("127.0.0.1:PORT/", "/etc/passwd", "http:127.0.0.1:PORT/", "http:/127.0.0.1:PORT/", "http:///127.0.0.1:PORT/"),
)
TRICKS: Final = (
    *("http://user@127.0.0.1:PORT/", "http://u:p@127.0.0.1:PORT/", "http://@127.0.0.1:PORT/", "http://8.8.8.8@127.0.0.1:PORT/"),
    *("http://example.org:80@127.0.0.1:PORT/", "http://127.0.0.1:PORT\\@example.org/", "http://example.org\\@127.0.0.1:PORT/"),
    *("http://127.0.0.1:PORT#@example.org/", "http://127.0.0.1:PORT?@example.org/", "http://a@b@127.0.0.1:PORT/"),
    *("http://127.0.0.1:PORT/\r\nHost: x", "http://127.0.0.1%0d%0a:PORT/", "http://127.0.0.1\t:PORT/", "http://127.0.0.1 :PORT/"),
    *("http://127.0.0.1\u200b:PORT/", "http://\u00ad127.0.0.1:PORT/", "http://127.0.0.1%2523:PORT/", "http://127.0.0.1%00.example.org:PORT/"),
    *("http://[::1]:PORT/", "http://[::1%25lo]:PORT/", "http://[fe80::1%25eth0]:PORT/", "http://[fe80::1%eth0]:PORT/"),
    *("http://[::1", "http://::1:PORT/", "http://[127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/"),
    *("http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:-1/", "http://127.0.0.1:PORT,example.org/"),
    *("http://0177.0.0.1:PORT/", "http://LocalHost:PORT/", "http://0:PORT/", "http://127.255.0.1:PORT/", "http://[::127.0.0.1]:PORT"),
    *("http://[fe80::1%25lo]:PORT/", "http://x@127.0.0.1:PORT/", "http://example.org@127.0.0.1:PORT/"),
    *("http://localhost.:PORT/", "http://127.0.0.1.:PORT/", "http://127.0.0.1..:PORT/", "HTTP://LOCALHOST:PORT/"),
    *("http://1.1.1.1 &@127.0.0.1:PORT/# @3.3.3.3/", "http://127.0.0.1;example.org:PORT/", "http://*.0.0.1:PORT/"),
    *("http://\uff11\uff12\uff17.0.0.1:PORT/", "http://127\u30020\u30020\u30021:PORT/", "http://127\uff0e0\uff0e0\uff0e1:PORT/"),
    *("http://127\uff610\uff610\uff611:PORT/", "http://\u2460\u2461\u2466.0.0.1:PORT/", "http://\u0661\u0662\u0667.0.0.1:PORT/"),
    *("http://\U0001d7cf\U0001d7d0\U0001d7d5.0.0.1:PORT/", "http://xn--127-.0.0.1:PORT/", "http://%31%32%37.0.0.1:PORT/"),
)  # fmt: skip


def spellings(address: str) -> Iterator[str]:
    """`address` in each base, in fewer parts, padded, and behind a dot."""
    number = int(IPv4Address(address))
    a, b, c, d = address.split(".")
    hexes, octals = [f"0x{int(part):x}" for part in (a, b, c, d)], [f"0{int(part):o}" for part in (a, b, c, d)]
    yield from (str(number), f"0x{number:x}", f"0X{number:08X}", f"0{number:o}", f"000000{number:o}")
    yield from (".".join(hexes), ".".join(octals), f"{a}.{b}.{int(c) * 256 + int(d)}", f"{a}.{number & 0xFFFFFF}")
    yield from (f"{hexes[0]}.{number & 0xFFFFFF}", f"{a}.{b}.{c}.{d}.", f"{a}.{b}.{c}.0{d}", f"{a}.{b}.{hexes[2]}.{d}")
    yield from ("".join(chr(ord(letter) + 0xFEE0) for letter in address), f"{a}.{b}.{c}.{int(d) + 256}")
    yield f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]"


def urls() -> list[str]:
    """Addresses of requests, each of which would lead somebody to where it must not."""
    hosts = [*V4, *(f"[{address}]" for address in V6), *NAMES]
    hosts += [host for address in TARGETS for host in spellings(address)]
    plain = [f"{scheme}://{host}:PORT/latest/meta-data" for host in hosts for scheme in ("http", "https")]
    return [*plain, *(f"http://{host}/" for host in hosts), *SCHEMES, *TRICKS]


def locations() -> list[str]:
    """Targets of a redirect."""
    hosts = [*TARGETS, "[::1]", "[fd00:ec2::254]", "[::ffff:127.0.0.1]", "localhost", "metadata.google.internal"]
    hosts += ["inside.test", "2130706433", "0x7f.1"]
    return [f"{form}{host}:PORT/" for host in hosts for form in ("http://", "//")] + [*SCHEMES[:11], *TRICKS[:8]]


def look_alikes(host: str) -> list[str]:
    """Addresses that look as if they led to `host`."""
    forms = [
        *("https://HOST@127.0.0.1:PORT/", "https://HOST:443@127.0.0.1:PORT/", "https://127.0.0.1:PORT/#HOST"),
        *("https://HOST.evil.test/", "https://evilHOST/", "https://127.0.0.1:PORT/?x=.HOST", "http://HOST/"),
        *("ftp://HOST/", "https://HOST\\@127.0.0.1:PORT/", "https://127.0.0.1:PORT\\.HOST/", "//127.0.0.1:PORT/HOST"),
        *("https://[::1]:PORT/.HOST", "https://HOST./", "https:/HOST/", "HOST/"),
    ]
    return [form.replace("HOST", host) for form in forms]
