"""A stage of the laboratory: real nodes on a real database and one platform, each way between them through a proxy."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable, Container, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import asyncpg

from tests.contract.adapters.catalogue import RIGS
from tests.contract.adapters.rig import Place, Rig
from tests.fakes.postgres import Postgres
from tests.fakes.serve import spawned
from tests.faults.program import until
from tests.faults.stage import UNBOUND
from tests.lab.node import PATIENCE, Health, Node, Ways
from tests.lab.proxy import Proxy, proxy

SEED: Final = int(os.environ.get("LAB_SEED") or secrets.randbelow(1_000_000))
"""Where chance begins."""
AWAY: Final = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    sqlite3.Error,
)
"""What it is to ask a database that is away."""
SELDOM: Final = ("retention",)
"""Roles that wait for their next minute, and nobody for them."""
KEPT: Final = {
    "signal": "SELECT * FROM signals WHERE text LIKE '%{token}%'",
    "run": "SELECT * FROM runs WHERE id IN (SELECT run_id FROM signals WHERE text LIKE '%{token}%')",
    "delivery": "SELECT number, origin, kind, state, rank, not_before, reason, settled_at FROM deliveries "
    "WHERE run_id IN (SELECT run_id FROM signals WHERE text LIKE '%{token}%')",
    "session": "SELECT * FROM sessions WHERE key IN (SELECT session FROM signals WHERE text LIKE '%{token}%')",
    "node": "SELECT id, label, state FROM nodes",
    "role": "SELECT name, node FROM roles",
}
"""Where a line that was lost may have stayed, by the name of what is told of it."""
ROWS: Final = "SELECT label, state FROM nodes"
ROLES: Final = "SELECT r.name, n.label FROM roles r LEFT JOIN nodes n ON n.id = r.node"


@dataclass(frozen=True, slots=True)
class Reached:
    """URLs of one database on a server: for work, for notices, and for whoever reads its rows in a test."""

    work: str = ""
    notices: str = ""
    rows: str = ""


def straight(url: str) -> Reached:
    return Reached(url, url, url)


class Lab:
    """The stage. `database` is where rows are read from, past all proxies: a PostgreSQL URL, or a file's path. `model`: the
    URL of the model's server, past all proxies too."""

    def __init__(self, rigs: Sequence[Rig], nodes: Sequence[Node], database: str, model: str = "") -> None:
        self.rigs = {rig.channel: rig for rig in rigs}
        self.nodes = nodes
        self.model = model
        self._database = database
        self._said: list[dict[str, Any]] = []
        self._places: dict[str, Place] = {}
        self._left: list[dict[str, Any]] = []
        self._connection: Any = None
        self._alone = asyncio.Lock()

    @property
    def rig(self) -> Rig:
        """The only platform, or the first."""
        return next(iter(self.rigs.values()))

    @property
    def said(self) -> int:
        """How many lines were written."""
        return len(self._said)

    def rig_of(self, place: Place) -> Rig:
        return self.rigs[place.address.channel]

    @property
    def database(self) -> str:
        return self._database

    async def say(self, place: Place) -> str:
        """Somebody writes there; the token by which the answer is known."""
        token = f"tok{len(self._said):05d}"
        self._places[str(place)] = place
        self._said.append({"room": str(place), "token": token})
        await self.rig_of(place).say(place, f"good morning {token}")
        return token

    async def is_shown(self, place: Place, token: str) -> bool:
        return any(token in message.text for message in await self.rig_of(place).visible(place))

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
        """Who has each role that was ever taken and that somebody waits for, by pid."""
        found = [(name, label) for name, label in await self.select(ROLES) if name not in SELDOM]
        return {name: label and label.rpartition("/")[2] for name, label in found}

    async def until_held(self, seconds: float = PATIENCE) -> None:
        """Until a living process has each role that was ever taken, or so long: the checker tells of one that nobody has."""

        async def look() -> bool | None:
            living = {str(node.process.pid) for node in self.nodes if node.is_living}
            return set((await self.roles()).values()) <= living or None

        with suppress(AssertionError):
            await until(look, "roles that are held", seconds)

    async def kept_of(self, token: str) -> str:
        """What the database has of a line, for whoever looks why it was lost."""
        found = [(name, row) for name, asked in KEPT.items() for row in await self.select(asked.format(token=token))]
        return "\n".join(f"{name}: {' '.join(str(value) for value in row)}" for name, row in found)

    async def select(self, statement: str) -> Sequence[Any]:
        if not self._database.startswith("postgresql://"):
            with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as database:
                return database.execute(statement).fetchall()
        async with self._alone:
            try:
                return await self._fetched(statement)
            except (*AWAY, asyncpg.QueryCanceledError):  # the server is another life of itself, perhaps
                await self.close()
                return await self._fetched(statement)

    async def _fetched(self, statement: str) -> Sequence[Any]:
        self._connection = self._connection or await asyncpg.connect(self._database)
        return [tuple(record) for record in await self._connection.fetch(statement)]

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.terminate()

    def note_end(self, end: Mapping[str, Any]) -> None:
        """Somebody left by a trial's wish; the checker judges that too."""
        self._left.append(dict(end))

    async def leave(self) -> None:
        """Every node that lives is asked to leave, one after another."""
        for node in self.nodes:
            if node.is_living:
                self._left.append(await node.leave())

    async def judged(self, more: Mapping[str, Any] | None = None) -> None:
        """Have everybody leave, and the checker judge; with `more` evidence. Errors: AssertionError with each promise that was
        not kept."""
        evidence = await self.evidence(self._said)
        await self.leave()
        told = await judge({**evidence, **(more or {}), "left": self._left})
        if told:
            raise AssertionError("\n".join([told, *(f"--- {node.name}\n{node.log()}" for node in self.nodes)]))

    async def judged_of(self, tokens: Container[str], more: Mapping[str, Any]) -> Sequence[str]:
        """What the checker says of these lines, while everybody lives on; with `more` evidence."""
        evidence = await self.evidence([line for line in self._said if line["token"] in tokens])
        left, self._left = self._left, []
        return (await judge({**evidence, **more, "left": left})).splitlines()

    async def evidence(self, said: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        looks = [(node, await node.health()) for node in self.nodes if node.is_living]
        rooms = {line["room"] for line in said}
        return {
            "said": said,
            "seen": {room: await self._seen(self._places[room]) for room in rooms},
            "nodes": [{"name": node.name, "pid": node.process.pid, **_told(health)} for node, health in looks],
            "rows": await self.rows(),
            "roles": await self.roles(),
        }

    async def _seen(self, place: Place) -> list[dict[str, Any]]:
        return [{"text": message.text, "marked": message.marked} for message in await self.rig_of(place).visible(place)]


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
    platforms: Sequence[str] = (),
    nodes: int = 2,
    think: float = 0.0,
    plant: str = "",
    lost: float | None = None,
    model: bool = False,
    prefix: Sequence[str] = (),
    reach: Callable[[str], Reached] = straight,
    **settings: object,
) -> AsyncIterator[Lab]:
    """So many nodes at work, the first with every duty; on an SQLite file, and then one, without a `server`.

    `platforms`: several in place of one. `think`: seconds that the model takes for each answer. `model`: it is a server,
    behind a way of its own. `prefix`: words before each program, as of `Node`. `reach`: how nodes reach
    the database; there are ways of their own where that is one server. By `tests.lab.app`, `plant`: a bug put into the program; `lost`: seconds of silence after which a platform counts as lost, where those of production are too long.
    """
    reached = reach(server.newest_database()) if server else Reached()
    program = [f"--think={think}", f"--plant={plant}", *([f"--lost={lost}"] if lost else [])]
    async with AsyncExitStack() as stack:
        rigs = [
            await stack.enter_async_context(RIGS[name](_made(folder / name), process=True))
            for name in platforms or (platform,)
        ]
        asked = (await stack.enter_async_context(spawned("bot.testing.openai.server")))[1] if model else ""
        made: list[Node] = []
        for number in range(nodes if server else 1):
            ways = await _ways(stack, rigs, reached, asked)
            given = [*program, *_settings(folder, rigs, ways, reached, asked, settings)]
            made.append(Node(f"node{number}", folder, given, ways, prefix))
            stack.push_async_callback(made[-1].close)
            await made[-1].start()
        on = Lab(rigs, made, reached.rows or str(made[0].data / "signalbox.db"), asked)
        stack.push_async_callback(on.close)
        yield on


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def _ways(stack: AsyncExitStack, rigs: Sequence[Rig], reached: Reached, model: str) -> Ways:
    return Ways(
        {rig.channel: await _way(stack, dict(rig.settings())["api_base_url"]) for rig in rigs},
        await _way_to_one(stack, reached.work),
        await _way_to_one(stack, reached.notices),
        await _way_to_one(stack, model),
    )


