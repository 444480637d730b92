"""Tells whoever wrote a secret into a chat that it was taken out, and how it is handed over instead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Final, Protocol

import structlog

from runtime.contract import Address, Addressing, Content, DeliveryId, Identity, Kind, NewId, Signal
from runtime.errors import StoreError
from runtime.guard.findings import Detector, Finding
from runtime.store.protocol import NewDelivery

log = structlog.get_logger("intake")

NO_KEYS: Final = (Detector.PERSONAL, Detector.RULE)
"""What they find can't be renewed or handed over."""


class PrivateChats(Protocol):
    async def private_chat(self, identity: Identity) -> Address | None:
        """The room in which somebody wrote to the agent alone."""


class Pasted:
    """Posts to the private chat with the person where there is one on the same account, else into the room."""

    def __init__(self, chats: PrivateChats, post: Callable[[NewDelivery], Awaitable[bool]], new_id: NewId) -> None:
        self._chats = chats
        self._post = post
        self._new_id = new_id

    async def tell(self, signal: Signal, findings: Sequence[Finding]) -> None:
        """It is said once. What the store cannot take is only in the log: the message was taken in, and is no reason to fail."""
        try:
            await self._tell(signal, findings)
        except StoreError as error:
            log.warning("nobody was told of a secret in their message", reason=str(error))

    async def _tell(self, signal: Signal, findings: Sequence[Finding]) -> None:
        room = await self._room(signal)
        key = sha256(f"{signal.platform} {signal.dedupe_key}".encode()).hexdigest()[:20]
        is_shared = room == signal.address and signal.reach is not Addressing.DIRECT
        text = told(findings, signal.actor_name if is_shared else "")
        await self._post(NewDelivery(DeliveryId(self._new_id()), f"pasted:{key}", 1, Kind.REPORT, room, Content(text)))

    async def _room(self, signal: Signal) -> Address:
        if signal.reach is Addressing.DIRECT:
            return signal.address
        chat = await self._chats.private_chat(signal.actor)
        same = chat is not None and (chat.channel, chat.account) == (signal.address.channel, signal.address.account)
        return chat if chat and same else signal.address


def told(findings: Sequence[Finding], name: str = "") -> str:
    """Words about what was taken out of a message, never the value."""
    kinds = ", ".join(dict.fromkeys(str(one) for one in findings))
    opening = f"{name}, your" if name else "Your"
    words = (
        f"{opening} message held something that shouldn't be in a chat ({kinds}), so I took it out before I kept it."
    )
    if all(one.detector in NO_KEYS for one in findings):
        return f"{words} If the chat still shows it, delete your message."
    return (
        f"{words} If the chat still shows it, delete your message and renew the key. "
        "An operator can hand me the new one safely: `signalbox secrets set NAME`."
    )
