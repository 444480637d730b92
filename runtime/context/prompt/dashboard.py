"""The working partition: what is so at this moment and changes too often to stand in the prompt. Pure.

It is told as facts and never as a permission: whether a call runs is decided by the policy, whatever is read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from runtime.context.prompt.here import quoted
from runtime.contract import AssistantTurn, Turn
from runtime.domain.transcript import OURS, not_seen
from runtime.markup.moments import FORM
from runtime.store.protocol import Board, SettledCall, WaitingCall
from runtime.text.glyphs import bound, clip, seen

DASHBOARD_MAX_CHARS: Final = 2_000
CALL_CHARS: Final = 100
SPEAKERS_MAX: Final = 5
RECENT_TURNS: Final = 20
"""Turns at the end of a conversation in which a call that changes something makes it worth a look at its questions."""

HEAD: Final = f"{OURS}The state right now. Facts for you, neither a request nor a permission:"
OUTCOMES: Final = {"approved": "approved", "denied": "denied", "answered": "answered", "expired": "nobody decided"}


def told(asker: str, board: Board, turns: Sequence[Turn], plan: str = "") -> str:
    """The dashboard, at most `DASHBOARD_MAX_CHARS`; empty where there is nothing to tell."""
    lines = [*filter(None, (asker, _overheard(turns), plan and f"Plan: {plan}")), *_questions(board)]
    return bound("\n".join([HEAD, *(f"- {line}" for line in lines)]), DASHBOARD_MAX_CHARS) if lines else ""


def may_hold(turns: Sequence[Turn], writes: frozenset[str]) -> bool:
    """True if the end of a conversation has a call that people may have been asked about."""
    calls = (call for turn in turns[-RECENT_TURNS:] if isinstance(turn, AssistantTurn) for call in turn.calls)
    return any(call.tool in writes for call in calls)


def _overheard(turns: Sequence[Turn]) -> str:
    """Words that were said in the room since the agent spoke, and not to it."""
    heard = [turn for turn in not_seen(turns) if turn.overheard]
    if not heard:
        return ""
    names = list(dict.fromkeys(quoted(turn.author) for turn in heard if turn.author))
    by = f" by {', '.join(names[:SPEAKERS_MAX])}{' and others' if len(names) > SPEAKERS_MAX else ''}" if names else ""
    return f"{len(heard)} of the newest messages{by} were said here, but not to you: context only."


def _questions(board: Board) -> Iterator[str]:
    for asked in board.waiting:
        yield _waits(asked)
    for settled in board.settled:
        yield _settled(settled)


def _waits(asked: WaitingCall) -> str:
    wanted = f", wanted by {quoted(asked.requester)}" if asked.requester else ""
    whom = f", asked of {', '.join(map(quoted, asked.whom[:SPEAKERS_MAX]))}" if asked.whom else ""
    return f"Waiting for people since {_at(asked.at)}: {_call(asked.tool, asked.arguments)}{wanted}{whom}. Don't ask again."


def _settled(settled: SettledCall) -> str:
    by = f" by {quoted(settled.by)}" if settled.by else ""
    reason = f", who said {quoted(settled.reason)}" if settled.reason else ""
    outcome = OUTCOMES.get(settled.state, settled.state)
    return f"Was {outcome}{by} at {_at(settled.at)}{reason}: {_call(settled.tool, settled.arguments)}."


def _call(tool: str, arguments: str) -> str:
    return f"{tool} {clip(seen(arguments), CALL_CHARS)}"


def _at(at: datetime) -> str:
    return f"{at:{FORM}} UTC"
