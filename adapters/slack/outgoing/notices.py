"""Small words to one person: private notices, forms, and what an assistant thread shows."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from adapters.slack.outgoing.forms import modal
from adapters.slack.text import escaped
from adapters.slack.web import Web
from runtime.contract import Address, Form
from runtime.errors import ChannelError
from runtime.text.glyphs import clip

TITLE: Final = 60  # characters of an assistant thread's title
STARTED: Final = 500  # assistant threads of which the first message is awaited
PROMPTS: Final = (
    ("What can you do?", "What can you do for me, and what do you ask me before you do it?"),
    ("Sum up a file", "I will send you a file: sum it up in five sentences."),
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
            text=escaped(text),
            thread_ts=address.thread or None,
        )

    async def open(self, trigger: str, form: Form, address: Address) -> None:
        """Open a form before whoever pressed its button. Errors: ChannelError."""
        await self._web.call("views.open", trigger_id=trigger, view=modal(form, address))

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
