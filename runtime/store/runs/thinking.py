"""For `/think`: reads what was thought in the run of the last answer of a conversation."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from sqlalchemy import bindparam, select

from runtime.chat.thinking import told
from runtime.contract import Reasoning, SessionKey
from runtime.store.schema import sessions, turns
from runtime.store.sql.driver import Op, is_word

STEPS_MAX: Final = 50
"""Of the last run, counted from its end."""
LAST = (
    select(turns.c.run_id, turns.c.reasoning)
    .where(
        turns.c.session == bindparam("s"),
        turns.c.number >= select(sessions.c.since_turn).where(sessions.c.key == bindparam("s")).scalar_subquery(),
        is_word(turns.c.role, "assistant"),
    )
    .order_by(turns.c.number.desc())
    .limit(STEPS_MAX)
)


def thought(session: SessionKey) -> Op[str]:
    """The thinking of the last run, in its order; empty where there is none."""
    rows = yield LAST, {"s": session}
    steps = takewhile(lambda row: row[0] == rows[0][0], rows)
    return told([Reasoning.from_json(kept).text for _, kept in reversed(list(steps)) if kept])
