"""The console about rooms: what is said in one, and the wait for what changes there."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Address, Author, Entry, View, room_topic
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from runtime.store.protocol import RoomWork
from tests.unit.bot.fake_store import NOW, ROOM, FakeStore, approval, crowd, run
from tests.unit.bot.operator.console import client


async def test_what_is_said_comes_in_as_the_owners_words() -> None:
    store = await crowd()
    async with client(store) as api:
        await api.say("room01", "hello", "abcdefgh")
    [signal] = store.signals
    assert (signal.address, signal.actor, signal.dedupe_key) == (ROOM, "web:p0", "console:web:p0#abcdefgh")
    assert not signal.console


@pytest.mark.parametrize("text", ["", "  \n", "x" * 100_001, "x" * 5_000_000])
async def test_a_message_that_is_empty_or_too_long_is_refused(text: str) -> None:
    store = await crowd()
    async with client(store) as api:
        with pytest.raises(Refusal, match=r"empty|too long"):
            await api.say("room01", text, "abcdefgh")
    assert store.signals == []


async def test_a_wait_ends_with_the_ring_of_its_room() -> None:
    store, notifier = await crowd(), LocalNotifier()
    async with client(store, notifier=notifier) as api:
        before = await api.room("room01")
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(api.change("room01", before["version"]))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            store.said.append(Entry("d1.1", Author.AGENT, "", NOW, "hi"))
            notifier.notify(room_topic(ROOM))
        assert [entry["text"] for entry in waiting.result()["entries"]] == ["hi"]


async def test_a_wait_for_what_has_changed_already_ends_at_once() -> None:
    async with client(await crowd()) as api:
        assert (await api.change("room01", "older"))["entries"] == []


async def test_a_room_tells_the_questions_that_wait_in_it() -> None:
    store = await crowd()
    store.asked = [approval("here"), approval("there", address=Address("web", "w1", "room02"))]
    store.ran = [run()]
    async with client(store) as api:
        view = await api.room("room01")
    assert [row["id"] for row in view["approvals"]] == ["here"]
    assert view["approvals"][0]["choices"] == {"approve": "Approve", "deny": "Deny"}
    assert view["run"] == "done"


class Asking(FakeStore):
    """Parks with a question right after whatever is read first."""

    async def view(
        self,
        address: Address,
        *,
        before: datetime | None = None,
        after: datetime | None = None,
        around: str = "",
        limit: int = 200,
    ) -> View:
        seen = await super().view(address)
        self._park()
        return seen

    async def room_work(self, address: Address) -> RoomWork:
        work = await super().room_work(address)
        self._park()
        return work

    def _park(self) -> None:
        self.working, self.asked, self.ran = False, [approval()], [run(state=RunState.PARKED)]


async def test_a_question_that_is_asked_while_a_room_is_read_is_not_missed() -> None:
    """Whoever waits for the room to rest would go on without it."""
    crew = await crowd()
    store = Asking(known=crew.known, links=crew.links, ran=[run(state=RunState.RUNNING)], working=True)
    async with client(store) as api:
        view = await api.room("room01")
    assert view["busy"] or view["approvals"]


async def test_a_name_that_is_no_room_is_refused() -> None:
    async with client(await crowd()) as api:
        with pytest.raises(Refusal, match="A room's name"):
            await api.room("../x")
