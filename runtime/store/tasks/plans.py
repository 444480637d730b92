"""Checklists of runs: shown in the room once, and edited in place when they change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, literal_column, select

from runtime.contract import Content, DeliveryId, Kind, NewId, PlanStep, StepMark, TaskActor
from runtime.domain.agents.tasks import checklist
from runtime.store.common import ADD_DELIVERY, delivery_row, put
from runtime.store.protocol import NewDelivery
from runtime.store.schema import deliveries, plans
from runtime.store.sql.driver import Op, micros
from runtime.text.words import said_at

PUT_PLAN = put(plans)
PLAN = select(plans.c.steps, plans.c.delivery_id).where(plans.c.run_id == bindparam("run")).with_for_update()
NEXT_ORDINAL = select(func.coalesce(func.max(deliveries.c.ordinal), 0) + literal_column("1")).where(
    deliveries.c.origin == bindparam("origin")
)


def set_plan(steps: Sequence[PlanStep], by: TaskActor, now: datetime, new_id: NewId) -> Op[bool]:
    """Keep a run's checklist and show it: the first time as a message, then as an edit. False where nothing is new."""
    told, rows = written(steps), (yield PLAN, {"run": by.run_id})
    if rows and rows[0][0] == told:
        return False
    origin, first = f"plan:{by.run_id}", DeliveryId(rows[0][1]) if rows else None
    [(ordinal,)] = yield NEXT_ORDINAL, {"origin": origin}
    with said_at(by.room):
        text = Content(checklist(steps))
    new = NewDelivery(DeliveryId(new_id()), origin, int(ordinal), Kind.REPORT, by.room, text, edits=first)
    yield ADD_DELIVERY, delivery_row(new, now)
    yield PUT_PLAN, {"run_id": by.run_id, "steps": told, "delivery_id": first or new.id, "changed_at": micros(now)}
    return True


def written(steps: Sequence[PlanStep]) -> str:
    return json.dumps([[step.text, step.mark] for step in steps], ensure_ascii=False)


def steps_of(text: str) -> list[PlanStep]:
    """The steps that `written` wrote."""
    return [PlanStep(step, StepMark(mark)) for step, mark in json.loads(text)]
