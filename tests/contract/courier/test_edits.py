"""A card that is edited: an edit is repeatable, so it needs no settling, and a card that is not there is shown anew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.testing.channel.server import ChannelKind
from runtime.contract import Content, DeliveryId, Features, Kind, Whole
from runtime.delivery.retry_policy import RetryPolicy, Unknown
from runtime.domain.deliveries import DeliveryState
from tests.contract.courier.stage import CARD, LONG, Stage
from tests.contract.runtime.stage import LEASE, Crash, crash_at

ORIGIN = "approval:a1"
EVERY = list(ChannelKind)


async def card(stage: Stage) -> DeliveryId:
    return await stage.put("May I?", kind=Kind.APPROVAL, origin=ORIGIN, buttons=CARD)


async def decided(stage: Stage, edits: DeliveryId) -> DeliveryId:
    return await stage.put("Approved by Ada", kind=Kind.APPROVAL, origin=ORIGIN, ordinal=1, edits=edits)


def shown(stage: Stage) -> list[tuple[str, int]]:
    """Each message with how many buttons it has."""
    return [(post.body.text, len(post.body.buttons)) for post in stage.channel.board.posts.values()]


@pytest.mark.parametrize("kind", EVERY)
async def test_a_decided_card_is_edited_and_loses_its_buttons(kind: ChannelKind, stage: Stage) -> None:
    """Scenario 21."""
    asked = await card(stage)
    courier = await stage.courier()
    await courier.drain()
    assert shown(stage) == [("May I?", 2)]
    await decided(stage, asked)
    await courier.drain()
    assert shown(stage) == [("Approved by Ada", 0)]


async def test_a_card_of_several_messages_loses_its_buttons_too(stage: Stage) -> None:
    asked = await stage.put(LONG, kind=Kind.APPROVAL, origin=ORIGIN, buttons=CARD)
    courier = await stage.courier()
    await courier.drain()
    assert [buttons for _, buttons in shown(stage)] == [0, 0, 2]
    await decided(stage, asked)
    await courier.drain()
    texts = [text for text, _ in shown(stage)]
    assert [buttons for _, buttons in shown(stage)] == [0, 0, 0]
    assert "".join(texts[:2]) in LONG
    assert texts[2] == "Approved by Ada"


async def test_of_a_card_with_a_file_behind_it_the_card_is_edited(stage: Stage) -> None:
    new = stage.new(LONG, kind=Kind.APPROVAL, origin=ORIGIN, buttons=CARD)
    new = replace(new, content=replace(new.content, whole=Whole("1a2b3c4d")))
    assert await stage.store.outbox.enqueue(new)
    courier = await stage.courier()
    await courier.drain()
    before = shown(stage)
    assert [buttons for _, buttons in before] == [2, 0, 0]
    await decided(stage, new.id)
    await courier.drain()
    assert shown(stage) == [("Approved by Ada", 0), *before[1:]]


async def test_a_card_decided_before_it_was_shown_is_shown_and_then_edited(stage: Stage) -> None:
    asked = await card(stage)
    await decided(stage, asked)
    await (await stage.courier()).drain()
    assert shown(stage) == [("Approved by Ada", 0)]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "error"])
@pytest.mark.parametrize("kind", EVERY)
async def test_an_edit_cut_in_the_middle_is_just_repeated(kind: ChannelKind, fault: str, stage: Stage) -> None:
    """Design 7: also where nobody can tell what is shown."""
    asked = await card(stage)
    await decided(stage, asked)
    stage.fault(fault, on="edit")
    await stage.settle(await stage.courier())
    assert shown(stage) == [("Approved by Ada", 0)]


@pytest.mark.parametrize("point", ["part-marked", "part-shown", "part-checkpointed"])
@pytest.mark.parametrize("kind", EVERY)
async def test_an_edit_cut_by_a_kill_changes_the_card_and_adds_no_message(
    kind: ChannelKind, point: str, stage: Stage
) -> None:
    """Scenario 28."""
    asked = await card(stage)
    await (await stage.courier()).drain()
    await decided(stage, asked)
    with pytest.raises(Crash):
        await (await stage.courier(probe=crash_at(point))).drain()
    stage.clock.advance(LEASE)
    await stage.settle(await stage.courier())
    assert shown(stage) == [("Approved by Ada", 0)]


async def test_where_the_card_is_dead_its_outcome_is_a_message_of_its_own(stage: Stage) -> None:
    asked = await card(stage)
    stage.fault("forbidden")
    courier = await stage.courier()
    await courier.drain()
    assert await stage.state(asked) is DeliveryState.DEAD
    await decided(stage, asked)
    await courier.drain()
    assert shown(stage) == [("Approved by Ada", 0)]


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
async def test_where_the_card_is_held_its_outcome_is_a_message_of_its_own(kind: ChannelKind, stage: Stage) -> None:
    stage.pace = RetryPolicy(unknown=Unknown.HOLD)
    asked = await card(stage)
    stage.fault("cut_after")
    courier = await stage.courier()
    await stage.settle(courier)
    assert await stage.state(asked) is DeliveryState.HELD
    await decided(stage, asked)
    await courier.drain()
    assert shown(stage) == [("May I?", 2), ("Approved by Ada", 0)]


async def test_an_edit_of_a_card_that_people_deleted_is_a_dead_letter(stage: Stage) -> None:
    asked = await card(stage)
    courier = await stage.courier()
    await courier.drain()
    stage.channel.board.posts.clear()
    edit = await decided(stage, asked)
    await courier.drain()
    assert await stage.state(edit) is DeliveryState.DEAD


async def test_where_the_channel_cannot_edit_the_outcome_is_a_message_of_its_own(stage: Stage) -> None:
    """The written fall-back of the capability."""
    asked = await card(stage)
    await decided(stage, asked)
    adapter = stage.adapter()
    adapter.offers = Features(settles=True)
    await (await stage.courier(adapter=adapter)).drain()
    assert shown(stage) == [("May I?", 2), ("Approved by Ada", 0)]


@pytest.mark.parametrize("point", ["part-marked", "part-shown", "part-checkpointed"])
@pytest.mark.parametrize("kind", EVERY)
async def test_a_killed_reaction_is_put_once_onto_a_persons_message(
    kind: ChannelKind, point: str, stage: Stage
) -> None:
    """A message that was never a delivery: the wire's id comes with the reaction."""
    await stage.put("a person's words")
    await (await stage.courier()).drain()
    [receipt] = stage.channel.board.posts
    new = stage.new("", origin="reacted:r:c", edits=DeliveryId("signal"))
    new = replace(new, content=Content("", reaction="👍"), reply_to=receipt)
    assert await stage.store.outbox.put_change(new, most=5)
    assert await stage.store.outbox.put_change(replace(new, id=DeliveryId("again")), most=5)
    with pytest.raises(Crash):
        await (await stage.courier(probe=crash_at(point))).drain()
    stage.clock.advance(LEASE)
    await stage.settle(await stage.courier())
    assert shown(stage) == [("👍", 0)]
    assert await stage.outbox(DeliveryState.OPEN) == []
