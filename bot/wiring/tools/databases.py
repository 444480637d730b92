"""The tool that asks databases, where the settings name some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bot.settings.settings import Settings
from bot.settings.tools.databases import SQLITE, DatabaseTable
from runtime.contract import Address, Tool

if TYPE_CHECKING:
    from tools.databases.answers import Database


def query_tools(settings: Settings, named: Callable[[Address], str]) -> Mapping[str, Tool]:
    """By name; empty where no database is named."""
    if not settings.databases:
        return {}
    from tools.databases.tool import OpenDatabase, query_tool

    tables = [table for table in settings.databases if table.url]  # else its secret isn't at hand here
    tool = query_tool([OpenDatabase(database_of(one), one.agents, one.rooms) for one in tables], named)
    return {tool.spec.name: tool}


def database_of(table: DatabaseTable) -> Database:
    from tools.databases.answers import QueryBounds
    from tools.databases.postgres import PostgresDatabase
    from tools.databases.sqlite import SqliteDatabase

    bounds = QueryBounds(table.max_rows, table.time)
    if table.address.startswith(SQLITE):
        return SqliteDatabase(table.name, Path(table.address.removeprefix(SQLITE)), bounds)
    return PostgresDatabase(table.name, table.address, bounds)
