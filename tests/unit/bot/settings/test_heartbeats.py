"""`[[heartbeats]]`: what is taken, what is refused with its fix, and what becomes of it in the store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.accounts.naming import Called
from bot.server.reload import merged
from bot.settings.settings import Settings
from bot.wiring.schedules import FileSchedules
from runtime.contract import Address, DataCall, ScheduleState, TaskKind
from tests.contract.runtime.stores import memory_store
from tests.unit.bot.settings.test_settings import faults, read

LEAST = '[[heartbeats]]\nname = "shop"\ntool = "http_get"\nto = ["web:main/reports"]\n'
WHOLE = (
    LEAST + 'when = "every hour"\nzone = "Berlin"\narguments = { url = "https://example.com" }\nevery_failure = true\n'
)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_three_lines_are_a_heartbeat(tmp_path: Path) -> None:
    made = read(tmp_path, LEAST).planned[0]
    assert (made.name, made.when, made.to, made.terms.quiet) == ("shop", "every 5 minutes", ("web:main/reports",), True)
    task = made.task()
    assert (task.kind, task.data) == (TaskKind.TEMPLATE, (DataCall("result", "http_get", {}),))
    assert task.options == {"every_failure": False}


def test_everything_can_be_said(tmp_path: Path) -> None:
    made = read(tmp_path, WHOLE).planned[0]
    assert (made.when, made.zone) == ("every hour", "Europe/Berlin")
    assert made.task().data[0].arguments == {"url": "https://example.com"}
    assert made.task().options == {"every_failure": True}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LEAST + LEAST, "heartbeats[1] has this name too; give each heartbeat its own"),
        (
            LEAST + '[[schedules]]\nname = "shop"\nwhen = "daily"\nprompt = "x"\nto = ["web:main/reports"]\n',
            "schedules[1] has this name too; give each its own",
        ),
        (LEAST.replace('["web:main/reports"]', "[]"), "is empty; name a room"),
        (LEAST.replace("web:main", "slack:work"), "there is no account slack:work; add it under [[accounts]]"),
        (LEAST + 'when = "now and then"\n', "expected cron or a phrase"),
        (LEAST + 'when = "every 0 minutes"\n', "expected cron or a phrase"),
        (LEAST + "arguments = { since = 2026-01-01 }\n", "dates in quotes"),
        (LEAST.replace('tool = "http_get"\n', ""), "tool"),
        (LEAST + 'zone = "Atlantis"\n', "the name of a time zone"),
    ],
)
def test_what_is_wrong_is_told_with_its_fix(tmp_path: Path, text: str, words: str) -> None:
    assert words in faults(tmp_path, text)


async def test_it_stands_in_the_store_as_it_does_in_the_file(tmp_path: Path) -> None:
    store = memory_store(lambda: NOW)
    book = FileSchedules(book=store.schedules, now=lambda: NOW, accounts=[Called("web", "main", "abc")])
    assert (await book.sync(read(tmp_path, LEAST))).changed == ("schedule 'shop' added",)
    [kept] = await store.schedules.schedules()
    assert (kept.to, kept.by_file, kept.state, kept.terms.quiet) == (
        (Address("web", "abc", "reports"),),
        True,
        ScheduleState.ACTIVE,
        True,
    )
    assert (await book.sync(read(tmp_path, LEAST))).changed == ()
    assert (await book.sync(read(tmp_path, WHOLE))).changed == ("schedule 'shop' changed",)
    assert (await book.sync(read(tmp_path, ""))).changed == ("schedule 'shop' removed",)
    assert await store.schedules.schedules() == []
    await store.close()


def test_a_reload_takes_them(tmp_path: Path) -> None:
    old, fresh = Settings(), read(tmp_path, LEAST)
    assert [one.name for one in merged(old, fresh).planned] == ["shop"]
