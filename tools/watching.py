"""Tools of standing intents: "tell me when …"."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Annotated, Final

from runtime.contract import Carries, Effect, Flow, Reads, Role, TaskActor, Tool, ToolContext
from runtime.contract.agents.watches import WATCHED_EVENTS, KeptWatch, Watches, WatchWish
from runtime.errors import ToolRetry
from tools.kit.declare import tool

WATCH_FLOW: Final = Flow(
    Reads.OURS, carries={"event": Carries.DETAIL, "words": Carries.WORDS, "tell": Carries.WORDS, "room": Carries.DETAIL}
)
WATCH_END_FLOW: Final = Flow(Reads.OURS, stays=True, carries={"name": Carries.DETAIL})
WATCH_LIST_FLOW: Final = Flow(Reads.OURS, stays=True, carries={})
WATCH_TIMEOUT: Final = timedelta(seconds=30)
WATCHED_HERE: Final = ("", "here")


def watching_tools(watches: Watches) -> list[Tool]:
    """The tools by which people have a room watched."""

    # Idempotent: a call that was cut by a kill and is made again makes no second one.
    @tool(effect=Effect.WRITE, idempotent=True, timeout=WATCH_TIMEOUT, seldom=True, flow=WATCH_FLOW)
    async def watch_for(
        event: Annotated[str, f"One of {', '.join(WATCHED_EVENTS)}."],
        context: ToolContext,
        words: Annotated[
            list[str], "For the event words: what to look for; deploy* stands for all that begin so."
        ] = [],  # noqa: B006 - a schema's default, never changed
        tell: Annotated[str, "What else to tell or do then, in the person's words."] = "",
        room: Annotated[str, "Only this room can be watched: here."] = "here",
    ) -> str:
        """Tell the person when something happens in this room: once a day at most, for 90 days."""
        if room not in (*WATCHED_HERE, str(context.address)):
            raise ToolRetry("Only the room in which somebody asks can be watched. They can ask for it there.")
        made = await watches.watch(WatchWish(event, words, tell), actor(context, event, words), context.agent)
        return f"Watching from now on: {line(made)} The same person's own messages don't count. `watch_end` ends it."

    @tool(effect=Effect.READ, timeout=WATCH_TIMEOUT, seldom=True, flow=WATCH_LIST_FLOW)
    async def watch_list(context: ToolContext) -> str:
        """List what people want to be told of in this room."""
        found = await watches.listed(actor(context, "", ()))
        return "\n".join(f"- {line(one)}" for one in found) or "Nobody watches anything here."

    @tool(effect=Effect.WRITE, idempotent=True, timeout=WATCH_TIMEOUT, seldom=True, flow=WATCH_END_FLOW)
    async def watch_end(name: Annotated[str, "Its id, or one of its words."], context: ToolContext) -> str:
        """Stop telling a person of something."""
        return f"Ended: {line(await watches.end(name, actor(context, name, ())))}"

    return [watch_for, watch_list, watch_end]


def actor(context: ToolContext, event: str, words: list[str] | tuple[str, ...]) -> TaskActor:
    """The run that asks. Errors: ToolRetry outside of rooms, and for viewers."""
    if context.address is None or context.requester is None or context.requester.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can have a room watched, in that room.")
    key = f"{context.call_id}:{event}:{json.dumps(list(words))}"
    return TaskActor(context.address, context.session, context.run_id, context.requester, key)


def line(one: KeptWatch) -> str:
    """A watch in a line."""
    words = " or ".join(f'"{word}"' for word in one.words)
    about = (
        f"somebody says {words}" if one.event == "words" else one.event.replace("_", " ") + (f", {words}" * bool(words))
    )
    until = f", until {one.ends_at:%Y-%m-%d}" if one.ends_at else ""
    fired = f", fired {one.fires} times" if one.fires else ""
    return f"{about} (`{one.id}`, for {one.owner}{until}{fired})."
