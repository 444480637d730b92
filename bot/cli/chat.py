"""`signalbox chat` and `signalbox ask`: talking to the agent from a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from bot.node.invocation import as_called
from bot.terminal.options import ConfigFile, mask_of, none_running, reachable, settings_of
from bot.terminal.options import run as run_to_end
from bot.terminal.output import show_markdown, tell
from bot.terminal.start_options import EnvFile, MockTools, StartOptions, names_in
from runtime.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.operator.views import View
    from bot.settings.settings import Settings
    from bot.terminal.asking import Lines, Wanted
    from bot.terminal.conversation import Conversation

WRONG_USE: Final = 2
WAITS_FOR_APPROVAL: Final = 3
TIMED_OUT: Final = 4
REAL_TOOLS: Final = (
    "A Signalbox is running here, which would call its own tools. Nothing was asked. Stop it, or start it with "
    "--mock-tools instead."
)
EXIT_FAILED: Final = 1
INTERRUPTED: Final = 130

CHAT_TRIES: Final = 10  # processes of others that one question may outlive
PromptFile = Annotated[
    str | None,
    typer.Option("--prompt-file", metavar="FILE", help="Read the question from a file; - is standard input."),
]
Room = Annotated[str, typer.Option("--room", help="A conversation to continue. Without it, a new one begins.")]


def add_to(cli: typer.Typer) -> None:
    cli.command()(chat)
    cli.command()(ask)


def chat(context: typer.Context, room: Room = "", config: ConfigFile = None) -> None:
    """Talk with the running process. Ctrl-C or Ctrl-D leaves."""
    settings = settings_of(context, config)
    from bot.terminal.chat import Terminal
    from bot.terminal.conversation import check_room

    check_room(room)

    control = run_to_end(reachable(settings))
    if control is None:
        raise none_running(settings)
    Terminal(control, room).talk()


def ask(
    context: typer.Context,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The question; - reads it from standard input.")
    ] = None,
    prompt_file: PromptFile = None,
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Agent to ask, instead of the main one.")] = "",
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="Model to ask, for a new conversation: a name of [[models]].")
    ] = "",
    tools: Annotated[
        list[str] | None,
        typer.Option(
            "--tools",
            metavar="GLOB",
            help="Only these tools, such as web_*, for a new conversation. Repeatable. It never allows more than the rules.",
        ),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", metavar="DIR", help="Folder to work in, for a new conversation: see files.lent."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events as lines of JSON; the last one is the result.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="Longest wait for the answer.")
    ] = 300.0,
    room: Room = "",
    env: EnvFile = None,
    mock_tools: MockTools = None,
    config: ConfigFile = None,
) -> None:
    """Ask once and print the answer. Exit code: 0 answered, 1 failed, 2 wrong use, 3 waits for an approval, 4 timed out."""
    from bot.terminal.asking import Lines, wanted_of, words_of

    lines = Lines(as_json, room)
    try:
        settings = settings_of(context, config, StartOptions(mock_tools=mock_tools).flags())
        if mock_tools and run_to_end(reachable(settings)):
            raise BotError(REAL_TOOLS)
        words = words_of(text, prompt_file)
        wanted = wanted_of(agent, model, names_in(tools), workspace, room)
        code = run_to_end(_ask(settings, words, room, timedelta(seconds=timeout), wanted, lines))
    except (BotError, KeyboardInterrupt) as error:
        lines.result(_code_of(error), mask_of(context)(str(error)))
        raise
    lines.result(code)
    raise typer.Exit(code)


def _code_of(error: BaseException) -> int:
    """As the whole program ends with it."""
    match error:
        case KeyboardInterrupt():
            return INTERRUPTED
        case ConfigError():
            return WRONG_USE
        case _:
            return EXIT_FAILED


async def _ask(settings: Settings, text: str, room: str, patience: timedelta, wanted: Wanted, lines: Lines) -> int:
    """Ask whoever runs. Another may start just before us, or the one that was asked may leave: then once more.

    The message keeps its id and its room, so that it is said once however often it is sent. What bounds it is kept first.
    """
    from bot.node.lock import AlreadyRunning
    from bot.operator.client import Gone
    from bot.terminal.conversation import conversing, new_message, new_room
    from bot.terminal.own_process import somebody
    from runtime.domain.agents.bounds import BOUNDED_ROOM
    from runtime.domain.agents.manifest import MAIN

    room, message_id, known = room or (new_room(BOUNDED_ROOM) if wanted.is_bounded else new_room()), new_message(), None
    tries = 0
    while True:
        try:
            async with somebody(settings) as control, conversing(control, room, known) as conversation:
                if known is None and not await _is_free(conversation, patience):
                    return TIMED_OUT
                known = conversation.known
                bounds = (
                    await conversation.bound(wanted.fields()) if wanted.is_bounded else {"agent": wanted.agent or MAIN}
                )
                await conversation.say(text, message_id, wanted.agent)
                if not tries:
                    lines.begun(room, message_id, bounds)
                return await _answer(conversation, patience, lines)
        except (AlreadyRunning, Gone):
            tries += 1
            if tries == CHAT_TRIES:
                raise


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


async def _answer(conversation: Conversation, patience: timedelta, lines: Lines) -> int:
    import asyncio

    try:
        async with asyncio.timeout(patience.total_seconds()):
            view = await conversation.settled(lines.events if lines.on else None)
    except TimeoutError:
        tell(f"No answer within {patience.total_seconds():g} s. The work goes on in room {conversation.room}.")
        return TIMED_OUT
    ours = {**view, "approvals": conversation.asked(view)}
    for entry in conversation.fresh(view):
        lines.message(entry)
        if not lines.on:
            show_markdown(entry["markdown"])
    for question in ours["approvals"]:
        lines.question(question)
    return _how_it_ended(ours, tells=not lines.on)


def _how_it_ended(view: View, *, tells: bool = True) -> int:
    if view["approvals"]:
        if tells:
            _tell_questions(view["approvals"])
        return WAITS_FOR_APPROVAL
    return EXIT_FAILED if view["run"] in ("failed", "stopped") else 0


def _tell_questions(approvals: Sequence[View]) -> None:
    from runtime.text.glyphs import in_a_line

    for approval in approvals:
        if approval["kind"] == "answer":
            tell(f"Needs an answer: {in_a_line(approval['words'])}")
            tell(as_called(f"Give it: signalbox approvals answer {approval['id']} ANSWER"))
            continue
        tell(f"Needs approval: {approval['question']} {in_a_line(approval['arguments'])}")
        tell(as_called(f"Answer it: signalbox approvals approve {approval['id']}  (or deny)"))
