"""Lanes as they are opened: a row each, made with the first signal that waits in it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, case

from runtime.contract import Address, SessionKey
from runtime.store.common import add
from runtime.store.schema import sessions
from runtime.store.sql.driver import micros

OPEN_LANE = (
    add(sessions)
    .on_conflict_do_update(
        index_elements=["key"],
        set_={
            "last_seq": sessions.c.last_seq + 1,
            "waiting": sessions.c.waiting + 1,
            "state": case((sessions.c.state == "idle", "ready"), else_=sessions.c.state),
            "ready_at": case((sessions.c.state == "idle", bindparam("ready_at")), else_=sessions.c.ready_at),
        },
    )
    .returning(sessions.c.last_seq, sessions.c.state)
)


def fresh_lane(key: SessionKey, agent: str, address: Address, now: datetime) -> dict[str, object]:
    return {
        "key": key,
        "agent": agent,
        "address": str(address),
        "state": "ready",
        "owner": None,
        "fence": 0,
        "waiting": 1,
        "resumable": 0,
        "last_seq": 1,
        "next_turn": 1,
        "ready_at": micros(now),
        "created_at": micros(now),
        "since_turn": 0,
        "model": "",
    }
