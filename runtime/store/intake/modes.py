"""Carries out `/mode`, `/away` and `/back`, and answers them. Times in them were read before the transaction."""

from __future__ import annotations

from datetime import datetime

from runtime.chat import modes as words
from runtime.chat.modes import Wanted
from runtime.chat.views.schedules import room_of
from runtime.contract import Commanded, Person, Role, Signal
from runtime.policy.modes import Mode
from runtime.store.approvals.absences import away_until, come_back, set_away
from runtime.store.approvals.modes import mode_at, set_mode
from runtime.store.common import names_of, whom
from runtime.store.protocol import Gate
from runtime.store.schedules.book import zones_of
from runtime.store.sql.driver import Op
from runtime.text.words import say


def zone_for(signal: Signal) -> Op[str]:
    """The zone by which times of this sender are read there; empty where none is known."""
    who, room = (yield from whom(signal.actor)), room_of(signal.address)
    known = yield from zones_of(who.id if who else "", room)
    return known.get(who.id if who else "") or known.get(room, "")


def wanted_of(signal: Signal, name: str, argument: str, zone: str, now: datetime) -> Wanted:
    """Understand the argument of `/mode` or `/away`. Reads files of zones."""
    if name == "mode":
        return words.mode_wanted(argument, zone, now, signal.command_mark)
    return words.absence_wanted(argument, zone, now)


def moded(
    signal: Signal, command: Commanded, who: Person, gate: Gate, wanted: Wanted | None, now: datetime
) -> Op[tuple[str, bool]]:
    """Answer to `/mode`, and whether everybody in the room is to read it."""
    if not command.argument.strip() or wanted is None:
        here = yield from mode_at(gate.agent, signal.address, now)
        return words.mode_told(here, now, signal.command_mark), False
    if who.role < Role.OPERATOR:
        return say(words.FOR_OPERATORS), False
    if wanted.trouble:
        return wanted.trouble, False
    if wanted.mode is Mode.TRUSTED and (wanted.until is None or wanted.until <= now):
        return say(words.HOW_LONG, mark=signal.command_mark), False
    if wanted.mode is Mode.TRUSTED and not (yield from _decides_alone(who, gate)):
        return say(words.NO_TRUST), False
    made = yield from set_mode(gate.agent, signal.address, wanted.mode, wanted.until, who, now)
    return words.mode_set(made, signal.address), True


def _decides_alone(who: Person, gate: Gate) -> Op[bool]:
    """True if somebody may approve their own requests, unless a rule forbids it."""
    if not gate.rights.self_approval:
        return False
    return not gate.rights.approvers or bool((yield from names_of(who)) & gate.rights.approvers)


def absent(signal: Signal, name: str, who: Person, wanted: Wanted | None, now: datetime) -> Op[str]:
    """Answer to `/away` and `/back`."""
    if name == "back" or (wanted and not wanted.trouble and wanted.until is None):
        return say(words.BACK) if (yield from come_back(who, now)) else say(words.NOT_AWAY, mark=signal.command_mark)
    if wanted is None:
        return words.away_told((yield from away_until(who.id, now)), signal.command_mark)
    if wanted.trouble or wanted.until is None or wanted.until <= now:
        return wanted.trouble
    yield from set_away(who, wanted.until, now)
    return words.away_set(wanted.until, signal.command_mark)
