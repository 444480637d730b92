"""doctor tells whom the names in the settings mean, and warns where that is nobody or could be several."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor.people import check_people
from bot.doctor.subject import Subject
from bot.settings.settings import Settings
from runtime.contract import Identity, Level, Role
from runtime.store.store import open_store
from tests.fakes.postgres import Postgres
from tests.unit.bot.settings.test_settings import read


async def known(url: str) -> None:
    store = await open_store(url)
    for name, user in (("Ada", "telegram:1"), ("Bob", "slack:T1/U2"), ("bob", "slack:T1/U3"), ("Zoë", "")):
        await store.people.add_person(name, Role.USER, [Identity(user)] if user else [], actor="")
    await store.close()


async def told(settings: Settings) -> list[tuple[Level, str]]:
    return [(one.level, one.what) for one in await check_people(Subject(settings, None, None, None))]


@pytest.mark.parametrize(
    ("name", "level", "words"),
    [
        ("Ada", Level.OK, 'rooms[1].people: "Ada" (telegram:1)'),
        ("Zoë", Level.OK, '"Zoë" (the page alone)'),
        ("Grace", Level.WARNING, 'names "Grace", but nobody has that name'),
        ("ada", Level.WARNING, 'names "ada", but nobody has that name'),
        ("Bob", Level.WARNING, 'there are "Bob" (slack:T1/U2) and "bob" (slack:T1/U3)'),
    ],
)
async def test_each_name_in_the_settings_is_looked_up(tmp_path: Path, name: str, level: Level, words: str) -> None:
    settings = read(tmp_path, f'[[rooms]]\naddress = "slack:work/C1"\npeople = ["{name}", "slack:work/U1"]\n')
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url)
    [(found, what)] = await told(settings)
    assert (found, words in what) == (level, True), what


async def test_rules_and_blocked_people_are_looked_up_too(tmp_path: Path) -> None:
    rules = "".join(f'[[policy]]\nperson = "{who}"\nresult = "allow"\n' for who in ("*", "Ad*", "tele*", "telegram:9"))
    settings = read(tmp_path, f'[access]\nblocked = ["Mallory"]\n{rules}')
    assert await told(settings) == []  # before the first start
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url)
    levels = [level for level, _ in await told(settings)]
    assert levels == [Level.WARNING, Level.WARNING, Level.OK]


async def test_a_server_is_looked_at_too(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.newest_database()
    await known(url)
    settings = read(tmp_path, f'database_url = "{url}"\n[access]\nblocked = ["Ada"]\n')
    assert await told(settings) == [(Level.OK, 'access.blocked: "Ada" (telegram:1)')]
