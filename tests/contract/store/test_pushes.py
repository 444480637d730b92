"""Places that are told of tasks: at least once, with the same delivery id, over kills; given up with an event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from bot.doors.a2a.places import PushPlace
from bot.doors.a2a.pushing import DELIVERY_HEADER, PUSH_ROLE, PUSHES_A_PROGRAM, Pusher
from bot.doors.a2a.wire import link_of
from bot.wiring.events.pushes import PUSH_TOOL, PushWay
from runtime.contract import Probe, Role, SignalId, no_probe
from runtime.domain.programs.followed import FollowState
from runtime.domain.programs.stages import PUSH_LONGEST_DELAY, PUSH_TRIES_MAX, Push, stages_of
from runtime.domain.programs.token import ProgramToken
from runtime.egress import Egress, Opening, Result, Rule
from runtime.errors import StoreError
from runtime.guard.sealing import Sealer
from runtime.store.programs import pushes
from runtime.store.programs.pushes import PUSHES_A_TASK, NewPush
from runtime.store.protocol import Duty
from tests.contract.store.stage import OTHER_ROOM, ROOM, Stage

SEALER = Sealer(b"k" * 32)


class Killed(BaseException):
    """The process is gone."""


def killed(_point: str) -> None:
    raise Killed


@dataclass
class Told:
    """A store with a place that hears of its tasks."""

    stage: Stage
    url: str = ""
    status: int = 200
    away: int = 0
    ids: list[str] = field(default_factory=list)
    hanging: int = 0
    most: int = 0
    full: asyncio.Event = field(default_factory=asyncio.Event)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def hear(self, request: web.Request) -> web.Response:
        self.ids.append(request.headers[DELIVERY_HEADER])
        self.heard.set()
        return web.Response(status=self.status)

    async def hang(self, _request: web.Request) -> web.Response:
        self.hanging += 1
        self.most = max(self.most, self.hanging)
        if self.hanging == PUSHES_A_PROGRAM:
            self.full.set()
        await self.over.wait()
        self.hanging -= 1
        return web.Response()

    async def keep(self, task: str, name: str = "here", path: str = "", program: str = "api:peer") -> bool:
        sealed = SEALER.seal(PushPlace(name, self.url + path).as_text(), Push.about_of(task, name))
        new = NewPush(task=SignalId(task), name=name, program=program, dialect="1.0", sealed=sealed)
        return await self.stage.store.pushes.put_push(new)

    async def serve(self, probe: Probe = no_probe) -> int:
        """Tell all that is due, as a process does that began now; how many places were due."""
        pusher, store = self.pusher(probe), self.stage.store
        duty, due = await self.stage.duty(PUSH_ROLE), await store.pushes.due()
        for one in due:
            await pusher.serve(duty, one)
        return len(due)

    async def take(self, role: str) -> Duty | None:
        if self.away:
            self.away -= 1
            raise StoreError("the database is away")
        return await self.stage.store.cluster.take(self.stage.lease, role)

    def pusher(self, probe: Probe = no_probe) -> Pusher:
        store = self.stage.store
        opening = Opening.parse(URL(self.url).authority)
        way = PushWay(Egress([Rule(Result.ALLOW, PUSH_TOOL)], allow=[opening]), lambda: SEALER)
        return Pusher(
            pushes=store.pushes,
            programs=store.programs,
            way=way,
            take=self.take,
            now=self.stage.clock,
            link=link_of("", str),
            probe=probe,
            each=timedelta(milliseconds=10),
        )


@pytest.fixture
async def place(stage: Stage) -> AsyncIterator[Told]:
    place, app = Told(stage), web.Application()
    app.router.add_post("/", place.hear)
    app.router.add_post("/hang", place.hang)
    async with TestServer(app) as server:
        place.url = str(server.make_url("/"))
        await stage.store.programs.make_token(ProgramToken(name="peer", role=Role.USER, made_by="Ada"), "sbx_x")
        yield place


async def test_what_was_told_before_a_kill_comes_again_with_its_id_and_the_place_is_done_with_the_task(
    place: Told,
) -> None:
    stage = place.stage
    claim = await stage.begin()
    (task,) = await stage.column("SELECT id FROM signals")
    assert await place.keep(task)
    with pytest.raises(Killed):
        await place.serve(killed)
    await place.serve()
    assert (len(place.ids), len({*place.ids})) == (2, 1)
    await stage.finish(claim)
    (one,) = await stage.store.pushes.due()
    assert one.story is not None
    states = [FollowState.QUEUED, FollowState.WORKING, FollowState.DONE]
    assert [each.state for each in stages_of(one.story)] == states
    await place.serve()
    assert (len(place.ids), len({*place.ids}), await place.serve()) == (3, 2, 0)
    assert not await stage.store.pushes.any_push()


async def test_a_place_that_takes_nothing_is_tried_later_and_later_and_given_up_with_an_event(place: Told) -> None:
    await place.stage.begin()
    (task,) = await place.stage.column("SELECT id FROM signals")
    assert await place.keep(task)
    place.status = 500
    for _ in range(PUSH_TRIES_MAX):
        assert (await place.serve(), await place.serve()) == (1, 0)
        place.stage.clock.advance(seconds=PUSH_LONGEST_DELAY.total_seconds())
    assert len({*place.ids}) == 1
    assert await place.stage.audit("push dropped") == [("api:peer", task, "It answered 500.")]
    assert not await place.stage.store.pushes.any_push()


async def revoked(stage: Stage) -> None:
    await stage.store.programs.revoke_token("peer", "Ada")


async def removed(stage: Stage) -> None:
    [name] = await stage.column(
        "SELECT name FROM people WHERE id IN (SELECT person_id FROM identities WHERE identity = 'api:peer')"
    )
    assert await stage.store.people.remove(name, actor="Ada")


@pytest.mark.parametrize("end", [revoked, removed])
async def test_a_program_that_may_not_speak_is_told_nothing_and_a_task_has_few_places(
    place: Told, end: Callable[[Stage], Awaitable[None]]
) -> None:
    await place.stage.begin()
    (task,) = await place.stage.column("SELECT id FROM signals")
    kept = [await place.keep(task, f"place {n}") for n in range(PUSHES_A_TASK + 1)]
    assert kept == [True] * PUSHES_A_TASK + [False]
    assert await place.keep(task, "place 0")  # its address may change
    await end(place.stage)
    assert await place.serve() == PUSHES_A_TASK
    assert (place.ids, await place.stage.store.pushes.any_push()) == ([], False)


async def test_places_of_one_program_that_hang_leave_turns_for_those_of_others(place: Told) -> None:
    for room in (ROOM, OTHER_ROOM):
        await place.stage.finish(await place.stage.begin(at=room))
    first, second = await place.stage.column("SELECT id FROM signals ORDER BY id")
    for n in range(PUSHES_A_TASK):
        await place.keep(first, f"hangs {n}", "hang")
    await place.stage.store.programs.make_token(ProgramToken(name="other", role=Role.USER, made_by="Ada"), "sbx_y")
    await place.keep(second, program="api:other")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        serving = group.create_task(place.pusher().rest())
        await place.heard.wait()
        await place.full.wait()
        place.over.set()
        await serving
    assert (place.most, len(place.ids)) == (PUSHES_A_PROGRAM, 2)
    assert not await place.stage.store.pushes.any_push()


async def test_a_program_has_so_many_places_and_others_have_theirs(
    place: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushes, "PLACES_A_PROGRAM", 2)
    assert [await place.keep(task) for task in ("one", "two", "three")] == [True, True, False]
    assert await place.keep("two")
    assert await place.keep("three", program="api:other")


async def test_a_store_that_is_away_for_a_moment_ends_nothing(place: Told) -> None:
    claim = await place.stage.begin()
    (task,) = await place.stage.column("SELECT id FROM signals")
    assert await place.keep(task)
    await place.stage.finish(claim)
    place.away = 1
    await place.pusher().rest()
    assert (len(place.ids), await place.stage.store.pushes.any_push()) == (2, False)
