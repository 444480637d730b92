"""`signalbox events`, `checkpoints` and `feedback`: what happened, what stands on screen, and what people think of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.terminal.options import (
    AsJson,
    ConfigFile,
    InRoom,
    WithIds,
    ask_operator,
    reachable,
    run,
    settings_of,
)
from bot.terminal.output import by_name, clean, json_text, show_json, show_rows, tell, word

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View
    from bot.settings.settings import Settings

feedback_commands = typer.Typer(no_args_is_help=True, help="Feedback: what people think of the agent's messages.")

EVENT_COLUMNS: Final = {
    "number": "No.",
    "at": "When",
    "event": "Event",
    "who": "Who",
    "room": "Room",
    "about": "About",
    "detail": "Details",
}
CHECKPOINT_COLUMNS: Final = {
    "room": "Room",
    "shown_at": "Shown",
    "message": "Message",
    "kind": "What",
    "part": "Part",
    "delivery": "Delivery",
}
FEEDBACK_COLUMNS: Final = {
    "at": "When",
    "value": "Rating",
    "person": "Person",
    "said": "Of",
    "words": "Words",
    "room": "Room",
    "run": "Run",
}
EVENTS_A_LOOK: Final = 500
UNKNOWN_TOKEN: Final = 401
FOLLOW_INTERVAL_SECONDS: Final = 1.0
NO_EVENTS: Final = "No such event."
FOLLOWED_IS_AWAY: Final = "Signalbox doesn't answer; waiting until it's back."


@dataclass(frozen=True, slots=True)
class Wanted:
    """Events that the person at the terminal wants."""

    room: str = ""
    session: str = ""
    run: str = ""
    word: str = ""

    @property
    def is_all(self) -> bool:
        return not (self.room or self.session or self.run or self.word)

    async def page(self, api: OperatorApi, after: int, limit: int = EVENTS_A_LOOK) -> View:
        return await api.events(after, limit, self.room, self.session, self.run, self.word)


def add_to(cli: typer.Typer) -> None:
    cli.command()(events)
    cli.command()(checkpoints)
    cli.add_typer(feedback_commands, name="feedback")


def events(
    context: typer.Context,
    room: InRoom = "",
    session: Annotated[str, typer.Option("--session", metavar="KEY", help="Only this conversation.")] = "",
    of_run: Annotated[str, typer.Option("--run", metavar="RUN", help="Only this run, by its id.")] = "",
    only: Annotated[
        str, typer.Option("--event", metavar="WORD", help='Only these, such as approval.asked or "approval.*".')
    ] = "",
    since: Annotated[
        int | None,
        typer.Option("--since", min=0, metavar="NUMBER", help="Those after this one; 0 is before the first."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on as they happen, until Ctrl-C.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List what happened, or follow it: each event has a number, and none is left out."""
    settings, wanted = settings_of(context, config), Wanted(room, session, of_run, only)
    if follow:
        run(_follow(settings, wanted, since, as_json=as_json))
        return
    rows = ask_operator(settings, lambda api: _listed(api, wanted, since, limit))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, EVENT_COLUMNS, empty=NO_EVENTS)


async def _listed(api: OperatorApi, wanted: Wanted, since: int | None, limit: int) -> list[View]:
    """The first ones after `since`; without it the newest."""
    if since is not None:
        found: list[View] = []
        async for one in _all_after(api, wanted, since):
            found.append(one)
            if len(found) == limit:
                break
        return found
    start = (await api.events(0, 1))["newest"] - limit if wanted.is_all else 0
    newest: deque[View] = deque(maxlen=limit)
    async for one in _all_after(api, wanted, max(start, 0)):
        newest.append(one)
    return list(newest)


async def _all_after(api: OperatorApi, wanted: Wanted, after: int) -> AsyncIterator[View]:
    while True:
        page = await wanted.page(api, after)
        for one in page["events"]:
            yield one
        if page["next"] >= page["newest"] or page["next"] == after:
            return
        after = page["next"]


async def _follow(settings: Settings, wanted: Wanted, since: int | None, *, as_json: bool) -> None:
    """Print events until cancelled; a process that ends and starts again is waited for, and nothing is left out."""
    from bot.operator.client import Gone, connected
    from runtime.http.errors import Refusal

    after, show = since, _as_line if as_json else _as_words
    while True:
        if control := await reachable(settings):
            try:
                async with connected(control) as api:
                    after = (await api.events(0, 1))["newest"] if after is None else after
                    async for reached in _shown(api, wanted, after, show):
                        after = reached
            except Gone:
                tell(FOLLOWED_IS_AWAY)
            except Refusal as refusal:
                if refusal.status != UNKNOWN_TOKEN:
                    raise  # else it has started again, with a token of its own
        await asyncio.sleep(FOLLOW_INTERVAL_SECONDS)


async def _shown(
    api: OperatorApi, wanted: Wanted, after: int, show: Callable[[Mapping[str, Any]], str]
) -> AsyncIterator[int]:
    """Print what comes; the number of each that was printed, or up to which there was none."""
    while True:
        page = await wanted.page(api, after)
        for one in page["events"]:
            typer.echo(show(one))
            yield one["number"]
        is_new = page["next"] > after
        after = page["next"]
        yield after
        if not is_new:
            await asyncio.sleep(FOLLOW_INTERVAL_SECONDS)


def _as_line(one: Mapping[str, Any]) -> str:
    return json_text(one)


def _as_words(one: Mapping[str, Any]) -> str:
    told = (word(one[key]) for key in ("at", "event", "who", "room", "about", "detail"))
    return clean(f"{one['number']:>8}  " + "  ".join(told))


def checkpoints(
    context: typer.Context, room: InRoom = "", ids: WithIds = False, as_json: AsJson = False, config: ConfigFile = None
) -> None:
    """Show what stands last on screen in each room, with the platform's id of it."""
    rows = ask_operator(settings_of(context, config), lambda api: api.checkpoints(room))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, by_name(CHECKPOINT_COLUMNS, with_ids=ids), empty="Nothing was shown yet.")


@feedback_commands.command("list")
def list_feedback(
    context: typer.Context,
    room: InRoom = "",
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="Of so many days.")] = 30,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="At most so many.")] = 50,
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List how people rated the agent's messages, the newest first."""
    rows = ask_operator(settings_of(context, config), lambda api: api.feedback(days, room, limit))
    if as_json:
        show_json(rows)
    else:
        show_rows(rows, by_name(FEEDBACK_COLUMNS, with_ids=ids), empty="Nobody rated a message.")
