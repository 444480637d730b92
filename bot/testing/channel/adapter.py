"""The adapter of the fake channel: a real ChannelAdapter over a real connection, with every ending mapped honestly.

Each call opens a connection of its own. So a refused connection is certainly "not shown", and no pooled connection
that the server closed long ago makes a send look uncertain.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

import aiohttp

from bot.testing.channel.server import ChannelKind
from runtime.contract import (
    CONNECTED,
    Address,
    ApprovalId,
    Attempt,
    Body,
    Button,
    Choice,
    Clicked,
    Connection,
    ConnectionStatus,
    Delivery,
    Features,
    Identity,
    Now,
    Part,
    Receipt,
    Said,
    Settled,
    SettleResult,
    Shown,
    Signal,
    Sink,
    Stopped,
    Wire,
)
from runtime.errors import Rejected, Retryable, StoreError, Uncertain

log = logging.getLogger(__name__)

LIMIT: Final = 200
"""Characters in one message: few, so that deliveries of several parts are easy to make."""

PROBES_PAST_THE_END: Final = 8
REPEAT_MARK: Final = "(repeated) "
NOT_YET: Final = "not connected yet"

Raw = Mapping[str, Any]


KnownIds = Callable[[Address], Awaitable[Iterable[str]]]
"""Ids of messages in a room that already have a receipt: a probe looks above them only."""


def no_floor(address: Address) -> str:
    """Nothing need be stored, though it settles as one that looks above a floor."""
    return ""


def number_of(message_id: str) -> int:
    return int(message_id.rpartition("-")[2])


class FakeAdapter:
    """One account on the fake channel."""

    def __init__(
        self,
        *,
        base_url: str,
        kind: ChannelKind | str,
        channel: str = "fake",
        account: str = "main",
        identity: str = "fake-bot",
        now: Now = lambda: datetime.now(UTC),
        known_ids: KnownIds | None = None,
        timeout: timedelta = timedelta(seconds=10),
        poll: timedelta = timedelta(seconds=25),
        pause: timedelta = timedelta(seconds=0.2),
        limit: int = LIMIT,
    ) -> None:
        self.channel = channel
        self.account = account
        self.identity = identity
        self.kind = ChannelKind(kind)
        self.offers = Features(
            edits=True,
            settles=self.kind != "none",
            # What takes an id while one is looked for must have arrived first.
            floor=no_floor if self.kind is ChannelKind.PROBE else None,
        )
        self._url = base_url.rstrip("/")
        self._limit = limit
        self._now = now
        self._known_ids = known_ids
        self._timeout = timeout
        self._poll = poll
        self._pause = pause
        self._last_seen: Counter[str] = Counter()
        self._trouble: str | None = NOT_YET

    def features(self) -> Features:
        return self.offers

    # The way in.

    async def listen(self, sink: Sink) -> None:
        after: int | None = None
        while True:
            try:
                for event in await self._events(after):
                    await self._take(event, sink)
                    after = event["seq"]
            except (Retryable, Uncertain, Rejected) as error:
                self._trouble = f"the fake channel is away: {error}"
                await asyncio.sleep(self._pause.total_seconds())
            except StoreError as error:
                log.warning("not taken in, so not acknowledged: %s", error)
                await asyncio.sleep(self._pause.total_seconds())

    async def _events(self, after: int | None) -> list[Raw]:
        """The next events. The first look after trouble does not wait: it finds out whether we are connected."""
        wait = self._poll if self._trouble is None else timedelta(0)
        query = f"?wait={wait.total_seconds():g}" + ("" if after is None else f"&after={after}")
        answer = await self._call("GET", "/events" + query, within=wait + self._timeout)
        self._trouble = None
        events: list[Raw] = answer["events"]
        return events

    async def _take(self, event: Raw, sink: Sink) -> None:
        signal = self._parse(event)
        if signal is None:
            return
        verdict = await sink(signal)
        if verdict.notice:
            await self._notice(event, verdict.notice)

    def _parse(self, event: Raw) -> Signal | None:
        """The signal of `event`; None for our own messages and for what we do not know."""
        body = body_of(event)
        if body is None or event["user"] == self.identity:
            return None
        return Signal(
            platform=self.identity,
            dedupe_key=event["id"],
            actor=Identity(f"{self.channel}:{event['user']}"),
            actor_name=event.get("name", event["user"]),
            address=Address(self.channel, self.identity, event["room"]),
            body=body,
            received_at=self._now(),
        )

    async def _notice(self, event: Raw, text: str) -> None:
        try:
            await self._call("POST", "/notices", {"event": event["id"], "text": text})
        except (Retryable, Uncertain, Rejected) as error:
            log.info("a notice was not spoken: %s", error)

    # The way out.

    def render(self, delivery: Delivery) -> list[Wire]:
        if delivery.content.reaction:  # seen in place of the message that it is put onto
            return [wire(delivery.content.reaction, ())]
        if delivery.content.whole is not None:  # one message with its buttons; what is behind it is but its file
            first, *others = split(delivery.content.all_text, self._limit)
            return [wire(first, delivery.content.buttons)] + [wire(text, ()) for text in others]
        *before, last = split(delivery.content.all_text, self._limit)
        return [wire(text, ()) for text in before] + [wire(last, delivery.content.buttons)]

    async def show(self, part: Part) -> Receipt:
        keys = {ChannelKind.KEY: {"key": part.id}, ChannelKind.LOOKUP: {"marker": part.id}}
        answer = await self._call("POST", room_path(part.address), wire_body(part) | keys.get(self.kind, {}))
        return self._receipt(answer)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        path = f"/messages/{quote(receipt.message_id, safe='')}"
        return self._receipt(await self._call("PATCH", path, wire_body(part)))

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        try:
            match self.kind:
                case ChannelKind.KEY:
                    return Shown(await self.show(part))  # the key makes this a question, not a second message
                case ChannelKind.LOOKUP:
                    return await self._look_up(part)
                case ChannelKind.PROBE:
                    return await self._probe(part)
                case ChannelKind.NONE:
                    return SettleResult.UNKNOWN
        except Uncertain as error:
            raise Retryable(f"interrupted while checking: {error}") from error
        except Rejected:
            return SettleResult.UNKNOWN  # it may have been shown before the room closed

    async def _look_up(self, part: Part) -> Settled:
        history = await self._call("GET", room_path(part.address))
        ids = [message["id"] for message in history["messages"] if message["marker"] == part.id]
        return Shown(Receipt(ids[0])) if ids else SettleResult.ABSENT

    async def _probe(self, part: Part) -> Settled:
        """Try ids above what is known until enough of them in a row are not there."""
        number, missing = await self._floor(part.address), 0
        while missing < PROBES_PAST_THE_END:
            number += 1
            candidate = f"{part.address.room}-{number}"
            match await self._state(candidate, part):
                case "not modified":
                    self._see(candidate)
                    return Shown(Receipt(candidate))
                case "not found":
                    missing += 1
                case _:
                    missing = 0
        return SettleResult.ABSENT

    async def _floor(self, address: Address) -> int:
        """The last id that is on record. One that this process saw itself may not be: its duty may have ended meanwhile."""
        if self._known_ids is None:
            return self._last_seen[address.room]
        return max((number_of(known) for known in await self._known_ids(address)), default=0)

    async def _state(self, message_id: str, part: Part) -> str:
        answer = await self._call("PUT", f"/messages/{quote(message_id, safe='')}/probe", wire_body(part))
        return str(answer["state"])

    def standing(self) -> ConnectionStatus:
        if not self._trouble:
            return CONNECTED
        return ConnectionStatus(
            Connection.CONNECTING if self._trouble is NOT_YET else Connection.RECONNECTING, self._trouble
        )

    # The wire.

    def _receipt(self, answer: Raw) -> Receipt:
        self._see(answer["id"])
        return Receipt(answer["id"])

    def _see(self, message_id: str) -> None:
        room = message_id.rpartition("-")[0]
        self._last_seen[room] = max(self._last_seen[room], number_of(message_id))

    async def _call(self, method: str, path: str, body: Raw | None = None, *, within: timedelta | None = None) -> Raw:
        limit = aiohttp.ClientTimeout(total=(within or self._timeout).total_seconds())
        try:
            async with (
                aiohttp.ClientSession(timeout=limit) as http,
                http.request(method, self._url + path, json=body) as response,
            ):
                answer = await response.json(content_type=None)
                raise_for(response, answer)
                return dict(answer)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise Retryable(f"no connection: {error}") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Uncertain(f"the connection ended without an answer: {error!r}") from error


def body_of(event: Raw) -> Body | None:
    match event["type"]:
        case "message":
            return Said(event["text"])
        case "click":
            return Clicked(ApprovalId(event["approval_id"]), Choice(event["choice"]), event.get("reason", ""))
        case "stop":
            return Stopped()
        case _:
            return None


def raise_for(response: aiohttp.ClientResponse, answer: Raw) -> None:
    """Errors: what the status says about the request, which the platform certainly did not apply."""
    if response.status < 400:
        return
    reason = f"{response.status} {answer.get('error', '')}".strip()
    if response.status == 429 or response.status >= 500:
        wait = response.headers.get("Retry-After")
        raise Retryable(reason, retry_after=None if wait is None else timedelta(seconds=float(wait)))
    raise Rejected(reason, form=response.status == 400)


def room_path(address: Address) -> str:
    return f"/rooms/{quote(address.room, safe='')}/messages"


def wire(text: str, buttons: tuple[Button, ...]) -> Wire:
    return Wire(
        body_json(text, buttons, form="rich"),
        fallback=body_json(text.replace("*", ""), buttons, form="plain"),
    )


def body_json(text: str, buttons: tuple[Button, ...], *, form: str) -> str:
    triples = [[b.approval_id, b.choice, b.label] for b in buttons]
    return json.dumps({"text": text, "buttons": triples, "form": form}, ensure_ascii=False)


def wire_body(part: Part) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(part.body)
    if part.marked_as_repeat:
        body["text"] = REPEAT_MARK + body["text"]
    return body


def split(text: str, limit: int = LIMIT) -> list[str]:
    """Pieces of at most `limit` characters that joined give `text` again, cut after a line, else after a word."""
    pieces = []
    while len(text) > limit:
        cut = text.rfind("\n", 0, limit) + 1 or text.rfind(" ", 0, limit) + 1 or limit
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]
