"""Standard input and output as the protocol's lines: nothing else gets out there, and garbage that comes in ends nothing."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from contextlib import suppress
from typing import Any, Final

import structlog
from acp.agent.connection import AgentSideConnection

from bot.doors.acp.editor import EditorAgent
from bot.doors.acp.serving import Begin, serving_here
from bot.doors.acp.sessions import Sessions
from bot.settings.settings import Settings
from runtime.errors import ConfigError
from runtime.text.words import LANGUAGES, Languages

log = structlog.get_logger("acp")

LINE_MAX_BYTES: Final = 64 << 20
"""Of one message; an image in base64 is one line."""
STDIN_CHUNK_BYTES: Final = 1 << 16
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
LINE_TOO_LONG: Final = f"This line has more than {LINE_MAX_BYTES >> 20} MiB."
NO_JSON: Final = "This line is no JSON."
NO_MESSAGE: Final = "This is no message of JSON-RPC."
NO_PIPE: Final = (
    "`signalbox acp` speaks with an editor over pipes, but its {stream} is none. The editor starts it: "
    'name the command "signalbox" with the argument "acp" in its settings, as docs/acp.md shows.'
)


class StdioTransport:
    """Implements the protocol library's `Transport`. What is no message is answered with its fault, and left out."""

    def __init__(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        self._reading = reading
        self._writing = writing
        self._turn = asyncio.Lock()

    async def send(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        async with self._turn:
            self._writing.write(line)
            await self._writing.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end."""
        while (line := await self._line()) is not None:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await self._refuse(PARSE_ERROR, NO_JSON)
                continue
            if isinstance(message, dict) and isinstance(message.get("method", ""), str):
                return message
            await self._refuse(INVALID_REQUEST, NO_MESSAGE)
        return None

    async def close(self) -> None:
        with suppress(OSError):
            self._writing.close()

    async def _line(self) -> bytes | None:
        """A line; empty where it was too long and is left out, None at the end."""
        gathered, is_too_long = bytearray(), False
        while True:
            try:
                piece, is_whole = await self._reading.readuntil(b"\n"), True
            except asyncio.LimitOverrunError as more:
                piece, is_whole = await self._reading.readexactly(more.consumed), False
            except asyncio.IncompleteReadError:
                return None  # half a line is no message
            except OSError:
                return None
            if not is_too_long:
                gathered += piece
            if len(gathered) > LINE_MAX_BYTES:
                gathered, is_too_long = bytearray(), True
            if is_whole:
                if is_too_long:
                    await self._refuse(PARSE_ERROR, LINE_TOO_LONG)
                return bytes(gathered)

    async def _refuse(self, code: int, words: str) -> None:
        with suppress(OSError):
            await self.send({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}})


async def spoken_over(
    settings: Settings,
    begin: Begin,
    reading: asyncio.StreamReader,
    writing: asyncio.StreamWriter,
    *,
    skips_servers: bool = False,
) -> None:
    """Serve an editor until it leaves. What is said to its user has the language of the settings.

    `skips_servers`: sessions begin without the MCP servers that it hands over, which are refused otherwise.
    """
    LANGUAGES.set(Languages(settings.language))
    async with serving_here(settings, begin) as serving:
        agent = EditorAgent(serving, Sessions(settings.data_dir), skips_servers=skips_servers)
        connection = AgentSideConnection(
            agent, StdioTransport(reading, writing), listening=False, use_unstable_protocol=True
        )
        try:
            await connection.listen()
        finally:
            left = agent.at_work
            await connection.close()
            await agent.settle(left)


def expect_pipes(reading: int, writing: int) -> None:
    """Errors: ConfigError where one of the two is a file or /dev/null: nobody can be waited for there."""
    for descriptor, stream in ((reading, "standard input"), (writing, "standard output")):
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)):
            raise ConfigError(NO_PIPE.format(stream=stream))


async def serve_editor(settings: Settings, begin: Begin, *, skips_servers: bool = False) -> None:
    """The same on standard input and output. Whatever else would print there goes to standard error from now on.

    Errors: ConfigError.
    """
    expect_pipes(sys.stdin.fileno(), sys.stdout.fileno())
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0) as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        loop = asyncio.get_running_loop()
        reading = asyncio.StreamReader(limit=STDIN_CHUNK_BYTES)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reading), sys.stdin)
        way, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
        says = asyncio.StreamWriter(way, protocol, None, loop)
        await spoken_over(settings, begin, reading, says, skips_servers=skips_servers)
