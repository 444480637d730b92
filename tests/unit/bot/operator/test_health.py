"""Health for operators: the last lines of the log, live too, what the doctor finds, and files to download."""

from __future__ import annotations

import asyncio
import io
import json
import sys
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.console.routes import console_routes
from bot.http.event_stream import STREAM_LOOK_INTERVAL
from bot.operator.system.examination import Examination, Examined, examined
from bot.operator.system.health_parts import HealthParts
from bot.telemetry.ring import LogFilter, LogLine, LogRing
from runtime.contract import Role
from runtime.http.authentication import Authenticator
from runtime.http.guard import install
from runtime.store.store import Store, open_store
from tests.unit.bot.fake_store import FakeStore, context_of
from tests.unit.bot.operator.console import Browser

NOW = datetime(2026, 11, 26, tzinfo=UTC)
FINDINGS = [
    {"level": "ok", "id": "web.listens", "what": "port <b>8080", "why": "", "fix": ""},
    {"level": "error", "id": "model.key", "what": "no key", "why": "It's needed.", "fix": "set model.api_key"},
]


def never() -> datetime:
    return NOW


@asynccontextmanager
async def console(ring: LogRing, found: Examined | None = None) -> AsyncIterator[tuple[Browser, Store]]:
    """The console of an owner called Ada and an operator called Otto, whose links are their names."""
    store = await open_store("sqlite:///:memory:")
    for name, role in (("Ada", Role.OWNER), ("Otto", Role.OPERATOR)):
        await store.people.add_person(name, role, [], actor="")
        await store.people.set_link(name, name, actor="")
    look = Examination(settings_file=lambda: None, now=never)
    look.last = found
    parts = HealthParts(ring=lambda: ring, examination=lambda: look)
    context = replace(context_of(FakeStore()), store=store, links=store.people, health=parts)
    site = web.Application()
    install(site, [])
    site.add_routes(console_routes(context))
    async with TestClient(TestServer(site)) as browser:
        cookie = Authenticator(links=store.people, identity=context.web_account).cookie
        browser.session.cookie_jar.update_cookies({cookie: "Otto"})
        yield browser, store
    await store.close()


def line(event: str, **fields: str) -> str:
    return json.dumps({"level": "info", "event": event, "timestamp": "2026-11-26T00:00:00Z", **fields})


async def test_the_last_lines_are_shown_and_found() -> None:
    ring = LogRing()
    ring.keep(line("run <b>began", trace="abcd"))
    ring.keep(line("shown", trace="wxyz"))
    async with console(ring) as (browser, _):
        async with browser.get("/console/logs") as answer:
            html = await answer.text()
        assert html.index("shown") < html.index("run &lt;b&gt;began"), "the newest is first"
        assert "<b>began" not in html
        async with browser.get("/console/api/logs?trace=abcd") as answer:
            told = await answer.json()
        assert [one["event"] for one in told["lines"]] == ["run <b>began"]
        assert told["next"] == 2
        async with browser.get("/console/api/logs?level=loud") as answer:
            assert answer.status == 400
        async with browser.get("/console/api/logs?after=99") as answer:
            assert len((await answer.json())["lines"]) == 2, "the process was started anew since"


async def test_lines_come_live_and_go_on_where_they_were_cut() -> None:
    ring = LogRing()
    ring.keep(line("first"))
    async with console(ring) as (browser, _), browser.get("/console/api/logs/stream?text=no") as answer:
        assert answer.content_type == "text/event-stream"
        ring.keep(line("nothing"))
        ring.keep(line("not now"))
        told = b""
        async with asyncio.timeout(30):
            while b"not now" not in told:
                told += await answer.content.readany()
        assert b"first" not in told, "it doesn't fit"
        assert told.index(b"nothing") < told.index(b"not now")
        assert b"id: 3\nevent: line\n" in told


class Chatty(LogRing):
    """The log of a process that logs each look at it."""

    looks = 0

    def after(self, number: int, wanted: LogFilter, limit: int) -> list[LogLine]:
        self.looks += 1
        self.keep(line(f"look {self.looks}"))
        return super().after(number, wanted, limit)


async def test_a_log_that_grows_by_each_look_is_looked_at_once_a_second() -> None:
    ring, began = Chatty(), time.monotonic()
    async with console(ring) as (browser, _), browser.get("/console/api/logs/stream") as answer:
        told = b""
        async with asyncio.timeout(30):
            while b"look 2" not in told:
                told += await answer.content.readany()
        await asyncio.sleep(STREAM_LOOK_INTERVAL.total_seconds())
        assert ring.looks <= 4 + (time.monotonic() - began) / STREAM_LOOK_INTERVAL.total_seconds()


async def test_the_doctors_findings_stand_with_their_fix() -> None:
    async with console(LogRing(), Examined(NOW, FINDINGS)) as (browser, _), browser.get("/console/health") as answer:
        html = await answer.text()
    assert "Something is broken." in html
    assert html.index("set model.api_key") < html.index("port &lt;b&gt;8080")
    assert "1 thing is in order" in html
    assert 'data-meanwhile="The doctor is looking.' in html


async def test_a_support_bundle_is_downloaded_by_operators() -> None:
    well = Examined(NOW, FINDINGS)
    async with console(LogRing(), well) as (browser, _), browser.get("/console/support.zip") as answer:
        assert answer.headers["Content-Disposition"] == 'attachment; filename="signalbox-support.zip"'
        body = await answer.read()
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert json.loads(archive.read("about.json"))["revision"]
        assert json.loads(archive.read("tables.json"))["people"] == 2


async def test_all_about_somebody_is_downloaded_by_owners_alone() -> None:
    async with console(LogRing()) as (browser, store):
        async with browser.get("/console/people/Ada/data.zip") as answer:
            assert answer.status == 403
        await store.people.set_role("Otto", Role.OWNER, actor="")
        async with browser.get("/console/people/Ada/data.zip") as answer:
            body = await answer.read()
        async with browser.get("/console/people/Nobody/data.zip") as answer:
            assert answer.status == 404
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert json.loads(archive.read("people.jsonl"))["name"] == "Ada"


async def test_the_doctor_looks_in_a_process_of_its_own_within_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "signalbox.toml"
    file.write_text(f'data_dir = "{tmp_path}/var"\n')
    found = await examined(file, never)
    assert found.trouble == ""
    assert "settings.valid" in [one["id"] for one in found.findings]
    assert not (tmp_path / "var").exists(), "it changes nothing"
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    late = await examined(None, never, timedelta(seconds=0.2))
    assert "didn't finish within" in late.trouble
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    ended = await examined(None, never)
    assert (ended.number, ended.trouble.partition(" (")[0]) == (3, "The doctor couldn't be run")


async def test_one_looks_at_a_time() -> None:
    look = Examination(settings_file=lambda: Path("/nowhere/signalbox.toml"), now=never)
    first = asyncio.ensure_future(look.look())
    await asyncio.sleep(0)
    assert look.is_running
    assert await look.look() is None
    found = await first
    assert found is look.last
