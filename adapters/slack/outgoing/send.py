"""Messages on screen: posted with a marker in their metadata, and edited as often as need be."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from adapters.slack.errors import Refusal
from adapters.slack.outgoing.streams import STREAMING, Streams
from adapters.slack.web import Answer, Web, value
from runtime.contract import Part, Receipt
from runtime.text.emoji import SHORT_NAMES

EVENT: Final = "signalbox_part"
"""The event_type of our marker. Its payload names the part: the history is searched for it."""
CUSTOMIZE: Final = "chat:write.customize"
"""The scope for another author's name. Without it Slack leaves the name out, and says nothing."""
NAMED_REMEMBERED: Final = 1_000
NO_SUCH_BLOCK: Final = frozenset({"invalid_blocks", "invalid_blocks_format"})
REACT: Final = "reactions:write"
"""The scope without which no message can be marked."""
ALREADY_MARKED: Final = "already_reacted"
REPEATED: Final = "(repeated: it may already be above)"


def marker(part_id: str) -> Mapping[str, Any]:
    return {"event_type": EVENT, "event_payload": {"part": part_id}}


def marked_as(message: Mapping[str, Any]) -> str | None:
    """The part whose marker `message` carries."""
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != EVENT:
        return None
    part = (metadata.get("event_payload") or {}).get("part")
    return part if isinstance(part, str) else None


class Posts:
    """Shows and changes the messages of one account. Task cards are tried until Slack refuses their blocks.

    `may_name`: the app may show an agent's name as the author of a message. `_named` are the messages that have one.
    `may_react`: nothing is known that keeps it from marking messages with emoji.
    """

    def __init__(self, web: Web, streams: Streams) -> None:
        self._web = web
        self._streams = streams
        self._has_cards = True
        self.may_name = False
        self.may_react = True
        self._named: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def show(self, part: Part, body: Mapping[str, Any], thread: str) -> Receipt:
        """Errors: Retryable, Uncertain, Rejected."""
        name = _name_in(body) if self.may_name and _stays_answerable(part, thread) else ""
        try:
            receipt = await self._began(part, body, name) or await self._posted(part, body, thread, name)
        except Refusal as error:
            if not name or error.needed != CUSTOMIZE:
                raise
            self.may_name, name = False, ""
            receipt = await self._posted(part, body, thread, name)
        if name:
            self._named[part.address.room, receipt.message_id] = None
            if len(self._named) > NAMED_REMEMBERED:
                self._named.popitem(last=False)
        return receipt

    async def _began(self, part: Part, body: Mapping[str, Any], name: str) -> Receipt | None:
        if "stream" not in body or part.marked_as_repeat:
            return None
        return await self._streams.begin(part.address, body["stream"], name)

    async def _posted(self, part: Part, body: Mapping[str, Any], thread: str, name: str) -> Receipt:
        told = await self._call(
            "chat.postMessage",
            part,
            _by_its_author(body) if name else body,
            channel=part.address.room,
            thread_ts=thread or None,
            username=name or None,
            unfurl_links=False,
            unfurl_media=False,
        )
        return Receipt(value(told, "ts"))

    async def edit(self, receipt: Receipt, part: Part, body: Mapping[str, Any]) -> Receipt:
        """It says exactly this afterwards, stream or not. Errors: Retryable, Uncertain, Rejected."""
        room, ts = part.address.room, receipt.message_id
        if "reaction" in body:
            await self._react(room, ts, body["reaction"])
            return receipt
        if (room, ts) in self._named:  # its author stays; of messages of an earlier life nobody knows
            body = _by_its_author(body)
        if "stream" in body and await self._streams.grow(room, ts, body["stream"]):
            return receipt
        if self._streams.is_open(room, ts):
            await self._streams.end(room, ts)
        try:
            await self._update(room, ts, part, body)
        except Refusal as error:
            if error.code != STREAMING:
                raise
            await self._streams.end(room, ts)  # one of another life of ours, or of which an append was cut
            await self._update(room, ts, part, body)
        return receipt

    def refused_emoji(self, emoji: str) -> str:
        """The reason why no message can be marked, or empty: Slack takes every emoji that we know."""
        return (
            ""
            if self.may_react
            else f"Slack lets the app mark nothing: it lacks the scope {REACT}, which an operator can add."
        )

    async def _react(self, room: str, ts: str, emoji: str) -> None:
        """Mark a message. What was marked already, by an attempt that was cut, is done."""
        try:
            await self._web.call("reactions.add", channel=room, timestamp=ts, name=SHORT_NAMES[emoji][0])
        except Refusal as error:
            if error.code != ALREADY_MARKED:
                raise

    async def _update(self, room: str, ts: str, part: Part, body: Mapping[str, Any]) -> None:
        await self._call("chat.update", part, body, channel=room, ts=ts)

    async def _call(self, method: str, part: Part, body: Mapping[str, Any], **where: Any) -> Answer:
        """With task cards, or with a list in their place where Slack does not take them: then nothing was shown."""
        made = partial(self._web.call, method, metadata=marker(part.id), **where)
        if "listed" in body and self._has_cards:
            try:
                return await made(**_content(method, body, repeated=part.marked_as_repeat))
            except Refusal as error:
                if not error.form:
                    raise
                self._has_cards = error.code not in NO_SUCH_BLOCK
        body = {**body, "blocks": body["listed"]} if "listed" in body else body
        return await made(**_content(method, body, repeated=part.marked_as_repeat))


def _content(method: str, body: Mapping[str, Any], *, repeated: bool) -> dict[str, Any]:
    """Fields of a message that says `body`. A plain twin takes the place of blocks that are there; only a new one may say `mrkdwn`."""
    content = _said(body, repeated=repeated)
    if method == "chat.update":
        content.setdefault("blocks", [])
        content.pop("mrkdwn", None)
    return content


def _name_in(body: Mapping[str, Any]) -> str:
    return str(body.get("as", {}).get("name", ""))


def _stays_answerable(part: Part, thread: str) -> bool:
    """In a channel a reply below a message of ours needs no mention: Slack tells of it as the bot's, which one with a name isn't."""
    return bool(thread) or part.address.room.startswith("D")


def _by_its_author(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A body without the name of its agent, which its author has."""
    return {**body, **body.get("as", {})}


def _said(body: Mapping[str, Any], *, repeated: bool) -> dict[str, Any]:
    """Text and blocks of a body, under a mark where it may be there already. Slack reads no markup in plain text."""
    text, blocks = body["text"], body.get("blocks")
    if repeated:
        text = f"{REPEATED}\n{text}"
    if blocks is None:
        return {"text": text, "mrkdwn": False}
    above = [{"type": "context", "elements": [{"type": "plain_text", "text": REPEATED}]}] if repeated else []
    return {"text": text, "blocks": [*above, *blocks]}


def thread_of(part: Part) -> str:
    """The timestamp of the message it stands under; a thread has no threads."""
    return part.address.thread or part.under


def body_of(part: Part) -> Mapping[str, Any]:
    """Body that `render` made."""
    body: Mapping[str, Any] = json.loads(part.body)
    return body
