"""One request from its address to its bounded answer, with every check on the way, redirects included."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from runtime.egress.addresses import Ip, Opening, trouble, unmapped
from runtime.egress.errors import NoAnswer, Refused, Why
from runtime.egress.lookup import LookUp, SystemLookUp
from runtime.egress.rules import METHODS, Call, Rule, decide

if TYPE_CHECKING:
    from aiohttp import ClientResponse

    from runtime.egress.dialling import Wire
    from runtime.egress.places import Place

REQUESTS_AT_ONCE: Final = 16  # requests; each may hold its whole bounded body in memory
LOOKUP_TIME: Final = timedelta(seconds=5)
MOST_REDIRECTS: Final = 5
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
FOLLOWED: Final = frozenset({"GET", "HEAD"})
AGENT: Final = "Signalbox"
# What else a caller sets may be a credential under any name, so only these go on to another host.
KEPT_ACROSS_HOSTS: Final = frozenset({"accept", "accept-language", "user-agent"})
# These say where a request goes, where it ends and what it is for, which is ours to say: rules go by the method.
OURS: Final = re.compile(
    r"host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|cookie|proxy-.*|x-(http-)?method(-override)?"
)
HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, whatever its status.

    Shape:  `url` is where it came from after redirects; names of `headers` are in small letters; `body` is decompressed,
            and `truncated` when there was more of it.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes
    truncated: bool


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that may be sent to `place`, at these addresses and no others."""

    place: Place
    addresses: Sequence[Ip]
    tls: ssl.SSLContext | None


