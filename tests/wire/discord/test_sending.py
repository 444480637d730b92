"""What goes out: one request a call, under a nonce that stays the same; threads, edits, files, waits."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from runtime.contract import Address, DeliveryId, FileRef, Part, Receipt
from runtime.errors import Rejected, Retryable, Scope, Uncertain
from tests.fakes.discord_faults import Do
from tests.fakes.discord_world import BOT, GENERAL
from tests.wire.discord.stage import ADA, BUTTONS, CALL, CHANNEL, On, delivery


async def test_the_same_part_sent_twice_is_one_message(on: On) -> None:
    async with on.life() as adapter:
        first = await adapter.show(on.part())
        assert await adapter.show(on.part()) == first
        assert await on.texts() == ["hello"]
        assert await adapter.show(on.part(number="q" * 22)) != first


@pytest.mark.parametrize("status", [Do.ERROR, Do.BUSY, Do.CUT_BEFORE, Do.CUT_AFTER, Do.ERROR_AFTER])
async def test_one_call_is_one_request(on: On, status: Do) -> None:
    """The library alone would send up to five times."""
    async with on.life() as adapter:
        await on.driver.fault(status, seconds=0.01)
        with pytest.raises((Retryable, Uncertain)):
            await adapter.show(on.part())
        assert (await on.driver.screen()).raw["sends"] == 1


async def test_a_502_after_it_was_applied_is_sent_again_and_still_one_message(on: On) -> None:
    async with on.life() as adapter:
        await on.driver.fault(Do.ERROR_AFTER)
        with pytest.raises(Retryable):
            await adapter.show(on.part())
        await adapter.show(on.part())
        assert await on.texts() == ["hello"]


async def test_nobody_there_is_certainly_not_shown(on: On) -> None:
    adapter = on.adapter(api_base_url="http://127.0.0.1:9/api/v10")
    with pytest.raises(Retryable, match="guild"):
        await adapter.show(on.part())
    await adapter._http.close()


async def test_a_wait_for_all_is_one_for_the_account(on: On) -> None:
    async with on.life() as adapter:
        await on.driver.fault(Do.BUSY, seconds=7)
        with pytest.raises(Retryable) as room:
            await adapter.show(on.part())
        await on.driver.fault(Do.BUSY_EVERYWHERE, seconds=9)
        with pytest.raises(Retryable) as account:
            await adapter.show(on.part())
    assert (room.value.scope, account.value.scope) == (Scope.ROOM, Scope.ACCOUNT)
    assert account.value.retry_after == timedelta(seconds=9)


async def test_an_empty_bucket_is_waited_for_by_what_discord_said(on: On) -> None:
    async with on.life() as adapter:
        await on.driver.set(bucket=[0, 0.3])
        await adapter.show(on.part("one", number="1" * 22))
        begun = asyncio.get_running_loop().time()
        await adapter.show(on.part("two", number="2" * 22))
        assert asyncio.get_running_loop().time() - begun >= 0.25
        await adapter.show(on.part("elsewhere", address=ADA, number="3" * 22))
        await on.driver.set(bucket=[0, 60])
        await adapter.show(on.part("three", number="4" * 22))
        with pytest.raises(Retryable) as told:
            await adapter.show(on.part("four", number="5" * 22))
        assert told.value.retry_after
        assert told.value.retry_after > timedelta(seconds=50)
        assert (await on.driver.screen()).raw["sends"] == 4


async def test_nobody_is_called_by_a_message(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("@everyone <@42> <@&501>"))
        await adapter.edit(receipt, on.part("@here <@42>"))
        [message] = (await on.driver.screen()).posts()
        assert message["allowed_mentions"] == {"parse": [], "replied_user": False}


async def test_a_reply_stands_under_what_it_answers_in_a_server_and_not_alone(on: On) -> None:
    async with on.life() as adapter:
        asked = {}
        for channel, address in ((GENERAL, CHANNEL), ("dm", ADA)):
            asked[channel] = (await on.driver.say(f"{CALL}hello {channel}", channel=channel))["id"]
            await on.stage.taken(f"hello {channel}")
            [wire] = adapter.render(delivery("here", address=address, reply_to=asked[channel]))
            await adapter.show(Part(DeliveryId(f"to-{channel}"), 1, address, wire.body))
        screen = await on.driver.screen()
        [there], [alone] = screen.posts(GENERAL), screen.posts("942")
        assert there["message_reference"]["message_id"] == asked[GENERAL]
        assert "message_reference" not in alone


async def test_the_answer_to_a_deleted_message_is_shown_all_the_same(on: On) -> None:
    async with on.life() as adapter:
        said = await on.driver.say(f"{CALL}hello", channel=GENERAL)
        await on.driver.do("delete", message=said["id"])
        [wire] = adapter.render(delivery("here", reply_to=said["id"]))
        await adapter.show(Part(DeliveryId("d"), 1, CHANNEL, wire.body))
        assert await on.texts() == ["here"]


async def test_without_the_right_to_reply_the_answer_is_no_reply(on: On) -> None:
    async with on.life() as adapter:
        said = await on.driver.say(f"{CALL}hello", channel=GENERAL)
        await on.driver.set(denied=["READ_MESSAGE_HISTORY"])
        [wire] = adapter.render(delivery("here", reply_to=said["id"]))
        await adapter.show(Part(DeliveryId("d"), 1, CHANNEL, wire.body))
        [message] = (await on.driver.screen()).posts()
        assert (message["content"], "message_reference" in message) == ("here", False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"closed": True}, "View Channel"), ({"locked": True, "archived": True}, "unlock")],
    ids=["kicked", "locked"],
)
async def test_a_closed_room_is_rejected_in_words_that_name_the_fix(on: On, changes: Any, words: str) -> None:
    thread = Address("discord", BOT, GENERAL, "7200001")
    async with on.life() as adapter:
        await on.driver.do("set", channel="7200001", changes=changes)
        with pytest.raises(Rejected, match=words) as told:
            await adapter.show(on.part(address=thread))
        assert not told.value.form
        assert 'account "guild"' in str(told.value)


async def test_an_unknown_room_and_a_missing_right_are_rejected(on: On) -> None:
    async with on.life() as adapter:
        with pytest.raises(Rejected, match="Unknown Channel"):
            await adapter.show(on.part(address=Address("discord", BOT, "123456789")))
        await on.driver.set(denied=["SEND_MESSAGES"])
        with pytest.raises(Rejected, match="Send Messages"):
            await adapter.show(on.part())


# ------------------------------------------------------------------------------------------------------- threads


async def test_a_mention_is_answered_in_a_thread_of_its_own(on: On) -> None:
    async with on.life(thread_per_conversation=True) as adapter:
        said = await on.driver.say(f"{CALL}plan a trip\nto Rome", channel=GENERAL)
        await on.stage.taken("plan a trip\nto Rome")
        [signal] = on.sink.taken
        assert signal.address == replace(CHANNEL, thread=said["id"])
        await adapter.typing(signal.address, "is thinking")
        [wire] = adapter.render(delivery("Gladly.", address=signal.address, reply_to=signal.message_id))
        part = Part(DeliveryId("d"), 1, signal.address, wire.body)
        receipt = await adapter.show(part)
        assert await adapter.show(part) == receipt
        screen = await on.driver.screen()
        assert screen.texts(said["id"]) == ["Gladly."]
        assert screen.raw["channels"][said["id"]]["name"] == "plan a trip to Rome"
        assert screen.raw["typing"] == [GENERAL], "there was no thread yet"
        await on.driver.say("and Naples", channel=said["id"])
        await on.stage.taken("and Naples")
        assert on.sink.taken[-1].address == signal.address


async def test_a_thread_that_somebody_else_opened_meanwhile_is_used(on: On) -> None:
    """Two couriers, or a person: Discord takes the first."""
    async with on.life(thread_per_conversation=True) as adapter:
        said = await on.driver.say(f"{CALL}plan", channel=GENERAL)
        begun = replace(CHANNEL, thread=said["id"])
        await on.driver.fault(Do.CUT_BEFORE)
        with pytest.raises(Uncertain):
            await adapter.show(on.part(address=begun))
        await asyncio.gather(*(adapter.show(on.part(text, address=begun, number=text * 20)) for text in "ab"))
        assert sorted(await on.texts(said["id"])) == ["a", "b"]


async def test_an_archived_thread_opens_again_by_writing_and_for_a_change(on: On) -> None:
    thread = Address("discord", BOT, GENERAL, "7200001")
    async with on.life() as adapter:
        receipt = await adapter.show(on.part("card", *BUTTONS, address=thread))
        await on.driver.do("set", channel="7200001", changes={"archived": True})
        await adapter.edit(receipt, on.part("decided", address=thread))
        await on.driver.do("set", channel="7200001", changes={"archived": True})
        await adapter.show(on.part("more", address=thread, number="q" * 22))
        screen = await on.driver.screen()
        assert screen.texts("7200001") == ["decided", "more"]
        assert not screen.raw["channels"]["7200001"]["thread_metadata"]["archived"]


# --------------------------------------------------------------------------------------------------------- edits


async def test_an_edit_takes_buttons_and_files_away(on: On, tmp_path: Any) -> None:
    async with on.life() as adapter:
        folder = on.stage.given.workspaces.folder(CHANNEL)
        (folder / "a.txt").write_text("one")
        [wire] = adapter.render(delivery("with", *BUTTONS, files=(FileRef("a.txt", "a.txt", 3),)))
        receipt = await adapter.show(Part(DeliveryId("d"), 1, CHANNEL, wire.body))
        [before] = (await on.driver.screen()).posts()
        assert [file["filename"] for file in before["attachments"]] == ["a.txt"]
        await adapter.edit(receipt, on.part("without"))
        [after] = (await on.driver.screen()).posts()
        assert (after["content"], after["components"], after["attachments"]) == ("without", [], [])


async def test_a_message_that_somebody_deleted_cannot_be_changed(on: On) -> None:
    async with on.life() as adapter:
        receipt = await adapter.show(on.part())
        await on.driver.do("delete", message=receipt.message_id)
        with pytest.raises(Rejected, match="deleted the message"):
            await adapter.edit(receipt, on.part("later"))


# --------------------------------------------------------------------------------------------------------- files


async def test_a_file_of_the_workspace_is_shown_under_its_name(on: On) -> None:
    async with on.life() as adapter:
        folder = on.stage.given.workspaces.folder(CHANNEL)
        (folder / "out").mkdir()
        (folder / "out" / "x.bin").write_bytes(bytes(range(256)))
        [wire] = adapter.render(delivery("Here.", *BUTTONS, files=(FileRef("a chart.png", "out/x.bin", 256),)))
        await adapter.show(Part(DeliveryId("d"), 1, CHANNEL, wire.body))
        [message] = (await on.driver.screen()).posts()
        [file] = message["attachments"]
        assert (file["filename"], file["size"]) == ("a_chart.png", 256)
        assert on.fake.world.files[file["id"]] == bytes(range(256))


async def test_a_file_that_is_gone_or_too_large_is_said_without_it(on: On) -> None:
    async with on.life() as adapter:
        (on.stage.given.workspaces.folder(CHANNEL) / "big.bin").write_bytes(bytes(11 * 1024 * 1024))
        for name in ("gone.txt", "big.bin"):
            [wire] = adapter.render(delivery("Here.", files=(FileRef(name, name, 3),)))
            with pytest.raises(Rejected) as told:
                await adapter.show(Part(DeliveryId(name), 1, CHANNEL, wire.body))
            assert told.value.form
            assert wire.fallback
            assert json.loads(wire.fallback)["content"].endswith(name)
            await adapter.show(Part(DeliveryId(name), 1, CHANNEL, wire.fallback))
        assert len(await on.texts()) == 2


# -------------------------------------------------------------------------------------------------------- typing


async def test_typing_is_seen_and_never_fails(on: On) -> None:
    async with on.life() as adapter:
        await adapter.typing(CHANNEL, "is thinking")
        await adapter.typing(CHANNEL, "")
        await adapter.typing(Address("discord", BOT, "123456789"), "is thinking")
        await on.driver.set(away=True)
        await adapter.typing(CHANNEL, "is thinking")
        assert (await on.driver.screen()).raw["typing"] == [GENERAL]


async def test_what_the_platform_does_not_know_is_told_with_its_code(on: On) -> None:
    async with on.life() as adapter:
        with pytest.raises(Rejected, match="10008"):
            await adapter.edit(Receipt("1"), on.part())
