"""A request of a repeated call on its way, and its answer where that is plain words.

LiteLLM's client sends through httpx, whose records of a request and of a response cost more than sending does. So the request goes
straight to the connections of LiteLLM's own transport. What comes back otherwise than well is handed to LiteLLM's client, as if it
had just come in: redirects, refusals, repeats and the words of errors stay its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from runtime.models.media.bounded import BOUND_OF_ANSWERS

STATUS_OK: Final = 200
FINISHED: Final = frozenset({"stop", "length", "content_filter"})
"""Ends of an answer that LiteLLM hands on as they are."""
THOUGHT: Final = "<"
"""Begins what may be a mark around the thinking in an answer, which LiteLLM takes off."""

ARRIVED: Final[ContextVar[list[Any] | None]] = ContextVar("ARRIVED", default=None)
"""What came of a request that was sent already, for LiteLLM's transport."""


@dataclass(frozen=True, slots=True)
class Read:
    """An answer that came whole and well."""

    headers: Any
    body: bytes
    request: Any

    def response(self) -> Any:
        """The same as LiteLLM's client has it."""
        from runtime.models.frames import Streamed

        return Streamed(STATUS_OK, headers=self.headers, content=self.body, request=self.request)


@dataclass(frozen=True, slots=True)
class Straight:
    """The way of requests that differ in their bodies alone, by one client of LiteLLM's. `request` is one of them."""

    request: Any
    _transport: Any
    _url: Any
    _headers: Any = field(repr=False)
    _named: Mapping[str, Any]

    async def send(self, body: bytes) -> Any:
        """Outcome: `Read`, a response whose body is still to be read, or an error."""
        response = None
        try:
            session = self._transport.get_valid_client_session()
            response = await session.request("POST", self._url, headers=self._headers, data=body, **self._named)
            if response.status != STATUS_OK or "Content-Encoding" in response.headers:
                return response
            return Read(response.headers, await response.read(), self.request)
        except Exception as error:  # noqa: BLE001 - LiteLLM's transport, which is given it, has its own words for each
            return error if response is None else response  # whose body ends with the error, for whoever reads on


async def straight(client: Any, url: Any, headers: Mapping[str, Any], seconds: float) -> Straight | None:
    """The way by `client`; None where its own would do more than to send."""
    from aiohttp import ClientTimeout
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport
    from multidict import CIMultiDict
    from yarl import URL

    from runtime.models.frames import streamed

    sender = client.client
    transport, hooks = sender._transport_for_url(url), sender.event_hooks
    is_plain = isinstance(transport, LiteLLMAiohttpTransport) and not (sender.auth or url.userinfo or sender.params)
    if not is_plain or hooks["request"] or hooks["response"] != [streamed]:
        return None
    request = sender.build_request("POST", url, headers=dict(headers), content=b"", timeout=seconds)
    times = request.extensions["timeout"]
    named: dict[str, Any] = {
        "allow_redirects": False,
        "auto_decompress": False,
        "timeout": ClientTimeout(sock_connect=times["connect"], sock_read=times["read"], connect=times["pool"]),
        "proxy": await transport._get_proxy_settings(request),
    }
    if transport._ssl_verify is not None:
        named["ssl"] = transport._ssl_verify
    sent = CIMultiDict([(name, value) for name, value in request.headers.items() if name != "content-length"])
    return Straight(request, transport, URL(str(request.url), encoded=True), sent, named)


def is_bounded() -> bool:
    """True where no more than so much of an answer may be read."""
    return BOUND_OF_ANSWERS.get() is not None


# ------------------------------------------------------------------------------------------------ handed to LiteLLM


@contextmanager
def arrived(outcome: Any) -> Iterator[None]:
    """In the block the next request of LiteLLM's transport has had this outcome already."""
    token = ARRIVED.set([outcome])
    try:
        yield
    finally:
        ARRIVED.reset(token)


def receiving(ask: Callable[..., Any]) -> Callable[..., Any]:
    """In place of what sends a request of LiteLLM's transport: `ask`, but for one whose outcome is there."""

    async def asked(**named: Any) -> Any:
        if not (had := ARRIVED.get()):
            return await ask(**named)
        outcome = had.pop()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return asked


# -------------------------------------------------------------------------------------------------- plain words


@dataclass(frozen=True, slots=True)
class Words:
    """A message that is nothing but words."""

    content: str
    tool_calls: None = None


@dataclass(frozen=True, slots=True)
class Choice:
    message: Words
    finish_reason: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """The count of an answer that tells no more of it."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: None = None


@dataclass(frozen=True, slots=True)
class Plain:
    """An answer of one such message, as far as we read those of LiteLLM."""

    choices: tuple[Choice]
    usage: Any


def plain(body: bytes) -> Plain | None:
    """The answer in `body`; None where LiteLLM would make more of it."""
    try:
        match json.loads(body):
            case {"choices": [{"message": {"role": "assistant", "content": str(words), **further}} as one], **rest}:
                finish, used = one.get("finish_reason"), rest.get("usage")
            case _:
                return None
    except (ValueError, RecursionError):  # LiteLLM has words for what is no answer
        return None
    is_other = any(further.values()) or rest.get("error") or not words or words.startswith(THOUGHT)
    if is_other or finish not in FINISHED or (tokens := counted(used)) is None:
        return None
    return Plain((Choice(Words(words), finish),), tokens)


def counted(used: Any) -> Tokens | None:
    """The tokens as they are told; None where more is told of them, or less."""
    match used:
        case {"prompt_tokens": int(read), "completion_tokens": int(written), "total_tokens": int(both), **more}:
            return None if any(more.values()) else Tokens(read, written, both)
        case _:
            return None
