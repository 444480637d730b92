"""Previews: a stream that grows, and a message that says exactly the final text whatever happened to the stream."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from runtime.contract import Kind, Part, Receipt, SettleResult, Shown
from runtime.errors import Rejected, Retryable, Uncertain
from tests.fakes.slack_driver import text_of
from tests.wire.slack.stage import DIRECT, DIRECT_THREAD, THREAD, Workspace, again, attempt, part

Adapter = Any


def preview(adapter: Adapter, text: str, **more: Any) -> Part:
    return part(adapter, f"{text} …", kind=Kind.PROGRESS, **{"address": DIRECT_THREAD, **more})


async def grown(on: Workspace, adapter: Adapter) -> tuple[Part, Receipt]:
    """A stream that says "one"."""
    first = preview(adapter, "one")
    return first, await adapter.show(first)


async def only(on: Workspace) -> dict[str, Any]:
    [message] = (await on.screen()).ours()
    return dict(message)


async def test_a_preview_is_a_stream_and_the_final_is_its_last_edit(on: Workspace) -> None:
    async with on.life() as adapter:
        first, receipt = await grown(on, adapter)
        for text in ("one two", "one two **three", "one two **three**"):
            assert await adapter.edit(receipt, again(first, preview(adapter, text))) == receipt
            message = await only(on)
            assert (message["text"], message["streaming"]) == (text, True)
        final = part(adapter, "One, two, **three**.", address=DIRECT_THREAD)
        await adapter.edit(receipt, final)
        message = await only(on)
        assert (text_of(message), message["streaming"], message["ts"]) == (
            "One, two, **three**.",
            False,
            receipt.message_id,
        )
        screen = await on.screen()
        assert [args["markdown_text"] for args in screen.calls("chat.appendStream")] == [" two", " **three", "**"]
        assert message["metadata"]["event_payload"] == {"part": final.id}


async def test_in_a_channel_a_stream_is_for_who_asked(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.say("<@U0BOT> hi", channel="C1", thread_ts=THREAD.thread, user="U2")
        await on.taken()
        await adapter.show(preview(adapter, "one", address=THREAD))
        [started] = (await on.screen()).calls("chat.startStream")
        assert (started["recipient_user_id"], started["recipient_team_id"]) == ("U2", "T1")


@pytest.mark.parametrize("address", [DIRECT, THREAD], ids=["outside of a thread", "nobody heard there"])
async def test_where_there_is_no_stream_a_preview_is_a_message(on: Workspace, address: Any) -> None:
    async with on.life() as adapter:
        first = preview(adapter, "one", address=address)
        receipt = await adapter.show(first)
        await adapter.edit(receipt, again(first, preview(adapter, "one two", address=address)))
        await adapter.edit(receipt, part(adapter, "final", address=address))
        screen = await on.screen()
        assert screen.calls("chat.startStream", "chat.appendStream", "chat.stopStream") == []
        assert text_of(await only(on)) == "final"


@pytest.mark.parametrize("do", ["refuse", "busy", "error"])
async def test_a_stream_that_is_certainly_not_begun_is_a_message(on: Workspace, do: str) -> None:
    async with on.life() as adapter:
        await on.driver.fault(do, on="chat.startStream", error="feature_not_enabled")
        receipt = await adapter.show(preview(adapter, "one"))
        message = await only(on)
        assert (message["ts"], message["streaming"]) == (receipt.message_id, False)


async def test_text_that_no_longer_begins_as_it_did_is_an_edit(on: Workspace) -> None:
    async with on.life() as adapter:
        first, receipt = await grown(on, adapter)
        await adapter.edit(receipt, again(first, preview(adapter, "two")))
        message = await only(on)
        assert (text_of(message), message["streaming"]) == ("two …", False)
        await adapter.edit(receipt, again(first, preview(adapter, "two three")))
        assert text_of(await only(on)) == "two three …"


@pytest.mark.parametrize("do", ["cut_before", "cut_after"])
async def test_an_append_that_was_cut_is_never_made_again(on: Workspace, do: str) -> None:
    async with on.life() as adapter:
        first, receipt = await grown(on, adapter)
        await on.driver.fault(do, on="chat.appendStream")
        await adapter.edit(receipt, again(first, preview(adapter, "one two")))
        assert text_of(await only(on)) == "one two …"
        await adapter.edit(receipt, part(adapter, "final", address=DIRECT_THREAD))
        assert text_of(await only(on)) == "final"


async def test_an_append_that_comes_late_says_nothing_twice(on: Workspace) -> None:
    async with on.life() as adapter:
        first, receipt = await grown(on, adapter)
        await on.driver.fault("cut_late", seconds=0.1, on="chat.appendStream")
        await adapter.edit(receipt, again(first, preview(adapter, "one two")))
        await adapter.edit(receipt, part(adapter, "final", address=DIRECT_THREAD))
        await asyncio.sleep(0.2)
        assert text_of(await only(on)) == "final"


async def test_an_append_that_must_wait_is_told_and_goes_on_later(on: Workspace) -> None:
    async with on.life() as adapter:
        first, receipt = await grown(on, adapter)
        await on.driver.fault("busy", seconds=3, on="chat.appendStream")
        with pytest.raises(Retryable) as told:
            await adapter.edit(receipt, again(first, preview(adapter, "one two")))
        assert told.value.retry_after is not None
        assert told.value.retry_after.total_seconds() == 3
        await adapter.edit(receipt, again(first, preview(adapter, "one two three")))
        message = await only(on)
        assert (message["text"], message["streaming"]) == ("one two three", True)


async def test_a_stream_that_expired_is_edited_instead(on: Workspace) -> None:
    async with on.life() as adapter:
        first, receipt = await grown(on, adapter)
        await on.driver.switch(expire_streams=True)
        await adapter.edit(receipt, again(first, preview(adapter, "one two")))
        assert text_of(await only(on)) == "one two …"
        await adapter.edit(receipt, part(adapter, "final", address=DIRECT_THREAD))
        assert text_of(await only(on)) == "final"


async def test_a_stream_of_another_life_is_ended_and_edited(on: Workspace) -> None:
    async with on.life() as adapter:
        _, receipt = await grown(on, adapter)
    async with on.life() as adapter:
        await adapter.edit(receipt, part(adapter, "final", address=DIRECT_THREAD))
        message = await only(on)
        assert (text_of(message), message["streaming"]) == ("final", False)


@pytest.mark.parametrize("on_method", ["chat.stopStream", "chat.update"])
@pytest.mark.parametrize("do", ["cut_before", "cut_after", "error"])
async def test_a_final_that_was_cut_is_simply_made_again(on: Workspace, on_method: str, do: str) -> None:
    async with on.life() as adapter:
        _, receipt = await grown(on, adapter)
        final = part(adapter, "final", address=DIRECT_THREAD)
        await on.driver.fault(do, on=on_method)
        with pytest.raises((Retryable, Uncertain)):
            await adapter.edit(receipt, final)
        await adapter.edit(receipt, final)
        message = await only(on)
        assert (text_of(message), message["streaming"]) == ("final", False)


async def test_a_message_that_somebody_deleted_cannot_be_edited(on: Workspace) -> None:
    async with on.life() as adapter:
        with pytest.raises(Rejected, match="message_not_found"):
            await adapter.edit(Receipt("1700000099.000001"), part(adapter, "final"))


# ------------------------------------------------------------------------------------------- an uncertain beginning


async def test_a_stream_whose_beginning_was_cut_is_found(on: Workspace) -> None:
    async with on.life() as adapter:
        _, earlier = await grown(on, adapter)
        on.places.shown.setdefault("DU1", []).append((on.clock(), earlier.message_id))
        begun = preview(adapter, "another")
        tried = attempt(on)
        await on.driver.fault("cut_after", on="chat.startStream")
        with pytest.raises(Uncertain):
            await adapter.show(begun)
        await on.driver.say("a person speaks too", thread_ts=DIRECT_THREAD.thread)
        settled = await adapter.settle(begun, tried)
        assert isinstance(settled, Shown)
        assert settled.receipt != earlier
        await adapter.edit(settled.receipt, part(adapter, "final", address=DIRECT_THREAD))
        assert [text_of(message) for message in (await on.screen()).ours()] == ["one", "final"]


async def test_a_stream_that_never_began_is_absent(on: Workspace) -> None:
    async with on.life() as adapter:
        marked = part(adapter, "a message of before", address=DIRECT_THREAD)
        await adapter.show(marked)
        begun, tried = preview(adapter, "one"), attempt(on)
        await on.driver.fault("cut_before", on="chat.startStream")
        with pytest.raises(Uncertain):
            await adapter.show(begun)
        assert await adapter.settle(begun, tried) is SettleResult.ABSENT


async def test_a_repeated_preview_is_a_message_with_a_mark(on: Workspace) -> None:
    async with on.life() as adapter:
        await adapter.show(replace(preview(adapter, "one"), marked_as_repeat=True))
        message = await only(on)
        assert "repeated" in text_of(message)
        assert not message["streaming"]
