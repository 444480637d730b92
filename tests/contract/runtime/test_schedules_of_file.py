"""Schedules of the settings file over the real store: added, changed and removed with it, and their run state kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.accounts.naming import Called
from bot.settings.schedules import TASKS, ScheduleTable
from bot.settings.settings import load
from bot.wiring.schedules import OVER, FileSchedules, Synced
from runtime.calendar import read
from runtime.contract import (
    Address,
    Asker,
    Identity,
    OccurrenceState,
    Role,
    Schedule,
    ScheduleRequest,
    ScheduleState,
    Task,
    TaskKind,
)
from runtime.domain.ids import new_id
from runtime.domain.schedules import NO_NEWS
from runtime.errors import ToolRetry
from runtime.schedules.service import ScheduleService
from tests.contract.runtime.stage import ADA, Stage
from tests.contract.runtime.strict import Strict
from tests.contract.runtime.test_schedules_changed import different

HOUR: Final = timedelta(hours=1)
NEWS: Final = '[[schedules]]\nname = "news"\nwhen = "every hour"\nprompt = "What is new?"\nto = ["web:main/room01"]\n'
QUIET: Final = NEWS + "quiet = true\n"
COSTS: Final = '[[schedules]]\nname = "costs"\nwhen = "0 9 * * 1"\nreport = "cost"\nto = ["web:main/room01"]\n'
SLACK: Final = (
    '[[accounts]]\nname = "work"\nchannel = "slack"\nbot_token = "xoxb-1111-2222-abcdefABCDEF"\n'
    'app_token = "xapp-1-A111-2222-abcdef"\n'
)
FAR: Final = NEWS.replace('"web:main/room01"', '"web:main/room01", "slack:work/C1"')
PAGE: Final = Called("web", "main", "main")
ROOM: Final = Address("web", "main", "room01")


@dataclass
class House:
    """A settings file over the store of a stage, read by one process after another."""

    stage: Stage
    folder: Path
    accounts: list[Called] = field(default_factory=lambda: [PAGE])

    async def read(self, text: str, *, before: tuple[tuple[str, str, str], ...] = ()) -> Synced:
        """A start, or a reload, with `text` in the file."""
        file = self.folder / "signalbox.toml"
        file.write_text(text)
        store = self.stage.store
        files = FileSchedules(book=store.schedules, now=self.stage.clock, accounts=self.accounts, before=before)
        return await files.sync(load(file, environ={}))

    async def all(self) -> dict[str, Schedule]:
        return {one.name: one for one in await self.stage.store.schedules.schedules()}

    async def one(self, name: str = "news") -> Schedule:
        return (await self.all())[name]

    def after(self, wait: timedelta = timedelta()) -> datetime:
        """So long after this second: each look at the clock is a microsecond later."""
        return second(self.stage.clock()) + wait

    @property
    def booking(self) -> ScheduleService:
        return ScheduleService(
            book=self.stage.store.schedules, agent="main", now=self.stage.clock, new_id=new_id, serves=lambda _: True
        )

    async def operator(self) -> Asker:
        person = await self.stage.store.people.identified(ADA)
        assert person
        assert person.role >= Role.OPERATOR
        return Asker(person, ADA, ROOM)


def second(at: datetime | None) -> datetime:
    assert at
    return at.replace(microsecond=0)


@pytest.fixture
def house(any_stage: Stage, tmp_path: Path) -> House:
    return House(any_stage, tmp_path)


async def test_what_is_added_changed_and_taken_out_is_so_in_the_store(house: House) -> None:
    assert (await house.read(NEWS + COSTS)).changed == ("schedule 'news' added", "schedule 'costs' added")
    news = await house.one()
    assert (news.by_file, news.owner, news.actor) == (True, None, Identity(""))
    assert (news.to, news.when_text, second(news.next_at)) == ((ROOM,), "every hour", house.after(HOUR))
    assert (await house.one("costs")).task == Task(TaskKind.REPORT, "cost")
    changed = await house.read(NEWS.replace("new?", "new,\\n# and where?") + 'quiet = true\nzone = "Asia/Tokyo"\n')
    assert changed.changed == ("schedule 'costs' removed", "schedule 'news' changed")
    after = await house.one()
    assert (after.id, after.task.text, after.terms.quiet) == (news.id, "What is new,\n# and where?", True)
    assert read(after.when).zone == "Asia/Tokyo"
    assert (await house.read("")).changed == ("schedule 'news' removed",)
    assert await house.all() == {}


async def test_the_same_file_again_changes_nothing(house: House) -> None:
    (house.folder / "daily.md").write_text("{{ now }}")
    whole = NEWS.replace('prompt = "What is new?"', 'template_file = "daily.md"') + (
        'options = { days = 7, share = 0.5, all = true, of = "x" }\nstarts = 2026-01-01\nends = "2099-12-31T18:00"\n'
        'misfire = "window"\nwindow_minutes = 0.1\njitter_seconds = 7.3\nmax_cost = 0.07\nzone = "new york"\n'
        'data = [{ name = "files", tool = "list_files", arguments = { path = ".", deep = [1, { a = 2 }] } }]\n'
    )
    assert (await house.read(whole)).changed == ("schedule 'news' added",)
    first = await house.one()
    house.stage.clock.advance(timedelta(minutes=10))
    assert await house.read(whole) == Synced()
    assert await house.one() == first
    (house.folder / "daily.md").write_text("{{ previous }}")
    assert (await house.read(whole)).changed == ("schedule 'news' changed",), "the file of its template is another"
    assert (await house.one()).task.text == "{{ previous }}"


async def test_another_task_keeps_the_next_instant_and_another_rule_does_not(house: House) -> None:
    await house.read(NEWS)
    due = (await house.one()).next_at
    house.stage.clock.advance(timedelta(minutes=40))
    await house.read(NEWS.replace("What is new?", "What is old?"))
    assert (await house.one()).next_at == due
    await house.read(NEWS.replace("every hour", "every 2 hours"))
    later = await house.one()
    assert (second(later.next_at), second(later.anchor_at)) == (house.after(2 * HOUR), house.after())
    await house.read(NEWS.replace("every hour", "every 2 hours") + f"ends = {house.stage.clock():%Y-%m-%dT%H:%M:%SZ}\n")
    assert (await house.one()).state is ScheduleState.ENDED


# Another value of each setting of a table, and what it may change of the schedule.
OTHERWISE: Final[dict[str, tuple[str, set[str]]]] = {
    "when": ('"every weekday at 10"', {"rule", "when_text", "next_at"}),
    "zone": ('"Asia/Tokyo"', {"zone", "anchor_at", "next_at", "starts_at", "ends_at"}),  # days of its clocks
    "prompt": ('"What is old?"', {"task"}),
    "to": ('["web:main/room02"]', {"to"}),
    "agent": ('"ops"', {"agent"}),
    "starts": ('"2026-04-01"', {"starts_at", "anchor_at", "next_at"}),
    "ends": ('"2026-05-01"', {"ends_at"}),
    "misfire": ('"skip"', {"terms"}),
    "catch_up": ("4", {"terms"}),
    "window_minutes": ("8", {"terms"}),
    "jitter_seconds": ("9", {"terms"}),
    "thread": ('"running"', {"terms"}),
    "quiet": ("false", {"terms"}),
    "max_cost": ("0.5", {"terms"}),
}
OPS: Final = '[[agents]]\nname = "ops"\nprompt = "You run things."\n'
WHOLE: Final = {
    "name": '"news"',
    "when": '"every weekday at 9"',
    "zone": '"Europe/Berlin"',
    "prompt": '"What is new?"',
    "to": '["web:main/room01"]',
    "starts": '"2026-03-02"',
    "ends": '"2026-06-01"',
    "misfire": '"all"',
    "catch_up": "3",
    "window_minutes": "7",
    "jitter_seconds": "5",
    "thread": '"own"',
    "quiet": "true",
    "max_cost": "0.25",
}


def table_of(settings: dict[str, str]) -> str:
    return "[[schedules]]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items())


def test_the_table_names_all_settings_but_those_that_exclude_each_other() -> None:
    beside_a_prompt = {*TASKS, "data", "options"} - {"prompt"}
    assert set(OTHERWISE) == set(ScheduleTable.model_fields) - beside_a_prompt - {"name"}


async def test_a_setting_of_one_changes_what_it_says_and_nothing_else(stage: Stage, tmp_path: Path) -> None:
    house = House(stage, tmp_path)
    for setting, (value, may) in OTHERWISE.items():
        await house.read(table_of(WHOLE) + OPS)
        before = await house.one()
        house.stage.clock.advance(timedelta(minutes=10))
        await house.read(table_of(WHOLE | {setting: value}) + OPS)
        assert different(before, await house.one()) == may, f"{setting} was changed"
        await house.read("")


async def test_another_end_does_not_count_its_intervals_anew(house: House) -> None:
    await house.read(NEWS)
    due = (await house.one()).next_at
    house.stage.clock.advance(timedelta(minutes=40))
    await house.read(NEWS + 'ends = "2099-12-31"\n')
    assert (await house.one()).next_at == due


async def test_what_it_did_its_failures_and_a_pause_are_kept(house: House) -> None:
    await house.read(QUIET)
    process = await house.stage.process(Strict([NO_NEWS]))
    house.stage.clock.advance(HOUR)
    await process.timer.look()
    await process.answer_all()
    news, operator = await house.one(), await house.operator()
    await house.booking.pause(news.id, operator, "holiday")
    await house.read(NEWS.replace("every hour", "every 3 hours") + "max_cost = 0.2\n")
    kept = await house.one()
    assert (kept.state, kept.reason, kept.next_at) == (ScheduleState.PAUSED, "holiday", None)
    assert [one.state for one in await house.booking.history(kept.id)] == [OccurrenceState.DONE]
    resumed = await house.booking.resume(kept.id, operator)
    assert second(resumed.next_at) == house.after(3 * HOUR)


async def test_a_run_of_one_acts_for_nobody(house: House) -> None:
    """So a call that needs a person is asked in its home room, and nobody is taken to have wanted it."""
    await house.read(QUIET)
    news = await house.one()
    process = await house.stage.process(model := Strict([NO_NEWS]))
    await house.booking.run_now(news.id, await house.operator())
    await process.answer_all()
    rows = await house.stage.rows("SELECT actor, person_id FROM signals WHERE platform = 'timer'")
    assert [tuple(row) for row in rows] == [("timer", None)]
    assert len(model.requests) == 1


async def test_people_turn_it_and_do_not_change_it(house: House) -> None:
    await house.read(NEWS)
    news, operator = await house.one(), await house.operator()
    with pytest.raises(ToolRetry, match=r"is in the settings file\. Change it there"):
        await house.booking.change(news.id, ScheduleRequest(when="every day at 9"), operator)
    with pytest.raises(ToolRetry, match="is in the settings file"):
        await house.booking.remove(news.id, operator)


async def test_one_that_comes_again_is_a_new_one(house: House) -> None:
    await house.read(NEWS)
    first = await house.one()
    for _ in range(3):
        await house.read("")
        assert (await house.read(NEWS)).changed == ("schedule 'news' added",)
    again = await house.one()
    assert (again.id != first.id, again.state) == (True, ScheduleState.ACTIVE)
    assert await house.read(NEWS) == Synced()


async def test_an_instant_that_is_over_is_told_and_not_fired(house: House) -> None:
    await house.read(NEWS.replace("every hour", "2020-02-03 at 9:00"))
    over = await house.one()
    assert (over.state, over.reason, over.next_at) == (ScheduleState.ENDED, OVER, None)
    await house.read(NEWS)
    assert (await house.one()).state is ScheduleState.ACTIVE, "another rule has instants again"


async def test_a_room_whose_account_is_not_known_yet_is_waited_for(house: House) -> None:
    waits = await house.read(SLACK + FAR)
    assert waits == Synced(notes=("schedule 'news' waits until the account of slack:work/C1 has connected",))
    assert await house.all() == {}
    house.accounts.append(Called("slack", "work", "T1"))
    assert (await house.read(SLACK + FAR)).changed == ("schedule 'news' added",)
    assert [str(room) for room in (await house.one()).to] == ["web:main/room01", "slack:T1/C1"]
    house.accounts.pop()
    assert (await house.read(SLACK + FAR)).changed == (), "what was planned stays so while its platform is away"
    assert (await house.one()).state is ScheduleState.ACTIVE


async def test_an_account_is_known_from_earlier_lives(house: House) -> None:
    """A platform that is away at the start holds nothing back that is due meanwhile."""
    house.accounts.append(Called("slack", "work", ""))
    await house.read(SLACK + FAR, before=(("slack", "T1", "work"),))
    assert [str(room) for room in (await house.one()).to] == ["web:main/room01", "slack:T1/C1"]
    house.accounts[-1] = replace(house.accounts[-1], identity="T2")
    await house.read(SLACK + FAR, before=(("slack", "T1", "work"),))
    assert str((await house.one()).to[1]) == "slack:T2/C1", "it is another account now"


async def test_a_name_that_was_taken_in_chat_is_told(house: House) -> None:
    taken = ScheduleRequest(name="news", when="every day at 9", task=Task(TaskKind.PROMPT, "hi"))
    mine = await house.booking.add(taken, await house.operator())
    told = await house.read(NEWS)
    assert told.changed == ()
    assert "schedule 'news' isn't planned: web:main/room01 already has a schedule with that name" in told.notes[0]
    assert (await house.one()).id == mine.id
    await house.booking.remove(mine.id, await house.operator())
    assert (await house.read(NEWS)).changed == ("schedule 'news' added",)


async def test_processes_that_start_together_plan_it_once(house: House) -> None:
    file = house.folder / "signalbox.toml"
    file.write_text(NEWS + COSTS)
    settings, store = load(file, environ={}), house.stage.store
    several = [FileSchedules(book=store.schedules, now=house.stage.clock, accounts=[PAGE]) for _ in range(4)]
    told = await asyncio.gather(*(one.sync(settings) for one in several))
    assert sorted(change for one in told for change in one.changed) == [
        "schedule 'costs' added",
        "schedule 'news' added",
    ]
    assert [note for one in told for note in one.notes] == []
    assert sorted(await house.all()) == ["costs", "news"]
