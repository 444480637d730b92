"""One fault after another on the same stage: each is done, watched, undone, and the processes live on.

A trial's figures are seconds, by the name under which the table of sums has their bound.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tests.contract.adapters.rig import Place
from tests.fakes.postgres import Postgres
from tests.lab.node import Node
from tests.lab.points import POINTS, SENT
from tests.lab.proxy import Proxy, Side
from tests.lab.stage import Lab
from tests.lab.watch import CANARY_WITHIN, IDLE_WITHIN, IN_FLIGHT_WITHIN, Line, Watch

ROOMS: Final = 6
LENGTHS: Final = (0.5, 1.2, 3.0)
"""How long a process is frozen, in leases."""
TAKEN: Final = "taken"
"""In their place: until other nodes have answered what it had begun. Whatever it does after that, it does too late."""
TAKEN_WITHIN: Final = 40.0  # seconds
TARGETS: Final = ("store", "platform", "both", "notices")
HOWS: Final = ("stall", "cut")
SLOWS: Final = ("lose", "deaf", "dumb", "delay10", "delay100", "delay500", "drip")
FORGOTTEN: Final = ("lose", "deaf", "dumb")
FORGOTTEN_WITHIN: Final = 45.0
"""Seconds: a connection that went silent is noticed within 20, and a send on another one within 25."""
OUTAGES: Final = ("stop", "crash", "cut", "stall", "lose")
STATES: Final = (
    "well",
    "store stall",
    "store cut",
    "platform stall",
    "platform cut",
    "both stall",
    "notices cut",
    "thawed",
    "busy",
)
PLATFORM_TOLD_WITHIN: Final = 20.0  # seconds
NOT_READY_WITHIN: Final = 30.0  # seconds; the bounds judge, and this only ends the wait
REACHED_WITHIN: Final = 30.0  # seconds until a point comes
TAKEN_IN_WITHIN: Final = 0.3  # seconds: the model is at work on all that was said, mostly
SHOWN_WITHIN: Final = 3.0  # seconds: what is not on screen by then was not taken in
DRIPS: Final = 4_000  # bytes a second
SLOW_FOR: Final = 4.0  # seconds
RESTARTS_WITHIN: Final = 30.0  # seconds

Figures = dict[str, float]


@dataclass(slots=True)
class Trial:
    """A stage, what watches it, and chance."""

    on: Lab
    watch: Watch
    chance: Random
    server: Postgres | None = None
    figures: Figures = field(default_factory=dict)

    @property
    def lease(self) -> float:
        return self.watch.lease

    def rooms(self) -> Sequence[Place]:
        """All rooms, in an order of chance."""
        return self.chance.sample(list(self.on.rig.places(ROOMS)), ROOMS)

    async def owner(self) -> Node:
        return await self.on.owner(f"courier:{self.on.rig.channel}")

    async def idle(self, room: Place, within: float = IDLE_WITHIN) -> Line:
        """Work that comes while the fault is there: whoever is well must do it. Behind what is in flight in its room it waits."""
        if any(line.place == room and line.seen_at is None for line in self.watch.lines):
            return await self.watch.write(room, "in flight", IN_FLIGHT_WITHIN)
        return await self.watch.write(room, "idle", within)

    async def in_flight(self, rooms: Sequence[Place]) -> Sequence[Line]:
        """Work in the midst of which the fault comes."""
        return [await self.watch.write(room, "in flight", IN_FLIGHT_WITHIN) for room in rooms]

    async def served(self, node: Node, figure: str, since: float) -> None:
        """Until the node is live among the nodes, and ready."""
        await self.on.until_serving(node)
        self.figures[figure] = time.monotonic() - since

    async def canary(self, room: Place) -> None:
        """All say that they are ready: then an answer comes in time."""
        await self.watch.until_seen([await self.watch.write(room, "canary", CANARY_WITHIN)])

    async def ending(self, lines: Sequence[Line], room: Place) -> Figures:
        """The fault is over: what was asked is answered, and all is as before."""
        await self.watch.until_seen(lines)
        for node in self.on.nodes:
            await self.on.until_serving(node)
        began = time.monotonic()
        await self.on.until_held()
        self.figures["held"] = time.monotonic() - began
        await self.canary(room)
        return self.figures


# ------------------------------------------------------------------------------------------------------------ freezes


async def freeze(trial: Trial, point: str, length: str) -> Figures:
    """The node with the roles stops at a point, and goes on later."""
    rooms, node = trial.rooms(), await trial.owner()
    leases = 0.0 if length == TAKEN else float(length)
    if point == SENT:
        lines = await _with_sends_in_flight(trial, node, rooms[:4])
    else:
        node.freeze_at(point)
        lines = [*await trial.in_flight(rooms[:2])]
        await node.until_frozen(REACHED_WITHIN)
    fault, began = trial.watch.fault(node, "frozen"), time.monotonic()
    is_alone = len(trial.on.nodes) == 1
    lines.append(await trial.idle(rooms[4], IDLE_WITHIN + is_alone * leases * trial.lease))
    if length == TAKEN:
        await trial.on.until_missed(node)
        await trial.watch.until_seen(lines, TAKEN_WITHIN)
    await asyncio.sleep(max(0.0, began + leases * trial.lease - time.monotonic()))
    node.thaw()
    fault["ends"] = thawed = time.monotonic()
    await trial.served(node, "thawed", thawed)
    lines.append(await trial.idle(rooms[0]))
    return await trial.ending(lines, rooms[3])


async def _with_sends_in_flight(trial: Trial, node: Node, rooms: Sequence[Place]) -> list[Line]:
    """Freeze it when its sends are on screen and none of their answers came: they all come at once, when it goes on."""
    lines = [*await trial.in_flight(rooms)]
    await trial.on.until_at_work()
    await asyncio.sleep(TAKEN_IN_WITHIN)
    node.platform.stall(Side.ANSWERED)
    await trial.watch.until_seen(lines, SHOWN_WITHIN)
    await asyncio.sleep(trial.chance.uniform(0, 0.1))
    node.freeze()
    node.platform.lift()
    return lines


# --------------------------------------------------------------------------------------------------------------- ways


def ways_of(node: Node, target: str) -> Mapping[str, Proxy]:
    """The ways that are meant, by what is at their end."""
    ways = {"store": node.ways.store, "platform": node.platform, "notices": node.ways.notices, "model": node.ways.model}
    if target == "both":
        wanted: Sequence[str] = ("store", "platform")
    else:  # who cannot reach the server hears no notices either
        wanted = (target,)
    if "store" in wanted:
        wanted = (*wanted, "notices")
    return {name: way for name in wanted if (way := ways[name])}


def block(name: str, way: Proxy, how: str) -> None:
    match how:
        case "stall":
            if name == "platform":
                way.leave()  # as a platform does with a socket that answers no ping
            way.stall()
        case "cut":
            way.cut()
        case "lose":
            way.lose()
        case "deaf":
            way.swallow(Side.ANSWERED)
        case "dumb":
            way.swallow(Side.ASKED)
        case "drip":
            way.drip(DRIPS)
        case _:
            way.delay(float(how.removeprefix("delay")) / 1000)


async def partition(trial: Trial, target: str, how: str) -> Figures:
    """The node with the roles is cut from something, and other nodes are not."""
    rooms, node = trial.rooms(), await trial.owner()
    lines = [*await trial.in_flight(rooms[:2])]
    await asyncio.sleep(trial.chance.uniform(0, 0.5))
    for name, way in ways_of(node, target).items():
        block(name, way, how)
    began = time.monotonic()
    for what in {"both": ("store", "platform"), "notices": ()}.get(target, (target,)):
        trial.watch.fault(node, what)
    await asyncio.sleep(0.1)
    lines.append(await trial.idle(rooms[2], PLATFORM_TOLD_WITHIN if target == "platform" else IDLE_WITHIN))
    if target == "notices":
        await asyncio.sleep(SLOW_FOR)
    else:
        await node.until_not_ready(NOT_READY_WITHIN)
        name = "platform" if target == "platform" else "store"
        trial.figures[f"{name} told"] = time.monotonic() - began
        await trial.watch.until_seen(lines[-1:], PLATFORM_TOLD_WITHIN)
        await asyncio.sleep(max(0.0, began + max(3 * trial.lease, SLOW_FOR) - time.monotonic()))
    lift(node)
    trial.watch.over()
    await trial.served(node, "healed", time.monotonic())
    return await trial.ending(lines, rooms[3])


def lift(node: Node) -> None:
    for way in (*node.ways.platforms.values(), node.ways.store, node.ways.notices, node.ways.model):
        if way:
            way.lift()


async def slow(trial: Trial, target: str, how: str) -> Figures:
    """A way is slow, one-sided or forgotten for a while: nothing is lost, and all is well again.

    A forgotten connection to a platform looks like one on which nothing happens, until its SDK misses a sign of life: what
    is sent on another one may be there before that.
    """
    rooms, node = trial.rooms(), await trial.owner()
    within = FORGOTTEN_WITHIN if target == "platform" and how in FORGOTTEN else IN_FLIGHT_WITHIN
    kind = "forgotten" if within == FORGOTTEN_WITHIN else "in flight"
    lines = [await trial.watch.write(room, kind, within) for room in rooms[:2]]
    for name, way in ways_of(node, target).items():
        block(name, way, how)
    fault, began = trial.watch.fault(node, "slow"), time.monotonic()
    lines.append(await trial.watch.write(rooms[2], kind, within))
    await asyncio.sleep(SLOW_FOR)
    lift(node)
    lifted = time.monotonic()
    if kind == "forgotten":
        await trial.watch.until_seen(lines, FORGOTTEN_WITHIN)
        await asyncio.sleep(max(0.0, began + PLATFORM_TOLD_WITHIN - time.monotonic()))
        await trial.on.until_serving(node, FORGOTTEN_WITHIN)
    else:
        await trial.served(node, "healed", lifted)
    fault["ends"] = time.monotonic()
    return await trial.ending(lines, rooms[3])


# ------------------------------------------------------------------------------------------------------------ outages


async def outage(trial: Trial, how: str) -> Figures:
    """The database is away for all."""
    rooms, nodes = trial.rooms(), trial.on.nodes
    lines = [*await trial.in_flight(rooms[:2])]
    await asyncio.sleep(trial.chance.uniform(0, 0.5))
    for node in nodes:  # it is there before the server is gone for good
        trial.watch.fault(node, "slow" if how == "lose" else "file" if how == "unlink" else "store")
    undo = await _away(trial, how)
    began = time.monotonic()
    lines.append(await trial.watch.write(rooms[2], "outage", IN_FLIGHT_WITHIN))
    if how != "lose":
        await asyncio.gather(*(node.until_not_ready(NOT_READY_WITHIN) for node in nodes))
        trial.figures["file told" if how == "unlink" else "store told"] = time.monotonic() - began
    await asyncio.sleep(trial.chance.uniform(0, 2 * trial.lease))
    await undo()
    trial.watch.over()
    lifted = time.monotonic()
    for node in nodes:
        await trial.served(node, "store healed", lifted)
    return await trial.ending(lines, rooms[3])


async def _away(trial: Trial, how: str) -> Callable[[], Awaitable[object]]:
    """Take the database away; what brings it back."""
    if how == "unlink":
        return _unlinked(trial.on.nodes[0].data / "signalbox.db")
    if how in ("stop", "crash"):
        server = trial.server
        assert server
        await asyncio.to_thread(server.stop, crash=how == "crash")
        return lambda: asyncio.to_thread(server.start)
    for node in trial.on.nodes:
        for name, way in ways_of(node, "store").items():
            block(name, way, how)

    async def lifted() -> None:
        for node in trial.on.nodes:
            lift(node)

    return lifted


def _unlinked(database: Path) -> Callable[[], Awaitable[object]]:
    """Its files are gone, and come back as they were."""
    away = database.parent.with_name("away")
    away.mkdir(exist_ok=True)
    files = [path for path in database.parent.iterdir() if path.name.startswith(database.name)]
    for path in files:
        with suppress(FileNotFoundError):
            os.link(path, away / path.name)
            path.unlink()

    async def back() -> None:
        for path in files:
            with suppress(FileNotFoundError):
                (away / path.name).rename(path)

    return back


# ------------------------------------------------------------------------------------------------------- kill, leave


async def kill(trial: Trial) -> Figures:
    """The node with the roles is killed, and started anew later."""
    rooms, node = trial.rooms(), await trial.owner()
    lines = [*await trial.in_flight(rooms[:2])]
    await asyncio.sleep(trial.chance.uniform(0, 0.6))
    trial.watch.fault(node, "dead")
    node.kill()
    await node.ended()
    if len(trial.on.nodes) > 1:
        lines.append(await trial.watch.write(rooms[2], "killed", IDLE_WITHIN - 1))
        await trial.watch.until_seen(lines[-1:], IDLE_WITHIN)
    else:
        lines += [await trial.watch.write(room, "outage", IN_FLIGHT_WITHIN) for room in rooms[2:]]
    began = time.monotonic()
    await node.start()
    trial.watch.over()
    await trial.served(node, "restarted", began)
    return await trial.ending(lines, rooms[3])


async def leave(trial: Trial, state: str) -> Figures:
    """A node is asked to leave in some state, and started anew."""
    rooms, node = trial.rooms(), await trial.owner()
    lines = [*await trial.in_flight(rooms[:2])]
    target, _, how = state.partition(" ")
    if state == "thawed":
        node.freeze()
        trial.watch.fault(node, "frozen")
        await asyncio.sleep(2 * trial.lease)
        node.thaw()
        trial.watch.over()
    elif state == "busy":
        lines += await trial.in_flight(rooms[4:])
    elif how:
        for name, way in ways_of(node, target).items():
            block(name, way, how)
        trial.watch.fault(node, "slow")
        await asyncio.sleep(trial.chance.uniform(0, 2 * trial.lease))
    trial.watch.fault(node, "dead")
    end = await node.leave()
    trial.on.note_end(end)
    trial.figures["left"] = end["seconds"]
    lift(node)
    if end["code"] is None:
        node.kill()
    began = time.monotonic()
    await node.start()
    trial.watch.over()
    await trial.served(node, "restarted", began)
    return await trial.ending(lines, rooms[3])


# ----------------------------------------------------------------------------------------------------------- the list


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault, with all that chance leaves open said. `sort` is the word under which the table counts it."""

    sort: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.sort, *self.words))

    async def run(self, trial: Trial) -> Figures:
        """Do it. Errors: AssertionError when something did not come."""
        return await ACTS[self.sort](trial, *self.words)


