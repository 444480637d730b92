"""The database of a program on PostgreSQL, read without its code."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg

from tests.faults.stage import Rows, Stage


class PostgresRows(Rows):
    def __init__(self, url: str) -> None:
        super().__init__(Path())
        self._url = url

    def select(self, statement: str) -> list[Any]:
        with ThreadPoolExecutor(1) as beside:  # the loop that waits for the answer is not the one that asks
            return beside.submit(asyncio.run, self._select(statement)).result()

    def change(self, statement: str) -> None:
        self.select(statement)

    async def _select(self, statement: str) -> list[Any]:
        connection = await asyncpg.connect(self._url)
        try:
            return [tuple(row) for row in await connection.fetch(statement)]
        finally:
            await connection.close()


def rows_of(on: Stage, url: str) -> Rows:
    """`url` is empty for the file in its data folder."""
    return PostgresRows(url) if url else Rows(on.program.data / "signalbox.db")
