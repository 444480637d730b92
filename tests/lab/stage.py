"""A stage of the laboratory: real nodes on a real database and one platform, each way between them through a proxy."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import asyncpg

from tests.contract.adapters.catalogue import RIGS
from tests.contract.adapters.rig import Place, Rig
from tests.fakes.forked import Forked, forked
from tests.fakes.postgres import Postgres
from tests.fakes.serve import ROOT
from tests.faults.program import until
from tests.faults.stage import UNBOUND
from tests.lab.proxy import Proxy, proxy

SEED: Final = int(os.environ.get("LAB_SEED") or secrets.randbelow(1_000_000))
REPEATS: Final = int(os.environ.get("LAB_REPEATS") or 25)
"""What `make lab` says: where chance begins, and how often a fault is repeated in the tests that take long."""
STARTS_WITHIN: Final = 60.0  # seconds; under two where nothing else runs
LEAVES_WITHIN: Final = 30.0  # seconds; the checker judges, and this only ends the wait
PATIENCE: Final = 60.0  # seconds for an answer
ROWS: Final = "SELECT label, state FROM nodes"
ROLES: Final = "SELECT r.name, n.label FROM roles r LEFT JOIN nodes n ON n.id = r.node"


@dataclass(frozen=True, slots=True)
class Health:
    """One look from outside. Status 0: nobody answered."""

    ready: int = 0
    healthy: int = 0
    seconds: float = 0.0
    reasons: Mapping[str, str] = field(default_factory=dict)


class Node:
    """One process of the program, which is kept whatever is done to it. `platform` and `store` are its ways there."""

    def __init__(self, name: str, folder: Path, arguments: Sequence[str], platform: Proxy, store: Proxy | None) -> None:
        self.name = name
        self.data = folder / name / "var"
        self.platform = platform
        self.store = store
        self.url = ""
        self._log = folder / f"{name}.log"
        self._arguments = arguments
        self._process: Forked | None = None

    @asynccontextmanager
    async def living(self) -> AsyncIterator[Node]:
        """It runs inside the block; one that did not leave is killed at the end."""
        self.data.mkdir(parents=True, exist_ok=True, mode=0o711)
        command = ("tests.lab.app", "--data", str(self.data), *self._arguments)
        with self._log.open("ab") as log:
            async with forked(*command, folder=ROOT, stderr=log.fileno()) as self._process:
                async with asyncio.timeout(STARTS_WITHIN):
                    self.url = (await self._process.stdout.readline()).decode().strip()
                if not self.url:
                    raise AssertionError(f"{self.name} did not start\n{self.log()}")
                yield self

    @property
    def process(self) -> Forked:
        assert self._process is not None
        return self._process

    @property
    def is_living(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()

    async def leave(self) -> dict[str, Any]:
        """Ask it to go: its exit code, and how many seconds it took."""
        began = time.monotonic()
        self.process.terminate()
        try:
            async with asyncio.timeout(LEAVES_WITHIN):
                code: int | None = await self.process.wait()
        except TimeoutError:
            code = None
        return {"name": self.name, "code": code, "seconds": time.monotonic() - began}

    async def health(self) -> Health:
        """What it says of itself now."""
        timeout = aiohttp.ClientTimeout(total=5)
        began = time.monotonic()
        try:
            async with aiohttp.ClientSession(timeout=timeout) as http:
                async with http.get(f"{self.url}/readyz") as answer:
                    ready, told = answer.status, await answer.json()
                seconds = time.monotonic() - began
                async with http.get(f"{self.url}/healthz") as answer:
                    return Health(ready, answer.status, seconds, told.get("reasons", {}))
        except (aiohttp.ClientError, TimeoutError):
            return Health(seconds=time.monotonic() - began)

    async def until_ready(self, seconds: float = PATIENCE) -> float:
        """How many seconds it took to say that it is ready."""
        began = time.monotonic()

        async def look() -> bool | None:
            return (await self.health()).ready == 200 or None

        await until(look, f"{self.name} being ready\n{self.log()}", seconds)
        return time.monotonic() - began

    async def ended(self, seconds: float = PATIENCE) -> int:
        """Its exit code, once it ended by itself."""
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    def log(self) -> str:
        """The last lines it logged."""
        return "\n".join(self._log.read_text(encoding="utf-8").splitlines()[-40:]) if self._log.exists() else ""


class Lab:
    """The stage. `database` is where rows are read from, past all proxies: a PostgreSQL URL, or a file's path."""

    def __init__(self, rig: Rig, nodes: Sequence[Node], database: str) -> None:
        self.rig = rig
        self.nodes = nodes
        self._database = database
        self._said: list[dict[str, Any]] = []
        self._places: dict[str, Place] = {}
        self._left: list[dict[str, Any]] = []

    @property
    def database(self) -> str:
        return self._database

    async def say(self, place: Place) -> str:
        """Somebody writes there; the token by which the answer is known."""
        token = f"tok{len(self._said):04d}"
        self._places[str(place)] = place
        self._said.append({"room": str(place), "token": token})
        await self.rig.say(place, f"good morning {token}")
        return token

    async def is_shown(self, place: Place, token: str) -> bool:
        return any(token in message.text for message in await self.rig.visible(place))

    async def until_shown(self, place: Place, token: str, seconds: float = PATIENCE) -> float:
        """How many seconds it took from now."""
        began = time.monotonic()

        async def look() -> bool | None:
            return await self.is_shown(place, token) or None

        logs = "\n".join(f"--- {node.name}\n{node.log()}" for node in self.nodes)
        await until(look, f"an answer to {token} in {place}\n{logs}", seconds)
        return time.monotonic() - began

    async def answered(self, place: Place, seconds: float = PATIENCE) -> float:
        """Say something and have it answered; how many seconds that took."""
        return await self.until_shown(place, await self.say(place), seconds)

    async def until_serving(self, node: Node, seconds: float = PATIENCE) -> float:
        """How many seconds it took until the node is live in the table, and ready."""
        began = time.monotonic()

        async def look() -> bool | None:
            is_live = (await self.rows()).get(str(node.process.pid)) == "live"
            return (is_live and (await node.health()).ready == 200) or None

        await until(look, f"{node.name} among the living\n{node.log()}", seconds)
        return time.monotonic() - began

    async def until_missed(self, node: Node) -> None:
        """Until the others say that it is dead, so that its work is theirs."""

        async def look() -> bool | None:
            return (await self.rows()).get(str(node.process.pid)) == "dead" or None

        await until(look, f"{node.name} missed by the others", PATIENCE)

    async def until_at_work(self, runs: int = 1) -> None:
        """Until the model is at work on so many answers."""

        async def look() -> bool | None:
            return len(await self.select("SELECT id FROM runs WHERE state = 'running'")) >= runs or None

        await until(look, f"{runs} runs at work", PATIENCE)

    async def owner(self, role: str) -> Node:
        """The node that has a role whose name begins so."""

        async def look() -> Node | None:
            pids = {pid for name, pid in (await self.roles()).items() if name.startswith(role)}
            return next((node for node in self.nodes if node.is_living and str(node.process.pid) in pids), None)

        return await until(look, f"an owner of {role}")

    async def rows(self) -> Mapping[str, str]:
        """The newest state of each process in the table of nodes, by its pid."""
        states: dict[str, str] = {}
        for label, state in await self.select(ROWS):
            pid = label.rpartition("/")[2]
            if states.get(pid) != "live":
                states[pid] = state
        return states

    async def roles(self) -> Mapping[str, str | None]:
        """Who has each role that was ever taken, by pid."""
        return {name: label and label.rpartition("/")[2] for name, label in await self.select(ROLES)}

    async def select(self, statement: str) -> Sequence[Any]:
        if not self._database.startswith("postgresql://"):
            with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as database:
                return database.execute(statement).fetchall()
        connection = await asyncpg.connect(self._database)
        try:
            return [tuple(record) for record in await connection.fetch(statement)]
        finally:
            await connection.close()

    async def leave(self) -> None:
        """Every node that lives is asked to leave, one after another."""
        for node in self.nodes:
            if node.is_living:
                self._left.append(await node.leave())

    async def judged(self) -> None:
        """Have everybody leave, and the checker judge. Errors: AssertionError with each promise that was not kept."""
        looks = [(node, await node.health()) for node in self.nodes if node.is_living]
        evidence = {
            "said": self._said,
            "seen": {room: await self._seen(place) for room, place in self._places.items()},
            "nodes": [{"name": node.name, "pid": node.process.pid, **_told(health)} for node, health in looks],
            "rows": await self.rows(),
            "roles": await self.roles(),
        }
        await self.leave()
        told = await judge({**evidence, "left": self._left})
        if told:
            raise AssertionError("\n".join([told, *(f"--- {node.name}\n{node.log()}" for node in self.nodes)]))

    async def _seen(self, place: Place) -> list[dict[str, Any]]:
        return [{"text": message.text, "marked": message.marked} for message in await self.rig.visible(place)]