ACTS: Final[Mapping[str, Callable[..., Awaitable[Figures]]]] = {
    "freeze": freeze,
    "partition": partition,
    "slow": slow,
    "outage": outage,
    "kill": kill,
    "leave": leave,
}


def kinds(engine: str, nodes: int) -> Sequence[Kind]:
    """Every kind of fault that such a stage can have."""
    frozen = [Kind("freeze", (point, str(length))) for point in POINTS for length in LENGTHS]
    common = [*frozen, Kind("kill")]
    slows = [Kind("slow", ("platform", how)) for how in SLOWS]
    if engine == "sqlite":
        states = [state for state in STATES if not state.startswith(("store", "both", "notices"))]
        return [*common, Kind("outage", ("unlink",)), *slows, *(Kind("leave", (state,)) for state in states)]
    partitions = [Kind("partition", (target, how)) for target in TARGETS for how in HOWS] if nodes > 1 else []
    slows += [Kind("slow", ("store", how)) for how in SLOWS]
    outages = [Kind("outage", (how,)) for how in OUTAGES]
    return [*common, *partitions, *outages, *slows, *(Kind("leave", (state,)) for state in STATES)]


def told_of(error: BaseException) -> str:
    """An error as the first line of a complaint."""
    return str(error).partition("\n")[0] or type(error).__name__
