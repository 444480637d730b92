"""Tools that change what the room shows: an emoji on a message, and new words in place of the agent's own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import (
    CardContext,
    CardPart,
    CardText,
    CardValue,
    Carries,
    ChangeWish,
    Changing,
    Effect,
    Flow,
    Json,
    Reads,
    Role,
    Tool,
    ToolContext,
)
from runtime.errors import ToolRetry
from runtime.text.emoji import FAVOURITES, emoji_of
from tools.kit.declare import tool
from tools.kit.keys import key_of
from tools.posting.messages import NAME_CHARS, whose

CHANGE_TIMEOUT: Final = timedelta(seconds=30)
REWRITE_MAX_CHARS: Final = 1_800
"""Characters of a new text, so that it's one message on every channel."""
LAST_ANSWER: Final = "last"
MARKING: Final = Flow(Reads.OURS, stays=True, carries={"emoji": Carries.DETAIL, "message": Carries.DETAIL})
REWRITING: Final = Flow(Reads.OURS, stays=True, carries={"message": Carries.DETAIL, "text": Carries.WORDS})


def changing_tools(changing: Changing) -> list[Tool]:
    """`react` and `edit_own`. Both are idempotent: the outbox knows the call, and a channel takes the same change again."""

    @tool(effect=Effect.WRITE, idempotent=True, timeout=CHANGE_TIMEOUT, seldom=True, flow=MARKING)
    async def react(
        emoji: Annotated[str, "One emoji, such as 👍 or 🎉."],
        context: ToolContext,
        message: Annotated[str, "Empty: the message that you answer. Else as channel_send told it, or last."] = "",
    ) -> str:
        """Mark a message of this room with an emoji, such as the one that you answer."""
        found = emoji_of(emoji)
        if found is None:
            raise ToolRetry(f"{emoji[:40]!r} can't be set as a reaction. These work everywhere: {FAVOURITES}")
        await changing.react(wished(context, message, found), found)
        return f"It's marked with {found}."

    @tool(effect=Effect.WRITE, idempotent=True, timeout=CHANGE_TIMEOUT, card=as_rewritten, seldom=True, flow=REWRITING)
    async def edit_own(
        message: Annotated[str, "As channel_send told it, or last: your last answer."],
        text: Annotated[str, "All that it says from then on. Markdown."],
        context: ToolContext,
    ) -> str:
        """Replace the text of a message that you wrote in this room."""
        if not text.strip() or len(text) > REWRITE_MAX_CHARS:
            raise ToolRetry(f"Give a text of at most {REWRITE_MAX_CHARS:,} characters.")
        if not message.strip():
            raise ToolRetry("Name the message: as channel_send told it, or last.")
        await changing.rewrite(wished(context, message, text), text)
        return "That message was edited: people see the new text in its place."

    return [react, edit_own]


def as_rewritten(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    return [CardValue("message"), CardText("text")]


def wished(context: ToolContext, message: str, *words: str) -> ChangeWish:
    """The wish, in the room of the conversation alone. Errors: ToolRetry for viewers, and where nobody asked or there is no room."""
    if context.requester is None or context.requester.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can have messages changed.")
    if context.address is None:
        raise ToolRetry("This conversation has no room.")
    name = message.strip().lower()
    named = name if name in ("", LAST_ANSWER) else f"{whose(context)}:{name}"
    call = key_of(context.call_id, name, *words)[:NAME_CHARS]
    return ChangeWish(context.run_id, context.session, call, context.address, named)
