"""Programs that live on between calls: what they say, how they end, and that none is left behind."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.agent.processes.book import NotedProcesses
from runtime.contract import Address, NodeId, Shortage, Tool, ToolContext
from runtime.contract.agents.processes import ProcessEvent, ProcessId, ProcessState, Starter
from runtime.contract.rooms import Boundless
from runtime.errors import StoreError, ToolFailed, ToolRetry
from runtime.guard.door import OPEN_DOOR
from runtime.store.store import Store, open_store
from tests.unit.tools.processes import gone, started
from tools.processes import host as hosting
from tools.processes.host import Limits, ProcessHost
from tools.processes.program import Program
from tools.processes.tools import process_tools
from tools.sandbox.bubblewrap import Bubblewrap

ROOM = Address("web", "main", "r1")
NODE = NodeId("node-1")


@dataclass
class Stage:
    """A host of processes at work, with a store behind it."""

    store: Store
    host: ProcessHost
    context: ToolContext

    @property
    def tools(self) -> Mapping[str, Tool]:
        return {tool.spec.name: tool for tool in process_tools(self.host, now=self.store.now)}

    async def call(self, name: str, **arguments: object) -> str:
        return await self.tools[f"process_{name}"].call(arguments, self.context)

    async def started(self, command: str) -> str:
        """The id of a new process."""
        await self.call("start", command=command)
        return (await self.store.processes.processes())[0].id

    async def state(self) -> tuple[ProcessState, int | None, str]:
        """Of the newest one, once its end is noted."""
        newest = (await self.store.processes.processes())[0]
        return newest.state, newest.exit, newest.reason


@asynccontextmanager
async def staged(sandbox: Bubblewrap, context: ToolContext, limits: Limits | None = None) -> AsyncIterator[Stage]:
    store = await open_store("sqlite:///:memory:")
    await store.cluster.join(NODE, "one", timedelta(days=1), alone=False)
    book = NotedProcesses(store.processes, lambda: NODE, lambda: OPEN_DOOR)
    host = ProcessHost(sandbox, book, limits or Limits())
    try:
        async with at_work(host):
            yield Stage(store, host, replace(context, address=ROOM, agent="main"))
    finally:
        await store.close()


@asynccontextmanager
async def at_work(host: ProcessHost) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        duty = group.create_task(host.run())
        await asyncio.sleep(0)
        try:
            yield
        finally:
            duty.cancel()


@pytest.fixture
async def stage(bubblewrap: Bubblewrap, context: ToolContext) -> AsyncIterator[Stage]:
    async with staged(bubblewrap, context) as made:
        yield made


async def test_output_is_read_once_as_it_comes(stage: Stage) -> None:
    told = await stage.call("start", command="echo first; read word; echo you said $word; exit 3")
    assert told.startswith("first\n[Process ")
    name = (await stage.store.processes.processes())[0].id[-6:]
    assert (await stage.call("read", process=name)).startswith("[nothing new]\n[Process ")
    await stage.call("write", process=name, text="hello\n")
    assert (await stage.call("read", process=name, wait_seconds=30)).startswith("you said hello\n")
    await stage.host.here((await stage.store.processes.processes())[0].id).ended.wait()  # type: ignore[union-attr]
    assert "exit code 3" in await stage.call("read", process=name, wait_seconds=30)
    assert "exit code 3" in await stage.call("list")
    with pytest.raises(ToolFailed, match="takes no input any more"):
        await stage.call("write", process=name, text="more")


async def test_a_flood_is_bounded_and_what_was_lost_is_told(stage: Stage) -> None:
    name = await stage.started("head -c 2000000 /dev/zero | tr '\\0' x; echo the end")
    program = stage.host.here((await stage.store.processes.processes())[0].id)
    assert program is not None
    await program.ended.wait()
    told = await stage.call("read", process=name)
    assert re.match(
        r"\[1,[78]\d\d,\d\d\d bytes before this were said faster than they were read, and are gone\]\nxxx", told
    )
    assert "more bytes wait: read again]" in told
    assert len(told) < 40_000
    for _ in range(6):
        told = await stage.call("read", process=name)
    assert "the end\n" in told


async def test_a_process_is_stopped_with_all_that_it_started(stage: Stage) -> None:
    name = await stage.started("sleep 4242 & sleep 4243")
    await started("4242")
    assert (await stage.call("stop", process=name)).endswith("is stopped.")
    await gone("4242")
    assert "was stopped. Stopped by the agent main." in await stage.call("list")
    assert "was stopped" in await stage.call("stop", process=name)


async def test_one_that_ignores_the_sign_is_killed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.processes.program.STOP_GRACE", timedelta(milliseconds=200))
    name = await stage.started("trap '' TERM; echo deaf; while :; do sleep 4244; done")
    await stage.call("stop", process=name)
    await gone("4244")


async def test_what_others_want_to_end_ends(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "LOOK_SECONDS", 0.02)
    name = await stage.started("sleep 4245")
    (process,) = await stage.store.processes.processes()
    program = stage.host.here(process.id)
    assert program is not None
    assert await stage.store.processes.happen(process.id, ProcessEvent.STOP, None, "Stopped by Ada.")
    await program.ended.wait()
    assert "Stopped by Ada." in await stage.call("read", process=name)


async def test_a_room_that_is_full_ends_what_fills_it(
    bubblewrap: Bubblewrap, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(Boundless):
        async def recount(self, folder: Path) -> Shortage | None:
            return Shortage("The room is full.", everywhere=False)

    monkeypatch.setattr(hosting, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(hosting, "SPACE_LOOKS", 1)
    async with staged(bubblewrap, context) as stage:
        stage.host.space = Full()
        name = await stage.started("sleep 4246")
        program = stage.host.here((await stage.store.processes.processes())[0].id)
        assert program is not None
        await program.ended.wait()
        assert "The room is full." in await stage.call("read", process=name)


async def test_its_time_is_bounded(bubblewrap: Bubblewrap, context: ToolContext) -> None:
    async with staged(bubblewrap, context) as stage:
        by = stage.context
        starter = Starter("main", by.session, ROOM, by.run_id, by.call_id)
        process = await stage.host.start("sleep 4247", by.workspace, starter, timedelta(milliseconds=50))
        program = stage.host.here(process.id)
        assert program is not None
        await program.ended.wait()
        state, _, reason = await stage.state()
        assert (state, reason) == (ProcessState.LATE, "Its time of 0.000833333 minutes was over.")
        with pytest.raises(ToolRetry, match="minutes is at most 60"):
            await stage.call("start", command="true", minutes=61)


async def test_a_conversation_has_five_at_once(bubblewrap: Bubblewrap, context: ToolContext) -> None:
    async with staged(bubblewrap, context, Limits(at_once=1)) as stage:
        await stage.started("sleep 4248")
        with pytest.raises(ToolRetry, match="1 processes of this conversation run already"):
            await stage.started("sleep 4248")


async def test_another_conversation_knows_nothing_of_it(stage: Stage) -> None:
    name = await stage.started("sleep 4249")
    stage.context = replace(stage.context, session=type(stage.context.session)("another"))
    assert await stage.call("list") == "There are no processes here."
    for tool, more in (("read", {}), ("stop", {}), ("write", {"text": "x"})):
        with pytest.raises(ToolRetry, match="No process of this conversation has that id"):
            await stage.call(tool, process=name, **more)


async def test_nothing_outlives_the_node(bubblewrap: Bubblewrap, context: ToolContext, tmp_path: Path) -> None:
    async with staged(bubblewrap, context) as stage:
        store = stage.store
        await stage.started("trap 'echo bye > left; exit' TERM; echo up; while :; do sleep 0.05; done")
        await stage.started("sleep 4250")
        stop = stage
    await gone("4250")
    assert (context.workspace / "left").read_text() == "bye\n"
    assert store is stop.store
    with pytest.raises(ToolFailed, match="about to end"):
        await stop.host.start("true", context.workspace, None, timedelta(1))  # type: ignore[arg-type]


async def test_a_start_that_is_cut_takes_no_place(
    bubblewrap: Bubblewrap, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = asyncio.Event()

    async def never(*_: object) -> None:
        starting.set()
        await asyncio.Event().wait()

    async with staged(bubblewrap, context, Limits(at_once=1)) as stage:
        with monkeypatch.context() as patched:
            patched.setattr(Program, "start", never)
            async with asyncio.TaskGroup() as group:
                call = group.create_task(stage.call("start", command="sleep 4251"))
                await starting.wait()
                call.cancel()
        assert await stage.state() == (ProcessState.ENDED, None, "The call was ended before it began.")
        await stage.started("sleep 4251")


class Away(NotedProcesses):
    """A book whose store is away for the first end that it is told."""

    tries = 0

    async def end(self, process: ProcessId, event: ProcessEvent, exit_code: int | None, reason: str = "") -> None:
        self.tries += 1
        if self.tries == 1:
            raise StoreError("The database is away.")
        await super().end(process, event, exit_code, reason)


async def test_an_end_is_noted_once_the_store_is_back(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "LOOK_SECONDS", 0.02)
    stage.host.book = Away(stage.store.processes, lambda: NODE, lambda: OPEN_DOOR)
    program = stage.host.here(ProcessId(await stage.started("exit 3")))
    assert program is not None
    await program.ended.wait()
    assert await stage.state() == (ProcessState.ENDED, 3, "")
