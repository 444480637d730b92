"""A PostgreSQL that another one follows, both real: the standby is a copy that streams, and can be promoted."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Final

import asyncpg

from tests.fakes.postgres import NOBODY, Postgres

FOLLOWS_WITHIN: Final = 30.0  # seconds
STREAMING: Final = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
WAITED_FOR: Final = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
BEHIND: Final = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn IS DISTINCT FROM pg_current_wal_lsn()"


class Primary(Postgres):
    """A server that may be followed."""

    def _settings(self) -> dict[str, object]:
        followed = {"wal_level": "replica", "max_wal_senders": 4, "hot_standby": "on", "wal_keep_size": "64MB"}
        return {**super()._settings(), **followed}

    async def confirm_after(self, standby: str) -> None:
        """From now on a commit is confirmed once this standby has it on its disk; `*` is any, and nothing is none."""
        await self.asked(f"ALTER SYSTEM SET synchronous_standby_names = '{standby}'")
        await self.asked("SELECT pg_reload_conf()")
        if standby:
            await self.until(WAITED_FOR, 1)

    async def asked(self, statement: str) -> Any:
        connection = await asyncpg.connect(self.url)
        try:
            return await connection.fetchval(statement)
        finally:
            await connection.close()

    async def until(self, statement: str, count: int) -> None:
        end = time.monotonic() + FOLLOWS_WITHIN
        while await self.asked(statement) != count:
            if time.monotonic() > end:
                raise AssertionError(f"no {count} of {statement}")
            await asyncio.sleep(0.05)


class Standby(Primary):
    """A copy of `primary`, which runs. With `start` it follows."""

    def __init__(self, primary: Primary) -> None:
        self._primary = primary
        super().__init__()

    def _initdb(self) -> None:
        self._password = self._primary._password
        where: list[str | Path] = ["-D", self._home / "data", "-d", self._primary.url]
        self._run(self._bin / "pg_basebackup", *where, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")

    def promote(self) -> None:
        """It takes writes from now on."""
        self._run(self._bin / "pg_ctl", "promote", "-D", self._home / "data", "-w")

    def pair(self, url: str) -> str:
        """The URL of a database with both servers in it, by the primary's."""
        return url.replace(f"@{self._primary.place}/", f"@{self._primary.place},{self.place}/")

    def _run(self, *command: str | Path) -> None:
        if os.geteuid() == 0:
            os.chown(self._home, NOBODY, NOBODY)
        done = subprocess.run(command, **self._ground(), capture_output=True, check=False, text=True)  # type: ignore[call-overload]
        if done.returncode:
            raise RuntimeError(f"{Path(command[0]).name} failed:\n{done.stdout}{done.stderr}")
