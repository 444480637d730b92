"""Looks from outside, all the time: at what people see, at what each process says, and at who is among the living.

It only writes down, with the times of one clock; the checker judges.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from tests.contract.adapters.rig import Place
from tests.faults.program import until
from tests.lab.node import Node
from tests.lab.stage import AWAY, Lab

SEES_EVERY: Final = 0.1  # seconds between two looks at rooms in which an answer is awaited
ASKS_EVERY: Final = 0.25  # seconds between two questions to a process
COUNTS_EVERY: Final = 1.0  # seconds between two looks at the table of nodes
IDLE_WITHIN: Final = 7.0  # seconds
IN_FLIGHT_WITHIN: Final = 35.0  # seconds
CANARY_WITHIN: Final = 10.0  # seconds
HANGS_AFTER: Final = 60.0  # seconds without an answer


@dataclass(slots=True)
class Line:
    """A line that somebody wrote; `within` so many seconds from `at` its answer is due."""

    place: Place
    token: str
    at: float
    within: float
    kind: str
    seen_at: float | None = None

    @property
    def took(self) -> float:
        return (self.seen_at or time.monotonic()) - self.at

    def told(self) -> Mapping[str, Any]:
        took = None if self.seen_at is None else self.took
        return {"room": str(self.place), "token": self.token, "kind": self.kind, "took": took, "within": self.within}


class Watch:
    """What was seen of one stage since the last `begin`."""

    def __init__(self, on: Lab, lease: float) -> None:
        self.on = on
        self.lease = lease
        self.lines: list[Line] = []
        self.faults: list[dict[str, Any]] = []
        self.lag = 0.0
        self.usage: list[dict[str, Any]] = []
        self._looks: list[dict[str, Any]] = []
        self._tables: list[dict[str, Any]] = []

    def begin(self) -> None:
        """A new trial: what was seen before is forgotten."""
        self.lag = 0.0
        for old in (self.lines, self.faults, self._looks, self._tables):
            old.clear()

    async def write(self, place: Place, kind: str, within: float) -> Line:
        """Somebody writes there."""
        line = Line(place, await self.on.say(place), time.monotonic(), within, kind)
        self.lines.append(line)
        return line

    def fault(self, node: Node, what: str) -> dict[str, Any]:
        """It begins now, and ends where its `ends` is set."""
        fault = {
            "node": node.name,
            "what": what,
            "channel": self.on.rig.channel,
            "begins": time.monotonic(),
            "ends": None,
        }
        self.faults.append(fault)
        return fault

    def over(self) -> None:
        """Every fault ends now."""
        for fault in self.faults:
            if fault["ends"] is None:
                fault["ends"] = time.monotonic()

    async def until_seen(self, lines: Sequence[Line], seconds: float = HANGS_AFTER) -> None:
        """Until their answers are on screen, or so long; the checker tells of what is not."""

        async def look() -> bool | None:
            return all(line.seen_at for line in lines) or None

        with suppress(AssertionError):
            await until(look, "every answer", seconds)

    async def run(self) -> None:
        """Look until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._see())
            group.create_task(self._count())
            group.create_task(self._wait())
            for node in self.on.nodes:
                group.create_task(self._ask(node))

    async def _see(self) -> None:
        while True:
            await asyncio.sleep(SEES_EVERY)
            awaited = [line for line in self.lines if line.seen_at is None]
            for place in {str(line.place): line.place for line in awaited}.values():
                shown = [message.text for message in await self.on.rig_of(place).visible(place)]
                now = time.monotonic()
                for line in awaited:
                    if line.place == place and any(line.token in text for text in shown):
                        line.seen_at = now

    async def _wait(self) -> None:
        """How long this machine stood still at most: then it was not the program that was late."""
        while True:
            began = time.monotonic()
            await asyncio.sleep(SEES_EVERY)
            self.lag = max(self.lag, time.monotonic() - began - SEES_EVERY)

    async def _ask(self, node: Node) -> None:
        connector = aiohttp.TCPConnector(force_close=True)
        timeout = aiohttp.ClientTimeout(total=3)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as http:
            while True:
                await asyncio.sleep(ASKS_EVERY)
                if node.is_living and not node.is_frozen:
                    self._looks.append(await _look(http, node))

    async def _count(self) -> None:
        while True:
            await asyncio.sleep(COUNTS_EVERY)
            with suppress(*AWAY):
                now = time.monotonic()
                pids = {node.name: node.process.pid for node in self.on.nodes}
                table = {"at": now, "rows": await self.on.rows(), "roles": await self.on.roles(), "pids": pids}
                self._tables.append(table)

    def evidence(self) -> dict[str, Any]:
        return {
            "lines": [line.told() for line in self.lines],
            "faults": list(self.faults),
            "looks": list(self._looks),
            "tables": list(self._tables),
            "lease": self.lease,
        }

    def count(self) -> None:
        """Note what each process uses now; one that was started anew is another one."""
        for node in self.on.nodes:
            if node.is_living:
                name = f"{node.name} ({node.process.pid})"
                self.usage.append({"node": name, "messages": self.on.said, **used(node.process.pid)})


async def _look(http: aiohttp.ClientSession, node: Node) -> dict[str, Any]:
    began, status, reasons = time.monotonic(), 0, {}
    with suppress(aiohttp.ClientError, TimeoutError):
        async with http.get(f"{node.url}/readyz") as answer:
            status, reasons = answer.status, (await answer.json()).get("reasons", {})
    return {"node": node.name, "at": began, "seconds": time.monotonic() - began, "ready": status, "reasons": reasons}


def used(pid: int) -> dict[str, int]:
    """Resident memory in KiB, descriptors and threads of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    words = {name: rest for name, _, rest in (line.partition(":") for line in status)}
    return {
        "memory": int(words["VmRSS"].split()[0]),
        "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": int(words["Threads"]),
    }


@asynccontextmanager
async def watching(on: Lab, lease: float) -> AsyncIterator[Watch]:
    """It looks inside the block."""
    watch = Watch(on, lease)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watch.run())
        try:
            yield watch
        finally:
            task.cancel()
