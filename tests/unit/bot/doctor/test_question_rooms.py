"""doctor tells of rooms to which questions go and in which the bot cannot post, and where in the settings they are named."""

from __future__ import annotations

from pathlib import Path

from bot.doctor.question_rooms import check_question_rooms
from bot.doctor.subject import Subject
from bot.server.process import serving
from runtime.contract import Level
from tests.unit.bot.settings.test_settings import read

PORT = "[web]\nport = 0\n"
QUESTIONS = (
    '[approvals]\nto = ["room", "web:main/nobodys"]\nescalate_to = ["web:main/missing"]\n'
    '[[policy]]\ntool = "shell"\nresult = "ask"\nto = ["dm", "web:main/gone00"]\n'
)


async def test_a_room_in_which_nothing_can_be_posted_is_told_with_the_setting_that_names_it(tmp_path: Path) -> None:
    settings = read(tmp_path, PORT + QUESTIONS)
    async with serving(settings, with_link=False) as ready:
        found = await check_question_rooms(Subject(settings, None, ready.control.pid, ready.control))
    assert [(one.level, one.what.partition(": ")[0]) for one in found] == [
        (Level.WARNING, "approvals.to names web:main/nobodys, and I can't post there"),
        (Level.WARNING, "approvals.escalate_to names web:main/missing, and I can't post there"),
        (Level.WARNING, "policy[1].to names web:main/gone00, and I can't post there"),
    ]


async def test_a_room_that_is_there_is_fine_and_nothing_is_asked_where_none_is_named(tmp_path: Path) -> None:
    settings = read(tmp_path, PORT + QUESTIONS.replace('"web:main/nobodys"', '"dm"'))
    [untested] = await check_question_rooms(Subject(settings, None, None, None))
    assert (untested.level, untested.what) == (
        Level.OK,
        "2 named, not tested: only a running process can ask the platform",
    )
    assert await check_question_rooms(Subject(read(tmp_path, PORT), None, None, None)) == []
