"""Small words to one person: private notices, forms, and what an assistant thread shows."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import aiohttp

from adapters.slack.envelope import CHANNEL, COMMAND_MARK
from adapters.slack.outgoing.forms import modal
from adapters.slack.outgoing.render import render
from adapters.slack.text import escaped
from adapters.slack.web import Web
from runtime.contract import Address, Content, Delivery, DeliveryId, Form, Kind, Wire
from runtime.errors import ChannelError, Uncertain
from runtime.markup import parse, to_plain
from runtime.markup.attachment import not_here, unabridged
from runtime.text.glyphs import clip

TITLE: Final = 60  # characters of an assistant thread's title
STARTED: Final = 500  # assistant threads of which the first message is awaited
PRIVATE_PLACE: Final = Address(CHANNEL, "", "")
PROMPTS: Final = (
    ("What can you do?", "What can you do for me, and what do you ask me before you do it?"),
    ("Summarise a file", "I'll send you a file. Please summarise it in five sentences."),
    ("Draft a message", "Draft a short message to my team about: "),
)
"""What an assistant thread offers to begin with: a label, and what is then said."""


class Notices:
    """Says it, with the Web API of the account."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._started: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def notice(self, address: Address, user: str, text: str) -> None:
        """A word that only `user` sees. Errors: ChannelError."""
        await self._web.call(
            "chat.postEphemeral",
            channel=address.room,
            user=user,
            thread_ts=address.thread or None,
            **private_words(text),
        )

    async def cards(self, address: Address, user: str, cards: Sequence[Content]) -> None:
        """Cards that only `user` sees, one after the other. Errors: ChannelError."""
        for card in cards:
            wires = _rendered(address, unabridged(card))
            body = json.loads(
                (wires if len(wires) == 1 else _rendered(address, Content(not_here(COMMAND_MARK))))[0].body
            )
            thread = address.thread or None
            await self._web.call("chat.postEphemeral", channel=address.room, user=user, thread_ts=thread, **body)

    async def replaced(self, response_url: str, text: str) -> None:
        """Words in the place of an ephemeral card, whose buttons did their work. Errors: ChannelError."""
        answer = {"replace_original": True, "text": escaped(text)}
        try:
            async with self._web.http() as session, session.post(response_url, json=answer) as response:
                response.raise_for_status()
        except (aiohttp.ClientError, OSError) as error:
            raise Uncertain(f"the card that one person sees may keep its buttons: {error}") from error

    async def open(self, trigger: str, form: Form, address: Address, *, alone: bool = False) -> None:
        """Open a form before whoever pressed its button. Errors: ChannelError."""
        await self._web.call("views.open", trigger_id=trigger, view=modal(form, address, alone=alone))

    # --------------------------------------------------------------------------------------- assistant threads

    def began(self, room: str, thread: str) -> None:
        """An assistant thread was opened: its first message names it."""
        self._started[room, thread] = None
        if len(self._started) > STARTED:
            self._started.popitem(last=False)

    async def suggest(self, room: str, thread: str) -> None:
        """Offer something to begin with. Errors: ChannelError."""
        prompts = [{"title": title, "message": message} for title, message in PROMPTS]
        await self._web.call(
            "assistant.threads.setSuggestedPrompts", channel_id=room, thread_ts=thread, prompts=prompts
        )

    def awaits_title(self, address: Address) -> bool:
        """True if this is the first message of an assistant thread; asked once."""
        key = address.room, address.thread
        return key in self._started and self._started.pop(key) is None

    async def entitle(self, address: Address, text: str) -> None:
        """Name an assistant thread after its first words. Errors: ChannelError."""
        short = clip(" ".join(text.split()), TITLE)
        await self._web.call(
            "assistant.threads.setTitle", channel_id=address.room, thread_ts=address.thread, title=short
        )

    async def status(self, address: Address, status: str) -> None:
        """Show under the thread what the agent does just now; nothing takes it away."""
        if not address.thread:
            return
        try:
            await self._web.call(
                "assistant.threads.setStatus", channel_id=address.room, thread_ts=address.thread, status=status
            )
        except ChannelError:
            return  # best effort: the reply is what counts


def private_words(text: str) -> dict[str, Any]:
    """A message to one person: its text, and blocks where that has Markdown, which Slack does not read in a text."""
    if to_plain(parse(text)) == text:
        return {"text": escaped(text)}
    wires = _rendered(PRIVATE_PLACE, Content(text))
    body: dict[str, Any] = json.loads(wires[0].body)
    return body if len(wires) == 1 else {"text": escaped(text)}


def _rendered(address: Address, card: Content) -> list[Wire]:
    return render(Delivery(DeliveryId(""), "", 0, Kind.APPROVAL, address, card))
