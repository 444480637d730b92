"""Event sinks: at least once, in order, each at its own place; what a sink refuses waits for it."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from adapters.webhook.proof import Proven, proven
from adapters.webhook.settings import Proof
from runtime.domain.events.sinks import LONGEST_RETRY_DELAY, retry_delay
from runtime.egress import Egress, Opening
from runtime.errors import Rejected
from runtime.events import sinks as module
from runtime.events.outlets import FileOutlet, WebOutlet, rule_for
from runtime.events.sinks import EVENTS_A_BATCH, EventSinks, Outlet, SinkFailed, SinkPlan, role_of
from runtime.guard.door import OPEN_DOOR
from runtime.store.protocol import Duty
from tests.contract.store.stage import Stage

SERVED = "SELECT name FROM roles WHERE name LIKE 'event sink %' AND node IS NOT NULL"
SECRET = "a secret of sixteen letters"
NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)


@dataclass
class Taker:
    """A sink in this process. It takes nothing while `fault` says why; `cut` is what it does once behind taking."""

    taken: list[int] = field(default_factory=list)
    fault: str = ""
    killed: bool = False

    async def take(self, _sink: str, events: Sequence[Mapping[str, Any]]) -> None:
        if self.fault:
            raise SinkFailed(self.fault)
        self.taken += [one["number"] for one in events]
        if self.killed:
            raise KeyboardInterrupt


@dataclass
class Serving:
    """The duty over a store, and what operators were told."""

    stage: Stage
    told: list[str] = field(default_factory=list)
    is_known: bool = True

    def sinks(self, *plans: SinkPlan) -> EventSinks:
        return EventSinks(
            sinks=plans,
            book=self.stage.store.events,
            door=OPEN_DOOR,
            called=str,
            take=self._take,
            tell=self._tell,
            now=self.stage.clock,
        )

    async def _take(self, role: str) -> Duty | None:
        return await self.stage.store.cluster.take(self.stage.lease, role)

    async def _tell(self, _origin: str, text: str) -> None:
        if not self.is_known:
            raise Rejected("the operators' room is not known yet")
        self.told.append(text)

    async def happen(self, number: int = 3) -> None:
        """Messages, each an event, sealed."""
        for n in range(number):
            await self.stage.say(f"m{n} {await self.stage.column('SELECT count(*) FROM signals')}")
        duty, head = await self.stage.duty("sealer"), await self.stage.store.audit.audit_head()
        assert await self.stage.store.audit.seal(duty, head, limit=10_000)

    async def head(self) -> int:
        return (await self.stage.store.audit.audit_head()).number


@pytest.fixture
async def serving(stage: Stage) -> Serving:
    serving = Serving(stage)
    await serving.happen(1)
    return serving


def plan(outlet: Outlet, *words: str, name: str = "siem") -> SinkPlan:
    return SinkPlan(name, words or ("*",), outlet)


async def test_each_event_comes_once_and_in_order(serving: Serving) -> None:
    taker = Taker()
    sink = plan(taker)
    sinks = serving.sinks(sink)
    assert await sinks.serve(sink)
    begun = await serving.head()
    await serving.happen(EVENTS_A_BATCH + 20)  # more than one batch
    assert await sinks.serve(sink)
    assert await sinks.serve(sink)
    assert taker.taken == list(range(begun + 1, await serving.head() + 1))


async def test_a_sink_gets_the_events_it_wants_and_its_cursor_passes_the_others(serving: Serving) -> None:
    taker = Taker()
    sink = plan(taker, "person.*")
    sinks = serving.sinks(sink)
    await sinks.serve(sink)
    await serving.happen()
    await serving.stage.store.people.sign_out("Ada", actor="test")
    await serving.happen()
    await sinks.serve(sink)
    assert len(taker.taken) == 1
    assert [one.number for one in await serving.stage.store.events.cursors()] == [await serving.head()]


async def test_a_sink_that_refuses_for_a_day_gets_all_of_it_and_operators_hear_of_it_once(serving: Serving) -> None:
    taker = Taker()
    sink = plan(taker)
    sinks = serving.sinks(sink)
    await sinks.serve(sink)
    begun = await serving.head()
    taker.fault = "It answered 500."
    for _ in range(24):
        await serving.happen(1)
        assert not await sinks.serve(sink)
        serving.stage.clock.advance(hours=1)
    assert [one.number for one in await serving.stage.store.events.cursors()] == [begun]
    assert len(serving.told) == 1
    assert "siem" in serving.told[0]
    assert "It answered 500." in serving.told[0]
    taker.fault = ""
    assert await sinks.serve(sink)
    assert taker.taken == list(range(begun + 1, await serving.head() + 1))
    [cursor] = await serving.stage.store.events.cursors()
    assert (cursor.failing_since, cursor.told) == (None, False)


async def test_operators_whose_room_is_not_known_yet_are_told_at_the_next_failure(serving: Serving) -> None:
    taker = Taker()
    sink = plan(taker)
    sinks = serving.sinks(sink)
    await sinks.serve(sink)
    await serving.happen(1)
    taker.fault, serving.is_known = "away", False
    for known in (False, False, True, True):
        serving.is_known = known
        await sinks.serve(sink)
        serving.stage.clock.advance(hours=1)
    assert len(serving.told) == 1


async def test_what_was_taken_before_a_kill_comes_again_and_nothing_is_lost(serving: Serving) -> None:
    taker = Taker()
    sink = plan(taker)
    await serving.sinks(sink).serve(sink)
    begun = await serving.head()
    await serving.happen()
    taker.killed = True
    with pytest.raises(KeyboardInterrupt):
        await serving.sinks(sink).serve(sink)
    taker.killed = False
    await serving.sinks(sink).serve(sink)
    expected = list(range(begun + 1, await serving.head() + 1))
    assert taker.taken == [*expected, *expected]


async def test_another_node_goes_on_where_the_last_one_stood(serving: Serving) -> None:
    taker = Taker()
    sink = plan(taker)
    await serving.sinks(sink).serve(sink)
    begun = await serving.head()
    await serving.happen(1)
    await serving.sinks(sink).serve(sink)
    await serving.happen(1)
    serving.stage.lease = await serving.stage.store.cluster.join(
        serving.stage.lease.node.__class__("node-2"), "two", timedelta(days=1), alone=True
    )
    await serving.sinks(sink).serve(sink)
    assert taker.taken == list(range(begun + 1, await serving.head() + 1))


async def test_two_nodes_with_different_settings_serve_each_their_own(serving: Serving) -> None:
    """The duty is one for each sink: the first node to look must not keep others from theirs."""
    theirs, ours = Taker(), Taker()
    first, second = serving.sinks(one := plan(ours, name="ours")), None
    await first.serve(one)
    node = serving.stage.lease
    serving.stage.lease = await serving.stage.store.cluster.join(
        node.node.__class__("node-2"), "two", timedelta(days=1), alone=False
    )
    second = serving.sinks(two := plan(theirs, name="theirs"))
    await second.serve(two)
    begun = await serving.head()
    serving.stage.lease, other = node, serving.stage.lease
    await serving.happen()
    await first.serve(one)
    serving.stage.lease = other
    await second.serve(two)
    assert theirs.taken == ours.taken == list(range(begun + 1, await serving.head() + 1))


async def test_sinks_change_while_they_are_served(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SINK_LOOK_INTERVAL", timedelta())
    stays, comes = plan(Taker(), name="stays"), plan(Taker(), name="comes")
    goes = plan(Taker(), name="goes")
    sinks, book = serving.sinks(stays, goes), serving.stage.store.events

    async def serves(*names: str) -> None:
        async with asyncio.timeout(20):
            while True:
                roles = {row[0] for row in await serving.stage.rows(SERVED)}
                if roles == set(map(role_of, names)) and set(names) <= {one.sink for one in await book.cursors()}:
                    return
                await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(sinks.run())
        await serves("stays", "goes")
        sinks.change([stays, comes])
        await serves("stays", "comes")
        task.cancel()
    assert {one.sink for one in await book.cursors()} == {"stays", "goes", "comes"}, "its place stays for a while"


async def test_nothing_new_writes_nothing(serving: Serving) -> None:
    sink = plan(Taker())
    sinks = serving.sinks(sink)
    await sinks.serve(sink)
    before = await serving.stage.everything()
    assert await sinks.serve(sink)
    assert await serving.stage.everything() == before


def test_a_failing_sink_is_tried_later_and_later() -> None:
    waits = [retry_delay(failures).total_seconds() for failures in (1, 2, 3, 4)]
    assert waits == [1, 2, 4, 8]
    assert retry_delay(1_000) == LONGEST_RETRY_DELAY


# ------------------------------------------------------------------------------------------------------------ outlets


@asynccontextmanager
async def collector(answers: list[int], got: list[web.Request], bodies: list[bytes]) -> AsyncIterator[str]:
    """A collector of events on the wire, which answers in turn."""

    async def take(request: web.Request) -> web.Response:
        got.append(request)
        bodies.append(await request.read())
        return web.Response(status=answers.pop(0) if answers else 200, headers={"Location": "/elsewhere"})

    site = web.Application()
    site.add_routes([web.post("/in", take), web.post("/elsewhere", take)])
    async with TestServer(site) as server:
        yield str(server.make_url("/in"))


def egress(url: str, *allow: str) -> Egress:
    return Egress([rule_for(url)], allow=[Opening.parse(one) for one in allow])


async def test_a_batch_is_posted_signed_and_a_redirect_or_an_error_does_not_take_it() -> None:
    got: list[web.Request] = []
    bodies: list[bytes] = []
    async with collector([500, 302, 204], got, bodies) as url:
        moments = iter(NOON + timedelta(seconds=n) for n in range(3))
        outlet = WebOutlet(
            url, egress=egress(url, "127.0.0.1"), header="X-Sum", now=lambda: next(moments), secret=SECRET
        )
        events = [{"number": 7, "event": "run.failed"}, {"number": 8, "event": "run.failed"}]
        for status in (500, 302):
            with pytest.raises(SinkFailed, match=f"answered {status}"):
                await outlet.take("siem", events)
        await outlet.take("siem", events)
    assert [one.path for one in got] == ["/in"] * 3
    assert bodies[0] == bodies[2]
    assert json.loads(bodies[0]) == {"sink": "siem", "events": events}
    signed = f"{int(NOON.timestamp()) + 2}.".encode() + bodies[2]
    assert got[2].headers["X-Sum"] == f"sha256={hmac.new(SECRET.encode(), signed, sha256).hexdigest()}"
    hook = Proof("hmac", SECRET, "X-Sum", "sha256=", "{timestamp}.{body}", "X-Signalbox-Timestamp")
    assert [proven(hook, one.headers, body, NOON) for one, body in zip(got, bodies, strict=True)] == [Proven.YES] * 3
    assert proven(hook, got[0].headers, bodies[0], NOON + timedelta(minutes=6)) is not Proven.YES
    assert got[2].headers["X-Signalbox-Last"] == "8"


async def test_an_address_that_the_way_out_forbids_or_that_is_away_takes_nothing() -> None:
    for allow in ((), ("127.0.0.1",)):
        url = "http://127.0.0.1:9/in"
        outlet = WebOutlet(url, egress=egress(url, *allow), header="X-Sum", now=lambda: NOON)
        with pytest.raises(SinkFailed):
            await outlet.take("siem", [{"number": 1}])


async def test_a_file_gets_whole_lines_also_behind_what_a_kill_left(tmp_path: Path) -> None:
    path = tmp_path / "out" / "events.jsonl"
    outlet = FileOutlet(path)
    await outlet.take("file", [{"number": 1}, {"number": 2}])
    with path.open("a") as file:
        file.write('{"numb')
    await outlet.take("file", [{"number": 3}])
    assert path.read_text().splitlines() == ['{"number": 1}', '{"number": 2}', '{"numb', '{"number": 3}']
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_file_that_cannot_be_written_takes_nothing(tmp_path: Path) -> None:
    with pytest.raises(SinkFailed, match="can't be written"):
        await FileOutlet(tmp_path).take("file", [{"number": 1}])
