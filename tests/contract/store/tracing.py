"""Deliveries that went another way than straight on, and the rows that tell of it."""

from __future__ import annotations

from runtime.contract import (
    DeliveryId,
    Receipt,
    Wire,
)
from runtime.store.protocol import Duty
from runtime.timeline.trail import Trail
from tests.contract.store.stage import (
    Stage,
)

REASON = "the platform said 500"
CUT = "part 1: its process died between sending and recording the result"
Row = tuple[str, str | None, str, str]


async def moves(stage: Stage) -> list[Row]:
    """(subject, node, what, detail) of each move, oldest first."""
    return await stage.rows("SELECT subject, node, what, detail FROM moves ORDER BY number")


async def trail(stage: Stage, about: str) -> Trail:
    found = await stage.store.traces.trail(about)
    assert found is not None
    return found


async def sent(stage: Stage, *, ordinal: int = 1, parts: int = 1) -> tuple[Duty, DeliveryId]:
    """A delivery of which a part is marked."""
    duty, delivery = await stage.duty(), await stage.enqueue()
    assert await stage.store.outbox.render(
        duty, delivery, [Wire(f"p{n}", "plain") for n in range(1, parts + 1)], mark=True
    )
    for number in range(1, ordinal):
        assert await stage.store.outbox.checkpoint(duty, delivery, number, Receipt(f"m{number}"))
        assert await stage.store.outbox.mark(duty, delivery, number + 1)
    return duty, delivery


async def doubted(stage: Stage) -> tuple[Duty, DeliveryId]:
    """A delivery that is being looked for; its own move is forgotten."""
    duty, delivery = await sent(stage)
    assert await stage.store.outbox.doubt(duty, delivery, 1, stage.clock(), REASON)
    await stage.write("DELETE FROM moves")
    return duty, delivery


async def given_up(stage: Stage) -> DeliveryId:
    duty, delivery = await sent(stage)
    assert await stage.store.outbox.give_up(duty, delivery, 1, REASON)
    await stage.write("DELETE FROM moves")
    return delivery


async def not_rendered(stage: Stage) -> Row:
    duty, delivery = await stage.duty(), await stage.enqueue()
    assert await stage.store.outbox.give_up(duty, delivery, None, REASON)
    return delivery, "node-1", "give-up", REASON
