"""Pieces of work as task cards of a plan, and as a list where Slack has none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest
from slack_sdk.models.blocks import Block, PlanBlock

from runtime.contract import Address, CardState, Content, Delivery, Kind, Part, SettleResult, Shown, TaskCard, TaskCards
from runtime.errors import Uncertain
from tests.fakes.slack_driver import text_of
from tests.wire.slack.stage import DIRECT, THREAD, Workspace, again, attempt, delivery, parts

Adapter = Any
WORKING: Final = TaskCard("r1", "research: Look.", CardState.WORKING)
ASKING: Final = TaskCard("r2", "research > ops: Count <!channel>.", CardState.WAITING, "waits for approval of shell")
DONE: Final = replace(WORKING, state=CardState.DONE, note="14 s, $0.02")
FAILED: Final = replace(ASKING, state=CardState.FAILED, note="stopped, 3 s")
LISTED: Final = "- ⏳ **research**: Look."
CUT: Final = "cut_after"


def tree(*cards: TaskCard, address: Address = DIRECT) -> Delivery:
    content = Content(LISTED, tasks=TaskCards("Handed on: 0 of 2 over", cards))
    return replace(delivery("", address=address, kind=Kind.REPORT), content=content)


def shown_as(adapter: Adapter, *cards: TaskCard, address: Address = DIRECT) -> Part:
    [only] = parts(adapter, tree(*cards, address=address))
    return only


async def only(on: Workspace) -> dict[str, Any]:
    [message] = (await on.screen()).ours()
    return dict(message)


@pytest.mark.parametrize("address", [DIRECT, THREAD])
async def test_a_tree_is_a_plan_that_is_edited_in_place(on: Workspace, address: Address) -> None:
    async with on.life() as adapter:
        first = shown_as(adapter, WORKING, ASKING, address=address)
        receipt = await adapter.show(first)
        [plan] = (message := await only(on))["blocks"]
        assert (plan["type"], plan["title"]) == ("plan", "Handed on: 0 of 2 over")
        assert [task["status"] for task in plan["tasks"]] == ["in_progress", "pending"]
        assert "<!channel>" not in plan["tasks"][1]["title"]
        assert plan["tasks"][1]["details"]["elements"][0]["elements"] == [
            {"type": "text", "text": "waits for approval of shell"}
        ]
        assert message["text"] == "- ⏳ research: Look."  # which notifications and searches read
        await adapter.edit(receipt, again(first, shown_as(adapter, DONE, FAILED, address=address)))
        [plan] = (message := await only(on))["blocks"]
        assert [task["status"] for task in plan["tasks"]] == ["complete", "error"]
        assert "block_id" not in plan  # a message that changes needs a new one, which Slack makes
        assert message["ts"] == receipt.message_id


async def test_where_slack_has_no_plans_the_tree_is_a_list_and_plans_are_not_tried_again(on: Workspace) -> None:
    await on.driver.switch(unknown=["plan"])
    async with on.life() as adapter:
        first = shown_as(adapter, WORKING)
        receipt = await adapter.show(first)
        assert text_of(await only(on)) == LISTED
        for _ in range(2):
            await adapter.edit(receipt, again(first, shown_as(adapter, DONE)))
        screen = await on.screen()
        assert [args["blocks"][0]["type"] for args in screen.calls("chat.postMessage")] == ["plan", "markdown"]
        assert [args["blocks"][0]["type"] for args in screen.calls("chat.update")] == ["markdown", "markdown"]


async def test_a_plan_that_is_refused_for_another_reason_is_a_list_once(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.fault("refuse", error="msg_blocks_too_long")
        first = shown_as(adapter, WORKING)
        receipt = await adapter.show(first)
        assert text_of(await only(on)) == LISTED
        await adapter.edit(receipt, again(first, shown_as(adapter, DONE)))
        assert (await only(on))["blocks"][0]["type"] == "plan"


async def test_a_cut_plan_is_settled_and_not_sent_as_a_list_beside_it(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.fault(CUT)
        one, tried = shown_as(adapter, WORKING), attempt(on)
        with pytest.raises(Uncertain):
            await adapter.show(one)
        assert isinstance(await adapter.settle(one, tried), Shown)
        assert await adapter.settle(shown_as(adapter, WORKING), tried) is SettleResult.ABSENT
        assert (await only(on))["blocks"][0]["type"] == "plan"


async def test_a_tree_that_is_more_than_a_plan_holds_is_a_list(on: Workspace) -> None:
    many = [replace(WORKING, id=f"r{number}") for number in range(49)]
    long = [replace(WORKING, id=f"r{number}", title="ü" * 256) for number in range(20)]
    async with on.life() as adapter:
        for cards in (many, long):
            await adapter.show(shown_as(adapter, *cards))
    assert (await on.screen()).texts() == [LISTED, LISTED]


async def test_the_official_client_reads_our_plan_as_one_of_its_own(on: Workspace) -> None:
    async with on.life() as adapter:
        await adapter.show(shown_as(adapter, WORKING, ASKING, replace(DONE, id="r3")))
    [block] = (await only(on))["blocks"]
    read = Block.parse(block)
    assert isinstance(read, PlanBlock)
    assert read.to_dict() == block
    for task in block["tasks"]:
        Block.parse(task).validate_json()  # type: ignore[union-attr]  # it is one of the blocks that it knows
