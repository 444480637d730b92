"""Sending: messages with a nonce that stays the same over attempts, edits, threads, typing."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from io import BytesIO
from typing import Any, Final

import discord
from discord.http import Route

from adapters.discord.errors import (
    ARCHIVED,
    NO_REPLIES,
    NO_THREAD,
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    ours,
)
from adapters.discord.http import Http
from adapters.discord.outgoing.render import CONTENT, REPEAT_MARK
from adapters.discord.settings import DiscordSettings
from runtime.contract import AdapterContext, Address, Part, Receipt
from runtime.errors import ChannelError, Rejected
from runtime.text.glyphs import head

Raw = Mapping[str, Any]
Body = dict[str, Any]

NONCE: Final = 25  # characters
LONG_ID: Final = "~"  # begins the nonce of an id that is longer; no id begins so
UPLOAD_MAX_BYTES: Final = 100 * 1024 * 1024
"""Bytes, in servers that paid most; elsewhere Discord refuses what is over its own bound there (10 MiB)."""
THREAD_NAME: Final = 100  # characters
CONVERSATION: Final = "Conversation"  # a thread that begins with a message without words
DELETED: Final = Receipt("deleted")
"""Of a message that was shown and that somebody deleted: nobody can tell its id."""


class Sending:
    """One account's messages. A call is one request, but where Discord did nothing yet and something must go before."""

    def __init__(self, settings: DiscordSettings, given: AdapterContext, http: Http) -> None:
        self._account = settings.account
        self._given = given
        self._http = http
        self._direct: set[str] = set()

    def is_direct(self, channel: str) -> None:
        """In a conversation with one person no message is shown as a reply: there is nobody else it could be to."""
        self._direct.add(channel)

    async def show(self, part: Part) -> Receipt:
        """Errors: Retryable, Uncertain, Rejected."""
        body = self._message(part)
        files = await self._files(part)
        try:
            return await self._shown(part, body, files)
        except Exception as error:
            raise self._ours(error) from error

    async def _shown(self, part: Part, body: Body, files: Sequence[tuple[str, bytes]]) -> Receipt:
        """In its thread; in the room where there is none and none can be begun."""
        try:
            return await self._sent(hung(part), body, files)
        except discord.HTTPException as error:
            if hung(part) == part.address or error.code not in NO_THREAD:
                raise
        return await self._sent(part.address, body, files)

    async def _sent(self, address: Address, body: Body, files: Sequence[tuple[str, bytes]]) -> Receipt:
        try:
            return await self._post(address, body, files)
        except discord.HTTPException as error:
            match error.code:
                case code if code == UNKNOWN_MESSAGE:
                    return DELETED  # the nonce is known, and what it made was deleted: it was shown
                case code if code == NO_REPLIES:
                    body = {name: value for name, value in body.items() if name != "message_reference"}
                case code if code == UNKNOWN_CHANNEL and address.thread:
                    await self._open_thread(address)
                case _:
                    raise
        return await self._post(address, body, files)

    async def _post(self, address: Address, body: Body, files: Sequence[tuple[str, bytes]]) -> Receipt:
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel_of(address))
        return Receipt(str((await self._call(route, body, files))["id"]))

    async def _call(self, route: Route, body: Body, files: Sequence[tuple[str, bytes]]) -> Raw:
        sent = {"json": body} if not files else {"form": multipart(body, files)}
        answer: Raw = await self._http.request(route, **sent)
        return answer

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        """Errors: Retryable, Uncertain, Rejected."""
        if receipt == DELETED:
            raise Rejected(f'account "{self._account}": somebody deleted the message before it could be changed.')
        shown = json.loads(part.body)
        if emoji := shown.get("reaction"):
            return await self._react(part.address, receipt, emoji)
        body = {"content": shown["content"], "components": shown["components"], **CALLS_NOBODY, "attachments": []}
        files = await self._files(part)
        try:
            return await self._changed(part.address, receipt, body, files)
        except Exception as error:
            raise self._ours(error) from error

    async def _react(self, address: Address, receipt: Receipt, emoji: str) -> Receipt:
        """Mark a message; the same once more changes nothing."""
        try:
            await self._marked(channel_of(address), receipt.message_id, emoji)
        except discord.HTTPException as error:
            if error.code not in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL) or not address.thread:
                raise self._ours(error) from error
            await self._react(replace(address, thread=""), receipt, emoji)  # the message that the thread hangs on
        except Exception as error:
            raise self._ours(error) from error
        return receipt

    async def _marked(self, channel: str, message: str, emoji: str) -> None:
        path = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"
        await self._http.request(Route("PUT", path, channel_id=channel, message_id=message, emoji=emoji))

    async def _changed(
        self, address: Address, receipt: Receipt, body: Body, files: Sequence[tuple[str, bytes]]
    ) -> Receipt:
        channel = channel_of(address)
        path = "/channels/{channel_id}/messages/{message_id}"
        route = Route("PATCH", path, channel_id=channel, message_id=receipt.message_id)
        try:
            await self._call(route, body, files)
        except discord.HTTPException as error:
            if error.code != ARCHIVED:
                raise
            # Writing opens an archived thread again, changing does not.
            await self._http.request(
                Route("PATCH", "/channels/{channel_id}", channel_id=channel), json={"archived": False}
            )
            await self._call(route, body, files)
        return receipt

    async def _open_thread(self, address: Address) -> None:
        """Begin the thread of a conversation, whose id is that of the message it begins with."""
        path = "/channels/{channel_id}/messages/{message_id}"
        where = {"channel_id": address.room, "message_id": address.thread}
        begun = await self._http.request(Route("GET", path, **where))
        try:
            await self._http.request(Route("POST", path + "/threads", **where), json={"name": thread_name(begun)})
        except discord.HTTPException as error:
            if error.code != THREAD_EXISTS:
                raise

    async def typing(self, address: Address) -> None:
        """Best effort. In a thread that is not there yet it is seen in its channel."""
        with suppress(ChannelError):
            if not await self._typed(channel_of(address)) and address.thread:
                await self._typed(address.room)

    async def _typed(self, channel: str) -> bool:
        """True if there is such a channel."""
        try:
            await self._http.request(Route("POST", "/channels/{channel_id}/typing", channel_id=channel))
        except discord.NotFound:
            return False
        except Exception as error:
            raise self._ours(error) from error
        return True

    # ------------------------------------------------------------------------------------------------ the message

    def _message(self, part: Part) -> Body:
        shown = json.loads(part.body)
        body = {
            "content": text_of(part),
            "components": shown["components"],
            **_calling(shown.get("calls", ())),
            "nonce": nonce_of(part),
            "enforce_nonce": True,
        }
        channel = channel_of(part.address)
        if (reply_to := shown.get("reply_to")) and channel not in self._direct:
            reference = {"message_id": reply_to, "channel_id": channel, "fail_if_not_exists": False}
            body["message_reference"] = reference
        return body

    async def _files(self, part: Part) -> list[tuple[str, bytes]]:
        """Errors: Rejected when a file is gone, a link by now, or too large; the plain twin says it without."""
        named = json.loads(part.body).get("files", ())
        try:
            return [(file["name"], await self._held(part.address, file)) for file in named]
        except (OSError, ValueError) as error:
            raise Rejected(f"a file in this message can't be sent: {error}", form=True) from error

    async def _held(self, address: Address, file: Raw) -> bytes:
        if "text" in file:
            return str(file["text"]).encode("utf-8", "replace")
        return await asyncio.to_thread(self._content, address, file["path"])

    def _content(self, address: Address, path: str) -> bytes:
        with self._given.workspaces.open(address, path) as file:
            content = file.read(UPLOAD_MAX_BYTES + 1)
        if len(content) > UPLOAD_MAX_BYTES:
            raise ValueError(f"{path} is larger than Discord allows anywhere ({UPLOAD_MAX_BYTES:,} bytes)")
        return content

    def _ours(self, error: Exception) -> ChannelError:
        return error if isinstance(error, ChannelError) else ours(error, self._account)