def _told(health: Health) -> dict[str, Any]:
    return {
        "ready": health.ready,
        "healthy": health.healthy,
        "seconds": health.seconds,
        "reasons": dict(health.reasons),
    }


async def judge(evidence: Mapping[str, Any]) -> str:
    """What the checker says, which is a process of its own; nothing when every promise was kept."""
    checker = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("checker.py")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await checker.communicate(json.dumps(evidence).encode())
    if checker.returncode not in (0, 1):
        raise AssertionError("the checker broke")
    return told.decode()


@asynccontextmanager
async def lab(
    folder: Path,
    server: Postgres | None,
    *,
    platform: str = "telegram",
    nodes: int = 2,
    think: float = 0.0,
    plant: str = "",
    lost: float | None = None,
    **settings: object,
) -> AsyncIterator[Lab]:
    """So many nodes at work, the first with every duty; on an SQLite file, and then one, without a `server`.

    `think`: seconds that the model takes for each answer. By `tests.lab.app`, `plant`: a bug put into the program;
    `lost`: seconds of silence after which a platform counts as lost, where those of production are too long.
    """
    url = server.create_database() if server else ""
    program = [f"--think={think}", f"--plant={plant}", *([f"--lost={lost}"] if lost else [])]
    async with AsyncExitStack() as stack:
        rig = await stack.enter_async_context(RIGS[platform](folder, process=True))
        made: list[Node] = []
        for number in range(nodes if server else 1):
            made.append(await _node(stack, f"node{number}", folder, rig, url, program, settings))
            await stack.enter_async_context(made[-1].living())
        yield Lab(rig, made, url or str(made[0].data / "signalbox.db"))


async def _node(
    stack: AsyncExitStack,
    name: str,
    folder: Path,
    rig: Rig,
    url: str,
    program: Sequence[str],
    settings: Mapping[str, object],
) -> Node:
    account = dict(rig.settings())
    way = await _way(stack, account["api_base_url"])
    store = await _way(stack, url) if url else None
    given = {
        "accounts": [{**account, "api_base_url": _past(account["api_base_url"], way), "messages_per_second": UNBOUND}],
        "access.default": "allow",
        "workspace_dir": str(folder / "workspaces"),
        **({"database_url": _past(url, store)} if store else {}),
        **settings,
    }
    arguments = [*program, *(f"--set={each}={json.dumps(value)}" for each, value in given.items())]
    return Node(name, folder, arguments, way, store)


async def _way(stack: AsyncExitStack, url: str) -> Proxy:
    to = urlsplit(url)
    return await stack.enter_async_context(proxy(to.hostname or "", to.port or 0))


def _past(url: str, way: Proxy) -> str:
    """`url` through the proxy."""
    to = urlsplit(url)
    return url.replace(f"{to.hostname}:{to.port}", f"127.0.0.1:{way.port}")
