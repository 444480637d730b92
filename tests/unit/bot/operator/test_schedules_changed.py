"""A change by a page, a program or the command line: what it does not name stays (scenario 49)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.operator.client import connected
from bot.operator.schedules import FIELDS
from bot.server.process import serving
from tests.unit.bot.operator.test_schedules import ROOM, TEXT, TO, House
from tests.unit.bot.settings.test_settings import read

ELSEWHERE: Final = "room02"
TIMES: Final = frozenset({"when", "when_text", "next"})
A_TEMPLATE: Final[dict[str, Any]] = {
    "when": "every weekday at 9",
    "zone": "America/New_York",
    "name": "news",
    "to": [TO],
    "template": "It is {{ now }}.",
    "options": {"days": "7", "of": "all"},
    "misfire": "all",
    "catch_up": 3,
    "window_minutes": 7,
    "jitter_seconds": 5,
    "thread": "own",
    "quiet": True,
    "max_cost": 0.25,
    "starts": "2098-03-02 at 6:00",
    "ends": "2099-06-01 at 6:00",
}
# By each field: another value, the same for the command line, and what of a schedule it may change.
CHANGES: Final[Mapping[str, tuple[Any, tuple[str, ...], frozenset[str]]]] = {
    "name": ("old news", ("--name", "old news"), frozenset({"name"})),
    "when": ("every weekday at 10", ("--when", "every weekday at 10"), TIMES),
    "zone": ("Asia/Tokyo", ("--zone", "Asia/Tokyo"), frozenset({"when", "zone", "next"})),
    "starts": ("2098-04-01 at 6:00", ("--starts", "2098-04-01 at 6:00"), frozenset({"starts_at", "next"})),
    "ends": ("2099-05-01 at 6:00", ("--ends", "2099-05-01 at 6:00"), frozenset({"ends_at"})),
    "prompt": ("What is old?", ("--task", "What is old?"), frozenset({"kind", "task", "options"})),
    "template": ("{{ now }}!", ("--template-file", "new.md"), frozenset({"task"})),
    "report": ("cost", ("--report", "cost"), frozenset({"kind", "task", "options"})),
    "options": ({"days": "8"}, ("--option", "days=8"), frozenset({"options"})),
    "to": ([f"web:main/{ELSEWHERE}"], ("--to", f"web:main/{ELSEWHERE}"), frozenset({"to", "rooms"})),
    "misfire": ("window", ("--misfire", "window"), frozenset({"terms.misfire"})),
    "catch_up": (4, ("--catch-up", "4"), frozenset({"terms.catch_up"})),
    "window_minutes": (8, ("--window-minutes", "8"), frozenset({"terms.window_minutes"})),
    "jitter_seconds": (9, ("--jitter-seconds", "9"), frozenset({"terms.jitter_seconds"})),
    "thread": ("running", ("--thread", "running"), frozenset({"terms.thread"})),
    "quiet": (False, ("--no-quiet",), frozenset({"terms.quiet"})),
    "max_cost": (0.5, ("--max-cost", "0.5"), frozenset({"terms.max_cost"})),
}
OF_THE_FORM: Final = ("when", "zone", "prompt", "to", "name")


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, **{f"terms.{name}": value for name, value in row["terms"].items()}} | {"terms": None}


def different(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[str]:
    old, new = flat(before), flat(after)
    return {name for name in old if old[name] != new[name]}


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.md").write_text("{{ now }}!")
    async with serving(read(tmp_path, TEXT), with_link=False) as ready, connected(ready.control) as api:
        for room in (ROOM, ELSEWHERE):
            await api.say(room, f"hello {room}", f"hello-{room}")  # lists name it by its first words
        yield House(ready, api)


def test_the_table_names_every_field() -> None:
    assert set(CHANGES) == FIELDS


async def test_what_a_program_or_a_form_does_not_name_stays(house: House) -> None:
    for field, (value, _, may) in CHANGES.items():
        before = await house.api.add_schedule(A_TEMPLATE)
        after = await house.api.change_schedule(before["id"], {field: value})
        assert different(before, after) == may, field
        await house.api.remove_schedule(before["id"])


async def test_what_is_left_empty_in_the_form_stays(house: House) -> None:
    async with house.browser("Otto", "operator") as browser:
        for field in OF_THE_FORM:
            before = await house.api.add_schedule(A_TEMPLATE)
            value, _, may = CHANGES[field]
            form = dict.fromkeys(OF_THE_FORM, "") | {field: value[0] if isinstance(value, list) else value}
            url, origin = f"/console/api/schedules/{before['id']}", house.ready.control.url
            async with browser.post(url, json=form, headers={"Origin": origin}) as answer:
                assert answer.status == 200, await answer.text()
                assert different(before, await answer.json()) == may, field
            await house.api.remove_schedule(before["id"])


async def test_what_the_command_line_does_not_name_stays(house: House) -> None:
    for field, (_, options, may) in CHANGES.items():
        before = await house.api.add_schedule(A_TEMPLATE)
        await command("schedules", "change", "news", *options)
        rows = {row["id"]: row for row in await house.api.schedules()}
        assert different(before, rows[before["id"]]) == may, field
        await house.api.remove_schedule(before["id"])


async def test_an_option_of_nothing_that_has_options_is_refused(house: House) -> None:
    await house.api.add_schedule({"when": "every day at 9", "prompt": "What is new?", "name": "news", "to": [TO]})
    assert "only go with a template or a report" in await command(
        "schedules", "change", "news", "--option", "days=8", code=1
    )


async def test_the_newest_is_meant_by_last_and_lists_are_of_a_room(house: House) -> None:
    made = await house.api.add_schedule({**A_TEMPLATE, "to": [f"web:main/{ELSEWHERE}"]})
    assert made["id"] in await command("schedules", "show", "--last")
    assert made["id"] in await command("schedules", "show", made["id"][:6])
    listed = await command("schedules", "list", "--room", f"web:main/{ELSEWHERE}")
    assert "news" in listed
    assert "morning" not in listed
    assert "09:00:00 ES" in listed, "by clocks that are named: EST or EDT"
    assert "Name one schedule, or take the newest with --last" in await command("schedules", "show", code=2)
    assert "Name one question" in await command("approvals", "approve", "0351", "--last", code=2)
    assert "There is no such question" in await command("approvals", "approve", "--last", code=1)


async def command(*arguments: str, code: int = 0) -> str:
    """What a command says, which finds this process as any other."""
    ended = await asyncio.to_thread(CliRunner().invoke, cli, ["--config", "signalbox.toml", *arguments])
    assert ended.exit_code == code, ended.output
    return ended.output
