"""Events over HTTP: pages by number, a stream that goes on where it was cut, what is too old, and who may look."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.console.routes import console_routes
from bot.operator.context import OperatorContext
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Reaction, Signal, Verdict
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.http.authentication import Authenticator
from runtime.http.guard import install
from runtime.store.protocol import AuditCheckpoint
from tests.contract.store.stage import ADA, GATE, ROOM, UMA, Stage

TOKEN = "t" * 32
HOLDER = {"Authorization": f"Bearer {TOKEN}"}
EVENTS = "/console/api/events"
Browser = TestClient[web.Request, web.Application]


@asynccontextmanager
async def console(stage: Stage, *readers: str) -> AsyncIterator[Browser]:
    async def sink(signal: Signal) -> Verdict:
        return (await stage.store.intake.accept(signal, GATE)).verdict

    store = stage.store
    context = OperatorContext(
        store=store,
        sink=sink,
        links=store.people,
        notifier=LocalNotifier(),
        web_account="main",
        now=stage.clock,
        new_id=new_id,
        control_token=TOKEN,
        feedback_readers=lambda: readers,
    )
    site = web.Application()
    install(site, [])
    site.add_routes(console_routes(context))
    async with TestClient(TestServer(site)) as browser:
        yield browser


async def happen(stage: Stage, number: int = 1) -> int:
    """Messages, sealed; the newest number."""
    for n in range(number):
        await stage.say(f"{n} {await stage.column('SELECT count(*) FROM signals')}")
    duty = await stage.duty("sealer")
    sealed = await stage.store.audit.seal(duty, await stage.store.audit.audit_head(), limit=10_000)
    assert sealed is not None
    return sealed.number


async def told(browser: Browser, path: str, **query: str) -> tuple[int, Any]:
    async with browser.get(path, params=query, headers=HOLDER) as answer:
        return answer.status, await answer.json()


async def test_a_page_goes_on_behind_a_number(stage: Stage) -> None:
    head = await happen(stage, 3)
    async with console(stage) as browser:
        status, page = await told(browser, EVENTS, after=str(head - 2), limit="1")
        assert (status, page["next"], page["oldest"], page["newest"]) == (200, head - 1, 1, head)
        [event] = page["events"]
        assert (event["number"], event["event"], event["who"], event["address"]) == (
            head - 1,
            "session.asked",
            "Ada",
            str(ROOM),
        )
        assert (await told(browser, EVENTS, after="x"))[0] == 400
        assert (await told(browser, EVENTS, after="9" * 19))[0] == 400
        assert (await told(browser, EVENTS, word="person.*"))[1]["events"][0]["event"] == "person.added"


async def test_what_is_older_than_retention_is_told_with_the_oldest_number(stage: Stage) -> None:
    await happen(stage, 4)
    duty, rows = await stage.duty("sealer"), await stage.store.audit.audit_rows(0)
    await stage.store.audit.cut_audit(duty, AuditCheckpoint(4, rows[3].hash, stage.clock()))
    async with console(stage) as browser:
        for path, headers in ((EVENTS, {}), (f"{EVENTS}/stream", {"Last-Event-ID": "2"})):
            async with browser.get(path, params={"after": "2"}, headers=HOLDER | headers) as answer:
                assert answer.status == 410
                assert (await answer.json())["error"].startswith("Events up to 4 are no longer kept. The oldest is 5:")
        assert (await told(browser, EVENTS, after="0"))[1]["events"][0]["number"] == 5


async def stream(browser: Browser, after: int, number: int) -> list[tuple[int, str]]:
    """Number and word of the next events behind `after`."""
    found: list[tuple[int, str]] = []
    async with browser.get(f"{EVENTS}/stream", headers=HOLDER | {"Last-Event-ID": str(after)}) as answer:
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        async for line in answer.content:
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                found.append((event["number"], event["event"]))
                if len(found) == number:
                    break
    return found


async def test_a_stream_goes_on_behind_the_last_number_and_as_things_happen(stage: Stage) -> None:
    head = await happen(stage, 3)
    async with console(stage) as browser:
        first = await stream(browser, 0, head - 1)
        assert [number for number, _ in first] == list(range(1, head))
        following = asyncio.ensure_future(stream(browser, head - 1, 2))
        await asyncio.sleep(0)
        newest = await happen(stage)
        assert [number for number, _ in await following] == [head, newest]


async def test_nobody_else_reads_events(stage: Stage) -> None:
    async with console(stage) as browser, aiohttp.ClientSession() as http:
        for path in (EVENTS, f"{EVENTS}/stream", "/console/api/checkpoints", "/console/api/feedback"):
            async with http.get(browser.make_url(path)) as answer:
                assert answer.status == 401


async def test_the_page_shows_events_sinks_checkpoints_and_ratings(stage: Stage) -> None:
    claim = await stage.begin()
    final = stage.final(claim, "<b>done</b>")
    await stage.store.runs.finish(claim.lane, claim.run_id, claim.next_step, None, RunState.DONE, "done", [final])
    await stage.drain()
    await stage.store.feedback.note_reaction(Reaction(ROOM, UMA, f"m-{final.id}", ("👎",), words="<i>why</i>"))
    duty = await stage.duty("event sinks")
    await stage.store.events.begin_cursor(duty, "siem")
    await happen(stage)
    await stage.store.events.sink_failed(duty, "siem", "It answered 500.")
    async with console(stage) as browser:
        async with browser.get("/console/events", headers=HOLDER) as answer:
            html = await answer.text()
        assert all(words in html for words in ("session.asked", "delivery.sent", "It answered 500.", f"m-{final.id}"))
        async with browser.get("/console/events", params={"word": "feedback.*"}, headers=HOLDER) as answer:
            html = await answer.text()
        assert "<code>feedback.given</code>" in html
        assert "<code>session.asked</code>" not in html
        async with browser.get("/console/feedback", headers=HOLDER) as answer:
            html = await answer.text()
        assert "👎" in html
        assert "Uma" in html
        assert "<i>why" not in html
        _, checkpoints = await told(browser, "/console/api/checkpoints")
        assert checkpoints[0]["message"] == f"m-{final.id}"
        status, steps = await told(browser, f"/console/api/runs/{claim.run_id}/events")
        assert (status, steps[0]["number"]) == (200, 1)
        assert "run.done" in [one["event"] for one in steps]


@pytest.mark.parametrize(("reader", "status"), [("", 200), (str(ADA), 200), ("Ada", 200), (str(UMA), 403)])
async def test_the_settings_name_who_reads_feedback(stage: Stage, reader: str, status: int) -> None:
    async with console(stage, *([reader] if reader else [])) as browser:
        await stage.store.people.set_link("Ada", "link-of-ada", actor="test")
        cookie = Authenticator(links=stage.store.people, identity="main").cookie
        for path in ("/console/api/feedback", "/console/feedback"):
            async with browser.get(path, cookies={cookie: "link-of-ada"}) as answer:
                is_page = answer.content_type == "text/html"
                assert answer.status == (200 if is_page else status)
                assert ("feedback.readers" in await answer.text()) == (status == 403)
        assert (await told(browser, "/console/api/feedback"))[0] == 200  # the command line on the machine
