"""One delivery from the outbox to the screen: attempts, waits, refusals and dead letters."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.server import ChannelKind
from runtime.contract import Address, Delivery, Part, Receipt, Wire
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.errors import ChannelError, Rejected, Retryable, Uncertain
from tests.contract.courier.stage import LONG, Stage
from tests.unit.guard.secrets import SECRETS


async def attempts_at(stage: Stage, courier: Courier) -> list[timedelta]:
    """Drain until nothing is left; when each further attempt was made, from the first on."""
    began, at = stage.clock.at, []
    while soonest := await stage.next_appointment():
        stage.clock.at = max(stage.clock.at, soonest)
        at.append(stage.clock.at - began)
        await courier.drain()
    return at


# ----------------------------------------------------------------------------------------------- enqueued and shown


async def test_what_is_enqueued_waits_with_no_attempts(stage: Stage) -> None:
    """Scenario 26."""
    delivery = await stage.put("hello")
    row = await stage.row(delivery)
    assert (row.state, row.attempts) == (DeliveryState.QUEUED, 0)


async def test_what_is_delivered_is_shown_with_receipt_checkpoint_and_audit(any_stage: Stage) -> None:
    """Scenario 26."""
    delivery = await any_stage.put("hello")
    await (await any_stage.courier()).drain()
    row = await any_stage.row(delivery)
    [part] = row.parts
    assert (row.state, row.attempts) == (DeliveryState.SHOWN, 1)
    assert (part.state, part.receipt) == (PartState.SHOWN, Receipt("r1-1"))
    assert await any_stage.audit("shown") == [(delivery, "fake:main/r1")]
    assert any_stage.seen() == ["hello"]


async def test_a_long_text_is_shown_in_parts_and_in_order(stage: Stage) -> None:
    """Scenario 31."""
    await stage.put(LONG)
    await (await stage.courier()).drain()
    assert len(stage.seen()) == 3
    assert "".join(stage.seen()) == LONG


async def test_a_repeated_enqueue_is_one_delivery(any_stage: Stage) -> None:
    """Design 2: (origin, ordinal) is the identity that makes a repeated step harmless."""
    await any_stage.put("hello", origin="run:1")
    assert not await any_stage.store.outbox.enqueue(any_stage.new("hello again", origin="run:1"))
    await (await any_stage.courier()).drain()
    assert any_stage.seen() == ["hello"]


@pytest.mark.parametrize("text", ["", "nowhere", "fake:", "fake:main", "fake:main/", ":main/r1", "fake:/r1"])
def test_what_is_no_address_is_an_error_with_the_form(text: str) -> None:
    """Scenario 26."""
    with pytest.raises(ValueError, match="write channel:account/room or channel:account/room/thread"):
        Address.parse(text)


async def test_what_is_posted_to_an_account_that_nobody_serves_is_an_error_and_no_row(stage: Stage) -> None:
    """Scenario 26."""
    couriers = Couriers([await stage.courier()], stage.store.outbox)
    lost = replace(stage.new(), address=Address("fake", "somebody-else", "r1"))
    with pytest.raises(Rejected, match="No account here serves fake:somebody-else/r1"):
        await couriers.post(lost)
    assert await stage.outbox() == []


async def test_what_is_posted_to_an_account_of_ours_is_in_the_outbox(stage: Stage) -> None:
    """Scenario 26."""
    couriers = Couriers([await stage.courier()], stage.store.outbox)
    assert await couriers.post(stage.new(origin="report:1"))
    assert [row.origin for row in await stage.outbox()] == ["report:1"]


# ------------------------------------------------------------------------------------------------------- not shown


async def test_two_errors_and_a_success_make_one_message_in_three_growing_attempts(stage: Stage) -> None:
    """Scenario 27."""
    delivery = await stage.put("hello")
    stage.fault("error", count=2)
    at = await attempts_at(stage, await stage.courier())
    assert stage.seen() == ["hello"]
    assert (await stage.row(delivery)).attempts == 3
    assert at[1] - at[0] < at[2] - at[1]


async def test_the_wait_that_the_platform_names_is_kept(stage: Stage) -> None:
    """Scenario 27."""
    await stage.put("hello")
    stage.fault("busy", seconds=40)
    courier = await stage.courier()
    began = stage.clock.at
    await courier.drain()
    stage.clock.at = began + timedelta(seconds=39.9)
    await courier.drain()
    assert (stage.seen(), stage.channel.sends) == ([], 1)
    stage.clock.at = began + timedelta(seconds=40.1)
    await courier.drain()
    assert stage.seen() == ["hello"]


async def test_the_wait_that_the_platform_names_is_kept_over_a_restart(any_stage: Stage) -> None:
    """Scenario 27."""
    await any_stage.put("hello")
    any_stage.fault("busy", seconds=40)
    began = any_stage.clock.at
    await (await any_stage.courier()).drain()
    any_stage.clock.at = began + timedelta(seconds=39.9)
    await (await any_stage.courier()).drain()
    assert any_stage.channel.sends == 1
    any_stage.clock.at = began + timedelta(seconds=40.1)
    await (await any_stage.courier()).drain()
    assert any_stage.seen() == ["hello"]


async def test_a_refused_delivery_is_a_dead_letter_with_its_payload(stage: Stage) -> None:
    """Scenario 27: revoked, blocked, unknown room."""
    delivery = await stage.put("hello")
    stage.fault("forbidden")
    await stage.settle(await stage.courier())
    [dead] = await stage.outbox(DeliveryState.DEAD)
    assert (dead.id, dead.content.text, dead.reason) == (delivery, "hello", "403 this room is closed")
    assert await stage.audit("delivery give-up") == [(delivery, "fake:main/r1: 403 this room is closed")]
    assert (stage.seen(), stage.channel.sends) == ([], 1)


async def test_a_dead_letter_leaves_when_a_person_requeues_it(any_stage: Stage) -> None:
    """Scenario 27."""
    delivery = await any_stage.put("hello")
    any_stage.fault("forbidden")
    courier = await any_stage.courier()
    await courier.drain()
    assert await any_stage.store.operations.requeue(delivery, "ada")
    await courier.drain()
    assert any_stage.seen() == ["hello"]
    assert await any_stage.audit("requeued") == [(delivery, "")]


async def test_of_a_requeued_delivery_only_the_missing_parts_are_shown(stage: Stage) -> None:
    """Scenario 27."""

    class ClosesAtTwo(FakeAdapter):
        async def show(self, part: Part) -> Receipt:
            if part.ordinal == 2:
                raise Rejected("this room is closed")
            return await super().show(part)

    delivery = await stage.put(LONG)
    adapter = ClosesAtTwo(base_url=stage.url, kind=stage.channel.kind, account="main", identity="main")
    await (await stage.courier(adapter=adapter)).drain()
    assert len(stage.seen()) == 1
    await stage.store.operations.requeue(delivery, "ada")
    await (await stage.courier()).drain()
    assert "".join(stage.seen()) == LONG


@pytest.mark.parametrize("failure", [Rejected, Retryable, Uncertain])
async def test_a_reason_keeps_no_secret(stage: Stage, failure: type[ChannelError]) -> None:
    """Libraries name the address that they asked, which may hold a bot's token."""
    _, token = SECRETS["telegram"]

    class Tells(FakeAdapter):
        async def show(self, part: Part) -> Receipt:
            raise failure(f"no answer from https://api.telegram.org/bot{token}/sendMessage")

    await stage.put("hello")
    adapter = Tells(base_url=stage.url, kind=stage.channel.kind, account="main", identity="main")
    await (await stage.courier(adapter=adapter)).drain()
    reasons = str([await stage.rows(f"SELECT * FROM {table}") for table in ("parts", "deliveries", "moves", "audit")])
    assert "/bot[redacted: Telegram token ·" in reasons
    assert token not in reasons


