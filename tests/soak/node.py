"""One node of the program under test: a process that lives, dies as planned and is started again at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

from tests.fakes.forked import Forked, forked
from tests.fakes.serve import ROOT
from tests.faults.program import GLANCE
from tests.soak.diary import Complaint, Diary
from tests.soak.plan import AtMoment, AtPoint, End, Freeze, Leave

STARTS_WITHIN: Final = 60.0  # seconds; under one where nothing else runs
LEAVES_WITHIN: Final = 30.0  # seconds; it drains for 9.5 at most, and a loaded machine takes its time besides
HURRIED: Final = 1  # how it ends when its patience did: a kill is safe, so it may do that


class Node:
    """`command` are the arguments of `tests.soak.app`."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, diary: Diary) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.url = ""
        self._command = command
        self._diary = diary
        self.ready = asyncio.Event()
        self._process: Forked | None = None
        self._reason = ""

    @property
    def is_up(self) -> bool:
        return self.ready.is_set()

    async def live(self, end: End, others: Sequence[Node] = ()) -> None:
        """One life up to its planned end. Errors: Complaint when it ends in any other way."""
        point = ("--kill", end.point, "--hit", str(end.hit)) if isinstance(end, AtPoint) else ()
        self._reason = ""
        async with self._started(*point) as process:
            match end:
                case AtMoment(seconds, from_start=True):
                    await self._dies_within(seconds)
                    self.kill("at a random moment of its start")
                case AtMoment(seconds, all_nodes=everyone):
                    if not (await self._comes_up() and await self._dies_within(seconds)):
                        for node in [self, *others] if everyone else [self]:
                            node.kill("at a random moment" + ", with every other node" * everyone)
                case AtPoint(within=within):
                    if not (await self._comes_up() and await self._dies_within(within)):
                        self.kill("at a random moment, since its point did not come")
                case Leave(seconds):
                    if await self._comes_up() and not await self._dies_within(seconds):
                        await self._leave()
                case Freeze():
                    await self._freeze(end, others)
            self._told(end, await process.wait())

    async def last(self, over: asyncio.Event) -> bool:
        """Live until `over`, then leave; False when another node's end was this one's too."""
        self._reason = ""
        async with self._started() as process:
            await self._comes_up()
            while not over.is_set() and not await self._dies_within(GLANCE):
                pass
            if process.returncode is None:
                await self._leave()
            self._told(Leave(0), await process.wait())
        return process.returncode != -signal.SIGKILL

    def kill(self, reason: str) -> None:
        """End it this moment, wherever it is."""
        if self._process is not None and self._process.returncode is None:
            self._reason = self._reason or reason
            self._send(signal.SIGKILL)

    def tail(self) -> str:
        """The last lines it logged."""
        return "\n".join(self.log.read_text(encoding="utf-8").splitlines()[-30:]) if self.log.exists() else ""

    # ------------------------------------------------------------------------------------------------ the process

    @asynccontextmanager
    async def _started(self, *more: str) -> AsyncIterator[Forked]:
        with self.log.open("ab") as log:
            async with forked("tests.soak.app", *self._command, *more, folder=ROOT, stderr=log.fileno()) as process:
                self._process = process
                self._diary.write("started", node=self.name)
                try:
                    yield process
                finally:
                    self.ready.clear()

    async def _comes_up(self) -> bool:
        """Whether it came to listen before it died."""
        assert self._process is not None
        try:
            async with asyncio.timeout(STARTS_WITHIN):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise self._complaint(f"did not come up within {STARTS_WITHIN:g} s") from None
        if line:
            self.url = line.decode().strip()
            self.ready.set()
            self._diary.write("ready", node=self.name)
        return bool(line)

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)

    async def _dies_within(self, seconds: float) -> bool:
        assert self._process is not None
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            return self._process.returncode is not None
        return True

    async def _leave(self) -> None:
        assert self._process is not None
        self.ready.clear()
        self._diary.write("asked to leave", node=self.name)
        self._send(signal.SIGTERM)
        if not await self._dies_within(LEAVES_WITHIN):
            raise self._complaint(f"did not leave within {LEAVES_WITHIN:g} s of SIGTERM")

    async def _freeze(self, freeze: Freeze, others: Sequence[Node]) -> None:
        assert self._process is not None
        if not await self._comes_up():
            return
        looks = 200 if others else 0  # twenty seconds for somebody to come who takes over
        while looks and not any(node.is_up for node in others) and not await self._dies_within(GLANCE):
            looks -= 1
        if await self._dies_within(freeze.after):
            return
        self._send(signal.SIGSTOP)
        self._diary.write("frozen", node=self.name)
        await self._dies_within(freeze.length)
        self._send(signal.SIGCONT)
        self._diary.write("thawed", node=self.name)
        if not await self._dies_within(freeze.then):
            self.kill("after it was frozen")

    def _told(self, end: End, code: int) -> None:
        """Write down how it ended. Errors: Complaint when that was not as planned."""
        if code == -signal.SIGKILL:
            where = end.point if isinstance(end, AtPoint) and not self._reason else ""
            self._diary.write("killed", node=self.name, where=where, how=self._reason or f"at {where}")
        elif isinstance(end, Leave) and code in (0, HURRIED):
            self._diary.write("left", node=self.name, how="in a hurry" if code else "in peace")
        else:
            raise self._complaint(f"ended by itself, with {code}")

    def _complaint(self, words: str) -> Complaint:
        return Complaint("life", f"The node {self.name} {words}.\n{self.tail()}")


class Nodes:
    """All nodes over one database. `up` gives any of those that listen."""

    def __init__(self, nodes: Sequence[Node], seed: str) -> None:
        self.all = nodes
        self._chance = Random(seed)

    async def up(self) -> str:
        while True:
            if listening := [node.url for node in self.all if node.is_up]:
                return self._chance.choice(listening)
            await asyncio.sleep(GLANCE)

    @property
    def is_any_up(self) -> bool:
        return any(node.is_up for node in self.all)

    async def all_up(self) -> None:
        for node in self.all:
            await node.ready.wait()

    async def run(
        self,
        ends: Sequence[Sequence[End]],
        spent: asyncio.Event,
        over: asyncio.Event,
        look: Callable[[], Awaitable[None]],
    ) -> None:
        """Every node through its ends; `spent` is set after the last of all, and at `over` they leave.

        `look` is called after each end, before the next life could mend anything.
        """
        left = len(self.all)

        async def one(node: Node, mine: Sequence[End]) -> None:
            nonlocal left
            others = [other for other in self.all if other is not node]
            for end in mine:
                await node.live(end, others)
                await look()
            left -= 1
            if not left:
                spent.set()
            while not await node.last(over):
                pass

        async with asyncio.TaskGroup() as group:
            for node, mine in zip(self.all, ends, strict=True):
                group.create_task(one(node, mine))
