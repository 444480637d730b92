"""Addresses that nothing from outside may lead us to: not one packet leaves, however they are written or reached."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from adapters.slack.incoming.files import Downloads
from adapters.slack.settings import SlackSettings
from adapters.slack.web import Web
from runtime.contract import FileRef, RunId, SessionKey, ToolContext
from runtime.egress import Egress, NoAnswer, Opening, Refused, Result, Rule
from runtime.errors import Rejected, Retryable, ToolFailed
from tests.security.packets import Packet, packets
from tests.security.sampling import tenth
from tests.security.tally import Tallied, Tally
from tests.security.unreachable import NAMES, V4, V6, locations, look_alikes, urls
from tests.wire.egress.listener import SECONDS, Listener, Names, everything, listening, redirect
from tools.web.fetch import http_tool

LEAST: Final = 160
CONTEXT: Final = ToolContext(Path(), SessionKey("s"), RunId("r"), "c")
GOOD: Final = "127.0.0.9"  # opened in a test, in place of a public address
STATUSES: Final = (301, 302, 303, 307, 308)
HIDDEN_PATHS: Final = (
    *("private/x", "%70rivate/x", "a/../private/x", "./private/x", "private%2Fx", "a/..%2fprivate/x"),
    *("a/%2e%2e/private/x", "private/%2e/x", "x/%2e%2e%5cprivate/x"),
)
PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@dataclass(frozen=True)
class Try:
    """A request that must be refused. `answer` is what DNS says of `url`'s host; without `rules` one allows anything."""

    url: str
    answer: tuple[str, ...] = ("8.8.8.8",)
    method: str = "GET"
    rules: tuple[Rule, ...] | None = None
    allow: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.url!a} at {', '.join(self.answer)} with {self.allow or 'nothing opened'}"


@dataclass(frozen=True)
class Hop:
    """A redirect of a server that may be reached."""

    status: int
    location: str


@dataclass(frozen=True)
class Link:
    """Where Slack says that a file is."""

    url: str


Case = Try | Hop | Link | str
"""A text is an address that a name means later on."""


def written() -> list[Try]:
    """Each spelling, read and written to: downloads and webhooks have the same way out."""
    return [Try(url, method=method) for url, method in itertools.product(urls(), ("GET", "POST"))]


def meant() -> list[Try]:
    """Names of public look that mean such an address: alone, behind a public one, and before it."""
    answers: list[tuple[str, ...]] = [
        forms for one in (*V4, *V6) for forms in ((one,), ("8.8.8.8", one), (one, "2606:4700::1111"))
    ]
    answers += [("fe80::1%lo",), ("127.1",), ("2130706433",), ("0x7f000001",), ("localhost",), ("",), ()]
    return [Try(f"http://site.test:{port}/", answer) for answer in answers for port in ("80", "PORT")]


def ruled() -> list[Try]:
    """What rules and openings of an operator leave closed."""
    wide = ("0.0.0.0/0", "::/0")
    hosts = (
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "100.100.100.200",
    )
    yes, no = Rule(Result.ALLOW), Rule(Result.DENY, host="*.test")
    listed = [Try(f"http://{host}/", rules=(yes,), allow=wide) for host in hosts]
    listed += [Try("http://cloud.test/", (host.strip("[]"),), rules=(yes,), allow=wide) for host in hosts]
    listed += [Try(f"http://{name}/", ("127.0.0.1",), rules=(yes,), allow=("127.0.0.0/8",)) for name in NAMES]
    names = ("site.test", "SITE.TEST", "site\u3002test", "s\uff49te.test", "site.test:443", "site.TEST:80")
    listed += [Try(f"http://{name}/", rules=(no, yes)) for name in names]
    listed += [Try(f"http://site.test:{port}/", rules=()) for port in (22, 25, 2375, 6379, 8080, 65535)]
    hidden = (Rule(Result.DENY, path="/private/*"), yes)
    listed += [Try(f"http://site.test/{path}", rules=hidden) for path in HIDDEN_PATHS]
    methods = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE")
    return listed + [Try("http://site.test/", method=method, rules=()) for method in methods]


def hops() -> list[Hop]:
    return [Hop(status, location) for status, location in itertools.product(STATUSES, locations())]


def linked() -> list[Link]:
    """Addresses that a chat platform names for a file, when it isn't itself any more."""
    return [Link(url) for url in (*urls(), *look_alikes("slack.com"))]


# ----------------------------------------------------------------------------------------------------------- one try


async def tried(one: Try, inside: Listener, tally: Tally) -> None:
    """Held: refused, and neither a packet nor a question to the system's resolver left."""
    names = Names(site_test=[one.answer], cloud_test=[one.answer])
    rules = (everything(80, 443, inside.port),) if one.rules is None else one.rules
    egress = Egress(rules, look_up=names, allow=[Opening.parse(text) for text in one.allow])
    url = one.url.replace("PORT", str(inside.port))
    with packets() as seen:
        told = await asked(egress, one.method, url)
    tally.case(told == "refused" and not seen and inside.connections == 0, f"{one}: {told}, {seen}")


