"""The sink: every Signal of every channel comes through here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from runtime.cluster.topics import LANES
from runtime.contract import (
    Address,
    Clicked,
    Notifier,
    Outcome,
    Probe,
    RunId,
    Said,
    Signal,
    Verdict,
    no_probe,
    room_topic,
)
from runtime.domain.routing import Decision
from runtime.errors import Rejected
from runtime.intake.attachments import placed
from runtime.store.protocol import Decided, Gate, Intake, Offer, Taken
from runtime.store.protocol.intake import ignored

log = structlog.get_logger("intake")

"""The Bell's topic for "a lane is ready"."""


Accept = Callable[[Offer | None], Awaitable[Taken]]
"""Takes one signal in; with an offer, its run may begin in the same commit."""

TakeIn = Callable[[Accept], Awaitable[Taken]]
"""Has a message taken in, with an offer to begin with it at once where there is one to make: see `Dispatch.take_in`."""


async def plainly(accept: Accept) -> Taken:
    """Without an offer."""
    return await accept(None)


class Reception:
    """Takes a Signal in, in one transaction, and then wakes whoever has work from it."""

    def __init__(
        self,
        *,
        store: Intake,
        gate: Callable[[], Gate],
        bell: Notifier,
        nudge: Callable[[Address], None],
        stop: Callable[[RunId], object],
        serves: Callable[[Address], bool],
        take_in: TakeIn = plainly,
        heard: Callable[[Signal], None] = lambda _: None,
        probe: Probe = no_probe,
    ) -> None:
        self._take_in = take_in
        self._heard = heard
        self._store = store
        self._gate = gate
        self._bell = bell
        self._nudge = nudge
        self._stop = stop
        self._serves = serves
        self._probe = probe

    async def sink(self, signal: Signal) -> Verdict:
        """Implements `contract.Sink`. Errors: also Rejected, for an address to which no answer could go."""
        if not self._serves(signal.address):
            raise Rejected(f"No account here serves {signal.address}, so no answer could go there.")
        gate, signal = self._gate(), placed(signal)
        if gate.rooms.course(signal) is Decision.IGNORE:  # as the store would say, which need not be asked
            log.debug("signal ignored", address=str(signal.address))
            return ignored().verdict
        if isinstance(signal.body, Said):
            taken = await self._take_in(lambda offer: self._store.accept(signal, gate, offer))
        else:
            taken = await self._store.accept(signal, gate)
        if isinstance(signal.body, Clicked) and taken.verdict.outcome is Outcome.DECIDED:
            self._probe("approval-decided")
        self._probe("accepted")
        if taken.verdict.outcome is not Outcome.IGNORED:
            self._tell(signal, taken.verdict)
            self._heard(signal)
            self._wake(taken, signal.address)
        return taken.verdict

    def _tell(self, signal: Signal, verdict: Verdict) -> None:
        kind, outcome = type(signal.body).__name__.lower(), verdict.outcome.value
        log.info("signal", trace=verdict.signal_id, kind=kind, outcome=outcome, address=str(signal.address))

    def decided(self, decided: Decided) -> None:
        """Wake whoever has work from a decision that no click made."""
        if decided.lane_ready:
            self._bell.ring(LANES)
        for address in decided.deliveries:
            self._nudge(address)

    def _wake(self, taken: Taken, address: Address) -> None:
        if taken.lane_ready:
            self._bell.ring(LANES)
        for run in taken.stop_runs:
            self._stop(run)
        for room in taken.deliveries:
            self._nudge(room)
        if taken.verdict.outcome is not Outcome.DUPLICATE:
            self._bell.ring(room_topic(address))
