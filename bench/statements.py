"""The SQL of one message: every transaction in order with its statements, as Markdown.

    python -m bench.statements [--tool | --click [--deny] [--places N]] [--postgres] [--sql]

The real program runs in this process, with the demo model, and with a driver that writes down what passes through it; a
message is said on the page, in a conversation that is under way. `--tool`: its answer needs one tool call. `--click`:
what follows an approval, from the press to the answer, `--deny`: what follows a denial; `--places`: with copies
of its card in so many more rooms. `--postgres`: on a server of our own, with the round trips of each transaction, BEGIN and
COMMIT among them. `--sql`: the statements in full.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import re
import tempfile
from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from bench.engines import postgres_dialect
from bench.page import Chat, page
from bench.program import TOKEN
from bench.tape import Operation, Statement, Taped
from bench.trips import Counted, Trips, counted
from bot.server.app import App, build
from bot.server.process import serving
from bot.settings.settings import Settings, load
from tests.fakes.postgres import Postgres

BY_THE_CLOCK: Final = frozenset({"agenda", "beat", "reap", "seal", "expire", "rooms"})
"""Operations that go on whether somebody speaks or not: the poller, leases, the audit's sealer, the courier's look around."""

LOOKS: Final = frozenset({"claim", "claim_suspect"})
"""Those that go on by the clock too; they belong to a message where they find something."""

PLAIN: Final = "hello"
TOOL: Final = "list the files"
CLICK: Final = "write hello to notes.txt"
ROOMS: Final = tuple(f"place{number:011}" for number in range(1, 10))
SETTLED: Final = 0.4  # seconds: what follows a reply is over, and what looks once a second has not looked again

TABLES: Final = re.compile(r"\b(?:INTO|UPDATE|FROM|JOIN)\s+(?!SET\b)(\w+)")
UPSERT: Final = " DO UPDATE "


async def heard_of(
    words: str, folder: Path, *, choice: str = "approve", extra: int = 0, url: str = "", trips: Trips | None = None
) -> list[Operation]:
    """Everything the store did for one message, or where that one asks, for the press on `choice`.

    A card then has copies in so many `extra` rooms. `url` is that of a database on PostgreSQL; `trips` are told there of each
    operation's round trips.
    """
    heard: list[Operation] = []

    async def make(settings: Settings) -> App:
        app = await build(settings)
        driver = app.store.driver
        dialect = postgres_dialect() if url else SQLiteDialect(paramstyle="qmark")
        taped = Taped(copy(driver), dialect, heard.append)
        if trips is not None:
            taped = Counted(taped, trips)
        for name in ("read", "write"):
            setattr(driver, name, getattr(taped, name))
        return app

    places = ["room", *(f"web:main/{room}" for room in ROOMS[:extra])]
    overrides = {"web.port": 0, "web.token": TOKEN, "approvals.to": places} | ({"database_url": url} if url else {})
    settings = load(environ={}, folder=folder, overrides=overrides)
    async with (
        serving(settings, make=make) as ready,
        page(f"{ready.control.url}/link/{TOKEN}") as visitor,
        visitor.chat() as chat,
    ):
        for room in ROOMS[:extra]:
            async with visitor.chat(room) as other:
                await other.ask(PLAIN)
        await chat.ask(PLAIN)
        await asyncio.sleep(SETTLED)
        heard.clear()
        if words == CLICK:
            await _pressed(chat, words, choice, heard)
        else:
            await chat.ask(words)
        await asyncio.sleep(SETTLED)
        return [operation for operation in heard if _belongs(operation)]


async def _pressed(chat: Chat, words: str, choice: str, heard: list[Operation]) -> None:
    await chat.say(words)
    approval, room = await chat.card()
    await asyncio.sleep(SETTLED)
    heard.clear()
    await chat.press(approval, room, choice)
    await chat.reply()


def _belongs(operation: Operation) -> bool:
    return operation.name not in BY_THE_CLOCK and (operation.changes or operation.name not in LOOKS)


# ------------------------------------------------------------------------------------------------------ as Markdown


def told(heard: Sequence[Operation], trips: Trips | None = None) -> Iterator[str]:
    """A row a transaction, and the sums below."""
    way, rule = (" round trips |", " --- |") if trips else ("", "")
    yield f"| | transaction | to the disk | statements |{way} which |"
    yield f"| --- | --- | --- | --- |{rule} --- |"
    for number, operation in enumerate(heard, 1):
        count = f" {trips.of(operation)} |" if trips else ""
        row = f"| {number} | `{operation.name}` | {_kind(operation)} | {len(operation.statements)} |"
        yield f"{row}{count} {_which(operation)} |"
    flushes = sum(operation.changes for operation in heard)
    statements = [statement for operation in heard for statement in operation.statements]
    changes = sum(statement.changes for statement in statements)
    yield ""
    yield f"{flushes} commits that wait for the disk; {len(statements)} statements, of which {changes} change rows."
    if trips:
        yield f"{sum(trips.of(operation) for operation in heard)} round trips."


def _kind(operation: Operation) -> str:
    if operation.changes:
        return "commit"
    return "nothing to write" if operation.writes else "reads"


def _which(operation: Operation) -> str:
    return " · ".join(map(in_short, operation.statements))


def in_short(statement: Statement) -> str:
    """
    >>> in_short(Statement("SELECT runs.id FROM runs JOIN sessions ON TRUE", ()))
    'select runs, sessions'
    """
    verb = "upsert" if UPSERT in statement.sql else statement.sql.split(maxsplit=1)[0].lower()
    tables = dict.fromkeys(TABLES.findall(statement.sql))
    return f"{verb} {', '.join(tables)}"


def in_full(heard: Sequence[Operation]) -> Iterator[str]:
    for number, operation in enumerate(heard, 1):
        yield f"\n{number}. `{operation.name}`\n\n```sql"
        for statement in operation.statements:
            yield f"{' '.join(statement.sql.split())};"
        yield "```"


def quiet() -> None:
    """Keep the program's log out of the figures."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.statements", description="The SQL of one message, as Markdown.")
    parser.add_argument("--tool", action="store_true", help="a message whose answer needs one tool call")
    parser.add_argument("--click", action="store_true", help="the press on Approve, and what follows until the answer")
    parser.add_argument("--deny", action="store_true", help="with --click: the press on Deny")
    most = len(ROOMS)
    parser.add_argument("--places", type=int, default=0, choices=range(most + 1), help="copies of the card elsewhere")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server, with the round trips to it")
    parser.add_argument("--sql", action="store_true", help="also the statements in full")
    chosen = parser.parse_args()
    quiet()
    words = CLICK if chosen.click else TOOL if chosen.tool else PLAIN
    choice = "deny" if chosen.deny else "approve"
    of = partial(heard_of, words, choice=choice, extra=chosen.places)
    trips: Trips | None = None
    with tempfile.TemporaryDirectory() as folder:
        if chosen.postgres:
            with Postgres(fsync=False) as server, counted() as trips:
                heard = asyncio.run(of(Path(folder), url=server.create_database(), trips=trips))
        else:
            heard = asyncio.run(of(Path(folder)))
    print("\n".join(told(heard, trips)))
    if chosen.sql:
        print("\n".join(in_full(heard)))


if __name__ == "__main__":
    main()
