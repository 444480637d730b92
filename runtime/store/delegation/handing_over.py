"""A run hands its conversation over: another agent answers in the room next, by a signal that knows whose hands it came through."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select

from runtime.contract import Address, NewId, SignalId, Trigger
from runtime.domain.agents.delegation import handed_over
from runtime.domain.agents.lifecycle import AgentState
from runtime.domain.ids import digest
from runtime.domain.runs import FOR_SCHEDULES
from runtime.domain.triggers.chains import agents_in
from runtime.store.agents.held_back import held_back
from runtime.store.common import OPEN_LANE, fact, fresh_lane, session_key
from runtime.store.delegation.chains import whole_chain
from runtime.store.delegation.rows import FROM_OUTSIDE
from runtime.store.delegation.spawning import AGENTS_PLATFORM
from runtime.store.own_signals import OwnSignal, add_own
from runtime.store.protocol import HandedOver, HandOver
from runtime.store.schema import runs, sessions, signals
from runtime.store.sql.driver import Op
from runtime.text.outside import sources_in

ALREADY_HANDED: Final = select(signals.c.id).where(
    signals.c.platform == AGENTS_PLATFORM, signals.c.dedupe_key == bindparam("key")
)
HANDING_RUN: Final = (
    select(runs.c.session, runs.c.address, runs.c.requester, runs.c.reply_to, runs.c.trigger, sessions.c.agent)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(runs.c.id == bindparam("run"))
)
KEY_CHARS: Final = 16
NO_CONVERSATION: Final = (Trigger.CHILD, Trigger.TASK, *FOR_SCHEDULES)
"""Runs that talk with nobody, so that they have no conversation to hand over."""


def hand_over(wanted: HandOver, now: datetime, new_id: NewId) -> Op[HandedOver]:
    """Put the hand-over before the other agent, once for a call of a run."""
    said = digest(f"{wanted.agent}\n{wanted.text}")[
        :KEY_CHARS
    ]  # some vendors count the ids of calls anew with each reply
    key = f"{Trigger.HAND_OVER}:{wanted.run}/{wanted.call}/{said}"
    if (yield ALREADY_HANDED, {"key": key}):
        return HandedOver.DONE
    session, room, requester, reply_to, trigger, own = (yield HANDING_RUN, {"run": wanted.run})[0]
    whole = (*(yield from whole_chain(wanted.run)), own)
    chain = agents_in(whole)
    if trigger in NO_CONVERSATION:
        return HandedOver.NO_CONVERSATION
    if wanted.agent not in (*wanted.may, *chain[:-1]):
        return HandedOver.NOT_ALLOWED
    held = (yield from held_back()).get(wanted.agent)
    if held and held.state is AgentState.TERMINATED:
        return HandedOver.ENDED
    rows = yield FROM_OUTSIDE, {"s": session, "own": "assistant", "label": "%⟦From %"}
    sources = list(dict.fromkeys(name for (text,) in rows for name in sources_in(text)))
    lane = session_key(wanted.agent, Address.parse(room))
    ((seq, *_),) = yield OPEN_LANE, fresh_lane(lane, wanted.agent, Address.parse(room), now)
    signal = SignalId(new_id())
    yield from add_own(
        OwnSignal(
            id=signal,
            platform=AGENTS_PLATFORM,
            key=key,
            trigger=Trigger.HAND_OVER,
            session=lane,
            room=room,
            text=wanted.text if sources else handed_over(wanted.text, chain),
            actor=AGENTS_PLATFORM,
            actor_name=f"{own} after reading {', '.join(sources)}" if sources else own,
            person=requester,
            seq=seq,
            by_program=bool(sources),
            reply_to=reply_to,
            chain=whole,
        ),
        now,
    )
    yield from fact(now, "conversation handed over", own, signal, f"{wanted.agent}: {len(chain)}")
    return HandedOver.SUSPENDED if held else HandedOver.DONE
