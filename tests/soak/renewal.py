"""Handoffs at will: in the campaign a conversation begins anew again and again, as production does where no summary is enough."""

from __future__ import annotations

from typing import Final

from runtime.context.builder import Partitions
from runtime.context.condenser import Condenser, Conversation
from runtime.contract import AssistantTurn
from runtime.store.protocol import History, SummaryKind
from tests.soak.clerk import told

RENEWED_TURNS: Final = 14
"""Turns behind a summary after which a handoff takes its place."""


class Renewing(Condenser):
    """Hands over where the turns behind a summary have become many, once the clerk has told of all that ended."""

    async def fitted(self, of: Conversation, history: History) -> Partitions:
        if is_due(history) and await self._hand_over(of, history, always=True):
            history = await of.read()
        return await super().fitted(of, history)


def is_due(history: History) -> bool:
    summary, turns = history.summary, history.turns[history.carried :]
    if summary is None or summary.kind is SummaryKind.HANDOFF or len(turns) < RENEWED_TURNS:
        return False
    has_open_work = any(isinstance(turn, AssistantTurn) and turn.calls for turn in turns[-2:])
    return not has_open_work and not any(line.startswith("ended ") for line in told(turns))
