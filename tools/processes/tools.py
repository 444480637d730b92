"""Tools that start programs that live on between calls, and look after them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

from runtime.contract import (
    CardContext,
    CardNote,
    CardPart,
    CardText,
    Carries,
    Effect,
    Flow,
    Json,
    Now,
    Reads,
    Tool,
    ToolContext,
)
from runtime.contract.agents.processes import Process, ProcessState, Starter
from runtime.errors import ToolFailed, ToolRetry
from tools.kit.declare import tool
from tools.processes.host import ProcessHost
from tools.sandbox.shell import check_text

if TYPE_CHECKING:
    from tools.processes.program import Program

PROCESS_TIMEOUT: Final = timedelta(seconds=60)
PROCESS_MAX_CHARS: Final = 40_000
PIECE_BYTES: Final = 30_000
"""Output that one call reads, in bytes."""
WAIT_MAX_SECONDS: Final = 30
FIRST_SECONDS: Final = 1.0
"""Time for a program to say something, or to fail, before a start is told."""
INPUT_MAX_CHARS: Final = 20_000
SHORT_ID_CHARS: Final = 6
COMMAND_SHOWN_CHARS: Final = 200
STARTING_PROGRAM: Final = Flow(Reads.FILES, "a process's output", writes="*")
READING_OUTPUT: Final = Flow(
    Reads.FILES, "a process's output", stays=True, writes="*", carries={"process": Carries.DETAIL}
)
STOPPING: Final = Flow(Reads.OURS, stays=True, carries={"process": Carries.DETAIL})
LISTING: Final = Flow(Reads.OURS, stays=True, carries={})
Name = Annotated[str, "Its id, as process_start told it."]


def process_tools(host: ProcessHost, *, now: Now = lambda: datetime.now(UTC)) -> list[Tool]:
    """`process_start`, `process_read`, `process_write`, `process_stop` and `process_list`."""
    return [_starting(host, now), _writing(host, now), *_looking(host, now)]


def _starting(host: ProcessHost, now: Now) -> Tool:
    caution = host.sandbox.caution

    def card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
        network = "the network is open" if host.sandbox.has_network else "no network"
        minutes = arguments.get("minutes") or host.limits.minutes
        notes = ("in this room's workspace", network, f"runs on for up to {minutes} minutes")
        return [CardText("command"), *map(CardNote, notes)]

    @tool(
        effect=Effect.DANGER,
        timeout=PROCESS_TIMEOUT,
        output_bound=PROCESS_MAX_CHARS,
        caution=caution,
        card=card,
        seldom=True,
        flow=STARTING_PROGRAM,
    )
    async def process_start(
        command: Annotated[str, "Command line; there is no network."],
        context: ToolContext,
        minutes: Annotated[int, "Longest time. 0: as long as is allowed."] = 0,
    ) -> str:
        """Start a command that runs on while you work: a server, a watcher."""
        check_text(command)
        if not 0 <= minutes <= host.limits.minutes:
            raise ToolRetry(f"minutes is at most {host.limits.minutes}.")
        if context.address is None:
            raise ToolRetry("This conversation has no room to keep a process for.")
        by = Starter(context.agent, context.session, context.address, context.run_id, context.call_id)
        time = timedelta(minutes=minutes or host.limits.minutes)
        process = await host.start(command, context.workspace, by, time)
        program = host.here(process.id)
        if program is None:
            raise ToolFailed("The process is gone already.")
        await _news(program, FIRST_SECONDS)
        return _said(process, program, now())

    return process_start


def _writing(host: ProcessHost, now: Now) -> Tool:
    @tool(
        effect=Effect.DANGER,
        timeout=PROCESS_TIMEOUT,
        caution=host.sandbox.caution,
        seldom=True,
        card=_input_card,
        flow=STARTING_PROGRAM,
    )
    async def process_write(
        process: Name,
        text: Annotated[str, "As it is typed, with its line ends."],
        context: ToolContext,
        close: Annotated[bool, "End its input."] = False,
    ) -> str:
        """Write to the input of a process."""
        if len(text) > INPUT_MAX_CHARS:
            raise ToolRetry(f"Give at most {INPUT_MAX_CHARS:,} characters at once.")
        found = await _found(host, process, context)
        program = host.here(found.id)
        if program is None:
            raise ToolFailed(_standing(found, now()) if not found.is_open else ELSEWHERE)
        await program.write(text, close=close)
        return f"Written to {_short(found)}. process_read tells what it says."

    return process_write


def _looking(host: ProcessHost, now: Now) -> list[Tool]:
    @tool(
        effect=Effect.READ,
        timeout=PROCESS_TIMEOUT,
        output_bound=PROCESS_MAX_CHARS,
        polls=True,
        seldom=True,
        flow=READING_OUTPUT,
    )
    async def process_read(
        process: Name,
        context: ToolContext,
        wait_seconds: Annotated[int, f"Wait for output, at most {WAIT_MAX_SECONDS}."] = 0,
    ) -> str:
        """Read what a process said since you last read, and if it runs."""
        if not 0 <= wait_seconds <= WAIT_MAX_SECONDS:
            raise ToolRetry(f"wait_seconds is from 0 to {WAIT_MAX_SECONDS}.")
        found = await _found(host, process, context)
        program = host.here(found.id)
        if program is None:
            return _standing(found, now()) if not found.is_open else ELSEWHERE
        await _news(program, wait_seconds)
        found = await _found(host, process, context)
        return _said(found, program, now())

    @tool(effect=Effect.READ, timeout=PROCESS_TIMEOUT, seldom=True, flow=STOPPING)
    async def process_stop(process: Name, context: ToolContext) -> str:
        """Stop a process that you started."""
        found = await _found(host, process, context)
        if not await host.stop(found.id, f"Stopped by the agent {context.agent}."):
            return _standing(found, now())
        return f"Process {_short(found)} is stopped."

    @tool(effect=Effect.READ, timeout=PROCESS_TIMEOUT, seldom=True, flow=LISTING)
    async def process_list(context: ToolContext) -> str:
        """List the processes of this conversation, newest first."""
        every = await host.book.listed(context.session)
        return "\n".join(f"{_standing(one, now())} {_command(one)}" for one in every) or "There are no processes here."

    return [process_read, process_stop, process_list]


ELSEWHERE: Final = "It runs on another node of Signalbox, where its output is. It can be stopped from here."


async def _found(host: ProcessHost, name: str, context: ToolContext) -> Process:
    found = await host.book.found(name.strip(), context.session) if len(name.strip()) >= SHORT_ID_CHARS else None
    if found is None:
        raise ToolRetry("No process of this conversation has that id. process_list tells those that there are.")
    return found


async def _news(program: Program, seconds: float) -> None:
    """Wait for output or the end."""
    if program.ring.unread or program.ended.is_set():
        return
    program.news.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await program.news.wait()


def _said(process: Process, program: Program, now: datetime) -> str:
    piece = program.ring.take(PIECE_BYTES)
    lines = (
        [f"[{piece.lost:,} bytes before this were said faster than they were read, and are gone]"] if piece.lost else []
    )
    if piece.text:
        lines.append(piece.text.rstrip("\n"))
    if piece.more:
        lines.append(f"[{piece.more:,} more bytes wait: read again]")
    elif not piece.text:
        lines.append("[nothing new]")
    state = _standing(process, now) if not process.is_open else _open(process, program, now)
    return "\n".join([*lines, f"[{state}]"])


def _open(process: Process, program: Program, now: datetime) -> str:
    if not program.ended.is_set():
        return _standing(process, now)
    return f"Process {_short(process)} ended with exit code {program.exit_code}."


def _standing(process: Process, now: datetime) -> str:
    name = f"Process {_short(process)}"
    match process.state:
        case ProcessState.RUNNING:
            return f"{name} has run for {_ago(now - process.started_at)}."
        case ProcessState.STOPPING:
            return f"{name} is being stopped."
        case ProcessState.ENDED if process.exit is None:
            return f"{name} did not start. {process.reason}"
        case ProcessState.ENDED:
            return f"{name} ended with exit code {process.exit}."
        case ProcessState.STOPPED | ProcessState.LATE:
            return f"{name} was stopped. {process.reason}"
        case ProcessState.LOST:
            return f"{name} is over, and its output is gone. {process.reason} Start it again if it's still needed."


def _ago(time: timedelta) -> str:
    seconds = int(time.total_seconds())
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} minutes"


def _short(process: Process) -> str:
    return process.id[-SHORT_ID_CHARS:]


def _command(process: Process) -> str:
    one_line = " ".join(process.command.split())
    return one_line if len(one_line) <= COMMAND_SHOWN_CHARS else f"{one_line[:COMMAND_SHOWN_CHARS]}…"


def _input_card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    ends = [CardNote("and its input ends")] if arguments.get("close") else []
    return [CardText("text"), CardNote(f"to process {str(arguments.get('process', ''))[-SHORT_ID_CHARS:]}"), *ends]
