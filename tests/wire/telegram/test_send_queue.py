"""The line of a chat: one send at a time, in the order of the markers, and none while one is in doubt."""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest

from adapters.telegram.settling import send_queue as module
from adapters.telegram.settling.send_queue import Mark, SendQueues
from runtime.errors import Retryable
from tests.wire.telegram.stage import FORUM, address

ONE, TWO, THREE = address(FORUM, 1001), address(FORUM, 1002), address(FORUM, 1003)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> SendQueues:
    for name, seconds in {"STALE": 0.3, "FORGOTTEN": 1.0, "UNHEARD": 0.4, "AT_MOST": 0.1, "GLANCE": 0.02}.items():
        monkeypatch.setattr(module, name, seconds)
    return SendQueues(born=1_000)


async def sent(lines: SendQueues, at: object, part: str, order: list[str], *, lost: bool = False) -> None:
    async with lines.turn(FORUM, at, part):  # type: ignore[arg-type]
        order.append(part)
        await asyncio.sleep(0.01)
        if not lost:
            lines.surely(FORUM, part)


def test_a_mark_is_read_as_it_was_written() -> None:
    mark = Mark(-100, 7, 12, 2)
    assert Mark.parse(str(mark)) == mark
    assert Mark.parse("") is Mark.parse("1:2:3") is Mark.parse("a:b:c:d") is None


async def test_sends_go_in_the_order_of_their_markers(lines: SendQueues) -> None:
    order: list[str] = []
    for at in (ONE, TWO, THREE):
        lines.stand(FORUM, at, 0)
    async with asyncio.TaskGroup() as group:
        for at, part in ((THREE, "three"), (TWO, "two"), (ONE, "one")):
            group.create_task(sent(lines, at, part, order))
    assert order == ["one", "two", "three"]
    assert lines.chats() == []


async def test_a_marker_whose_send_does_not_come_is_waited_for_a_while(lines: SendQueues) -> None:
    order: list[str] = []
    lines.stand(FORUM, ONE, 0)
    lines.stand(FORUM, TWO, 0)
    async with asyncio.timeout(30):
        await sent(lines, TWO, "two", order)
    assert order == ["two"]


async def test_what_was_an_edit_leaves_the_line(lines: SendQueues, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STALE", 3600)
    order: list[str] = []
    lines.stand(FORUM, ONE, 0)
    lines.stand(FORUM, TWO, 0)
    lines.leave(FORUM, ONE)
    async with asyncio.timeout(30):
        await sent(lines, TWO, "two", order)


async def test_while_one_is_in_doubt_no_other_goes_but_it_may_itself(lines: SendQueues) -> None:
    order: list[str] = []
    await sent(lines, ONE, "one", order, lost=True)
    with pytest.raises(Retryable, match="this chat first"):
        await sent(lines, TWO, "two", order)
    await sent(lines, ONE, "one", order)
    await sent(lines, TWO, "two", order)
    assert order == ["one", "one", "two"]


async def test_another_chat_goes_on(lines: SendQueues) -> None:
    await sent(lines, ONE, "one", [], lost=True)
    async with lines.turn(11, address(11), "other"):
        lines.surely(11, "other")


async def test_a_send_that_is_cancelled_is_in_doubt(lines: SendQueues) -> None:
    async def for_ever() -> None:
        async with lines.turn(FORUM, ONE, "one"):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await for_ever()
    assert [part for _, part, _ in lines.lost([FORUM], monotonic())] == ["one"]
    assert lines.is_alone(FORUM)
    assert lines.count() == {FORUM: 1}


async def test_a_doubt_that_nobody_looks_at_is_forgotten(lines: SendQueues) -> None:
    order: list[str] = []
    await sent(lines, ONE, "one", order, lost=True)
    await asyncio.sleep(1.1)
    await sent(lines, TWO, "two", order)


async def test_two_that_were_looked_for_in_vain_go_again_in_their_order(lines: SendQueues) -> None:
    """After a kill both were in line; nothing of either is there."""
    order: list[str] = []
    for part, mark in (("one", Mark(FORUM, 5, 10, 0)), ("two", Mark(FORUM, 5, 11, 1))):
        async with lines.look(part, mark):
            pass
    with pytest.raises(Retryable):
        await sent(lines, TWO, "two", order)
    await sent(lines, ONE, "one", order)
    await sent(lines, TWO, "two", order)
    assert order == ["one", "two"]


async def test_who_stood_behind_looks_behind(lines: SendQueues) -> None:
    order: list[str] = []

    async def look(part: str, ticket: int) -> None:
        async with lines.look(part, Mark(FORUM, 5, ticket, ticket - 10)):
            order.append(part)
            await asyncio.sleep(0.05)
        lines.surely(FORUM, part)

    async with asyncio.TaskGroup() as group:
        for part, ticket in (("two", 11), ("one", 10)):
            group.create_task(look(part, ticket))
    assert order == ["one", "two"]


async def test_who_stood_behind_one_that_nobody_has_heard_of_yet_waits_and_then_looks(lines: SendQueues) -> None:
    behind = Mark(FORUM, 5, 11, 1)
    with pytest.raises(Retryable, match="earlier"):
        async with lines.look("two", behind):
            raise AssertionError("nobody has looked for the first")
    await asyncio.sleep(0.4)  # it was shown and recorded: nobody will
    async with lines.look("two", behind):
        pass


async def test_a_look_that_goes_on_keeps_its_place(lines: SendQueues) -> None:
    with pytest.raises(Retryable, match="more to try"):
        async with lines.look("one", Mark(FORUM, 5, 10, 0)):
            raise Retryable("more to try")
    with pytest.raises(Retryable, match="earlier"):
        async with lines.look("two", Mark(FORUM, 5, 11, 0)):
            raise AssertionError("the first is still looked for")


async def test_a_doubt_that_another_process_saw_to_bars_nobody(
    lines: SendQueues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FORGOTTEN", 3600)
    order: list[str] = []
    lines.stand(FORUM, ONE, 0)
    await sent(lines, ONE, "one", order, lost=True)
    with pytest.raises(Retryable, match="another message"):
        await sent(lines, TWO, "two", order)
    lines.begin_anew(2_000)
    assert lines.stand(FORUM, TWO, 0) == Mark(FORUM, 0, 2_001, 0)
    await sent(lines, TWO, "two", order)
    assert order == ["one", "two"]


async def test_what_another_process_left_in_doubt_is_looked_for_in_its_order(lines: SendQueues) -> None:
    """As after a kill: of several in line, the first one may not have been heard of yet."""
    lines.begin_anew(2_000)
    with pytest.raises(Retryable, match="an earlier message"):
        async with lines.look("two", Mark(FORUM, 0, 1_900, 1)):
            pass
