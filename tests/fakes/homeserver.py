"""A real Matrix homeserver: Synapse, a program of its own from `.venv-synapse`, with SQLite and on this machine alone.

Synapse is under the AGPL. It's a server that tests talk to, in an environment of its own: nothing here imports it, and no
part of it is shipped. `make cuts` installs it.
"""

from __future__ import annotations

import asyncio
import atexit
import hmac
import json
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import aiohttp

from tests.fakes.ports import free_port
from tests.fakes.serve import ROOT

Raw = dict[str, Any]

PYTHON: Final = ROOT / ".venv-synapse" / "bin" / "python"
SERVER: Final = "hs.test"
SHARED_SECRET: Final = "let-tests-register"
STARTS_WITHIN: Final = 60.0  # seconds, on a busy machine; three on an idle one
FAST: Final = {"per_second": 100_000, "burst_count": 100_000}
BOUNDED: Final = (
    "rc_message",
    "rc_registration",
    "rc_joins_per_room",
    "rc_admin_redaction",
    "rc_media_create",
    "rc_room_creation",
)
LOGGING: Final = {
    "version": 1,
    "formatters": {"plain": {"format": "%(asctime)s %(name)s %(levelname)s %(message)s"}},
    "handlers": {"file": {"class": "logging.FileHandler", "filename": "homeserver.log", "formatter": "plain"}},
    "root": {"level": "WARNING", "handlers": ["file"]},
    "disable_existing_loggers": False,
}


def is_installed() -> bool:
    return PYTHON.exists()


class Homeserver:
    """One Synapse over one folder: it may be stopped and started, and keeps what it has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "homeserver.yaml").write_text(json.dumps(self._settings()), encoding="utf-8")  # JSON is YAML
        (folder / "log.yaml").write_text(json.dumps(LOGGING), encoding="utf-8")
        (folder / "signing.key").write_text(f"ed25519 a_test {'A' * 43}\n", encoding="utf-8")

    def _settings(self) -> Raw:
        return {
            "server_name": SERVER,
            "public_baseurl": f"{self.url}/",
            "pid_file": str(self.folder / "pid"),
            "listeners": [
                {
                    "port": self.port,
                    "bind_addresses": ["127.0.0.1"],
                    "type": "http",
                    "resources": [{"names": ["client"], "compress": False}],
                }
            ],
            "database": {"name": "sqlite3", "args": {"database": str(self.folder / "homeserver.db")}},
            "log_config": str(self.folder / "log.yaml"),
            "media_store_path": str(self.folder / "media"),
            "signing_key_path": str(self.folder / "signing.key"),
            "registration_shared_secret": SHARED_SECRET,
            "macaroon_secret_key": "m",
            "form_secret": "f",
            "report_stats": False,
            "suppress_key_server_warning": True,
            "trusted_key_servers": [],
            "federation_domain_whitelist": [],
            "presence": {"enabled": False},
            "url_preview_enabled": False,
            "bcrypt_rounds": 4,
            "caches": {"sync_response_cache_duration": "0s"},
            **dict.fromkeys(BOUNDED, FAST),
            "rc_login": dict.fromkeys(("address", "account", "failed_attempts"), FAST),
            "rc_joins": dict.fromkeys(("local", "remote"), FAST),
            "rc_invites": dict.fromkeys(("per_room", "per_user", "per_issuer"), FAST),
        }

    def start(self) -> None:
        command = [str(PYTHON), "-m", "synapse.app.homeserver", "-c", "homeserver.yaml"]
        with (self.folder / "out").open("ab") as out:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=out, stderr=out)

    def stop(self) -> None:
        """End it at once; SQLite keeps what was answered."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    async def up(self) -> None:
        """Wait until it answers. Errors: RuntimeError with what it printed."""
        end = time.monotonic() + STARTS_WITHIN
        async with aiohttp.ClientSession() as http:
            while time.monotonic() < end:
                if self._process is None or self._process.poll() is not None:
                    break
                try:
                    async with http.get(f"{self.url}/_matrix/client/versions") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.1)
        told = (self.folder / "out").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"Synapse did not start:\n{told[-2_000:]}")