async def asked(egress: Egress, method: str, url: str) -> str:
    """How a request ended: what reads goes as a model's call, the rest as a webhook's delivery."""
    try:
        if method == "GET":
            await http_tool(egress).call({"url": url}, CONTEXT)
        else:
            await egress.request(method, url, tool="webhook", body=b"x", most=1000, timeout=SECONDS)
    except Refused:
        return "refused"
    except (NoAnswer, ToolFailed, AssertionError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return "answered"


async def followed(hop: Hop, inside: Listener, tally: Tally) -> None:
    """Held: one connection, to the server that redirects."""
    location = hop.location.replace("PORT", str(inside.port))
    async with listening(redirect(location, hop.status)) as outside:
        names = Names(inside_test=[["127.0.0.1"]])
        egress = Egress([everything(inside.port, outside.port)], look_up=names, allow=[outside.opening])
        with packets() as seen:
            told = await asked(egress, "GET", outside.url)
        held = only(seen, outside) and (outside.connections, inside.connections) == (1, 0)
    # A location that names no host leads back to the server itself, which has nothing else to say.
    tally.case(told == "refused" and held, f"{hop}: {told}, {seen}")


def only(seen: Sequence[Packet], listener: Listener) -> bool:
    return {to for _, to in seen} == {(listener.host, listener.port)}


async def rebound(later: str, inside: Listener, tally: Tally) -> None:
    """A name that means the good server first and `later` from then on, within a request and after a redirect."""
    for answer, refused in ((b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", False), (redirect("/again"), True)):
        async with listening(answer, host=GOOD) as outside:
            names = Names(site_test=[[GOOD], [later]])
            egress = Egress(look_up=names, allow=[outside.opening])
            with packets() as seen:
                told = await asked(egress, "GET", f"http://site.test:{outside.port}/")
            held = only(seen, outside) and (told == "refused") is refused and len(names.asked) == 1 + refused
        tally.case(held and inside.connections == 0, f"rebinding to {later}: {told}, {names.asked}, {seen}")


async def downloaded(link: Link, inside: Listener, tally: Tally, folder: Path) -> None:
    """Held: Slack is asked where the file is, and nobody else is asked anything."""
    body = json.dumps({"ok": True, "file": {"id": "F1", "url_private": link.url.replace("PORT", str(inside.port))}})
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    async with listening(answer.encode(), host=GOOD) as slack:
        settings = SlackSettings(
            account="main", bot_token="xoxb-1", app_token="xapp-1", api_base_url=f"{slack.url}/api/"
        )
        files = Downloads(Web(settings, lambda: datetime.now(UTC)), token="xoxb-1", base=f"{slack.url}/api/")
        with packets() as seen:
            try:
                await files.fetch(FileRef("x", "x", 1, remote="F1"), folder / "x", most=100)
                told = "downloaded"
            except (Rejected, Retryable) as error:
                told = type(error).__name__
        held = only([one for one in seen if one[0] == "socket.connect"], slack)
    asked_for = {to for event, to in seen if event != "socket.connect"} - {GOOD}
    tally.case(held and told == "Rejected" and not asked_for and inside.connections == 0, f"{link}: {told}, {seen}")


async def all_of(tally: Tally, folder: Path, choose: Callable[[list[Case]], list[Case]]) -> None:
    listed: list[Case] = [*written(), *meant(), *ruled(), *hops(), *V4, *V6]
    async with listening() as inside:
        for one in choose(listed):
            match one:
                case Try():
                    await tried(one, inside, tally)
                case Hop():
                    await followed(one, inside, tally)
                case Link():
                    await downloaded(one, inside, tally, folder)
                case str():
                    await rebound(one, inside, tally)


# ---------------------------------------------------------------------------------------------------------- the suite


async def test_an_address_that_was_opened_is_seen_by_the_observer() -> None:
    """The counts of nothing below are worth as much as this one of something."""
    async with listening() as opened:
        with packets() as seen:
            told = await asked(Egress(allow=[opened.opening]), "GET", opened.url)
    assert (told, seen, opened.connections) == ("answered", [("socket.connect", ("127.0.0.1", opened.port))], 1)


async def test_of_a_tenth_of_all_addresses_no_packet_leaves(tmp_path: Path, tallied: Tallied) -> None:
    tally = tallied("egress, a tenth", LEAST)
    await all_of(tally, tmp_path, lambda listed: tenth([*listed, *linked()]))
    tally.close()


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize("proxied", [False, True])
async def test_no_packet_leaves(
    proxied: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tallied: Tallied
) -> None:
    """All of them, also where the environment names a proxy: it would go there in our place. Slack's own library may use one."""
    tally = tallied(f"egress{', with a proxy set' if proxied else ''}", 10 * LEAST)
    async with listening() as proxy:
        for name in PROXIES if proxied else ():
            monkeypatch.setenv(name, proxy.url)
        await all_of(tally, tmp_path, lambda listed: listed if proxied else [*listed, *linked()])
        tally.case(proxy.connections == 0, "the proxy was asked")
    tally.close()
