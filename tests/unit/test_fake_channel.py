"""The fake channel keeps the promises that the outbox's fault tests rest on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from bot.testing.channel.adapter import LIMIT, FakeAdapter, split
from bot.testing.channel.board import Board, Body, on_screen
from bot.testing.channel.driver import Driver
from bot.testing.channel.faults import Do
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.serve import serving
from runtime.contract import (
    Address,
    ApprovalId,
    Attempt,
    Button,
    ChannelAdapter,
    Choice,
    Clicked,
    Content,
    Delivery,
    DeliveryId,
    Kind,
    Outcome,
    Part,
    Receipt,
    Said,
    SettleResult,
    Shown,
    Signal,
    SignalId,
    Sink,
    Stopped,
    Verdict,
)
from runtime.errors import Rejected, Retryable, StoreError, Uncertain
from tests.fakes.serve import spawned

ROOM = Address("fake", "fake-bot", "r1")
ATTEMPT = Attempt(1, datetime(2026, 1, 1, tzinfo=UTC))
TELLING = [ChannelKind.KEY, ChannelKind.LOOKUP, ChannelKind.PROBE]


@asynccontextmanager
async def rig(kind: ChannelKind = ChannelKind.KEY) -> AsyncIterator[tuple[FakeAdapter, Driver]]:
    async with serving(Channel(kind=kind).app()) as url:
        yield FakeAdapter(base_url=url, kind=kind, pause=timedelta(seconds=0.01)), Driver(url)


def delivery(text: str, *buttons: Button, number: int = 1) -> Delivery:
    return Delivery(DeliveryId(f"d{number}"), "run:1", 0, Kind.FINAL, ROOM, Content(text, buttons))


def part(adapter: FakeAdapter, text: str = "hello", *, number: int = 1, repeat: bool = False) -> Part:
    wire = adapter.render(delivery(text))[0]
    return Part(DeliveryId(f"d{number}"), 0, ROOM, wire.body, marked_as_repeat=repeat)


@asynccontextmanager
async def listening(adapter: ChannelAdapter, sink: Sink) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(adapter.listen(sink))
        try:
            yield
        finally:
            task.cancel()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - what is waited for is another process's or library's doing
            await asyncio.sleep(0.005)


def collecting(taken: list[Signal], notice: str | None = None) -> Callable[[Signal], Awaitable[Verdict]]:
    async def sink(signal: Signal) -> Verdict:
        taken.append(signal)
        return Verdict(Outcome.ACCEPTED, SignalId("s1"), notice)

    return sink


# The way out.


@pytest.mark.parametrize("kind", list(ChannelKind))
async def test_a_part_is_shown_and_edited_under_one_id(kind: ChannelKind) -> None:
    async with rig(kind) as (adapter, driver):
        receipt = await adapter.show(part(adapter, "one"))
        assert await adapter.edit(receipt, part(adapter, "two")) == receipt
        screen = await driver.screen()
        assert screen.texts("r1") == ["two"]
        assert screen.posts[0].version == 1


@pytest.mark.parametrize("kind", list(ChannelKind))
async def test_capabilities_follow_the_kind(kind: ChannelKind) -> None:
    adapter = FakeAdapter(base_url="http://127.0.0.1:1", kind=kind)
    assert adapter.features().edits
    assert adapter.features().settles == (kind in TELLING)


@pytest.mark.parametrize("kind", TELLING)
@pytest.mark.parametrize("earlier", [0, 3])
async def test_a_part_cut_after_it_was_applied_settles_as_shown(kind: ChannelKind, earlier: int) -> None:
    async with rig(kind) as (adapter, driver):
        for number in range(earlier):
            await adapter.show(part(adapter, "hello", number=number + 10))
        await driver.fault(Do.CUT_AFTER)
        uncertain = part(adapter, "hello")
        with pytest.raises(Uncertain):
            await adapter.show(uncertain)
        settled = await adapter.settle(uncertain, ATTEMPT)
        assert settled == Shown(Receipt(f"r1-{earlier + 1}"))
        assert (await driver.screen()).texts() == ["hello"] * (earlier + 1)


@pytest.mark.parametrize("kind", [ChannelKind.LOOKUP, ChannelKind.PROBE])
async def test_a_part_cut_before_it_was_applied_settles_as_absent(kind: ChannelKind) -> None:
    async with rig(kind) as (adapter, driver):
        await driver.fault(Do.CUT_BEFORE)
        with pytest.raises(Uncertain):
            await adapter.show(part(adapter))
        assert await adapter.settle(part(adapter), ATTEMPT) is SettleResult.ABSENT


async def test_with_a_key_settling_an_absent_part_shows_it_once() -> None:
    async with rig(ChannelKind.KEY) as (adapter, driver):
        await driver.fault(Do.CUT_LATE, seconds=0.05)
        with pytest.raises(Uncertain):
            await adapter.show(part(adapter))
        assert await adapter.settle(part(adapter), ATTEMPT) == Shown(Receipt("r1-1"))
        await asyncio.sleep(0.1)
        assert (await driver.screen()).texts() == ["hello"]


async def test_the_none_kind_cannot_tell() -> None:
    async with rig(ChannelKind.NONE) as (adapter, driver):
        await driver.fault(Do.CUT_AFTER)
        with pytest.raises(Uncertain):
            await adapter.show(part(adapter))
        assert await adapter.settle(part(adapter), ATTEMPT) is SettleResult.UNKNOWN


@pytest.mark.parametrize("kind", [ChannelKind.LOOKUP, ChannelKind.PROBE, ChannelKind.NONE])
async def test_without_a_key_a_second_send_is_a_second_message(kind: ChannelKind) -> None:
    async with rig(kind) as (adapter, driver):
        await adapter.show(part(adapter))
        await adapter.show(part(adapter, repeat=True))
        assert (await driver.screen()).texts() == ["hello", "(repeated) hello"]


async def test_a_late_send_appears_after_its_cut() -> None:
    channel = Channel(kind=ChannelKind.LOOKUP)
    async with serving(channel.app()) as url:
        adapter = FakeAdapter(base_url=url, kind=ChannelKind.LOOKUP)
        await Driver(url).fault(Do.CUT_LATE, seconds=inf)
        with pytest.raises(Uncertain):
            await adapter.show(part(adapter))
        assert await adapter.settle(part(adapter), ATTEMPT) is SettleResult.ABSENT
        [late] = channel.under_way
        late()
        assert await adapter.settle(part(adapter), ATTEMPT) == Shown(Receipt("r1-1"))


async def test_a_probe_looks_above_the_receipts_it_was_told_of() -> None:
    async with rig(ChannelKind.PROBE) as (adapter, driver):
        await adapter.show(part(adapter))
        await driver.say("hi")

        async def known(address: Address) -> list[str]:
            return ["r1-1"]

        restarted = FakeAdapter(base_url=driver.url, kind="probe", known_ids=known)
        assert await restarted.settle(part(adapter), ATTEMPT) is SettleResult.ABSENT
        await FakeAdapter(base_url=driver.url, kind="probe").show(part(adapter))
        assert await restarted.settle(part(adapter), ATTEMPT) == Shown(Receipt("r1-3"))


async def test_a_probe_finds_what_this_process_showed_itself_and_nobody_recorded() -> None:
    """It goes on after it lost its duty, and has it again."""
    async with rig(ChannelKind.PROBE) as (_, driver):

        async def known(address: Address) -> list[str]:
            return []

        own = FakeAdapter(base_url=driver.url, kind="probe", known_ids=known)
        receipt = await own.show(part(own))
        assert await own.settle(part(own), ATTEMPT) == Shown(receipt)


async def test_a_probe_finds_what_was_shown_behind_many_words_of_people() -> None:
    async with rig(ChannelKind.PROBE) as (adapter, driver):
        for _ in range(20):
            await driver.say("is anybody there?")
        await driver.fault(Do.CUT_AFTER)
        with pytest.raises(Uncertain):
            await adapter.show(part(adapter))
        assert await adapter.settle(part(adapter), ATTEMPT) == Shown(Receipt("r1-21"))


async def test_a_probe_finds_what_was_shown_before_people_spoke_again() -> None:
    async with rig(ChannelKind.PROBE) as (adapter, driver):
        await driver.fault(Do.CUT_AFTER)
        with pytest.raises(Uncertain):
            await adapter.show(part(adapter))
        await driver.say("are you there?")
        taken: list[Signal] = []
        async with listening(adapter, collecting(taken)):
            await until(lambda: len(taken) == 1)
        assert await adapter.settle(part(adapter), ATTEMPT) == Shown(Receipt("r1-1"))


@pytest.mark.parametrize(
    ("do", "error"),
    [
        (Do.ERROR, Retryable("500 server error")),
        (Do.BUSY, Retryable("429 too many requests", retry_after=timedelta(seconds=1.5))),
        (Do.FORBIDDEN, Rejected("403 this room is closed")),
        (Do.FORM, Rejected("400 form rejected", form=True)),
    ],
)
@pytest.mark.parametrize("on", ["send", "edit"])
async def test_a_refusal_is_the_error_it_is(do: Do, error: Exception, on: str) -> None:
    async with rig() as (adapter, driver):
        receipt = await adapter.show(part(adapter, "first", number=9))
        await driver.fault(do, seconds=1.5, on=on)
        with pytest.raises(type(error)) as raised:
            await (adapter.show(part(adapter)) if on == "send" else adapter.edit(receipt, part(adapter)))
        assert (str(raised.value), vars(raised.value)) == (str(error), vars(error))
        assert (await driver.screen()).texts() == ["first"]
        await (adapter.show(part(adapter)) if on == "send" else adapter.edit(receipt, part(adapter)))


async def test_faults_strike_in_order_and_as_often_as_asked() -> None:
    async with rig() as (adapter, driver):
        await driver.fault(Do.ERROR, count=2)
        await driver.fault(Do.BUSY)
        seen = []
        for _ in range(4):
            try:
                await adapter.show(part(adapter))
                seen.append("shown")
            except Retryable as error:
                seen.append(str(error)[:3])
        assert seen == ["500", "500", "429", "shown"]
        assert (await driver.screen()).sends == 4


async def test_the_plain_twin_passes_where_the_form_is_rejected() -> None:
    async with rig() as (adapter, driver):
        await driver.fault(Do.FORM)
        wire = adapter.render(delivery("**hello**"))[0]
        assert wire.fallback is not None
        await adapter.show(Part(DeliveryId("d1"), 0, ROOM, wire.fallback))
        assert (await driver.screen()).texts() == ["hello"]


async def test_nobody_there_is_certainly_not_shown() -> None:
    adapter = FakeAdapter(base_url="http://127.0.0.1:1", kind="none")
    with pytest.raises(Retryable):
        await adapter.show(part(adapter))


async def test_no_answer_in_time_is_uncertain() -> None:
    async def never(request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    app = web.Application()
    app.router.add_post("/{any:.*}", never)
    async with serving(app) as url:
        adapter = FakeAdapter(base_url=url, kind="none", timeout=timedelta(seconds=0.05))
        with pytest.raises(Uncertain):
            await adapter.show(part(adapter))


async def test_away_refuses_everything_until_lifted() -> None:
    async with rig() as (adapter, driver):
        await driver.away()
        with pytest.raises(Retryable):
            await adapter.show(part(adapter))
        await driver.lift()
        await adapter.show(part(adapter))
        assert (await driver.screen()).texts() == ["hello"]


async def test_editing_what_is_not_there_is_rejected() -> None:
    async with rig() as (adapter, _):
        with pytest.raises(Rejected):
            await adapter.edit(Receipt("r1-7"), part(adapter))


async def test_buttons_stand_under_the_last_part() -> None:
    async with rig() as (adapter, driver):
        button = Button(ApprovalId("a1"), Choice.APPROVE, "Approve")
        wires = adapter.render(delivery("word " * 90, button))
        for ordinal, wire in enumerate(wires):
            await adapter.show(Part(DeliveryId("d1"), ordinal, ROOM, wire.body))
        posts = (await driver.screen()).posts
        assert [post.body.buttons for post in posts] == [(), (), (("a1", "approve", "Approve"),)]
        assert "".join(post.body.text for post in posts) == "word " * 90


@given(st.text(alphabet="ab \n", max_size=900))
def test_splitting_loses_nothing(text: str) -> None:
    pieces = split(text)
    assert "".join(pieces) == text
    assert all(len(piece) <= LIMIT for piece in pieces)


# The way in.


async def test_messages_clicks_and_stops_become_signals() -> None:
    async with rig() as (adapter, driver):
        taken: list[Signal] = []
        await driver.say("hi", name="Ada")
        await driver.click("a1", "deny", reason="no")
        await driver.stop()
        async with listening(adapter, collecting(taken)):
            await until(lambda: len(taken) == 3)
            assert adapter.standing().trouble is None
    assert [signal.body for signal in taken] == [
        Said("hi"),
        Clicked(ApprovalId("a1"), Choice.DENY, "no"),
        Stopped(),
    ]
    assert (taken[0].actor, taken[0].actor_name, taken[0].address) == ("fake:ada", "Ada", ROOM)
    assert (taken[0].platform, taken[0].dedupe_key) == ("fake-bot", "e1")


async def test_an_event_comes_again_until_it_was_taken_in() -> None:
    taken: list[Signal] = []

    async def away_once(signal: Signal) -> Verdict:
        taken.append(signal)
        if len(taken) == 2:
            raise StoreError("away")
        return Verdict(Outcome.ACCEPTED, SignalId("s1"))

    async with rig() as (adapter, driver):
        await driver.say("one")
        await driver.say("two")
        async with listening(adapter, away_once):
            await until(lambda: len(taken) == 3)
    assert [signal.dedupe_key for signal in taken] == ["e1", "e2", "e2"]


async def test_a_bot_that_starts_anew_gets_what_it_did_not_acknowledge() -> None:
    seen: list[str] = []

    async def killed_at_two(signal: Signal) -> Verdict:
        seen.append(signal.dedupe_key)
        if len(seen) == 2:
            await asyncio.Event().wait()
        return Verdict(Outcome.ACCEPTED, SignalId("s1"))

    async with rig() as (adapter, driver):
        await driver.say("one")
        async with listening(adapter, killed_at_two):
            await until(lambda: len(seen) == 1)
            await driver.say("two")
            await until(lambda: len(seen) == 2)
        again: list[Signal] = []
        async with listening(FakeAdapter(base_url=driver.url, kind="key"), collecting(again)):
            await until(lambda: len(again) == 1)
    assert [signal.dedupe_key for signal in again] == ["e2"]  # "one" was acknowledged by the poll after it


async def test_one_event_delivered_twice_has_one_id() -> None:
    async with rig() as (adapter, driver):
        taken: list[Signal] = []
        event = await driver.say("hi")
        await driver.say("hi", id=event["id"])
        async with listening(adapter, collecting(taken)):
            await until(lambda: len(taken) == 2)
    assert taken[0].dedupe_key == taken[1].dedupe_key


async def test_own_messages_are_ignored() -> None:
    async with rig() as (adapter, driver):
        taken: list[Signal] = []
        await driver.say("echo", user="fake-bot")
        await driver.say("hi")
        async with listening(adapter, collecting(taken)):
            await until(lambda: len(taken) == 1)
    assert taken[0].body == Said("hi")


async def test_a_notice_reaches_the_sender() -> None:
    channel = Channel(kind=ChannelKind.NONE)
    async with serving(channel.app()) as url:
        adapter = FakeAdapter(base_url=url, kind="none")
        taken: list[Signal] = []
        await Driver(url).click("old", "approve")
        async with listening(adapter, collecting(taken, notice="too late")):
            await until(lambda: bool(channel.board.notices))
    assert channel.board.notices == [{"event": "e1", "text": "too late"}]


async def test_a_listener_survives_an_outage_and_says_so() -> None:
    async with rig() as (adapter, driver):
        taken: list[Signal] = []
        await driver.away()
        async with listening(adapter, collecting(taken)):
            await until(lambda: "away" in (adapter.standing().trouble or ""))
            await driver.say("hi")
            await driver.lift()
            await until(lambda: len(taken) == 1)
            assert adapter.standing().trouble is None


# The journal.


def test_the_journal_gives_the_same_board_again(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    board = Board(journal)
    board.post("r1", Body("one", (("a1", "approve", "Approve"),)), key="k1")
    board.inject({"text": "hi"})
    board.inject({"text": "there"})
    board.edit("r1-1", Body("two"))
    board.acknowledge(1)
    again = Board(journal)
    assert again.posts == board.posts
    assert again.waiting() == board.waiting()
    assert again.post("r1", Body("one"), key="k1").id == "r1-1"
    assert again.post("r1", Body("new")).id == "r1-4"


def test_an_event_delivered_again_takes_no_id() -> None:
    board = Board()
    event = board.inject({"text": "hi"})
    board.inject({"text": "hi", "id": event["id"], "message_id": event["message_id"]})
    assert board.post("r1", Body("hello")).id == "r1-2"


def test_a_torn_last_line_is_no_message(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    Board(journal).post("r1", Body("one"))
    with journal.open("ab") as file:
        file.write(b'{"op": "shown", "id": "r1-')
    board = Board(journal)
    board.post("r1", Body("two"))
    assert [post.body.text for post in on_screen(journal)] == ["one", "two"]


async def test_what_was_shown_survives_a_kill_of_the_platform(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    arguments = ("--kind", "key", "--journal", str(journal))
    async with spawned("bot.testing.channel.server", *arguments) as (process, url):
        adapter = FakeAdapter(base_url=url, kind="key")
        receipt = await adapter.show(part(adapter))
        await Driver(url).say("hi")
        process.kill()
        await process.wait()
        with pytest.raises(Retryable):
            await adapter.show(part(adapter))
    assert [post.body.text for post in on_screen(journal)] == ["hello"]
    async with spawned("bot.testing.channel.server", *arguments) as (_, url):
        assert await FakeAdapter(base_url=url, kind="key").show(part(adapter)) == receipt
        async with aiohttp.ClientSession() as http, http.get(f"{url}/events?wait=0") as response:
            assert [event["text"] for event in (await response.json())["events"]] == ["hi"]
