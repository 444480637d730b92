"""Reads what a question tells of its request."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from runtime.contract import RunId
from runtime.store.protocol import Audience
from runtime.store.schema import signals
from runtime.store.sql.driver import Op, is_word

LAST_SAID = (
    select(signals.c.text, signals.c.actor_name)
    .where(signals.c.run_id == bindparam("run"), is_word(signals.c.kind, "said"))
    .order_by(signals.c.accepted_at.desc(), signals.c.id.desc())
    .limit(1)
)
"""The newest of the messages that a run heard: what people said while it worked led to its calls too."""


def audience(run: RunId) -> Op[Audience]:
    rows = yield LAST_SAID, {"run": run}
    said, by = rows[0] if rows else ("", "")
    return Audience(said, by)
