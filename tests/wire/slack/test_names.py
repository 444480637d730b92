"""An agent's name as the author of its messages, and before its words where the app may not name authors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from runtime.chat.agents import in_its_name
from runtime.contract import Address, Content, Kind, Part, SettleResult, Shown
from runtime.errors import Uncertain
from tests.fakes.slack_driver import text_of
from tests.wire.slack.stage import DIRECT, DIRECT_THREAD, THREAD, Workspace, again, attempt, delivery, parts

Adapter = Any
ROOM: Final = Address("slack", "T1", "C1")
CUT: Final = "cut_after"


def answer(adapter: Adapter, words: str, *, address: Address = THREAD, name: str = "ops") -> list[Part]:
    """An answer of an agent, as its wire messages."""
    made = delivery("", address=address)
    return parts(adapter, replace(made, content=Content(in_its_name(name, words), speaker=name)))


def said(adapter: Adapter, words: str, *, address: Address = THREAD, name: str = "ops") -> Part:
    [only] = answer(adapter, words, address=address, name=name)
    return only


def preview(adapter: Adapter, words: str) -> Part:
    made = delivery("", address=DIRECT_THREAD, kind=Kind.PROGRESS)
    [only] = parts(adapter, replace(made, content=Content(f"{words} …", speaker="ops")))
    return only


async def told(on: Workspace) -> list[tuple[str, str]]:
    """Author and text of each message of ours."""
    return [(one["username"], text_of(one)) for one in (await on.screen()).ours()]


@pytest.mark.parametrize("address", [THREAD, DIRECT, DIRECT_THREAD])
@pytest.mark.parametrize("words", ["Done.", "# Title\n\nwords", "- one\n- two", "```\ncode\n```", "**strong** words"])
async def test_an_agents_name_is_the_author_of_its_answer(on: Workspace, address: Address, words: str) -> None:
    async with on.life() as adapter:
        await adapter.show(said(adapter, words, address=address, name="my_ops-2"))
    [(author, text)] = await told(on)
    assert (author, text) == ("my_ops-2", words)


async def test_without_the_scope_the_name_leads_the_words(on: Workspace) -> None:
    await on.driver.switch(without=["chat:write.customize"])
    async with on.life() as adapter:
        await adapter.show(said(adapter, "Done."))
    assert await told(on) == [("", "*ops* · Done.")]
    assert "username" not in (await on.screen()).calls("chat.postMessage")[0]


async def test_where_slack_tells_no_scopes_the_name_leads_the_words(on: Workspace) -> None:
    await on.driver.switch(untold=True)
    async with on.life() as adapter:
        await adapter.show(said(adapter, "Done."))
    assert await told(on) == [("", "*ops* · Done.")]


async def test_a_refused_name_is_not_tried_again(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.switch(without=["chat:write.customize"], refuses_names=True)
        await adapter.show(said(adapter, "One."))
        await adapter.show(said(adapter, "Two."))
    assert await told(on) == [("", "*ops* · One."), ("", "*ops* · Two.")]
    assert [call.get("username") for call in (await on.screen()).calls("chat.postMessage")] == ["ops", None, None]


async def test_a_message_that_begins_a_thread_in_a_channel_stays_the_bots(on: Workspace) -> None:
    """Else a reply below it would need a mention."""
    async with on.life() as adapter:
        await adapter.show(said(adapter, "Done.", address=ROOM))
    assert await told(on) == [("", "*ops* · Done.")]


async def test_a_long_answer_has_its_author_on_each_message_that_needs_one(on: Workspace) -> None:
    async with on.life() as adapter:
        first, *others = answer(adapter, "word " * 4_000)
        assert others
        for one in (first, *others):
            await adapter.show(one)
    authors = [author for author, _ in await told(on)]
    assert authors[0] == "ops"
    assert not (await told(on))[0][1].startswith("*ops*")


async def test_a_preview_and_the_answer_in_its_place_have_one_author(on: Workspace) -> None:
    async with on.life() as adapter:
        first = preview(adapter, "one")
        receipt = await adapter.show(first)
        assert (await on.screen()).calls("chat.startStream")[0]["username"] == "ops"
        await adapter.edit(receipt, again(first, preview(adapter, "one two")))
        await adapter.edit(receipt, said(adapter, "One, two.", address=DIRECT_THREAD))
    assert await told(on) == [("ops", "One, two.")]


async def test_a_later_life_that_knows_of_no_author_keeps_the_name(on: Workspace) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(preview(adapter, "one"))
    async with on.life() as later:
        await later.edit(receipt, said(later, "One.", address=DIRECT_THREAD))
    assert await told(on) == [("ops", "*ops* · One.")]


async def test_a_cut_message_with_an_author_is_settled(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.fault(CUT)
        one, tried = said(adapter, "Done."), attempt(on)
        with pytest.raises(Uncertain):
            await adapter.show(one)
        assert isinstance(await adapter.settle(one, tried), Shown)
        assert await adapter.settle(said(adapter, "Other."), tried) is SettleResult.ABSENT


async def test_a_message_of_ours_with_an_author_is_not_heard_as_somebodys_words(on: Workspace) -> None:
    async with on.life() as adapter:
        await adapter.show(said(adapter, "Done."))
        await on.driver.say("<@U0BOT> hello", channel="C1", thread_ts=THREAD.thread)
        await on.taken()
    assert [signal.actor for signal in on.sink.taken] == ["slack:T1/U1"]
