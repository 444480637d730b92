"""`signalbox trace`: what happened to a message."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import AsJson, ConfigFile, InRoom, WithIds, ask_operator, settings_of
from bot.terminal.output import PIPE_WIDTH, by_name, clean, show_json, show_rows

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.operator.views import View

TRACE_COLUMNS: Final = {
    "id": "Id",
    "at": "When",
    "kind": "What",
    "who": "Who",
    "state": "State",
    "room": "Room",
    "text": "Text",
}
CHOOSE: Final = "To see what happened to one: signalbox trace ID, or --last for the newest."
NEWEST: Final = 10  # messages of the list
WORDS_MIN_COLUMNS: Final = 30  # columns for words, however narrow the terminal is


def add_to(cli: typer.Typer) -> None:
    cli.command()(trace)


def trace(
    context: typer.Context,
    message: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE",
            show_default=False,
            help="The id of a message, run, approval or delivery, its first characters, or the page's id of a message. "
            "Without it the newest messages are listed.",
        ),
    ] = "",
    last: Annotated[bool, typer.Option("--last", help="Take the newest message.")] = False,
    room: InRoom = "",
    ids: WithIds = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show what happened to a message: every step with its time and node, in words."""
    if message and (last or room):
        raise typer.BadParameter("Give either the id of a message, or --last and --room")
    settings = settings_of(context, config)
    if not (message or last):
        _list(ask_operator(settings, lambda api: api.traceable(room, NEWEST)), as_json=as_json, with_ids=ids)
        return
    told = ask_operator(settings, lambda api: _told(api, message, room))
    if as_json:
        show_json(told)
    elif told["trace"]:
        typer.echo("\n".join(lines(told["trace"], _width())))
    else:
        typer.echo(f"Several things begin with {clean(message)}:", err=True)
        _list(told["matches"], as_json=False, with_ids=ids)
    raise typer.Exit(0 if told["trace"] else 1)


async def _told(api: OperatorApi, message: str, room: str) -> View:
    """The story of `message`, else of the newest in `room`. Errors: Refusal when there is none."""
    if not message:
        from runtime.http.errors import Refusal

        newest = await api.traceable(room, 1)
        if not newest:
            raise Refusal(404, f"There is no message{f' in {room}' if room else ''} yet.")
        message = newest[0]["id"]
    return await api.trace(message)


def _list(rows: Sequence[View], *, as_json: bool, with_ids: bool) -> None:
    if as_json:
        show_json(list(rows))
        return
    show_rows(rows, by_name(TRACE_COLUMNS, with_ids=with_ids), empty="No messages.")
    if rows:
        typer.echo(f"\n{as_called(CHOOSE)}")


def _width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH


def lines(story: View, width: int) -> Iterator[str]:
    """A story as aligned text. Times by the local clock; a node that did everything is named once."""
    began = datetime.fromisoformat(story["began_at"]).astimezone()
    yield clean(f"{began:%Y-%m-%d %H:%M:%S.%f}"[:-3] + f" {began:%Z}  {story['room']}")
    yield from textwrap.wrap(clean(f"{story['who']} {story['text']}"), width)
    nodes = sorted({event["node"] for event in story["events"] if event["node"]})
    yield clean(" · ".join(_named(story, nodes)))
    yield ""
    yield from _events(story["events"], nodes if len(nodes) > 1 else [], width)
    yield ""
    yield from textwrap.wrap(clean(story["now"]), width)


def _named(story: View, nodes: Sequence[str]) -> Iterator[str]:
    yield f"trace {story['run'] or story['about']}"
    if len(nodes) == 1:
        yield f"all by node {nodes[0]}"


def _events(events: Sequence[dict[str, Any]], nodes: Sequence[str], width: int) -> Iterator[str]:
    from runtime.timeline import ahead

    times = [ahead(event["after"]) for event in events]
    wide, named = max(map(len, times)), max(map(len, nodes), default=-2)
    for time, event in zip(times, events, strict=True):
        node = f"{event['node'] or '':{named}}  " if nodes else ""
        before = f"  {time:>{wide}}  {node}"
        room = max(width - len(before), WORDS_MIN_COLUMNS)
        words = textwrap.wrap(clean(event["words"]), room, break_on_hyphens=False) or [""]
        yield before + words[0]
        yield from (" " * len(before) + more for more in words[1:])
