"""The guard before every page and API route: Host, same origin, headers, and words for errors.

A page elsewhere must not speak to us with a person's cookie (CSRF), nor by pointing its own name at our address (DNS
rebinding). So the Host header must be a name we know, and a request that changes something must come from our own
origin and carry what a plain form cannot: a JSON body or the header X-Signalbox. Health checks come from anywhere; so do
webhooks, under whatever name the operator gave us, with a proof of their own and no cookie. Doors of programs are open too;
one that lets in by a cookie calls `check_page` first.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from hmac import compare_digest
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from runtime.errors import StoreError
from runtime.http.answers import CUT, GARBLED, SENTENCES, STORE_AWAY, refused
from runtime.http.assets import pack
from runtime.http.errors import Refusal

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics"})
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
HEADER: Final = "X-Signalbox"
BEARER: Final = "Bearer "
PROXY_SCHEME: Final = "basic"
"""Scheme of a password that a proxy before us asked for; browsers send it along. Any other header is a program's."""
NUL: Final = "%00"
FORWARDED_TLS: Final = re.compile(r"(?:^|;)\s*proto=\"?https\b", re.IGNORECASE)  # RFC 7239

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "worker-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SERVER: Final = "Signalbox"

_log = logging.getLogger(__name__)
_started: Final = web.RequestKey("started", web.StreamResponse)
_known_hosts: Final = web.RequestKey("known_hosts", frozenset[str])
FOREIGN: Final = "This request did not come from the Signalbox page. Open the page itself and try there."
OUR_SITES: Final = (None, "none", "same-origin")
"""Sec-Fetch-Site of a read that no page elsewhere made; older browsers, and programs, send none."""


def install(app: web.Application, hosts: Collection[str], *, webhooks: Collection[str] = ()) -> None:
    """Put the guard before all routes of `app`: the middleware, and the headers of streamed answers too.

    `webhooks` are paths, as their routes write them, which check each request themselves.
    """
    app.middlewares.append(guard(hosts, open_paths=OPEN_PATHS | frozenset(webhooks)))
    app.on_response_prepare.append(harden)


