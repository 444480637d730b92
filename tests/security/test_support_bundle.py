"""A support bundle holds nothing of what people wrote, of who they are, of where they are, and no secret."""

from __future__ import annotations

import io
import json
import time
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import LargeBinary, Text
from sqlalchemy import insert as insert_into

from bot.accounts.status import State
from bot.operator.actor import Actor
from bot.operator.operations import Operations
from bot.operator.system.bundle import Scrubber, frames_of, lines_told, settings_told, words_of_settings, write_bundle
from bot.operator.system.examination import Examination, Examined
from bot.operator.system.health_parts import HealthParts
from bot.settings.settings import load
from bot.telemetry.ring import LogFilter, LogRing
from runtime.contract import Connection, ConnectionStatus, Identity, Person, PersonId, Role
from runtime.guard.masks import Mask
from runtime.store.schema import metadata
from runtime.store.sql.driver import Op
from runtime.store.store import Store, open_store
from tests.unit.bot.fake_store import FakeStore, context_of
from tests.unit.guard.secrets import SECRETS

CANARY: Final = "canary"
NOW: Final = datetime(2026, 11, 26, tzinfo=UTC)
SETTINGS: Final = f"""
data_dir = "{{folder}}/{CANARY}-data"
[web]
public_url = "https://{CANARY}.example.org"
hosts = ["{CANARY}-host.example.org"]
[access]
owners = ["telegram:{CANARY}1"]
blocked = ["{CANARY} Mallory"]
[[rooms]]
address = "slack:work/{CANARY}-room"
people = ["{CANARY} Ann"]
[[accounts]]
channel = "slack"
name = "{CANARY}-work"
app_token = "xapp-1-{CANARY}-11111111111111111111"
bot_token = "xoxb-{CANARY}-1111111111111111111111"
[[schedules]]
name = "{CANARY}-report"
when = "every day at 9:00"
to = ["web:main/{CANARY}"]
prompt = "tell {CANARY} what happened"
[[policy]]
result = "deny"
tool = "shell"
reason = "{CANARY} said so"
"""


async def planted(store: Store) -> None:
    """A row in each table, each of whose texts is a canary of its own."""
    for table in metadata.sorted_tables:
        row: dict[str, Any] = {
            column.name: f"{CANARY} {table.name} {column.name}"
            if isinstance(column.type, Text)
            else CANARY.encode()
            if isinstance(column.type, LargeBinary)
            else 1
            for column in table.columns
        }

        def add(into: Any = table, values: dict[str, Any] = row) -> Op[None]:
            yield insert_into(into).values(values), {}

        await store.driver.write(add)


def log_of(secret: str) -> LogRing:
    """Lines as our own code and libraries write them, with canaries wherever one of them puts a value."""
    ring, mask = LogRing(), Mask([secret])
    trace = f'Traceback:\n  File "/home/{CANARY}/x/runtime/agent/loop.py", line 7, in run\nValueError: {CANARY}'
    lines: list[dict[str, Any]] = [
        {"event": "shown", "address": f"slack:T1/{CANARY}", "trace": "0354Py6Wr4yNX9FnM9TYYs", "part": 1},
        {"event": "failed", "reason": f"no room {CANARY}", "exception": trace, f"{CANARY} key": "x"},
        {"event": f"POST to 'https://{CANARY}.example' gave \"{CANARY}\" for slack:T1/{CANARY}, {CANARY}@example.org"},
        {"event": f"{CANARY} people name was not reached in /srv/{CANARY}/x with {secret}"},
    ]
    for line in lines:
        ring.keep(mask(json.dumps({"level": "warning", "timestamp": "2026-11-26T00:00:00Z", **line})))
    ring.keep(f"no JSON at all, about '{CANARY}'")
    return ring


def found() -> Examined:
    what = f"the schedule `{CANARY} schedules name` of {CANARY} people name posts to web:main/{CANARY}"
    finding = {
        "level": "error",
        "id": f"slack.{CANARY}-work",
        "what": what,
        "why": f'"{CANARY}"',
        "fix": f"/etc/{CANARY}/x",
    }
    return Examined(NOW, [finding, {"level": "ok", "id": "web.listens", "what": "port 8080", "why": "", "fix": ""}])


async def bundle(folder: Path) -> dict[str, str]:
    """The files of a bundle that was made amid canaries."""
    file = folder / "signalbox.toml"
    file.write_text(SETTINGS.format(folder=folder))
    settings, store = load(file, environ={}), await open_store("sqlite:///:memory:")
    await planted(store)
    look = Examination(settings_file=lambda: None, now=lambda: NOW)
    look.last = found()
    ring = log_of(SECRETS["github"][1])

    async def metrics() -> str:
        return f'signalbox_parts_total{{account="{CANARY}-work",tool="shell"}} 3.0'

    parts = HealthParts(
        ring=lambda: ring,
        examination=lambda: look,
        settings=lambda: (settings.shown(), settings.sources),
        metrics=metrics,
    )
    standing = State(f"slack:{CANARY}-work", ConnectionStatus(Connection.REFUSED, f"{CANARY} is not there"), NOW)
    context = replace(context_of(FakeStore()), store=store, health=parts, states=lambda: [standing])
    actor = Actor(Person(PersonId("p"), f"{CANARY} Oscar", Role.OPERATOR), Identity("web:p"))
    written = io.BytesIO()
    write_bundle(written, await Operations(context, actor).support())
    await store.close()
    with zipfile.ZipFile(written) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


