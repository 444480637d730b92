"""A send that did not go well is told as what it was, and an uncertain one is found out."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

import pytest

from runtime.contract import TOO_LATE, ApprovalId, Button, Choice, SettleResult, Shown, in_time
from runtime.errors import Rejected, Retryable, Uncertain
from tests.contract.adapters.conftest import Opened
from tests.contract.adapters.rig import Skill, Trouble
from tests.contract.adapters.stage import Stage, until

LATE: Final = 0.3
"""Seconds after the cut at which a late request is applied."""


async def seen(stage: Stage) -> list[str]:
    return [message.text.strip() for message in await stage.visible()]


@pytest.mark.parametrize("seconds", [1, 7, 3600])
async def test_a_rate_limit_is_retryable_and_names_its_wait(opened: Opened, seconds: int) -> None:
    async with opened(Skill.RATES) as stage, stage.life() as adapter:
        await stage.rig.fault(Trouble.RATE, seconds=seconds)
        with pytest.raises(Retryable) as told:
            await stage.show(adapter, stage.part(adapter))
        assert told.value.retry_after == timedelta(seconds=seconds)
        assert await seen(stage) == []
        await stage.show(adapter, stage.part(adapter))
        assert await seen(stage) == ["hello"]


async def test_a_server_error_is_retryable_and_nobody_tries_again_by_himself(opened: Opened) -> None:
    """A retry inside a client would hide a second message."""
    async with opened(Skill.RATES) as stage, stage.life() as adapter:
        await stage.rig.fault(Trouble.ERROR)
        with pytest.raises(Retryable):
            await stage.show(adapter, stage.part(adapter))
        assert await seen(stage) == []
        await stage.show(adapter, stage.part(adapter))
        assert await seen(stage) == ["hello"]


async def test_what_is_too_late_never_leaves(opened: Opened) -> None:
    """Its process stood still behind its marker, and others may have sent it."""
    async with opened(Skill.CUTS) as stage, stage.life() as adapter:
        await stage.show(adapter, stage.part(adapter, "first"))
        with in_time(lambda: False), pytest.raises(Retryable, match=TOO_LATE):
            await stage.show(adapter, stage.part(adapter))
        assert await seen(stage) == ["first"]
        await stage.show(adapter, stage.part(adapter))
        assert await seen(stage) == ["first", "hello"]


async def test_a_closed_room_is_rejected_for_good(opened: Opened) -> None:
    async with opened(Skill.CLOSES) as stage, stage.life() as adapter:
        await stage.rig.fault(Trouble.CLOSED)
        with pytest.raises(Rejected) as told:
            await stage.show(adapter, stage.part(adapter))
        assert not told.value.form
        assert len(str(told.value)) > 10, "a person reads this"


@pytest.mark.parametrize("trouble", [Trouble.RATE, Trouble.ERROR])
async def test_an_edit_that_was_not_made_is_retryable(opened: Opened, trouble: Trouble) -> None:
    async with opened(Skill.RATES, Skill.EDITS) as stage, stage.life() as adapter:
        receipt = await stage.show(adapter, stage.part(adapter, "one"))
        await stage.rig.fault(trouble, seconds=2, on="edit")
        with pytest.raises(Retryable):
            await stage.edit(adapter, receipt, stage.part(adapter, "two"))
        assert await seen(stage) == ["one"]
        await stage.edit(adapter, receipt, stage.part(adapter, "two"))
        assert await seen(stage) == ["two"]


async def test_an_edit_whose_answer_was_lost_is_uncertain_and_may_be_made_again(opened: Opened) -> None:
    async with opened(Skill.CUTS, Skill.EDITS) as stage, stage.life() as adapter:
        receipt = await stage.show(adapter, stage.part(adapter, "one"))
        await stage.rig.fault(Trouble.CUT_AFTER, on="edit")
        with pytest.raises((Uncertain, Retryable)):
            await stage.edit(adapter, receipt, stage.part(adapter, "two"))
        await stage.edit(adapter, receipt, stage.part(adapter, "two"))
        assert await seen(stage) == ["two"]


# ------------------------------------------------------------------------------------------------- uncertain sends


@pytest.mark.parametrize("earlier", [0, 2], ids=["first message", "after equal ones"])
async def test_what_was_cut_after_it_was_accepted_is_found(opened: Opened, earlier: int) -> None:
    """Equal messages before it, whose receipts are recorded, are not taken for it."""
    async with opened(Skill.CUTS, Skill.SETTLES) as stage, stage.life() as adapter:
        for _ in range(earlier):
            await stage.show(adapter, stage.part(adapter))
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        await stage.rig.fault(Trouble.CUT_AFTER)
        with pytest.raises(Uncertain):
            await stage.show(adapter, part)
        settled = await stage.settle(adapter, part, attempt)
        assert await seen(stage) == ["hello"] * (earlier + 1)
        assert isinstance(settled, Shown)
        if not adapter.features().edits:
            assert settled.receipt.message_id == (await stage.visible())[-1].id
            return
        await stage.edit(adapter, settled.receipt, stage.part(adapter, "it was this one"))
        assert await seen(stage) == ["hello"] * earlier + ["it was this one"]


@pytest.mark.parametrize("earlier", [0, 2], ids=["first message", "after equal ones"])
async def test_what_was_never_applied_is_absent(opened: Opened, earlier: int) -> None:
    """Or, where asking is sending with a key, it is there then: once."""
    async with opened(Skill.CUTS, Skill.SETTLES) as stage, stage.life() as adapter:
        for _ in range(earlier):
            await stage.show(adapter, stage.part(adapter))
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        await stage.rig.fault(Trouble.CUT_BEFORE)
        with pytest.raises(Uncertain):
            await stage.show(adapter, part)
        settled = await stage.settle(adapter, part, attempt)
        there = 0 if settled is SettleResult.ABSENT else 1
        assert settled is SettleResult.ABSENT or isinstance(settled, Shown)
        assert await seen(stage) == ["hello"] * (earlier + there)


async def test_what_was_applied_late_is_found_once_it_is_there(opened: Opened) -> None:
    async with opened(Skill.CUTS, Skill.SETTLES) as stage, stage.life() as adapter:
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        await stage.rig.fault(Trouble.CUT_LATE, seconds=LATE)
        with pytest.raises(Uncertain):
            await stage.show(adapter, part)

        async def applied() -> bool:
            return bool(await seen(stage))

        await until(applied, "late message")
        assert isinstance(await stage.settle(adapter, part, attempt), Shown)
        assert await seen(stage) == ["hello"]


async def test_a_look_before_a_late_message_is_there_does_no_harm(opened: Opened) -> None:
    async with opened(Skill.CUTS, Skill.SETTLES) as stage, stage.life() as adapter:
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        await stage.rig.fault(Trouble.CUT_LATE, seconds=LATE)
        with pytest.raises(Uncertain):
            await stage.show(adapter, part)
        await stage.settle(adapter, part, attempt)
        await asyncio.sleep(2 * LATE)
        assert isinstance(await stage.settle(adapter, part, attempt), Shown)
        assert await seen(stage) == ["hello"]


async def test_another_life_finds_what_the_last_one_sent(opened: Opened) -> None:
    """A kill between the send and its checkpoint."""
    async with opened(Skill.SETTLES) as stage:
        async with stage.life() as adapter:
            await stage.show(adapter, stage.part(adapter, "before"))
            part = stage.part(adapter)
            attempt = stage.attempt(adapter, part)
            await adapter.show(part)
        async with stage.life() as adapter:
            assert isinstance(await stage.settle(adapter, part, attempt), Shown)
        assert await seen(stage) == ["before", "hello"]


async def test_the_same_life_finds_what_it_sent_and_could_not_record(opened: Opened) -> None:
    """It stood still for longer than its lease, so its record was refused; by now it has its duty again."""
    async with opened(Skill.SETTLES) as stage, stage.life() as adapter:
        await stage.show(adapter, stage.part(adapter, "before"))
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        await adapter.show(part)
        assert isinstance(await stage.settle(adapter, part, attempt), Shown)
        assert await seen(stage) == ["before", "hello"]


async def test_what_people_say_meanwhile_is_not_taken_for_ours(opened: Opened) -> None:
    async with opened(Skill.CUTS, Skill.SETTLES) as stage, stage.life() as adapter:
        part = stage.part(adapter)
        attempt = stage.attempt(adapter, part)
        await stage.rig.fault(Trouble.CUT_AFTER)
        with pytest.raises(Uncertain):
            await stage.show(adapter, part)
        await stage.rig.say(stage.place, "hello")
        await stage.taken("hello")
        assert isinstance(await stage.settle(adapter, part, attempt), Shown)
        assert await seen(stage) == ["hello"]


async def test_each_of_several_parts_is_found_as_itself(opened: Opened) -> None:
    async with opened(Skill.CUTS, Skill.SETTLES) as stage, stage.life() as adapter:
        receipts = []
        for number in range(3):
            part = stage.part(adapter, f"part {number}")
            attempt = stage.attempt(adapter, part)
            await stage.rig.fault(Trouble.CUT_AFTER)
            with pytest.raises(Uncertain):
                await stage.show(adapter, part)
            settled = await stage.settle(adapter, part, attempt)
            assert isinstance(settled, Shown)
            await stage.checkpoint(adapter, settled.receipt, part)
            receipts.append(settled.receipt)
        assert len(set(receipts)) == 3
        assert await seen(stage) == ["part 0", "part 1", "part 2"]


async def test_a_card_that_was_cut_is_found_with_its_buttons(opened: Opened) -> None:
    async with opened(Skill.CUTS, Skill.SETTLES) as stage, stage.life() as adapter:
        approval = ApprovalId("A" * 22)
        row = Button(approval, Choice.APPROVE, "Approve"), Button(approval, Choice.DENY, "Deny")
        part = stage.part(adapter, "**May I?**", *row)
        attempt = stage.attempt(adapter, part)
        await stage.rig.fault(Trouble.CUT_AFTER)
        with pytest.raises(Uncertain):
            await stage.show(adapter, part)
        assert isinstance(await stage.settle(adapter, part, attempt), Shown)
        [card] = await stage.visible()
        assert [press.label for press in card.buttons] == ["Approve", "Deny"]
