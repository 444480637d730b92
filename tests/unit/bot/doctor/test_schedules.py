"""doctor looks at what is planned: paused and failing schedules, rooms of accounts that are gone, and what is in no book."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.accounts.naming import Called
from bot.doctor.schedules import Row, check_schedules, findings
from bot.doctor.subject import Subject
from bot.server.process import serving
from bot.settings.settings import Settings, load
from bot.wiring.schedules import FileSchedules
from runtime.contract import Finding, Level
from runtime.domain.schedules import ScheduleEvent
from runtime.store.store import open_store
from tests.fakes.postgres import Postgres
from tests.unit.bot.settings.test_settings import read

NEWS = '[[schedules]]\nname = "news"\nwhen = "every hour"\nprompt = "What is new?"\nto = ["web:main/room01"]\n'
ROW = Row("s1", "news", "active", "", 0, False, ["web:main/room01"])


@pytest.mark.parametrize(
    ("row", "level", "words"),
    [
        (ROW, Level.OK, "1 planned, none paused or failing"),
        (replace(ROW, state="paused", reason="by ada"), Level.OK, '"news" is paused: by ada'),
        (replace(ROW, failures=3), Level.WARNING, '"news" failed 3 times in a row'),
        (
            replace(ROW, state="paused", failures=5, reason="failed 5 times in a row: no key"),
            Level.WARNING,
            "is paused: failed 5 times in a row: no key",
        ),
        (
            replace(ROW, to=["web:main/room01", "slack:old/C1"]),
            Level.WARNING,
            "reports to slack:old, which isn't an account",
        ),
    ],
)
def test_what_is_wrong_with_one_is_told(tmp_path: Path, row: Row, level: Level, words: str) -> None:
    [finding] = findings(read(tmp_path, ""), [row])
    assert (finding.level, words in finding.what) == (level, True)
    assert level is Level.OK or (finding.why and finding.fix)


def test_where_nothing_is_planned_nothing_is_told(tmp_path: Path) -> None:
    assert list(findings(read(tmp_path, ""), [])) == []


async def looked(settings: Settings) -> dict[str, Finding]:
    return {one.id: one for one in await check_schedules(Subject(settings, None, None, None))}


async def planned(settings: Settings, url: str) -> str:
    """The book of an installation that is at rest: one schedule, paused after failures. Its id."""
    store = await open_store(url, now=lambda: datetime.now(UTC))
    await store.cluster.note_account("web", "main", "w1")
    await FileSchedules(book=store.schedules, now=store.now, accounts=[Called("web", "main", "w1")]).sync(settings)
    [made] = await store.schedules.schedules()
    await store.schedules.turn_schedule(made.id, ScheduleEvent.PAUSE, reason="holiday")
    await store.close()
    return made.id


async def test_the_book_is_read_while_no_process_runs(tmp_path: Path) -> None:
    settings = read(tmp_path, NEWS)
    assert await looked(settings) == {}, "there is no database yet"
    settings.data_dir.mkdir()
    ident = await planned(settings, settings.database_url)
    assert (await looked(settings))[f"schedules.{ident}"].what == '"news" is paused: holiday'
    gone = load(tmp_path / "signalbox.toml", {"accounts": []}, environ={})
    assert list(await looked(gone)) == [f"schedules.{ident}"], "the page is always there"


async def test_the_book_of_a_server_is_read_too(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.newest_database()
    settings = read(tmp_path, f'database_url = "{url}"\n' + NEWS)
    assert await looked(settings) == {}, "it has no schema yet"
    ident = await planned(settings, url)
    assert (await looked(settings))[f"schedules.{ident}"].what == '"news" is paused: holiday'


async def test_the_running_process_is_asked_also_what_it_could_not_plan(tmp_path: Path) -> None:
    settings = read(tmp_path, "[web]\nport = 0\n" + NEWS)
    async with serving(settings, with_link=False) as ready:
        subject = Subject(settings, None, ready.control.pid, ready.control)
        assert [one.what for one in await check_schedules(subject)] == ["1 planned, none paused or failing"]
        more = read(tmp_path, "[web]\nport = 0\n" + NEWS + NEWS.replace('"news"', '"late"'))
        told = {one.id: one.what for one in await check_schedules(replace(subject, settings=more))}
        assert told["schedules.late"] == '"late" is in the settings but not planned'
