"""The tool that asks a database that operators named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
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
    Reads,
    Tool,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from runtime.text.naming import listed
from runtime.text.outside import material
from tools.databases.answers import Database, QueryFault, Rows, as_csv, schema_told, summed, told
from tools.databases.statements import statement_of
from tools.files.files import replace
from tools.kit.declare import tool
from tools.kit.keys import key_of

QUERY: Final = "query"
QUERIES_FOLDER: Final = "queries"
QUERY_BOUND: Final = 20_000
"""Characters of a result."""
QUERY_TIME_MAX: Final = timedelta(seconds=300)
"""Of any database; each has a shorter one of its own."""
QUERIES_AT_ONCE: Final = 4
KEY_SHOWN_CHARS: Final = 8
QUERY_FLOW: Final = Flow(
    Reads.OUTSIDE,
    "a database",
    writes=QUERIES_FOLDER,
    carries={"sql": Carries.WORDS, "database": Carries.THING, "file": Carries.DETAIL},
)
"""Rows hold what customers and other people wrote: material, as a page of the web is."""
NO_DATABASE: Final = "There is no database to ask in this room."


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """A database with those who may ask it: globs of agents and rooms."""

    database: Database
    agents: Sequence[str] = ("*",)
    rooms: Sequence[str] = ("*",)

    def is_open_to(self, agent: str, room: str) -> bool:
        return _fits(agent, self.agents) and _fits(room, self.rooms)


def _fits(text: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(text, glob) for glob in globs)


def query_tool(databases: Sequence[OpenDatabase], named: Callable[[Address], str]) -> Tool:
    """The tool `query`. `named` writes a room as the settings do."""
    places = asyncio.Semaphore(QUERIES_AT_ONCE)

    @tool(
        effect=Effect.READ, timeout=QUERY_TIME_MAX, output_bound=QUERY_BOUND, card=_card, seldom=True, flow=QUERY_FLOW
    )
    async def query(
        context: ToolContext,
        sql: Annotated[str, "One statement that reads; without it: tables and their columns."] = "",
        database: Annotated[str, "Its name, where there are several."] = "",
        file: Annotated[bool, "Also keep all rows as a CSV file, such as for chart."] = False,
    ) -> str:
        """Ask a database by SQL, read-only; rows that don't fit go into a CSV file."""
        room = named(context.address.whole_room) if context.address else ""
        here = [one.database for one in databases if one.is_open_to(context.agent, room)]
        chosen = one_of(here, database)
        statement = statement_of(sql) if sql.strip() else ""
        async with places:
            try:
                answer = await (chosen.query(statement) if statement else chosen.tables())
            except QueryFault as fault:
                raise ToolFailed(_faulty(chosen, fault)) from fault
        if not statement:
            return f"Tables of {chosen.name}:\n{schema_told(answer)}"
        return await _shown(chosen, statement, answer, context, keep=file)

    return query


def one_of(here: Sequence[Database], name: str) -> Database:
    """The database that is meant. Errors: ToolRetry names those that are open here."""
    found = [one for one in here if name in ("", one.name)]
    if len(found) == 1:
        return found[0]
    if not here:
        raise ToolRetry(NO_DATABASE)
    names = listed([one.name for one in here])
    raise ToolRetry(
        f"There is no database {name!r} here; there are {names}." if name else f"Name the database: {names}."
    )


async def _shown(chosen: Database, statement: str, answer: Rows, context: ToolContext, *, keep: bool) -> str:
    table, is_whole = told(answer)
    lines = [f"{chosen.name}: {summed(answer)}"]
    if answer.more:
        lines.append(
            f"[There are more rows: at most {chosen.bounds.rows:,} are read. Count or group them, or ask for fewer.]"
        )
    if answer.rows and (keep or not is_whole):
        path = f"{QUERIES_FOLDER}/{chosen.name}-{key_of(chosen.name, statement)[:KEY_SHOWN_CHARS]}.csv"
        await asyncio.to_thread(replace, context.workspace, path, as_csv(answer))
        lines.append(f"[All {len(answer.rows):,} rows are in {path}: chart draws it, send_file hands it over.]")
    return "\n".join([*lines, table])


def _faulty(chosen: Database, fault: QueryFault) -> str:
    """Words of the database may repeat values of its rows, so they are material as these are."""
    words = f"\n{material(fault.words, chosen.name, markup=False)}" if fault.words else ""
    return f"{chosen.name} didn't answer. {fault.why}{words}"


def _card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    return [CardValue("database"), CardText("sql")]
