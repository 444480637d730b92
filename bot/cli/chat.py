"""`signalbox chat` and `signalbox ask`: talking to the agent from a terminal."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import ConfigFile, MockTools, hide_secrets, mocked, reachable, settings_of
from bot.terminal.options import run as run_to_end
from bot.terminal.output import show_markdown, tell
from runtime.errors import BotError

if TYPE_CHECKING:
    from bot.node.lock import Control
    from bot.operator.views import View
    from bot.settings.settings import Settings
    from bot.terminal.conversation import Conversation

WAITS_FOR_APPROVAL: Final = 3
TIMED_OUT: Final = 4
REAL_TOOLS: Final = (
    "A Signalbox is running here, which would call its own tools. Nothing was asked. Stop it, or start it with "
    "--mock-tools instead."
)
EXIT_FAILED: Final = 1

CHAT_TRIES: Final = 10  # processes of others that one question may outlive
MOST_READ: Final = 1 << 20  # bytes of standard input; more than the longest message, so that its length is refused
Room = Annotated[str, typer.Option("--room", help="A conversation to continue. Without it, a new one begins.")]


def add_to(cli: typer.Typer) -> None:
    cli.command()(chat)
    cli.command()(ask)


def chat(context: typer.Context, room: Room = "", config: ConfigFile = None) -> None:
    """Talk with the running process. Ctrl-C or Ctrl-D leaves."""
    settings = settings_of(context, config)
    from bot.terminal.chat import Terminal

    control = run_to_end(reachable(settings))
    if control is None:
        raise BotError(f"No Signalbox is running with data_dir {settings.data_dir}. Start it: signalbox run")
    Terminal(control, room).talk()


def ask(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question; - reads it from standard input.")],
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Longest wait for the answer.")
    ] = 300.0,
    room: Room = "",
    mock_tools: MockTools = None,
    config: ConfigFile = None,
) -> None:
    """Ask once and print the answer. Exit code: 0 answered, 1 failed, 3 waits for an approval, 4 timed out."""
    settings = settings_of(context, config, mocked(mock_tools))
    words = sys.stdin.buffer.read(MOST_READ).decode("utf-8", "replace") if text == "-" else text
    if mock_tools and run_to_end(reachable(settings)):
        raise BotError(REAL_TOOLS)
    raise typer.Exit(run_to_end(_ask(settings, words, room, timedelta(seconds=timeout))))


async def _ask(settings: Settings, text: str, room: str, patience: timedelta) -> int:
    """Ask whoever runs. Another may start just before us, or the one that was asked may leave: then once more.

    The message keeps its id and its room, so that it is said once however often it is sent.
    """
    from bot.node.lock import AlreadyRunning
    from bot.operator.client import Gone
    from bot.terminal.conversation import conversing, new_message, new_room

    room, message_id, known = room or new_room(), new_message(), None
    tries = 0
    while True:
        try:
            async with _somebody(settings) as control, conversing(control, room, known) as conversation:
                if known is None and not await _is_free(conversation, patience):
                    return TIMED_OUT
                known = conversation.known
                return await _answer(conversation, text, message_id, patience)
        except (AlreadyRunning, Gone):
            tries += 1
            if tries == CHAT_TRIES:
                raise


@asynccontextmanager
async def _somebody(settings: Settings) -> AsyncIterator[Control]:
    """The running process; where there is none, one that runs here inside the block."""
    if control := await reachable(settings):
        yield control
        return
    from bot.server.process import serving
    from bot.telemetry import logs

    settings = settings.with_secrets()
    hide_secrets(settings)
    logs.configure("warning", settings.log.format, settings.secret_values())
    logs.tell_skipped(settings.chain.skipped)
    async with serving(settings.for_one_question(), with_link=False) as ready:
        yield ready.control


async def _is_free(conversation: Conversation, patience: timedelta) -> bool:
    """Let earlier work in the room end first, or its answer would be taken for ours."""
    import asyncio

    try:
        async with asyncio.timeout(patience.total_seconds()):
            conversation.fresh(await conversation.settled())
    except TimeoutError:
        tell(f"Room {conversation.room} is still busy after {patience.total_seconds():g} s. Nothing was asked.")
        return False
    return True


async def _answer(conversation: Conversation, text: str, message_id: str, patience: timedelta) -> int:
    import asyncio

    await conversation.say(text, message_id)
    try:
        async with asyncio.timeout(patience.total_seconds()):
            view = await conversation.settled()
    except TimeoutError:
        tell(f"No answer within {patience.total_seconds():g} s. The work goes on in room {conversation.room}.")
        return TIMED_OUT
    ours = {**view, "approvals": conversation.asked(view)}
    for entry in conversation.fresh(view):
        show_markdown(entry["markdown"])
    return _how_it_ended(ours)


def _how_it_ended(view: View) -> int:
    from runtime.text.glyphs import in_a_line

    for approval in view["approvals"]:
        if approval["kind"] == "answer":
            tell(f"Needs an answer: {in_a_line(approval['words'])}")
            tell(as_called(f"Give it: signalbox approvals answer {approval['id']} ANSWER"))
            continue
        tell(f"Needs approval: {approval['question']} {in_a_line(approval['arguments'])}")
        tell(as_called(f"Answer it: signalbox approvals approve {approval['id']}  (or deny)"))
    if view["approvals"]:
        return WAITS_FOR_APPROVAL
    return EXIT_FAILED if view["run"] in ("failed", "stopped") else 0