def guard(hosts: Collection[str], *, open_paths: Collection[str] = OPEN_PATHS) -> Middleware:
    """The middleware. `hosts` are allowed beside the loopback names at the port that is listened on."""
    known = frozenset(host.lower() for host in hosts)

    @web.middleware
    async def stand(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            _check_words(request)
            request[_known_hosts] = known
            if not is_open(request, open_paths):
                _check_host(request, known)
                _check_origin(request)
            return pack(request, await handler(request))
        except Refusal as refusal:
            told = refused(
                request, refusal.status, refusal.sentence, refusal.headers, refusal.link, field=refusal.field
            )
            return _cut(request, told)
        except StoreError as error:
            # The store itself tells its trouble, once; here each message that somebody waits for is told.
            level = logging.DEBUG if request.method in SAFE_METHODS else logging.WARNING
            _log.log(level, "%s %s was not taken in: %s", request.method, _route(request), error)
            return _cut(request, refused(request, 503, STORE_AWAY[error.trouble]))
        except web.HTTPException as error:
            if error.status < 400:
                raise
            return refused(request, error.status, SENTENCES.get(error.status, f"{error.reason}."))
        except (web.RequestPayloadError, HttpProcessingError) as error:
            _log.debug("%s %s cannot be read: %s", request.method, _route(request), error)
            return refused(request, 400, GARBLED)
        except Exception as error:
            if _started in request:
                raise  # the answer is on its way: aiohttp closes the connection
            return _broken(request, error)

    return stand


def _cut(request: web.Request, answer: web.Response) -> web.StreamResponse:
    """`answer`; or the one that is on its way, with its connection cut: no second one may come into it."""
    begun: web.StreamResponse | None = request.get(_started)
    if begun is None:
        return answer
    if request.transport is not None:
        request.transport.abort()
    return begun


def is_open(request: web.Request, open_paths: Collection[str]) -> bool:
    """True if the route that answers it is one of `open_paths`, whose names may have places in them: `/hooks/{name}`."""
    resource = request.match_info.route.resource
    return request.path in open_paths or (resource is not None and resource.canonical in open_paths)


def _route(request: web.Request) -> str:
    """The path as its route writes it: the path of a link signs in whoever reads it in a log."""
    resource = request.match_info.route.resource
    return request.path if resource is None else resource.canonical


def _broken(request: web.Request, error: Exception) -> web.Response:
    if isinstance(error, ConnectionError):
        return refused(request, 400, CUT)  # nobody reads it, but without an answer aiohttp logs a traceback
    _log.error("%s %s failed", request.method, _route(request), exc_info=error)
    return refused(request, 500, "Something went wrong here. Signalbox's log has the details.")


async def harden(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """For `on_response_prepare`: the headers that tell browsers to be strict."""
    request[_started] = response
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = SERVER  # aiohttp has put its own name and version there before


def bears(request: web.Request, token: str) -> bool:
    """True if the request shows `token` as its bearer. Takes the same time wherever the first wrong character is."""
    shown = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")  # any bytes may stand there
    return compare_digest(shown, f"{BEARER}{token}".encode())


def shows_bearer(request: web.Request) -> bool:
    """True for a header that tells of a program, whatever its token is worth."""
    shown = request.headers.getall("Authorization", ())
    return any(one.partition(" ")[0].lower() != PROXY_SCHEME for one in shown)


def is_our_host(request: web.Request, known: Collection[str]) -> bool:
    """True if the request names one of `known`, in small letters, or this machine at the port that it came in on."""
    host = request.headers.get("Host", "").lower()
    name, port = _split(host)
    return name in known or host in known or (name in LOOPBACK and port == _bound_port(request))


def _check_host(request: web.Request, known: Collection[str]) -> None:
    if not is_our_host(request, known):
        raise Refusal(
            421,
            "I don't know this host name. If it's right, add it to `hosts` under [web] in Signalbox's settings.",
        )


def _check_words(request: web.Request) -> None:
    """No name here holds NUL, and a database may not even take it in a question."""
    if NUL in request.raw_path:
        raise Refusal(404, SENTENCES[404])


def _split(host: str) -> tuple[str, int | None]:
    name, colon, port = host.rpartition(":")
    if colon and not port.endswith("]"):
        return name, int(port) if port.isascii() and port.isdecimal() else None
    return host, 80


def _bound_port(request: web.Request) -> int | None:
    """The port this very connection came in on, so that port 0 needs no second way to be told."""
    address = request.transport.get_extra_info("sockname") if request.transport else None
    return int(address[1]) if isinstance(address, tuple) else None


def is_secure(request: web.Request) -> bool:
    """True if the browser speaks TLS, to us or to a proxy before us. Who says so falsely only harms their own cookie."""
    proxy = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip().lower()
    forwarded = FORWARDED_TLS.search(request.headers.get("Forwarded", "").partition(",")[0])
    origin = request.headers.get("Origin", "")
    return request.secure or proxy == "https" or forwarded is not None or origin.startswith("https://")


def _is_ours(origin: str, host: str) -> bool:
    """True if our page is at `origin`: our host by http, or by https of a proxy."""
    scheme, mark, place = origin.lower().partition("://")
    return bool(mark) and scheme in ("http", "https") and place == host.lower()


def check_page(request: web.Request) -> None:
    """For a route of `open_paths` where a cookie, or a proxy's sign-in, is to count: as routes of the page are checked, and
    reads too, because any page may open a WebSocket here. Errors: Refusal 421, 403."""
    known = request[_known_hosts]
    _check_host(request, known)
    _check_origin(request)
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    is_ours = _is_ours(origin, request.headers["Host"]) if origin else "Upgrade" not in request.headers
    if site not in OUR_SITES or not is_ours:
        raise Refusal(403, FOREIGN)


def _check_origin(request: web.Request) -> None:
    if request.method in SAFE_METHODS:
        return
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    ours = origin is not None and _is_ours(origin, request.headers["Host"])
    if site not in (None, "same-origin") or (origin is not None and not ours) or (site is None and origin is None):
        raise Refusal(403, FOREIGN)
    if HEADER not in request.headers and request.content_type != "application/json":
        raise Refusal(403, f"A request that changes something needs a JSON body or the header {HEADER}.")
