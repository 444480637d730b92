"""People in the settings may be written with an account's name, also before its platform told who the account is."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.accounts.naming import Account, Accounts, Called, LiveNames
from bot.settings.approvals import Approvals
from bot.settings.policy.rules import PolicyRule
from bot.settings.settings import Settings, load
from bot.wiring.identities import owners_now, with_identities
from runtime.contract import Address, Role
from tests.unit.bot.accounts.test_accounts_at_work import Chat, Late, Running, running, settings_in
from tests.unit.bot.accounts.test_supervisor import until

WORK = Called("slack", "work", "T1")
HOME = Called("slack", "home", "")
TELEGRAM = Called("telegram", "tg", "4711")
ALL = Accounts([WORK, HOME, TELEGRAM])

TEXT = """
[access]
owners = ["slack:work/U1", "telegram:1001", "slack:home/U9", "slack:T5/U1"]
approvers = ["slack:work/U2"]
blocked = ["slack:home/U3"]
bots = ["slack:work/B1"]
[[rooms]]
address = "slack:work/C1"
people = ["slack:work/U4"]
blocked = ["slack:T1/U5"]
[[policy]]
tool = "shell"
person = "slack:work/*"
result = "deny"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "signalbox.toml").write_text(TEXT)
    return load(tmp_path / "signalbox.toml", environ={})


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("slack:work/U1", "slack:T1/U1"),
        ("slack:T1/U1", "slack:T1/U1"),
        ("slack:home/U1", "slack:home/U1"),
        ("discord:work/U1", "discord:work/U1"),
        ("telegram:1001", "telegram:1001"),
        ("Ada", "Ada"),
        ("*", "*"),
    ],
)
def test_the_name_of_an_account_stands_for_its_identity(text: str, identity: str) -> None:
    assert ALL.identity(text) == identity


def test_people_are_known_wherever_settings_name_them(settings: Settings) -> None:
    known = with_identities(settings, ALL)
    assert known.access.owners == ("slack:T1/U1", "telegram:1001", "slack:home/U9", "slack:T5/U1")
    assert known.access.approvers == ("slack:T1/U2",)
    assert known.access.blocked == ("slack:home/U3",)
    assert known.access.bots == ("slack:T1/B1",)
    assert (known.rooms[0].people, known.rooms[0].blocked) == (("slack:T1/U4",), ("slack:T1/U5",))
    assert known.policy[0].person == "slack:T1/*"
    assert known.rooms[0].address == "slack:work/C1"  # rooms are compared by the names of their accounts


def test_questions_go_to_people_and_rooms_as_they_are_stored(settings: Settings) -> None:
    rule = PolicyRule(result="ask", to=("dm", "slack:work/C2", "slack:home/C3"), approvers=("slack:work/U7", "Ann"))
    approvals = Approvals(to=("room", "slack:work/C4"), escalate_to=("telegram:tg/-5/7",))
    known = with_identities(settings.model_copy(update={"policy": (rule,), "approvals": approvals}), ALL)
    assert known.policy[0].to == ("dm", "slack:T1/C2", "slack:home/C3")
    assert known.policy[0].approvers == ("slack:T1/U7", "Ann")
    assert (known.approvals.to, known.approvals.escalate_to) == (("room", "slack:T1/C4"), ("telegram:4711/-5/7",))


def test_an_owner_whose_workspace_is_not_known_yet_is_no_other_person(settings: Settings) -> None:
    assert owners_now(settings, ALL) == ["slack:T1/U1", "telegram:1001", "slack:T5/U1"]


@dataclass
class Learning:
    """An account that its platform tells about itself later."""

    channel: str = "slack"
    account: str = "work"
    identity: str = ""
    earlier: str = ""

    @property
    def expected(self) -> str:
        return self.identity or self.earlier


def test_addresses_go_both_ways_as_soon_as_the_account_is_known() -> None:
    late = Learning()
    accounts: Accounts[Account] = Accounts([late, TELEGRAM])
    named = LiveNames(accounts, [("slack", "T1", "work"), ("telegram", "1", "gone")])
    assert accounts.address("slack:work/C1") is None
    assert named(Address("slack", "T1", "C1")) == "slack:work/C1"  # by what was known before
    assert named(Address("telegram", "1", "2")) == "telegram:gone/2"
    late.identity = "T2"
    assert accounts.address("slack:work/C1/17.5") == Address("slack", "T2", "C1", "17.5")
    assert named(Address("slack", "T2", "C1")) == "slack:work/C1"
    assert named(Address("slack", "T7", "C1")) == "slack:T7/C1"
    with pytest.raises(ValueError, match="not an address"):
        accounts.address("slack")


async def test_rules_and_owners_are_those_of_a_workspace_once_it_is_known(tmp_path: Path) -> None:
    late = Late("b", "B1")
    base = settings_in(tmp_path)
    access = base.access.model_copy(update={"owners": ("fake:b/ada", "web:me"), "approvers": ("fake:b/bob",)})
    async with running(tmp_path, Chat("a", "A1"), late, settings=base.model_copy(update={"access": access})) as process:
        assert await owners(process) >= {"web:me"}
        assert not any(name.startswith("fake:") for name in await owners(process))
        late.told.set()
        await until(lambda: process.app.at.live.rules.gate.rights.approvers == {"fake:B1/bob"})
        await until(lambda: late.sink)
        async with asyncio.timeout(30):
            while "fake:B1/ada" not in await owners(process):  # noqa: ASYNC110 - a row rings no bell
                await asyncio.sleep(0.01)


async def owners(process: Running) -> set[str]:
    return {
        name
        for one in await process.app.store.people.people()
        if one.person.role is Role.OWNER
        for name in one.identities
    }