async def _way_to_one(stack: AsyncExitStack, url: str) -> Proxy | None:
    """None where there is nothing, or where an address names several servers."""
    return await _way(stack, url) if url and "," not in url else None


def _settings(
    folder: Path, rigs: Sequence[Rig], ways: Ways, reached: Reached, model: str, settings: Mapping[str, object]
) -> Sequence[str]:
    """What a node is told by its command line: everything outside is past its own ways."""
    accounts = []
    for rig in rigs:
        account = dict(rig.settings())
        past = _past(account["api_base_url"], ways.platforms[rig.channel])
        accounts.append({**account, "api_base_url": past, "messages_per_second": UNBOUND})
    given = {
        "accounts": accounts,
        "access.default": "allow",
        "workspace_dir": str(folder / "workspaces"),
        **({"database_url": _past(reached.work, ways.store)} if reached.work else {}),
        **({"database_listen_url": _past(reached.notices, ways.notices)} if reached.notices else {}),
        **({"model.name": "openai/mock", "model.api_key": "none"} if ways.model else {}),
        **({"model.api_base": f"{_past(model, ways.model)}/v1"} if ways.model else {}),
        **settings,
    }
    return [f"--set={each}={json.dumps(value)}" for each, value in given.items()]


async def _way(stack: AsyncExitStack, url: str) -> Proxy:
    to = urlsplit(url)
    return await stack.enter_async_context(proxy(to.hostname or "", to.port or 0))


def _past(url: str, way: Proxy | None) -> str:
    """`url` through the proxy."""
    if way is None:
        return url
    to = urlsplit(url)
    return url.replace(f"{to.hostname}:{to.port}", f"127.0.0.1:{way.port}")
