"""Rooms that settings name for questions: can the bot post there? The process at work asks the platform, which shows nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.subject import Subject, fine, warning
from bot.node.lock import Control
from bot.operator.client import connected
from bot.settings.settings import Settings
from runtime.contract import Finding
from runtime.errors import BotError
from runtime.policy.terms import PLACES

WHY: Final = "Questions that go there reach nobody."
FIX: Final = "do what it says, or name another room; then: signalbox doctor"
UNTESTED: Final = "not tested: only a running process can ask the platform"


async def check_question_rooms(subject: Subject) -> Sequence[Finding]:
    named = list(_named(subject.settings))
    if subject.control is None:
        return [fine("question_rooms", f"{len(named)} named, {UNTESTED}")] if named else []
    return [await _looked_at(subject.control, place, room) for place, room in named]


def _named(settings: Settings) -> Iterator[tuple[str, str]]:
    """Each room with the setting that names it."""
    approvals = settings.approvals
    places = [("approvals.to", approvals.to), ("approvals.escalate_to", approvals.escalate_to)]
    places += [(f"policy[{number}].to", rule.to or ()) for number, rule in enumerate(settings.policy, start=1)]
    yield from ((place, room) for place, rooms in places for room in rooms if room not in PLACES)


async def _looked_at(control: Control, place: str, room: str) -> Finding:
    ident = f"question_rooms.{place}.{room}"
    try:
        async with connected(control) as client:
            wrong = (await client.reach(room))["why"]
    except BotError as error:
        wrong = str(error)
    if wrong:
        return warning(ident, f"{place} names {room}, and I can't post there: {wrong}", WHY, FIX)
    return fine(ident, f"{place}: {room} can be posted in")
