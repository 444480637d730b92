"""A real PgBouncer before a real PostgreSQL, as the documentation has it set; Debian's program, not a fake of it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from tests.fakes.ports import free_port
from tests.fakes.postgres import NOBODY, Postgres

PATHS: Final = os.pathsep.join((os.defpath, "/usr/sbin", "/usr/local/sbin"))
STARTS_WITHIN: Final = 20.0  # seconds
SETTINGS: Final = """\
[databases]
* = host=127.0.0.1 port={server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/userlist.txt
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 200
"""


def program() -> str | None:
    """The PgBouncer of this machine; None without one (tests/setup.sh pgbouncer installs it)."""
    return shutil.which("pgbouncer", path=PATHS)


class PgBouncer:
    """Pools connections to `server`, at most `size` for a database; `with` starts and ends it."""

    def __init__(self, server: Postgres, *, mode: str = "transaction", size: int = 20) -> None:
        self._server = urlsplit(server.url)
        self._mode, self._size = mode, size
        self._home = Path(tempfile.mkdtemp(prefix="signalbox-pgbouncer-"))
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)

    def before(self, url: str) -> str:
        """The URL of the same database, past this."""
        return url.replace(f":{self._server.port}/", f":{self._port}/")

    def log(self) -> str:
        return (self._home / "log").read_text(errors="replace")

    def _start(self) -> None:
        found = program()
        assert found
        settings = self._home / "pgbouncer.ini"
        settings.write_text(
            SETTINGS.format(
                server=self._server.port, port=self._port, folder=self._home, mode=self._mode, size=self._size
            )
        )
        users = self._home / "userlist.txt"
        users.write_text(f'"{self._server.username}" "{self._server.password}"\n')
        ground = {}
        if os.geteuid() == 0:  # it refuses to be root
            for path in (self._home, settings, users):
                os.chown(path, NOBODY, NOBODY)
            ground = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        with (self._home / "log").open("wb") as log:
            self._process = subprocess.Popen(  # type: ignore[call-overload]
                [found, settings], **ground, cwd=self._home, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._await()

    def _await(self) -> None:
        assert self._process
        until = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < until and self._process.poll() is None:
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError(f"PgBouncer did not start:\n{self.log()}")
