"""Rooms by the names of accounts that aren't connected yet, never will be, or are served elsewhere."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from bot.accounts.lookup import CONNECT_TIMEOUT, RoomLookup
from bot.accounts.naming import Accounts, Known
from bot.operator.client import connected
from runtime.contract import Address, Connection, ConnectionStatus, Role, RunId, SessionKey, ToolContext
from runtime.errors import Retryable, StoreError, ToolRetry
from tests.unit.bot.accounts.test_accounts_at_work import Chat, Late, Running, running, settings_in
from tests.unit.bot.accounts.test_supervisor import until

AT_ONCE = timedelta()
NEVER = timedelta(hours=1)
ASKING = ConnectionStatus(Connection.CONNECTING, "Asking Slack who we are.")
REFUSED = ConnectionStatus(Connection.REFUSED, "The token is refused (invalid_auth). Set a new one.")
ROOM = Address("slack", "T1", "C1")


@dataclass
class Starting:
    """An account that connects when the test lets it."""

    identity: str = ""
    earlier: str = ""
    stands: ConnectionStatus = ASKING
    channel: str = "slack"
    account: str = "work"
    name: str = "slack:work"

    @property
    def expected(self) -> str:
        return self.identity or self.earlier

    def standing(self) -> ConnectionStatus:
        return self.stands


@dataclass
class Book:
    """The store's book of accounts."""

    rows: list[Known] = field(default_factory=list)
    served: list[tuple[str, str]] = field(default_factory=list)
    away: bool = False

    async def named_accounts(self) -> list[Known]:
        if self.away:
            raise StoreError("away")
        return self.rows

    async def served_accounts(self) -> list[tuple[str, str]]:
        return self.served


def lookup(account: Starting, book: Book | None = None, *, within: timedelta = NEVER) -> RoomLookup:
    return RoomLookup(Accounts([account]), (), book, within=within)


async def test_a_room_is_found_as_soon_as_its_account_is_connected() -> None:
    account = Starting()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        found = group.create_task(lookup(account).found("slack:work/C1"))
        await asyncio.sleep(0)
        assert not found.done()
        account.identity = "T1"
    assert found.result() == ROOM


async def test_another_token_since_the_last_start_has_another_identity() -> None:
    """So the last one isn't taken for it while the platform may still tell."""
    account = Starting(earlier="T1")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        found = group.create_task(lookup(account).found("slack:work/C1"))
        await asyncio.sleep(0)
        account.identity = "T2"
    assert found.result() == Address("slack", "T2", "C1")


async def test_a_platform_that_stays_silent_is_waited_for_in_the_outbox() -> None:
    assert await lookup(Starting(earlier="T1"), within=AT_ONCE).found("slack:work/C1") == ROOM


async def test_a_refused_account_is_told_at_once_with_the_fix() -> None:
    with pytest.raises(Retryable, match=r"slack:work isn't connected\. The token is refused \(invalid_auth\)"):
        await lookup(Starting(earlier="T1", stands=REFUSED)).found("slack:work/C1")


async def test_an_account_that_never_was_connected_is_told_in_time() -> None:
    with pytest.raises(Retryable, match=r"slack:work isn't connected\. Asking Slack who we are\."):
        await lookup(Starting(), within=AT_ONCE).found("slack:work/C1")


async def test_a_name_that_nobody_has_is_refused_at_once() -> None:
    for book in (None, Book()):
        assert await lookup(Starting(), book).found("slack:home/C1") is None
    with pytest.raises(ValueError, match="not an address"):
        await lookup(Starting()).found("C1")


async def test_an_account_of_another_node_is_found_and_waited_for_while_that_starts_again() -> None:
    book = Book([("slack", "T5", "home")])
    rooms = lookup(Starting(), book)
    assert rooms.known("slack:home/C1") is None
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        found = group.create_task(rooms.found("slack:home/C1"))
        await asyncio.sleep(0)
        assert not found.done()
        book.served = [("slack", "T5")]
    assert found.result() == rooms.known("slack:home/C1") == Address("slack", "T5", "C1")
    book.served = []  # it was seen a moment ago, so it's about to come back
    assert await rooms.found("slack:home/C1") == Address("slack", "T5", "C1")


