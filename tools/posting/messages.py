"""Tools that post messages beside the answer: in this room, or in another one that somebody named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import (
    Address,
    CardContext,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Posting,
    PostWish,
    Reads,
    Role,
    Tool,
    ToolContext,
)
from runtime.errors import ToolRetry
from tools.kit.declare import tool
from tools.kit.keys import key_of
from tools.kit.rooms import Rooms, known_room, room_at

POST_TIMEOUT: Final = timedelta(seconds=60)
TEXT_MAX_CHARS: Final = 20_000
FILES_MAX: Final = 10
NAME_CHARS: Final = 16
"""Hexadecimal digits by which a conversation names a message of its own."""
HERE: Final = "here"
"""In place of this room's address: what is posted there needs nobody's word."""
SENDING: Final = Flow(Reads.OURS, carries={"to": Carries.RECIPIENT, "text": Carries.WORDS, "files": Carries.THING})
LOOKING: Final = Flow(Reads.OURS, stays=True, carries={"message": Carries.DETAIL})
STATES: Final[Mapping[str, str]] = {
    "queued": "It waits to be shown.",
    "open": "It is being shown.",
    "shown": "It is shown.",
    "held": "Nobody can tell whether it is shown; an operator decides.",
    "dead": "It can't be shown.",
    "discarded": "An operator threw it away.",
}


def posting_tools(posting: Posting, *, rooms: Rooms, named: Callable[[Address], str]) -> list[Tool]:
    """`channel_send` and `delivery_status`. `named` is what people call a room."""

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        room = known_room(str(arguments.get("to", "")), rooms)
        parts: list[CardPart] = [CardValue("to", named(room) if room else ""), CardText("text")]
        return [*parts, CardValue("files")] if arguments.get("files") else parts

    # Idempotent: the outbox knows the call, so one that was cut by a kill and is made again shows nothing twice.
    @tool(effect=Effect.WRITE, idempotent=True, timeout=POST_TIMEOUT, card=card, seldom=True, flow=SENDING)
    async def channel_send(
        to: Annotated[str, "here, or a room that a person named: slack:work/C024BE91L."],
        text: Annotated[str, "Markdown."],
        context: ToolContext,
        files: Annotated[list[str], "Files of the workspace."] = [],  # noqa: B006 - a schema's default, never changed
    ) -> str:
        """Post a message beside your reply, here or in another room."""
        if not text.strip() or len(text) > TEXT_MAX_CHARS or len(files) > FILES_MAX:
            raise ToolRetry(f"Give a text of at most {TEXT_MAX_CHARS:,} characters, and at most {FILES_MAX} files.")
        message, first = message_of(to, text, files, context), f"{key_of(context.key.session)}:"
        try:
            room = await room_for(to, context, rooms)
            await posting.post(PostWish(f"{first}{message}", room, text, tuple(files), context.workspace))
        except ToolRetry:
            # This call may have been made before it was cut, when its room could still be found.
            if await posting.standing(message, first) is None:
                raise
        return f"It is posted as message {message}. delivery_status tells whether it is shown."

    @tool(effect=Effect.READ, timeout=POST_TIMEOUT, seldom=True, flow=LOOKING)
    async def delivery_status(message: Annotated[str, "As channel_send told it."], context: ToolContext) -> str:
        """Tell if a message that you posted is shown."""
        found = await posting.standing(message.strip(), f"{whose(context)}:")
        if found is None:
            raise ToolRetry("No message of this conversation has that name.")
        reason = f" {found.reason}" if found.reason and found.state in ("held", "dead") else ""
        return f"{STATES[found.state]}{reason}"

    return [channel_send, delivery_status]


def message_of(to: str, text: str, files: Sequence[str], context: ToolContext) -> str:
    """The name of what this call posts, by which a repeat is known.

    The words are part of it: some vendors count the ids of their calls anew with each reply.
    """
    key = context.key
    return key_of(key.run, key.call, to, text, *files)[:NAME_CHARS]


def whose(context: ToolContext) -> str:
    """The conversation, by which it finds what it posted."""
    return key_of(context.session)


async def room_for(to: str, context: ToolContext, rooms: Rooms) -> Address:
    """Errors: ToolRetry for viewers, if nobody asked, and for what is no room."""
    if context.requester is None or context.requester.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can have messages posted.")
    if to.strip().lower() == HERE:
        if context.address is None:
            raise ToolRetry("This conversation has no room. Name one.")
        return context.address
    return await room_at(to, rooms)
