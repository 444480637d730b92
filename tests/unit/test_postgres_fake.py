"""The PostgreSQL the store suites rely on."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest

from tests.fakes.postgres import Postgres


async def test_it_is_a_real_server(postgres: Postgres) -> None:
    connection = await asyncpg.connect(postgres.url)
    try:
        assert await connection.fetchval("SELECT current_setting('server_version_num')::int >= 180000")
        assert await connection.fetchval("SELECT current_setting('fsync')") == "off"
    finally:
        await connection.close()


async def test_databases_are_apart_and_can_be_copied(postgres: Postgres) -> None:
    first, second = postgres.create_database(), postgres.create_database()
    await _execute(first, "CREATE TABLE thing (name text)", "INSERT INTO thing VALUES ('one')")
    assert await _count(second, "pg_tables WHERE tablename = 'thing'") == 0
    copy = postgres.create_database(template=first)
    await _execute(first, "DELETE FROM thing")
    assert await _count(copy, "thing") == 1


@pytest.mark.parametrize("crash", [False, True])
async def test_a_restart_keeps_port_and_rows(crash: bool) -> None:
    with Postgres(fsync=True) as server:
        url = server.create_database()
        await _execute(url, "CREATE TABLE thing (name text)", "INSERT INTO thing VALUES ('one')")
        server.stop(crash=crash)
        with pytest.raises(OSError, match="Connect"):
            await asyncpg.connect(url)
        server.start()
        assert await _count(url, "thing") == 1


def test_the_password_is_asked_for(postgres: Postgres) -> None:
    home = postgres._home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert " password\n" in (home / "data" / "pg_hba.conf").read_text()


def test_a_killed_test_run_leaves_no_server() -> None:
    program = "import os, signal; from tests.fakes.postgres import Postgres; server = Postgres(); server.start()"
    program += "; print((server._home / 'data' / 'postmaster.pid').read_text().split()[0], server._home, flush=True)"
    program += "; os.kill(os.getpid(), signal.SIGKILL)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=50)
    pid, home = ended.stdout.split()
    try:
        _gone(int(pid))
    finally:
        subprocess.run(["rm", "-rf", home], check=True)


def _gone(pid: int) -> None:
    """Wait for the end of a process that is not our child; pytest's time limit bounds it."""
    while Path(f"/proc/{pid}").exists():
        os.sched_yield()


async def _execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def _count(url: str, source: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        rows: int = await connection.fetchval(f"SELECT count(*) FROM {source}")
        return rows
    finally:
        await connection.close()