CALLS_NOBODY: Final[Mapping[str, Any]] = {"allowed_mentions": {"parse": [], "replied_user": False}}


def _calling(users: Sequence[str]) -> Raw:
    """The `allowed_mentions` field: notify `users` and the author replied to; without `users`, nobody."""
    return {"allowed_mentions": {"parse": [], "users": list(users), "replied_user": False}} if users else CALLS_NOBODY


def multipart(body: Body, files: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """The fields of a message with files."""
    named = [{"id": number, "filename": name} for number, (name, _) in enumerate(files)]
    kind = {"content_type": "application/octet-stream"}
    return [
        {"name": "payload_json", "value": json.dumps({**body, "attachments": named})},
        *(
            {"name": f"files[{n}]", "value": BytesIO(data), "filename": name, **kind}
            for n, (name, data) in enumerate(files)
        ),
    ]


def hung(part: Part) -> Address:
    """Address to which it is sent: a message's thread has the message's id. A thread has no threads."""
    if part.address.thread or part.under in ("", DELETED.message_id):
        return part.address
    return replace(part.address, thread=part.under)


def channel_of(address: Address) -> str:
    """A thread is a channel of its own."""
    return address.thread or address.room


def nonce_of(part: Part) -> str:
    """Nonce of a part, equal for all its attempts. Our own ids fit unchanged."""
    if len(part.id) <= NONCE and not part.id.startswith(LONG_ID):
        return part.id
    return LONG_ID + b64encode(blake2b(part.id.encode(), digest_size=18).digest(), b"-_").decode()


def text_of(part: Part) -> str:
    """The text as it is on screen."""
    content = str(json.loads(part.body)["content"])
    return f"{REPEAT_MARK}{content}"[:CONTENT].strip() if part.marked_as_repeat else content.strip()


def thread_name(begun: Raw) -> str:
    """The first line of the message, without the mention that it begins with."""
    words = [word for word in str(begun.get("content") or "").split() if not word.startswith("<@")]
    return head(" ".join(words), THREAD_NAME).strip() or CONVERSATION