_SHARED: list[Homeserver] = []


async def shared() -> Homeserver:
    """The one of this process's tests, started with the first that asks and ended with the process."""
    if not _SHARED:
        folder = Path(tempfile.mkdtemp(prefix="synapse-"))
        server = Homeserver(folder)
        server.start()
        _SHARED.append(server)
        atexit.register(_end, server)
    await _SHARED[0].up()
    return _SHARED[0]


def _end(server: Homeserver) -> None:
    server.stop()
    shutil.rmtree(server.folder, ignore_errors=True)


class User:
    """Somebody who speaks the client-server API: a person, or the bot as its own tests see it."""

    def __init__(self, http: aiohttp.ClientSession, url: str, id: str, token: str) -> None:
        self._http = http
        self._url = url
        self._numbers = iter(range(1, 1_000_000))
        self.id = id
        self.token = token

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, **params: str) -> Raw:
        """Errors: LookupError with the homeserver's word for whatever is not 200."""
        headers = {"Authorization": f"Bearer {self.token}"}
        url = f"{self._url}/_matrix/client/v3{path}"
        async with self._http.request(method, url, json=body, params=params, headers=headers) as answer:
            told: Raw = await answer.json()
            if answer.status != 200:
                raise LookupError(f"{method} {path}: {answer.status} {told}")
            return told

    async def room(self, *invited: User, direct: bool = False, **more: Any) -> str:
        """A new room, which those who are invited have joined."""
        preset = "trusted_private_chat" if direct else "private_chat"
        asked = {"preset": preset, "invite": [user.id for user in invited], "is_direct": direct, **more}
        room = str((await self.call("POST", "/createRoom", asked))["room_id"])
        for user in invited:
            await user.call("POST", f"/join/{quote(room)}", {})
        return room

    async def send(self, room: str, content: Raw, kind: str = "m.room.message") -> str:
        number = f"{self.id}{time.monotonic_ns()}{next(self._numbers)}"
        path = f"/rooms/{quote(room)}/send/{kind}/{quote(number, safe='')}"
        return str((await self.call("PUT", path, content))["event_id"])

    async def redact(self, room: str, event: str) -> None:
        await self.call("PUT", f"/rooms/{quote(room)}/redact/{quote(event, safe='')}/{time.monotonic_ns()}", {})

    async def state(self, room: str, kind: str, content: Raw) -> None:
        await self.call("PUT", f"/rooms/{quote(room)}/state/{kind}/", content)

    async def event(self, room: str, event: str) -> Raw:
        return await self.call("GET", f"/rooms/{quote(room)}/event/{quote(event, safe='')}")

    async def timeline(self, room: str, limit: int = 500) -> list[Raw]:
        """Events of a room, oldest first."""
        told = await self.call("GET", f"/rooms/{quote(room)}/messages", dir="b", limit=str(limit))
        return list(reversed(told["chunk"]))

    async def upload(self, name: str, content: bytes) -> str:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "text/plain"}
        url = f"{self._url}/_matrix/media/v3/upload"
        async with self._http.post(url, data=content, params={"filename": name}, headers=headers) as answer:
            return str((await answer.json())["content_uri"])


async def register(http: aiohttp.ClientSession, url: str, name: str, called: str = "") -> User:
    """A new user, by the shared secret. Source: Synapse's admin API, register."""
    path = f"{url}/_synapse/admin/v1/register"
    async with http.get(path) as answer:
        nonce = (await answer.json())["nonce"]
    proof = "\0".join([nonce, name, "password", "notadmin"]).encode()
    mac = hmac.new(SHARED_SECRET.encode(), proof, sha1).hexdigest()
    asked = {
        "nonce": nonce,
        "username": name,
        "password": "password",
        "admin": False,
        "mac": mac,
        "displayname": called or name,
    }
    async with http.post(path, json=asked) as answer:
        told = await answer.json()
        if answer.status != 200:
            raise LookupError(f"register {name}: {told}")
    return User(http, url, str(told["user_id"]), str(told["access_token"]))