async def test_an_account_that_no_node_serves_any_more_is_told_in_time() -> None:
    rooms = lookup(Starting(), Book([("slack", "T5", "home")]), within=AT_ONCE)
    with pytest.raises(Retryable, match="slack:home isn't connected: no process serves it"):
        await rooms.found("slack:home/C1")


async def test_what_another_node_serves_is_found_although_this_one_is_refused() -> None:
    rooms = lookup(Starting(earlier="T1", stands=REFUSED), Book(served=[("slack", "T1")]))
    assert await rooms.found("slack:work/C1") == ROOM


async def test_a_store_that_is_away_leaves_what_was_seen_before() -> None:
    book = Book([("slack", "T5", "home")], [("slack", "T5")])
    rooms = lookup(Starting(), book)
    await rooms.look()
    book.away = True
    await rooms.look()
    assert rooms.is_elsewhere(Address("slack", "T5", "C1"))


# ------------------------------------------------------------------------------------------------- the whole process


async def test_a_process_that_has_just_started_posts_where_its_account_is_about_to_connect(tmp_path: Path) -> None:
    async with running(tmp_path, Chat("a", "A1"), first := Late("b", "B1")):
        first.told.set()
        await until(lambda: first.sink)
    late = Late("b", "B1")
    async with running(tmp_path, Chat("a", "A1"), late) as process:
        couriers, here = process.app.engine.couriers, Address("fake", "B1", "desk")
        assert couriers.serves(here)  # so that a question to an approver there is put, too
        assert couriers.features(here) is not None
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            sent = group.create_task(post(process, "fake:b/desk"))
            await asyncio.sleep(0)
            late.told.set()
        assert "It is posted as message" in sent.result()
        await until(lambda: late.shown)
    assert [(str(part.address), part.body) for part in late.shown] == [("fake:B1/desk", "Two tests fail.")]


async def test_rules_name_the_people_of_an_account_while_it_connects_but_make_nobody_an_owner(tmp_path: Path) -> None:
    base = settings_in(tmp_path)
    access = base.access.model_copy(update={"owners": ("fake:b/ada",), "approvers": ("fake:b/bob",)})
    approvals = base.approvals.model_copy(update={"to": ("fake:b/desk",)})
    settings = base.model_copy(update={"access": access, "approvals": approvals})
    async with running(tmp_path, first := Late("b", "B1")):
        first.told.set()
        await until(lambda: first.sink)
    async with running(tmp_path, Late("b", "B1"), settings=settings) as process:
        assert process.app.at.live.rules.gate.rights.approvers == {"fake:B1/bob"}
        assert process.app.at.reload.settings.approvals.to == ("fake:B1/desk",)
        assert process.app.owners == []


async def test_a_refused_token_is_told_to_whoever_names_its_room(tmp_path: Path) -> None:
    late = Late("b", "B1")
    late.stands = REFUSED
    async with running(tmp_path, late) as process:
        with pytest.raises(ToolRetry, match=r"fake:b isn't connected\. The token is refused"):
            await post(process, "fake:b/desk")
        with pytest.raises(ToolRetry, match="No account here matches 'fake:nobody/desk'"):
            await post(process, "fake:nobody/desk")


async def test_rooms_that_reports_may_go_to_are_listed_at_once_while_an_account_connects(tmp_path: Path) -> None:
    wish = {"name": "news", "to": ["fake:b/desk"], "prompt": "What is new?", "when": "daily at 9"}
    async with running(tmp_path, first := Late("b", "B1")) as process, connected(process.control) as api:
        first.told.set()
        await api.add_schedule(wish)
    async with running(tmp_path, Late("b", "B1")) as process, connected(process.control) as api:
        async with asyncio.timeout(CONNECT_TIMEOUT.total_seconds() / 2):
            rows = await api.destinations("desk")
        assert [row["address"] for row in rows] == ["fake:b/desk"]


async def post(process: Running, to: str) -> str:
    """Call the tool as a model does for a person."""
    ada = await process.app.store.people.add_person(f"Ada for {to}", Role.USER, [], actor="test")
    context = ToolContext(Path(), SessionKey("s"), RunId("r"), "c1", None, ada)
    tool = process.app.engine.toolkit.toolbox.tools["channel_send"]
    return await tool.call({"to": to, "text": "Two tests fail."}, context)
