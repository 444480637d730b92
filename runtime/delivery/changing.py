"""Changes that tools make of what a room shows: an emoji on a message, and new words in place of the agent's own.

Each is one row of the outbox, known by the call that wished it, and an edit for its channel: a repeat shows nothing twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from runtime.chat.agents import in_its_name
from runtime.contract import Address, Changing, Content, DeliveryId, Features, Kind, NewId
from runtime.contract.deliveries import ChangeWish
from runtime.domain.deliveries import DeliveryState
from runtime.errors import ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.store.protocol import NewDelivery, Outbox
from runtime.store.protocol.outbox import ChangeTarget

CHANGES_MAX: Final = 5
"""Reactions of one run, and likewise texts that it replaces."""
LAST_ANSWER: Final = "last"
NO_SUCH: Final = "No message of this conversation has that name. Give one that channel_send told, or last."
NOT_SHOWN: Final = "That message isn't shown. Only what people see can be changed."
SERVED_ELSEWHERE: Final = "Another process of Signalbox serves this room at the moment, and only that one can mark or change messages there. Post a message."

FeaturesAt = Callable[[Address], Features | None]
"""Abilities of the channel there; None where no account of this process serves it."""
Change = Callable[[NewDelivery, int], Awaitable[bool]]
"""Puts a change into the outbox; False where its run made so many already. Errors: Rejected."""


class RoomChanges(Changing):
    """Implements `contract.Changing` over the outbox."""

    def __init__(
        self, *, outbox: Outbox, change: Change, features: FeaturesAt, new_id: NewId, door: Callable[[], Door]
    ) -> None:
        self._outbox, self._change, self._features = outbox, change, features
        self._new_id, self._door = new_id, door

    async def react(self, wish: ChangeWish, emoji: str) -> None:
        features = self._able(wish.room)
        if features.reacts is None:
            raise ToolRetry("Messages can't be marked with emoji here.")
        if why := features.reacts(emoji):
            raise ToolRetry(why)
        target = await (self._named(wish) if wish.message else self._outbox.asked_in(wish.run, wish.room))
        if target is None:
            raise ToolRetry(NO_SUCH if wish.message else "Nobody's message is being answered here.")
        receipt = self._receipt(target, features)
        # Without words: a courier of an older version, which knows no reactions, would put them in place of the message.
        await self._put("reacted", wish, target, Content("", reaction=emoji), receipt)

    async def rewrite(self, wish: ChangeWish, text: str) -> None:
        features = self._able(wish.room)
        if not features.edits:
            raise ToolRetry("Messages can't be changed here once they are shown. Post a correction.")
        target = await self._named(wish)
        if target is None or target.content is None:
            raise ToolRetry(NO_SUCH)
        self._receipt(target, features)
        if len(target.receipts) > 1 or target.content.files or target.content.text_file:
            raise ToolRetry(
                "That answer took several messages or has files, so it can't be changed. Post a correction."
            )
        speaker = target.content.speaker
        text = self._door().clean(text, Gate.DELIVERY, self._door().room(wish.room))
        content = Content(in_its_name(speaker, text) if speaker else text, speaker=speaker, rewritten=True)
        await self._put("rewritten", wish, target, content, "")

    def _able(self, room: Address) -> Features:
        """Abilities of the channel. Errors: ToolRetry where only another process knows them."""
        features = self._features(room)
        if features is None:
            raise ToolRetry(SERVED_ELSEWHERE)
        return features

    async def _named(self, wish: ChangeWish) -> ChangeTarget | None:
        if wish.message == LAST_ANSWER:
            return await self._outbox.last_answer(wish.session, wish.room)
        return await self._outbox.posted_as(f"posted:{wish.message}", wish.room)

    def _receipt(self, target: ChangeTarget, features: Features) -> str:
        """The wire's id of the message. Errors: ToolRetry where it isn't on screen, or was said where nobody could mark it."""
        if target.state is not DeliveryState.SHOWN:
            raise ToolRetry(NOT_SHOWN)
        if target.receipts:
            return target.receipts[-1]
        if target.content is None and features.stored:
            return target.id  # our own page knows a message of a person by its signal
        raise ToolRetry(NOT_SHOWN if target.content else "This can't be marked: it isn't a message of the room.")

    async def _put(self, kind: str, wish: ChangeWish, target: ChangeTarget, content: Content, receipt: str) -> None:
        origin = f"{kind}:{wish.run}:{wish.call}"
        new = NewDelivery(
            *(DeliveryId(self._new_id()), origin, 0, Kind.REPORT, wish.room, content),
            edits=DeliveryId(target.id),
            reply_to=receipt,
        )
        if not await self._change(new, CHANGES_MAX):
            raise ToolRetry(f"That was {CHANGES_MAX} times in this answer already, which is the limit.")
