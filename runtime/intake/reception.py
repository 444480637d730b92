"""The sink: every Signal of every channel comes through here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final, Protocol

import structlog

from runtime.cluster.topics import ASKED_BACK, COMPACTING, LANES, MEMORIES, UNDOS
from runtime.contract import (
    INBOX,
    QUESTIONS,
    Address,
    Choice,
    Clicked,
    FileRef,
    Notifier,
    Outcome,
    Probe,
    RunId,
    Said,
    Signal,
    Verdict,
    clean_name,
    no_probe,
    room_topic,
)
from runtime.domain.routing import Decision
from runtime.errors import Rejected
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Finding
from runtime.intake.cleaning import cleaned
from runtime.store.protocol import Accept, Changed, Decided, Gate, Intake, KeptRoom, TakeIn, Taken
from runtime.store.protocol.intake import ignored
from runtime.text.words import AT_PLACE, heard_in

log = structlog.get_logger("intake")


TURNS_OF_A_SEND: Final = 4
"""Turns of the event loop after which the request of a courier, whose task has just begun, has left."""


class Outlet(Protocol):
    """The way out: implemented by `runtime.delivery.couriers`."""

    def serves(self, address: Address) -> bool: ...

    def nudge(self, address: Address) -> None: ...

    def keep(self, room: Address) -> KeptRoom | None:
        """Keep a room for a change that is about to be committed; None where it would wait its turn."""


async def plainly(accept: Accept) -> Taken:
    """Without an offer."""
    return await accept(None)


async def unchanged(click: Clicked) -> Changed | None:
    """Answer of a place that changes no call."""
    return None


Pasted = Callable[[Signal, Sequence[Finding]], Awaitable[None]]
"""Tells whoever wrote a secret what became of it."""


async def told_nobody(_signal: Signal, _findings: Sequence[Finding]) -> None:
    """For a place without people."""


class Reception:
    """Takes a Signal in, in one transaction, and then wakes whoever has work from it."""

    def __init__(
        self,
        *,
        store: Intake,
        gate: Callable[[], Gate],
        notifier: Notifier,
        outlet: Outlet,
        stop: Callable[[RunId], object],
        take_in: TakeIn = plainly,
        heard: Callable[[Signal], None] = lambda _: None,
        changed: Callable[[Clicked], Awaitable[Changed | None]] = unchanged,
        probe: Probe = no_probe,
        door: Door = OPEN_DOOR,
        pasted: Pasted = told_nobody,
    ) -> None:
        self._door = door
        self._pasted = pasted
        self._take_in = take_in
        self._heard = heard
        self._store = store
        self._gate = gate
        self._notifier = notifier
        self._outlet = outlet
        self._stop = stop
        self._changed = changed
        self._probe = probe

    async def sink(self, signal: Signal) -> Verdict:
        """Implements `contract.Sink`. Errors: also Rejected, for an address to which no answer could go."""
        if not self._outlet.serves(signal.address):
            raise Rejected(f"No account here serves {signal.address}, so no answer could go there.")
        signal, findings = cleaned(signal, self._door)
        AT_PLACE.set(signal.address)  # what is answered is for the people there
        _ = signal.language and heard_in(signal.address, signal.language)
        gate = self._gate()
        if gate.rooms.course(signal) is Decision.IGNORE:  # as the store would say, which need not be asked
            log.debug("signal ignored", address=str(signal.address))
            return ignored().verdict
        taken = await self._accepted(signal, gate)
        if isinstance(signal.body, Clicked) and taken.verdict.outcome is Outcome.DECIDED:
            self._probe("approval-decided")
            if signal.body.choice is Choice.UNDO:
                self._notifier.notify(UNDOS)
        elif isinstance(signal.body, Clicked) and signal.body.choice is Choice.WHY:
            self._notifier.notify(ASKED_BACK)
        self._probe("accepted")
        if taken.fired:
            self._probe("trigger-fired")
        if taken.verdict.outcome is not Outcome.IGNORED:
            kind, outcome = type(signal.body).__name__.lower(), taken.verdict.outcome.value
            log.info("signal", trace=taken.verdict.signal_id, kind=kind, outcome=outcome, address=str(signal.address))
            if signal.room_name or signal.language:
                self._heard(signal)
            self._wake(taken, signal.address)
        if findings and taken.verdict.outcome is not Outcome.DUPLICATE:
            await self._pasted(signal, findings)
        return taken.verdict

    async def _accepted(self, signal: Signal, gate: Gate) -> Taken:
        match signal.body:
            case Said():
                said = placed(signal)
                return await self._take_in(lambda offer: self._store.accept(said, gate, offer))
            case Clicked() as click:
                return await self._pressed(signal, click, gate)
            case _:
                return await self._store.accept(signal, gate)

    async def _pressed(self, signal: Signal, click: Clicked, gate: Gate) -> Taken:
        """A press, and the change of its card, which is sent before anybody else is woken."""
        changed = await self._changed(click) if click.choice is Choice.EDIT else None
        if (kept := self._outlet.keep(signal.address)) is None:
            return await self._store.accept(signal, gate, changed=changed)
        change = None
        try:
            taken = await self._store.accept(signal, gate, changed=changed, kept=kept)
            change = taken.change
        finally:
            kept.go_on(change)
        if change:
            for _ in range(TURNS_OF_A_SEND):
                await asyncio.sleep(0)
        return taken

    def decided(self, decided: Decided) -> None:
        """Wake whoever has work from a decision that no click made."""
        if decided.lane_ready:
            self._notifier.notify(LANES)
        for address in decided.deliveries:
            self._outlet.nudge(address)
        self._notifier.notify(QUESTIONS)

    def _wake(self, taken: Taken, address: Address) -> None:
        if taken.lane_ready:
            self._notifier.notify(LANES)
        for run in taken.stop_runs:
            self._stop(run)
        for room in taken.deliveries:
            self._outlet.nudge(room)
        if taken.deliveries or taken.change or taken.ended:  # a card may have changed
            self._notifier.notify(QUESTIONS)
        if taken.compacts:
            self._notifier.notify(COMPACTING)
        if taken.remembers:
            self._notifier.notify(MEMORIES)
        if taken.verdict.outcome is not Outcome.DUPLICATE:
            self._notifier.notify(room_topic(address))


def placed(signal: Signal) -> Signal:
    """`signal` with a path for each file that is still at its platform.

    The path is made of what makes the event unique, so an event that comes twice means the same file; and of a name
    that is harmless whatever the platform, or a person, called it.
    """
    match signal.body:
        case Said(files=files) as said if any(file.remote for file in files):
            return replace(signal, body=replace(said, files=tuple(_placed(files, _folder(signal)))))
        case _:
            return signal


def _folder(signal: Signal) -> str:
    """By day, so that a person who looks finds the newest last."""
    key = f"{signal.platform} {signal.natural_key or signal.dedupe_key}"
    return f"{INBOX}/{signal.received_at:%Y-%m-%d}-{sha256(key.encode()).hexdigest()[:10]}"


def _placed(files: tuple[FileRef, ...], folder: str) -> Iterator[FileRef]:
    taken: set[str] = set()
    for number, file in enumerate(files, 1):
        if not file.remote:
            yield file
            continue
        name = clean_name(file.name)
        name = f"{number}-{name}" if name.casefold() in taken else name
        taken.add(name.casefold())
        yield replace(file, path=f"{folder}/{name}")
