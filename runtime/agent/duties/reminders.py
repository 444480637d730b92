"""Puts questions once more that nobody answered, takes them further where their terms say so, and refills full chats."""

from __future__ import annotations

from runtime.agent.questions import QuestionContext
from runtime.chat.audience import able, escalation, mentions
from runtime.chat.cards import card_facts
from runtime.contract import Address, Now
from runtime.domain.approvals import Home
from runtime.policy.terms import calls
from runtime.store.protocol import Approvals, Calling, Due


class Reminders:
    """Any number of nodes may look: the store lets one of them make each call."""

    def __init__(self, *, approvals: Approvals, now: Now, context: QuestionContext) -> None:
        self._approvals = approvals
        self._now = now
        self._context = context

    async def look(self) -> list[Address]:
        """Make the calls that are due; where couriers are to look. Errors: StoreError."""
        told: list[Address] = []
        for due in await self._approvals.due(self._context.rights()):
            told += await self._call(due)
        return [*told, *await self._approvals.refill(self._context.rights(), self._context.places.mark)]

    async def _call(self, due: Due) -> tuple[Address, ...]:
        """One call in place of all that fell due meanwhile, as after a night in which nothing ran."""
        approval, now = due.approval, self._now()
        every = calls(approval.terms, approval.expires_at - approval.asked_at)
        passed = [escalates for at, escalates in every[approval.calls :] if approval.asked_at + at <= now]
        rights, rooms, further = self._context.rights(), list[Address](), dict[Address, str]()
        if False in passed:
            is_home_whole = card_facts.home_of(approval) is Home.WHOLE
            rooms += [at for at in due.rooms if at != approval.address or is_home_whole]
        if True in passed:
            found = escalation(approval, due.candidates, rights, self._context.places)
            further = {at: name for at, name in found.items() if at not in due.rooms}
        if not passed:  # whoever had it in a chat of their own is gone: those who are left are told now
            rooms += [approval.address] if card_facts.home_of(approval) is Home.WHOLE else []
            left = [one for one in able(approval, due.candidates, rights) if one.rooms]
            further = {one.rooms[0]: one.person.name for one in left if one.rooms[0] not in due.rooms}
        told = tuple(dict.fromkeys(further.values()))
        calls_on = {at: mentions(approval, at, due.candidates, rights) for at in (*rooms, *further)}
        alone = {room: self._context.places.mark(room) for one in due.candidates for room in one.rooms}
        wanted = Calling(approval, approval.calls + len(passed), (*rooms, *further), told, calls_on, alone)
        return await self._approvals.call(wanted, rights)
