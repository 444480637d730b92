"""doctor warns where questions are asked in private alone, and nobody who may decide has a private chat."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor.approvers import check_approvers
from bot.doctor.subject import Subject
from bot.settings.settings import Settings
from runtime.contract import Address, Busy, Identity, Level, Role, Said, Signal
from runtime.domain.approvals import Rights
from runtime.store.protocol import Gate
from runtime.store.store import open_store
from tests.fakes.postgres import Postgres
from tests.unit.bot.settings.test_settings import read

GATE = Gate(open_to_all=False, busy=Busy.STEER, rights=Rights(), agent="main")
IN_PRIVATE = '[approvals]\nto = ["dm"]\n'
BY_RULE = '[[policy]]\ntool = "shell"\nresult = "ask"\nto = ["dm"]\n'


async def known(url: str, *, wrote: str = "") -> None:
    store = await open_store(url)
    for name, role, user in (("Ada", Role.OWNER, "telegram:1"), ("Bob", Role.USER, "slack:T1/U2")):
        await store.people.add_person(name, role, [Identity(user)], actor="")
    if wrote:
        room = Address("telegram", "tg", "7")
        await store.intake.accept(Signal("tg", "1", Identity(wrote), "", room, Said("hi"), store.now()), GATE)
    await store.close()


async def told(settings: Settings) -> list[tuple[Level, str]]:
    found = await check_approvers(Subject(settings, None, None, None))
    return [(one.level, one.what) for one in found]


async def test_nothing_is_told_where_rooms_are_asked_too(tmp_path: Path) -> None:
    settings = read(tmp_path, '[approvals]\nto = ["room", "dm"]\n')
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url)
    assert await told(settings) == []


@pytest.mark.parametrize(("text", "place"), [(IN_PRIVATE, "approvals.to"), (BY_RULE, "policy[1].to")])
async def test_nobody_with_a_private_chat_is_a_warning(tmp_path: Path, text: str, place: str) -> None:
    settings = read(tmp_path, text)
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url, wrote="slack:T1/U2")  # a user, who may not decide
    what = f"{place} asks only in private, and nobody who may decide has written to the bot privately"
    assert await told(settings) == [(Level.WARNING, what)]


async def test_a_rule_and_the_settings_narrow_who_counts(tmp_path: Path) -> None:
    settings = read(tmp_path, BY_RULE + 'approvers = ["owner"]\n[access]\napprovers = ["slack:work/U2"]\n')
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url, wrote="telegram:1")
    assert [level for level, _ in await told(settings)] == [Level.WARNING]


async def test_one_who_wrote_in_private_is_named(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.newest_database()
    await known(url, wrote="telegram:1")
    settings = read(tmp_path, f'database_url = "{url}"\n{IN_PRIVATE}')
    assert await told(settings) == [(Level.OK, "approvals.to: Ada can be asked in private")]


async def test_an_approver_nobody_knows_is_a_warning(tmp_path: Path) -> None:
    text = '[[policy]]\ntool = "shell"\nresult = "ask"\napprovers = ["Adda", "Ada", "owner", "slack:T1/U9", "Zed"]\n'
    settings = read(tmp_path, text)
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url)
    found = await check_approvers(Subject(settings, None, None, None))
    assert [(one.level, one.what, one.fix) for one in found] == [
        (Level.WARNING, 'policy[1].approvers names "Adda", and I know nobody by that name', "did you mean Ada?"),
        (
            Level.WARNING,
            'policy[1].approvers names "Zed", and I know nobody by that name',
            "name them as `signalbox people list` does, or by an identity",
        ),
    ]


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("quorum = 2\n", "policy[1].quorum is 2, and only Ada may decide about its calls"),
        ('quorum = 2\napprovers = ["operator"]\n', "policy[1].quorum is 2, and only Ada may decide about its calls"),
        ('quorum = 2\n[access]\napprovers = ["slack:work/U2", "slack:work/U9"]\n', "only Bob may decide"),
        ('quorum = 2\n[access]\napprovers = ["slack:work/U8", "slack:work/U9"]\n', "nobody may decide"),
    ],
)
async def test_a_quorum_above_the_people_who_may_decide_is_a_warning(tmp_path: Path, rule: str, what: str) -> None:
    settings = read(tmp_path, f'[[policy]]\ntool = "shell"\nresult = "ask"\n{rule}')
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url)
    found = [words for level, words in await told(settings) if level is Level.WARNING]
    assert [what in words for words in found] == [True]


async def test_a_quorum_that_can_be_reached_is_told_of_by_nobody(tmp_path: Path) -> None:
    text = '[[policy]]\ntool = "shell"\nresult = "ask"\nquorum = 2\n[access]\napprovers = ["slack:work/U2", "telegram:tg/1"]\n'
    settings = read(tmp_path, text)
    settings.data_dir.mkdir(exist_ok=True)
    await known(settings.database_url)
    assert await told(settings) == []