async def test_no_canary_is_in_a_support_bundle(tmp_path: Path) -> None:
    files = await bundle(tmp_path)
    told = [line for name, text in files.items() for line in (name, *text.splitlines())]
    assert [line for line in told if CANARY in line.lower()] == []
    assert [line for line in told if SECRETS["github"][1] in line] == []


async def test_a_support_bundle_helps_all_the_same(tmp_path: Path) -> None:
    files = await bundle(tmp_path)
    settings = json.loads(files["settings.json"])
    assert settings["accounts[1].channel"] == {"value": "slack", "from": "file"}
    assert settings["accounts[1].bot_token"] == {"value": "(secret)", "from": "file"}
    assert settings["sessions.busy"] == {"value": "steer", "from": "default"}
    assert settings["policy[1].result"]["value"] == "deny"
    assert json.loads(files["tables.json"])["people"] == 1
    assert json.loads(files["accounts.json"])[0]["state"] == "refused"
    findings = json.loads(files["doctor.json"])["findings"]
    assert findings[1] == {"level": "ok", "id": "web.listens", "what": "port 8080", "why": "", "fix": ""}
    shown, failed, *_ = [json.loads(line) for line in files["log.jsonl"].splitlines()]
    assert (shown["trace"], shown["part"], shown["event"]) == ("0354Py6Wr4yNX9FnM9TYYs", "1", "shown")
    assert failed["exception"] == "agent/loop.py:7 run\nValueError"
    assert 'tool="shell"} 3.0' in files["metrics.txt"]


def test_words_of_ours_stay_and_a_name_within_a_word_does_not_go() -> None:
    scrub = Scrubber(["Al", "owner", ""])
    assert scrub("Also tell Al, the owner.") == "Also tell (name), the owner."
    assert frames_of("") == ""


def test_of_twenty_thousand_names_each_is_found_in_time() -> None:
    """A large installation's log is looked through while its messages go on."""
    scrub = Scrubber(["Ada", "Ada Lovelace", "-100123", *(f"name{number}" for number in range(20_000))])
    told = scrub("ada Lovelace and ADA, Adam; chat -100123, name7 name70000.")
    assert told == "(name) and (name), Adam; chat (name), (name) name70000."
    began = time.process_time()
    for _ in range(1_000):
        scrub("The run went on with its next step, and nobody is named in this line of the log. " * 2)
    assert time.process_time() - began < 5


def test_rooms_addresses_and_aliases_are_told_by_their_length() -> None:
    shown = {
        "approvals": {"to": ["requester", f"slack:work/{CANARY}"]},
        "model": {"name": f"{CANARY}-prod"},
        "models": [{"name": f"{CANARY}-prod", "model": f"openai/https://{CANARY}.example"}, {"model": "openai/gpt-4o"}],
    }
    sources = {"approvals.to": "a.toml", "model": "a.toml", "models": "a.toml"}
    told = settings_told(shown, sources)
    assert CANARY not in str(told)
    assert told["models[2].model"]["value"] == "openai/gpt-4o"
    assert told["approvals.to[1]"]["value"] == "requester"
    assert f"{CANARY}-prod" in words_of_settings(shown, sources)


def test_keys_that_somebody_chose_stand_in_no_bundle_nor_what_stands_below_them() -> None:
    """A table by a name of its own may be called like a customer, in small letters too."""
    shown = {
        "tools": {"settings": {f"{CANARY}_crm": {"pin": 4711, "on": True, "place": f"{CANARY}"}}},
        "skills": {f"{CANARY}_payroll": {"variables": {f"{CANARY}_var": "x"}}},
        "schedules": [{"options": {f"{CANARY}": 4711}}],
        "policy": [{"arguments": {f"{CANARY}": ["x"]}, "limit": 3}],
        "budgets": {"day": 5},
    }
    told = settings_told(shown, {})
    assert CANARY not in str(told)
    assert "4711" not in str(told)
    assert told["budgets.day"]["value"] == 5
    assert "policy[1].arguments.(name)" in told


@pytest.mark.parametrize(
    "event",
    [
        f'the answer was "{CANARY} {"x" * 400}"',
        f"the answer was '{CANARY} {'x' * 400}'",
        f"the answer was `{CANARY} {'x' * 400}`",
        f'{{"event": "failed", "reason": "he said \\"{CANARY}\\" to me, {"x" * 9_000}',
        f"cannot read 'it's {CANARY}' at all",
        f'cannot read "{CANARY}',
        f"cannot read 'it\\'s \"{CANARY}\" here' at all",
    ],
)
def test_what_a_line_quotes_is_not_told_wherever_it_is_cut(event: str) -> None:
    ring = LogRing()
    ring.keep(event if event.startswith("{") else json.dumps({"event": event, "timestamp": "x"}))
    (told,) = lines_told(ring.after(0, LogFilter(), 1), Scrubber([]))
    assert CANARY not in str(told)
    assert len(told["event"]) <= 300
    assert told["event"].startswith(("the answer was", "cannot read", "{"))
