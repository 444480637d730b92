"""Approvals outside of a click: read, called about, ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from sqlalchemy import Integer, bindparam, select

from runtime.chat.inbox import OpenQuestion
from runtime.contract import Address, ApprovalId, Identity, ModelReply, NodeId, Person, RunId
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.policy.grants import GrantId
from runtime.policy.modes import Mode, RoomMode
from runtime.store.approvals import undos
from runtime.store.approvals.asked_back import answering
from runtime.store.approvals.decisions import BY_ID, EXPIRED_A_LOOK, EXPIRED_AT_ONCE, expire
from runtime.store.approvals.edits import asked
from runtime.store.approvals.granted.rows import every, revoke
from runtime.store.approvals.modes import every_mode, set_from_afar
from runtime.store.approvals.quorum import approved_by
from runtime.store.approvals.reminders import call, due
from runtime.store.approvals.rulings import APPROVAL_COLUMNS, approval_of
from runtime.store.approvals.waiting import full_chats
from runtime.store.approvals.waiting.inbox import closed_for, of_identity
from runtime.store.budgets import reserving as paying
from runtime.store.budgets.counters import Moment
from runtime.store.common import narrowed
from runtime.store.protocol import Answering, Asked, AskedBack, Calling, Decided, Due, Granted, Undoing, UndosToDo
from runtime.store.schema import approvals
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op

MANY = select(*APPROVAL_COLUMNS).limit(bindparam("n", type_=Integer))
NEWEST_APPROVALS = narrowed(
    MANY.order_by(approvals.c.asked_at.desc(), approvals.c.step), state=approvals.c.state, address=approvals.c.address
)
OLDEST_APPROVALS = narrowed(
    MANY.order_by(approvals.c.asked_at, approvals.c.step), state=approvals.c.state, address=approvals.c.address
)


def _one(approval_id: ApprovalId) -> Op[Approval | None]:
    rows = yield BY_ID, {"id": approval_id}
    return approval_of(rows[0]) if rows else None


def _many(state: ApprovalState | None, room: Address | None, limit: int, *, oldest: bool) -> Op[list[Approval]]:
    rows = yield (OLDEST_APPROVALS if oldest else NEWEST_APPROVALS)(state, room, limit)
    return [approval_of(row) for row in rows]


class ApprovalStore(Base):
    """Implements `protocol.Approvals`."""

    async def asked(self, approval_id: ApprovalId) -> Asked | None:
        return await self._driver.read(lambda: asked(approval_id))

    async def approval(self, approval_id: ApprovalId) -> Approval | None:
        return await self._driver.read(lambda: _one(approval_id))

    async def approvals(
        self, *, state: ApprovalState | None = None, room: Address | None = None, limit: int = 200, oldest: bool = False
    ) -> list[Approval]:
        return await self._driver.read(lambda: _many(state, room, limit, oldest=oldest))

    async def inbox(self, who: Identity, rights: Rights) -> list[OpenQuestion]:
        now = self.now()
        return await self._driver.read(lambda: of_identity(who, rights, now))

    async def closed(self, who: Identity, questions: Sequence[ApprovalId], rights: Rights) -> list[Approval]:
        return await self._driver.read(lambda: closed_for(who, questions, rights))

    async def approved_by(self, approval: Approval, rights: Rights) -> list[str]:
        return await self._driver.read(lambda: approved_by(approval, rights))

    async def due(self, rights: Rights) -> list[Due]:
        now = self.now()
        return await self._driver.read(lambda: due(rights, now))

    async def call(self, wanted: Calling, rights: Rights) -> tuple[Address, ...]:
        now = self.now()
        return await self._driver.write(lambda: call(wanted, rights, now, self._new_id))

    async def refill(self, rights: Rights, mark: Callable[[Address], str]) -> tuple[Address, ...]:
        now, rooms = self.now(), list[Address]()
        for line, room in await self._driver.read(partial(full_chats.to_refill, rights, now)):
            if await self._driver.write(partial(full_chats.refill, line, room, mark(room), rights, now, self._new_id)):
                rooms.append(room)
        return tuple(rooms)

    async def modes(self) -> list[tuple[Address, RoomMode]]:
        now = self.now()
        return await self._driver.read(lambda: every_mode(now))

    async def set_mode(self, agent: str, address: Address, mode: Mode, who: Person, hand: str) -> RoomMode:
        now = self.now()
        return await self._driver.write(lambda: set_from_afar(agent, address, mode, who, hand, now, self._new_id))

    async def grants(self) -> Sequence[Granted]:
        return await self._driver.read(every)

    async def revoke(self, grant: GrantId, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: revoke(grant, by, now))

    async def undos_to_do(self) -> UndosToDo:
        now = self.now()
        return await self._driver.read(lambda: undos.to_do(now))

    async def begin_undo(self, approval_id: ApprovalId) -> Undoing | None:
        now = self.now()
        return await self._driver.write(lambda: undos.begin(approval_id, now))

    async def end_undo(self, approval_id: ApprovalId, why_not: str = "") -> tuple[Address, ...]:
        now = self.now()
        return await self._driver.write(lambda: undos.end(approval_id, why_not, now, self._new_id))

    async def close_undos(self) -> tuple[Address, ...]:
        now = self.now()
        return await self._driver.write(lambda: undos.close(now, self._new_id))

    async def to_answer(self, node: NodeId) -> tuple[AskedBack, ...]:
        return await self._driver.read(lambda: answering.to_answer(node))

    async def begin_answer(self, asked: AskedBack, node: NodeId) -> Answering | None:
        return await self._driver.write(lambda: answering.begin(asked, node))

    async def affords(self, run: RunId) -> bool:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        return not at.rules.is_set or await self._driver.read(lambda: paying.affords(run, at))

    async def pay_answer(self, answered: Answering, node: NodeId) -> Answering | None:
        paid = await self._driver.write(lambda: answering.pay(answered, node))
        return replace(answered, step=paid[0], turn=paid[1]) if paid else None

    async def end_answer(
        self, answered: Answering, node: NodeId, reply: ModelReply | None, failed: str, rights: Rights
    ) -> tuple[Address, ...]:
        at = Moment(self._budgets.rules, self.now(), self._new_id)
        return await self._driver.write(lambda: answering.end(answered, node, reply, failed, rights, at))

    async def expire(self, at: datetime | None = None) -> list[Decided]:
        now = self.now() if at is None else at
        every: list[Decided] = []
        while True:
            expired = await self._driver.write(lambda: expire(now, self._new_id))
            every += expired
            if expired:
                self._observer.expired(expired, self.now())
            if len(expired) < EXPIRED_AT_ONCE or len(every) >= EXPIRED_A_LOOK:
                return every
