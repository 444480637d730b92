"""One message that takes several without its form: what a platform refuses as a file goes as text, each piece once."""

from __future__ import annotations

import pytest

from bot.testing.channel.adapter import FakeAdapter, body_json, split
from bot.testing.channel.server import ChannelKind
from runtime.contract import Delivery, DeliveryId, Kind, Wire
from runtime.domain.deliveries import DeliveryState
from tests.contract.courier.stage import CARD, LONG, TELLING, Stage
from tests.contract.runtime.stage import LEASE, Crash, crash_at

POINTS = ["part-marked", "part-shown", "part-checkpointed"]
HEAD = "Here it is."


class WithFiles(FakeAdapter):
    """A long text goes as a file behind a summary; without its form the file is the pieces of the text."""

    def render(self, delivery: Delivery) -> list[Wire]:
        if "|" not in delivery.content.text:
            return super().render(delivery)
        head, text = delivery.content.text.split("|")
        first, *more = [body_json(piece, (), form="plain") for piece in split(text)]
        file = Wire(body_json("[file]", (), form="rich"), first, tuple(more))
        return [Wire(body_json(head, (), form="rich"), body_json(head, (), form="plain")), file] if head else [file]


def with_files(stage: Stage) -> WithFiles:
    return WithFiles(
        base_url=stage.url,
        kind=stage.channel.kind,
        account="main",
        identity="main",
        now=stage.clock,
        known_ids=stage._known_ids,
    )


async def put(stage: Stage, head: str = HEAD) -> DeliveryId:
    return await stage.put(f"{head}|{LONG}")


def whole(stage: Stage) -> str:
    return "".join(stage.seen())


async def test_a_file_that_is_taken_is_all_there_is(any_stage: Stage) -> None:
    await put(any_stage)
    await (await any_stage.courier(adapter=with_files(any_stage))).drain()
    assert any_stage.seen() == [HEAD, "[file]"]


async def test_a_refused_file_is_followed_by_the_pieces_of_its_text(any_stage: Stage) -> None:
    """Scenario 32: upload fails, all parts, in the same room and in order."""
    delivery = await put(any_stage, head="")
    any_stage.fault("form")
    await (await any_stage.courier(adapter=with_files(any_stage))).drain()
    assert (len(any_stage.seen()), whole(any_stage)) == (3, LONG)
    assert await any_stage.state(delivery) is DeliveryState.SHOWN
    told = "part 1: 400 form rejected; 2 more follow"
    assert await any_stage.audit("delivery split") == [(delivery, told)]


@pytest.mark.parametrize("hit", range(1, 5))
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_any_of_them_shows_each_piece_once(point: str, hit: int, any_stage: Stage) -> None:
    """Scenario 28. The file is refused in every life."""
    await put(any_stage, head="")
    any_stage.fault("form", count=9)
    try:
        await (await any_stage.courier(adapter=with_files(any_stage), probe=crash_at(point, hit))).drain()
    except Crash:
        any_stage.clock.advance(LEASE)
    await any_stage.settle(await any_stage.courier(adapter=with_files(any_stage)))
    assert (len(any_stage.seen()), whole(any_stage)) == (3, LONG)


@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "error"])
@pytest.mark.parametrize("kind", TELLING)
async def test_what_befalls_one_of_the_pieces_is_settled_as_ever(kind: ChannelKind, fault: str, stage: Stage) -> None:
    await put(stage, head="")
    stage.fault("form")
    stage.fault(fault)
    await stage.settle(await stage.courier(adapter=with_files(stage)))
    assert (len(stage.seen()), whole(stage)) == (3, LONG)


async def test_a_card_of_which_a_file_was_refused_is_edited_at_its_last_message(stage: Stage) -> None:
    """The buttons are where the last wire had them."""
    card = await stage.put(f"|{LONG}", kind=Kind.APPROVAL, origin="approval:a1", buttons=CARD)
    stage.fault("form")
    courier = await stage.courier(adapter=with_files(stage))
    await courier.drain()
    await stage.put("Approved", kind=Kind.APPROVAL, origin="approval:a1", ordinal=1, edits=card)
    await courier.drain()
    assert stage.seen()[-1] == "Approved"
    assert whole(stage).removesuffix("Approved") in LONG


async def test_only_the_last_message_may_take_several(stage: Stage) -> None:
    """A renderer that breaks this would put texts out of order: its delivery is a dead letter."""

    class Careless(WithFiles):
        def render(self, delivery: Delivery) -> list[Wire]:
            return super().render(delivery)[::-1]

    delivery = await put(stage)
    adapter = Careless(base_url=stage.url, kind=stage.channel.kind, account="main", identity="main")
    assert adapter.features().edits
    await (await stage.courier(adapter=adapter)).drain()
    row = await stage.row(delivery)
    assert row.state is DeliveryState.DEAD
    assert row.reason == "can't be rendered: ValueError: only the last message may take several without its form"
