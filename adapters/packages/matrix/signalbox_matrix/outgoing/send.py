"""The calls that show something. Each has a transaction id made of the part's: a homeserver shows a repeat once.

The event carries the part's id too, under a key of our own, so that it is found in the room's history later, when the
homeserver has forgotten the transaction (Synapse after a day) or the bot has logged in anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any, Final

import structlog

from signalbox.channels import ChannelError, NewId, Part, Receipt, Rejected, Workspaces
from signalbox_matrix.api import Api
from signalbox_matrix.choices import CHOICES_KEY, Offer, as_json, bare, offered
from signalbox_matrix.errors import MatrixError, Refused, ours
from signalbox_matrix.outgoing.render import Body
from signalbox_matrix.parse import PART_KEY, relation, thread_of
from signalbox_matrix.rooms import Rooms

log = structlog.get_logger("matrix")

Raw = Mapping[str, Any]

REPEAT_WORDS: Final = "(repeated) "
"""Stands before a message of which nobody could tell whether it is there already."""
FALLBACK_MAX_CHARS: Final = 400
"""Of a changed message for clients that know no changes."""
IMAGE, AUDIO, VIDEO = "m.image", "m.audio", "m.video"
ENCRYPTED: Final = (
    "this room is encrypted, and Signalbox doesn't send there: an unencrypted answer could show what was said. "
    "Use a room without encryption."
)
MESSAGE_DELETED: Final = "the message that was to change was deleted"


class Sending:
    """Shows parts. `is_encrypted` tells surely, asking the homeserver where nothing else does. `me` is our user id."""

    def __init__(self, *, api: Api, account: str, rooms: Rooms, workspaces: Workspaces, new_id: NewId) -> None:
        self._api = api
        self._account = account
        self._rooms = rooms
        self._workspaces = workspaces
        self._new_id = new_id
        self.me = ""

    async def send(self, part: Part) -> Receipt:
        """Errors: Retryable, Uncertain, Rejected."""
        body, room = body_of(part), self._rooms.wire(part.address)
        content = await self._file(part, body) if body.file else text_content(body)
        content |= await self._relation(part, body, room) | {PART_KEY: part.id}
        try:
            event = await self._api.send(room, "m.room.message", transaction(part), content)
        except MatrixError as error:
            raise ours(error, self._account) from error
        await self.offer(room, event, part.id, body.choices)
        return Receipt(event)

    # ----------------------------------------------------------------------------------------------------- content

    async def _file(self, part: Part, body: Body) -> dict[str, Any]:
        """Upload it: until a message names it nobody sees it, so whatever is cut here may be done again."""
        try:
            most = await self._api.most_uploaded()
            held = BytesIO(body.holds.encode("utf-8", "replace")) if body.holds else None
            with held or self._workspaces.open(part.address, body.file) as file:
                content = await asyncio.to_thread(file.read)
            if most is not None and len(content) > most:
                raise Rejected(f"the file {body.name} is larger than the homeserver takes ({most:,} bytes)", form=True)
            uri = await self._api.upload(content, body.name, body.mime)
        except Refused as error:
            told = ours(error, self._account, reads=True)
            raise Rejected(str(told), form=True) if isinstance(told, Rejected) else told from error
        except MatrixError as error:
            raise ours(error, self._account, reads=True) from error
        except (OSError, ValueError) as error:
            raise Rejected(f"the file {body.file} can't be read: {error}", form=True) from error
        mime = body.mime or "application/octet-stream"
        info = {"mimetype": mime, "size": len(content)}
        named = {"body": body.name, "filename": body.name, "url": uri, "info": info, "m.mentions": {}}
        return {"msgtype": kind_of(mime), **named}

    async def _relation(self, part: Part, body: Body, room: str) -> dict[str, Any]:
        """Place of a message: the thread of its address or under another one, and the message it answers."""
        root, answers = part.address.thread, body.reply_to
        if part.under:
            under = await self._standing(room, part.under)
            root = root or (thread_of(under) or part.under if under is not None else "")
            answers = part.under if under is not None and root != part.under else answers
        if root:
            answered = {"m.in_reply_to": {"event_id": answers or root}}
            told = {
                "rel_type": "m.thread",
                "event_id": root,
                "is_falling_back": not answers or answers == root,
                **answered,
            }
            return {"m.relates_to": told}
        return {"m.relates_to": {"m.in_reply_to": {"event_id": answers}}} if answers else {}

    async def _standing(self, room: str, event: str) -> Raw | None:
        """Content of a message of this room; None where it was deleted. Errors: ChannelError."""
        try:
            found = await self._api.event(room, event)
        except Refused as error:
            if error.is_missing:
                return None
            raise ours(error, self._account, reads=True) from error
        except MatrixError as error:
            raise ours(error, self._account, reads=True) from error
        return None if is_deleted(found) else found.get("content") or {}

    # ----------------------------------------------------------------------------------------------------- changes

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        """Replace the words of a message. A change that is made twice is seen once, so each has a transaction of its own."""
        body, room = body_of(part), self._rooms.wire(part.address)
        if body.reaction:
            await self._react(room, receipt.message_id, body.reaction, f"{part.id}.r")
            return receipt
        if body.file:
            raise Rejected("Matrix: a text that's already shown can't become a file", form=True)
        before = await self._standing(room, receipt.message_id) if body.lasting else {}
        if before is None:
            raise Rejected(MESSAGE_DELETED)
        try:
            content = changed(body, part.id, receipt.message_id)
            await self._api.send(room, "m.room.message", f"{part.id}.{self._new_id()[-12:]}", content)
        except MatrixError as error:
            raise ours(error, self._account) from error
        await self._offer_anew(room, receipt.message_id, part.id, body, before)
        return receipt

    async def _offer_anew(self, room: str, event: str, key: str, body: Body, before: Raw) -> None:
        """Our own emoji under a card, as it stands now: those of choices that are over are taken away. Best effort."""
        keeps = {bare(one.emoji) for one in body.choices if one.is_pressed_first}
        if any(one.is_pressed_first for one in offered(before)):
            try:
                told = await self._api.reactions(room, event)
                for one in told.get("chunk") or ():
                    emoji = bare(str(relation(one["content"]).get("key") or ""))
                    if one["sender"] == self.me and emoji not in keeps:
                        await self._api.redact(room, one["event_id"], f"{one['event_id'].lstrip('$')[:40]}.x")
            except (MatrixError, LookupError, TypeError, AttributeError) as error:
                log.info("emoji of a card were not taken away", account=self._account, reason=str(error))
        await self.offer(room, event, key, body.choices)

    async def offer(self, room: str, event: str, key: str, choices: Iterable[Offer]) -> None:
        """Put the emoji of choices under a card, so that one press decides. Best effort: the card says how else."""
        for offer in choices:
            if not offer.is_pressed_first:
                continue
            try:
                await self._react(room, event, offer.emoji, f"{key}.{offer.choice}")
            except ChannelError as error:
                log.info("an emoji was not put under a card", account=self._account, reason=str(error))
                return

    async def _react(self, room: str, event: str, emoji: str, key: str) -> None:
        told = {"m.relates_to": {"rel_type": "m.annotation", "event_id": event, "key": emoji}}
        try:
            await self._api.send(room, "m.reaction", key, told)
        except Refused as error:
            if error.code != "M_DUPLICATE_ANNOTATION":
                raise ours(error, self._account) from error
        except MatrixError as error:
            raise ours(error, self._account) from error

    async def tell(
        self,
        room: str,
        text: str,
        key: str,
        *,
        under: str = "",
        thread: str = "",
        html: str = "",
        more: Raw | None = None,
    ) -> None:
        """Say something beside the conversation, as a notice. Errors: MatrixError."""
        content: dict[str, Any] = {"msgtype": "m.notice", "body": text, "m.mentions": {}}
        if html:
            content |= {"format": "org.matrix.custom.html", "formatted_body": html}
        answered = {"m.in_reply_to": {"event_id": under or thread}} if under or thread else {}
        if thread:
            content["m.relates_to"] = {
                "rel_type": "m.thread",
                "event_id": thread,
                "is_falling_back": not under,
                **answered,
            }
        elif answered:
            content["m.relates_to"] = answered
        await self._api.send(room, "m.room.message", key, content | dict(more or {}))


def body_of(part: Part) -> Body:
    body = Body.of(part.body)
    if not part.marked_as_repeat or body.file:
        return body
    return replace(body, text=REPEAT_WORDS + body.text, html=f"<p>{REPEAT_WORDS}</p>\n{body.html}" if body.html else "")


def transaction(part: Part) -> str:
    """A repeat that says so is a message of its own."""
    return f"{part.id}.again" if part.marked_as_repeat else part.id


def text_content(body: Body) -> dict[str, Any]:
    content: dict[str, Any] = {"msgtype": "m.text", "body": body.text}
    if body.html:
        content |= {"format": "org.matrix.custom.html", "formatted_body": body.html}
    content["m.mentions"] = {"user_ids": list(body.calls)} if body.calls else {}
    if body.choices:
        content[CHOICES_KEY] = as_json(body.choices)
    return content


def changed(body: Body, key: str, event: str) -> dict[str, Any]:
    """Content of a change. Nobody is called by it once more."""
    told = text_content(body)
    return {
        "msgtype": "m.text",
        "body": f"* {body.text[:FALLBACK_MAX_CHARS]}",
        "m.mentions": {},
        "m.new_content": told,
        "m.relates_to": {"rel_type": "m.replace", "event_id": event},
        PART_KEY: f"{key}*",
    }


def kind_of(mime: str) -> str:
    kinds = {"image": IMAGE, "audio": AUDIO, "video": VIDEO}
    return kinds.get(mime.partition("/")[0], "m.file")


def is_deleted(event: Raw) -> bool:
    unsigned = event.get("unsigned") or {}
    return "redacted_because" in unsigned or not event.get("content")