async def test_a_dead_letter_stops_only_itself(stage: Stage) -> None:
    """Design 7: dead and held deliveries stop only their own."""
    stage.fault("forbidden")
    await stage.put("refused")
    await stage.put("next")
    await (await stage.courier()).drain()
    assert stage.seen() == ["next"]


async def test_a_discarded_delivery_is_never_shown(stage: Stage) -> None:
    delivery = await stage.put("hello")
    stage.fault("forbidden")
    courier = await stage.courier()
    await courier.drain()
    assert await stage.store.operations.discard(delivery, "ada")
    await courier.drain()
    assert await stage.store.operations.requeue(delivery, "ada") is None
    assert stage.seen() == []


async def test_a_part_rejected_for_its_form_goes_as_its_plain_twin(stage: Stage) -> None:
    """Scenario 27."""
    await stage.put("**hello**")
    stage.fault("form")
    await (await stage.courier()).drain()
    [post] = stage.channel.board.posts.values()
    assert (post.body.text, post.body.form) == ("hello", "plain")


async def test_what_cannot_be_rendered_is_dead_with_its_payload(stage: Stage) -> None:
    class Broken(FakeAdapter):
        def render(self, delivery: Delivery) -> list[Wire]:
            if delivery.content.text == "poison":
                raise ZeroDivisionError("a bug")
            return super().render(delivery)

    poison = await stage.put("poison")
    await stage.put("hello")
    adapter = Broken(base_url=stage.url, kind=ChannelKind.LOOKUP, account="main", identity="main")
    with capture_logs():
        await (await stage.courier(adapter=adapter)).drain()
    row = await stage.row(poison)
    assert (row.state, row.content.text) == (DeliveryState.DEAD, "poison")
    assert row.reason == "can't be rendered: ZeroDivisionError: a bug"
    assert stage.seen() == ["hello"]


async def test_what_was_dead_before_it_was_rendered_is_rendered_when_requeued(stage: Stage) -> None:
    class Broken(FakeAdapter):
        def render(self, delivery: Delivery) -> list[Wire]:
            return []

    delivery = await stage.put("hello")
    adapter = Broken(base_url=stage.url, kind=ChannelKind.LOOKUP, account="main", identity="main")
    with capture_logs():
        await (await stage.courier(adapter=adapter)).drain()
    assert await stage.state(delivery) is DeliveryState.DEAD
    await stage.store.operations.requeue(delivery, "ada")
    await (await stage.courier()).drain()
    assert stage.seen() == ["hello"]