class Egress:
    """The one way out for tools, webhooks and downloads. One a process; it holds no connection between two requests."""

    def __init__(
        self,
        rules: Sequence[Rule] = (),
        *,
        allow: Sequence[Opening] = (),
        look_up: LookUp | None = None,
        lookup_time: timedelta = LOOKUP_TIME,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`allow` are networks that are not public and open all the same; without `tls` the system's authorities count."""
        self._rules = tuple(rules)
        self._allow = tuple(allow)
        self._look_up = look_up or SystemLookUp()
        self._lookup_time = lookup_time
        self._tls = tls
        self._turn = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def request(
        self,
        method: str,
        url: str,
        *,
        tool: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        most: int,
        timeout: timedelta,  # noqa: ASYNC109 - it covers the wait for a turn, the look-up and all redirects
    ) -> Response:
        """Send a request for `tool` and read at most `most` bytes of the answer's body. GET and HEAD follow redirects.

        Errors: Refused when a check fails; NoAnswer when `timeout` passes, or the other side is away, cuts or is not
        who it should be. An answer such as 404 or 500 is none.
        """
        from runtime.egress.dialling import Wire

        method, wire = _method(method), Wire()
        order = _Order(method, tool, _headers(headers or {}), body, most)
        try:
            async with asyncio.timeout(timeout.total_seconds()), self._turn:
                return await self._follow(order, url, wire)
        except TimeoutError:
            whose = f" of {wire.place.shown}" if wire.place else ""
            raise NoAnswer(f"No whole answer{whose} within {timeout.total_seconds():g} s.", sent=wire.sent) from None

    async def _follow(self, order: _Order, url: str, wire: Wire) -> Response:
        from runtime.egress.places import Place

        place = Place.parse(url)
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._ask(order, place, wire)
            if isinstance(answer, Response):
                return answer
            order, place = order.going(place, answer), answer
        raise Refused(Why.REDIRECT, f"more than {MOST_REDIRECTS} redirects, the last to {place.shown}.")

    async def _ask(self, order: _Order, place: Place, wire: Wire) -> Response | Place:
        """One request, all checks before it. A Place is where it redirects to."""
        from runtime.egress.dialling import sending

        wire.place = place
        addresses = await self._judged(place, self._allowed(order, place))
        async with sending(
            order.method, place, addresses, wire=wire, tls=self._tls, headers=order.headers, body=order.body
        ) as answer:
            location = answer.headers.get("Location", "")
            if location and answer.status in REDIRECTS and order.method in FOLLOWED:
                return place.leads_to(location)
            body, truncated = await _read(answer, order.most)
            named = {name.lower(): answer.headers[name] for name in answer.headers}
            return Response(answer.status, str(place.url), named, body, truncated)

    async def admitted(self, method: str, url: str, *, tool: str) -> Admitted:
        """A request that somebody else sends, such as a browser's: every check of `request`, and the addresses to dial.

        Errors: Refused. Nothing was sent.
        """
        from runtime.egress.places import Place

        place = Place.parse(url)
        order = _Order(_method(method), tool, {}, None, 0)
        return Admitted(place, await self._judged(place, self._allowed(order, place)), self._tls)

    # -------------------------------------------------------------------------------------------------- checks

    def _allowed(self, order: _Order, place: Place) -> Rule:
        """The rule that allows the request, as far as that can be told without asking what the host's addresses are."""
        rule = decide(self._rules, Call(order.tool, order.method, place.host, place.port, place.path))
        if place.is_local and not rule.names_its_host:
            raise Refused(
                Why.HOST, f"{place.host} is a name for local networks; an egress rule must allow it by that name."
            )
        if place.port not in rule.opened and not any(opening.port == place.port for opening in self._openings(rule)):
            raise Refused(
                Why.PORT,
                f"port {place.port} of {place.host} is not open: an egress rule with ports = [{place.port}] opens it.",
            )
        return rule

    async def _judged(self, place: Place, rule: Rule) -> Sequence[Ip]:
        """The addresses to dial. One that may not be dialled spoils the others: an honest name does not mix them."""
        addresses = [place.address] if place.address else await self._addresses(place)
        for address in addresses:
            why = trouble(address, place.port, is_usual=place.port in rule.opened, openings=self._openings(rule))
            if why:
                where = str(address) if place.address else f"{place.host} is at {address}, which"
                raise Refused(Why.ADDRESS, f"{where} {why}; only egress.allow in the settings could open it.")
        return addresses

    def _openings(self, rule: Rule) -> Sequence[Opening]:
        return () if rule.public else self._allow

    async def _addresses(self, place: Place) -> Sequence[Ip]:
        try:
            async with asyncio.timeout(self._lookup_time.total_seconds()):
                found = await self._look_up(place.host)
        except (OSError, UnicodeError):  # a time-out is an OSError too
            found = ()
        if not found:
            raise Refused(Why.LOOKUP, f"{place.host} has no known address.")
        try:
            return list(dict.fromkeys(unmapped(ip_address(text.partition("%")[0])) for text in found))
        except ValueError:
            raise Refused(Why.LOOKUP, f"the lookup of {place.host} gave something other than an address.") from None


@dataclass(frozen=True, slots=True)
class _Order:
    """Request to be sent, apart from its place."""

    method: str
    tool: str
    headers: Mapping[str, str]
    body: bytes | None
    most: int

    def going(self, place: Place, further: Place) -> _Order:
        """The order after a redirect: to another host without what the caller meant for the first."""
        if place.url.origin() == further.url.origin():
            return self
        kept = {name: value for name, value in self.headers.items() if name.lower() in KEPT_ACROSS_HOSTS}
        return _Order(self.method, self.tool, kept, None, self.most)


def _method(method: str) -> str:
    if method.upper() not in METHODS:
        raise Refused(Why.METHOD, f"the method must be one of {', '.join(sorted(METHODS))}.")
    return method.upper()


def _headers(given: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in given.items():
        if not HEADER.fullmatch(name) or OURS.fullmatch(name.lower()):
            raise Refused(Why.HEADER, f"the header {name[:60]!r} can't be set here.")
        if not value.isprintable():
            raise Refused(
                Why.HEADER, f"the value of the header {name[:60]!r} contains a line break or a control character."
            )
    return {"User-Agent": AGENT, "Accept": "*/*", **given}


async def _read(answer: ClientResponse, most: int) -> tuple[bytes, bool]:
    """At most `most` bytes of the body, and whether there was more. aiohttp decompresses piece by piece, so that a small
    body which stands for a huge one costs no more than `most` and a piece."""
    kept = bytearray()
    async for piece in answer.content.iter_any():
        kept += piece
        if len(kept) > most:
            return bytes(kept[:most]), True
    return bytes(kept), False
