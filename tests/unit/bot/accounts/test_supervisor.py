"""An account at work: who it is, who listens to it, and what a bug in it may do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from bot.accounts.supervisor import AccountSupervisor
from runtime.contract import (
    CONNECTED,
    Attempt,
    ChannelAdapter,
    Connection,
    ConnectionStatus,
    Delivery,
    Features,
    NodeId,
    Part,
    Receipt,
    Settled,
    SettleResult,
    Signal,
    Sink,
    Verdict,
    Wire,
)
from runtime.errors import ConfigError, StoreError
from runtime.store.protocol import Duty

SOON = timedelta(milliseconds=5)


class Plain:
    """An account that does nothing but listen."""

    channel, account, identity = "fake", "work", "F1"

    def __init__(self) -> None:
        self.stands = CONNECTED
        self.listened = 0

    def features(self) -> Features:
        return Features()

    async def listen(self, sink: Sink) -> None:
        self.listened += 1
        await asyncio.Event().wait()

    def render(self, delivery: Delivery) -> list[Wire]:
        return [Wire(delivery.content.text)]

    async def show(self, part: Part) -> Receipt:
        return Receipt("1")

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        return receipt

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return SettleResult.UNKNOWN

    def standing(self) -> ConnectionStatus:
        return self.stands


class Learning(Plain):
    """One whose identity only the platform knows; it says so at the second asking."""

    identity = ""

    def __init__(self) -> None:
        super().__init__()
        self.stands = ConnectionStatus(Connection.CONNECTING, "asking who we are")
        self.asked = 0

    def features(self) -> Features:
        return Features(learn=self.learn)

    async def learn(self) -> None:
        self.asked += 1
        if self.asked == 1:
            raise RuntimeError("a bug")
        self.identity = "T1"
        self.stands = CONNECTED


class Exclusive(Plain):
    """One with listeners of which each is for one process."""

    def __init__(self, *listeners: str) -> None:
        super().__init__()
        self.names = listeners
        self.attended: list[str] = []

    def features(self) -> Features:
        return Features(listeners=self)

    def listeners(self) -> Sequence[str]:
        return self.names

    async def attend(self, listener: str, sink: Sink) -> None:
        self.attended.append(listener)
        await asyncio.Event().wait()


class Broken(Plain):
    """One that breaks at the first try, in the way given."""

    def __init__(self, how: Exception | None) -> None:
        super().__init__()
        self.how = how

    def features(self) -> Features:
        return Features()

    async def listen(self, sink: Sink) -> None:
        self.listened += 1
        if self.listened > 1:
            await asyncio.Event().wait()
        if self.how:
            raise self.how


async def no_sink(signal: Signal) -> Verdict:
    raise AssertionError("nothing happens here")


class Roles:
    """Who holds which; `free` gives those of others back."""

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self.elsewhere = set(taken)
        self.away = False
        self.asked = 0

    async def take(self, role: str) -> Duty | None:
        self.asked += 1
        if self.away:
            raise StoreError("away")
        return None if role in self.elsewhere else Duty(role, NodeId("n1"), 1)


def presence(
    adapter: ChannelAdapter, roles: Roles | None = None, learnt: list[str] | None = None, pause: timedelta = SOON
) -> AccountSupervisor:
    async def note(known: ChannelAdapter) -> None:
        if learnt is not None:
            learnt.append(known.identity)

    return AccountSupervisor(adapter, take=(roles or Roles()).take, on_learnt=note, look=SOON, pause=pause)


@asynccontextmanager
async def at_work(account: AccountSupervisor) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(account.learn()), group.create_task(account.listen(no_sink))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def until(met: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not met():  # noqa: ASYNC110 - nothing rings when a task of the account gets there
            await asyncio.sleep(0.001)


async def test_an_account_that_knows_itself_listens_at_once() -> None:
    adapter = Plain()
    account = presence(adapter)
    async with at_work(account):
        await until(lambda: adapter.listened)
        assert account.standing() == CONNECTED
        assert account.listens


async def test_an_account_listens_only_once_it_knows_who_it_is_and_that_is_noted() -> None:
    adapter, learnt = Learning(), list[str]()
    account = presence(adapter, learnt=learnt)
    assert (account.identity, account.standing().connection) == ("", Connection.CONNECTING)
    async with at_work(account):
        await until(lambda: adapter.listened)
    assert (account.identity, learnt, adapter.asked) == ("T1", ["T1"], 2)


async def test_an_account_that_another_one_is_already_serves_nobody_until_it_is_the_only_one() -> None:
    adapter, twins = Plain(), ["slack:first"]

    async def note(known: ChannelAdapter) -> None:
        """Nobody asks."""

    account = AccountSupervisor(
        adapter, take=Roles().take, on_learnt=note, twin=lambda _: twins[0] if twins else None, look=SOON, pause=SOON
    )
    async with at_work(account):
        await until(lambda: account.standing().connection is Connection.REFUSED)
        assert "slack:first" in account.standing().reason
        assert (account.identity, adapter.listened) == ("", 0)
        twins.clear()
        await until(lambda: adapter.listened)
        assert account.standing() == CONNECTED
        assert account.identity == adapter.identity


@pytest.mark.parametrize(
    ("how", "connection", "words"),
    [
        (RuntimeError("secret detail"), Connection.RECONNECTING, "a bug in Signalbox"),
        (None, Connection.RECONNECTING, "stopped unexpectedly"),
        (ConfigError("the token is none"), Connection.REFUSED, "the token is none"),
    ],
)
async def test_a_bug_in_an_account_is_told_and_it_begins_again(
    how: Exception | None, connection: Connection, words: str
) -> None:
    adapter = Broken(how)
    account = presence(adapter, pause=timedelta(milliseconds=50))
    async with at_work(account):
        await until(lambda: account.standing() != CONNECTED)
        standing = account.standing()
        assert standing.connection is connection
        assert standing.reason.startswith("fake:work: ")
        assert words in standing.reason
        assert "secret detail" not in standing.reason
        await until(lambda: adapter.listened == 2)
        assert account.standing() == CONNECTED


async def test_a_bug_in_how_it_stands_is_no_bug_of_whoever_asks() -> None:
    class Odd(Plain):
        def standing(self) -> ConnectionStatus:
            raise KeyError("x")

    assert presence(Odd()).standing().connection is Connection.RECONNECTING


async def test_an_exclusive_listener_is_attended_once_its_role_is_free() -> None:
    adapter, roles = Exclusive("poller"), Roles(["listener:fake:F1:poller"])
    adapter.stands = ConnectionStatus(Connection.CONNECTING)
    account = presence(adapter, roles)
    async with at_work(account):
        await until(lambda: account.standing().trouble is None)
        assert account.standing().reason == "another process listens"
        assert not account.listens
        assert adapter.attended == []
        roles.elsewhere.clear()
        await until(lambda: adapter.attended)
        assert account.standing().connection is Connection.CONNECTING  # its own word counts again
        assert account.listens


async def test_a_role_that_was_handed_over_is_waited_for_and_taken_again() -> None:
    adapter, roles = Exclusive("poller"), Roles()
    account = presence(adapter, roles)
    async with at_work(account):
        await until(lambda: adapter.attended)
        assert account.roles() == ["listener:fake:F1:poller"]
        async with account.pause.hold():
            assert not account.attends
            roles.elsewhere.update(account.roles() or ["listener:fake:F1:poller"])
        await until(lambda: not account.listens)
        assert account.standing().reason == "another process listens"
        roles.elsewhere.clear()
        await until(lambda: len(adapter.attended) == 2)
        assert account.attends


async def test_each_shard_is_a_role_of_its_own() -> None:
    adapter = Exclusive("shard-0-of-2", "shard-1-of-2")
    account = presence(adapter, Roles(["listener:fake:F1:shard-0-of-2"]))
    async with at_work(account):
        await until(lambda: adapter.attended)
        assert adapter.attended == ["shard-1-of-2"]
        assert account.standing() == CONNECTED


async def test_an_account_without_exclusive_listeners_listens_as_any_other() -> None:
    adapter = Exclusive()
    account = presence(adapter)
    async with at_work(account):
        await until(lambda: adapter.listened)
        await asyncio.sleep(0.05)
        assert account.standing() == CONNECTED
        assert account.listens


async def test_a_role_that_another_has_is_asked_for_again_only_when_it_may_be_free() -> None:
    adapter, roles, free = Exclusive("poller"), Roles(["listener:fake:F1:poller"]), asyncio.Event()
    account = AccountSupervisor(adapter, take=roles.take, on_learnt=unnoted, look=SOON, vacancy=free.wait)
    async with at_work(account):
        await until(lambda: roles.asked)
        await asyncio.sleep(0.05)
        assert (roles.asked, adapter.attended) == (1, [])
        roles.elsewhere.clear()
        free.set()
        await until(lambda: adapter.attended)


async def unnoted(known: ChannelAdapter) -> None:
    """Nobody keeps it."""


async def test_a_store_that_is_away_delays_a_listener_and_ends_nothing() -> None:
    adapter, roles = Exclusive("poller"), Roles()
    roles.away = True
    async with at_work(presence(adapter, roles)):
        await until(lambda: adapter.listened)
        await asyncio.sleep(0.02)
        assert adapter.attended == []
        roles.away = False
        await until(lambda: adapter.attended)


@pytest.mark.parametrize("how", [StoreError("no answer in time"), None], ids=["it failed", "it ended"])
async def test_a_second_life_as_a_node_inherits_no_trouble_of_the_first(how: Exception | None) -> None:
    """The lease is lost while the account waits to be tried again, and from then on all is well."""
    adapter = Broken(how)
    account = presence(adapter, pause=timedelta(seconds=60))
    async with at_work(account):
        await until(lambda: account.standing().connection is Connection.RECONNECTING)
    async with at_work(account):
        await until(lambda: adapter.listened == 2)
        assert account.standing() == CONNECTED


async def test_a_trouble_is_overdue_once_its_next_try_should_have_come_a_minute_ago() -> None:
    now, adapter = [0.0], Broken(StoreError("no answer in time"))
    account = AccountSupervisor(
        adapter, take=Roles().take, on_learnt=unnoted, pause=timedelta(seconds=60), clock=lambda: now[0]
    )
    async with at_work(account):
        await until(lambda: account.standing() != CONNECTED)
        now[0] = 119.0
        assert account.overdue() is None
        now[0] = 121.0
        assert account.overdue() == "fake:work: no answer in time"
    assert account.overdue() is None


async def test_a_second_life_as_a_node_listens_again() -> None:
    adapter = Exclusive("poller")
    account = presence(adapter)
    async with at_work(account):
        await until(lambda: len(adapter.attended) == 1)
    async with at_work(account):
        await until(lambda: len(adapter.attended) == 2)
