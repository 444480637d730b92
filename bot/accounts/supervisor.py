"""One account at work: its identity learnt, its events taken in, on one process or on each; and how all that stands.

A bug in one adapter ends neither the process nor another account: it is logged, and tried again after a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, TypeVar

import structlog
from aiohttp import web

from bot.accounts.reachability import Reachability
from bot.accounts.setbacks import Setbacks
from runtime.cancellation import cancellable
from runtime.cluster.pause import Pause
from runtime.contract import (
    Address,
    Attempt,
    Bucket,
    ChannelAdapter,
    Connection,
    ConnectionStatus,
    Delivery,
    Features,
    Listeners,
    Part,
    Receipt,
    Settled,
    Sink,
    Wire,
)
from runtime.domain.clock import steady
from runtime.errors import BotError, ConfigError, StoreError
from runtime.store.protocol import Duty

ROLE_RETRY_DELAY: Final = timedelta(seconds=0.5)
"""How soon a listener's role is asked for again, where nobody tells that it may be free."""
PAUSE_FIRST: Final = timedelta(seconds=1)
PAUSE_MOST: Final = timedelta(minutes=1)
ELSEWHERE: Final = ConnectionStatus(Connection.CONNECTED, "another process listens")

Take = Callable[[str], Awaitable[Duty | None]]
Work = Callable[[], Coroutine[Any, Any, object]]
Buckets = Callable[[Address], Sequence[Bucket]]
Told = TypeVar("Told")

log = structlog.get_logger("accounts")


class AccountSupervisor:
    """An account as the rest of the program has it. Implements `contract.ChannelAdapter`.

    `take` asks for a role, and `vacancy` waits until one may be free again; `on_learnt` is told once the account has its
    identity; `twin` names another account with that identity, if there is one at work. `lease_is_fresh` as for the courier.
    `buckets` stand in place of the platform's own bounds. `earlier` is the identity of its last start.

    An adapter that cannot tell its features or routes is left out: its account neither listens nor shows anything until
    the next start, and stands as refused.
    """

    def __init__(
        self,
        adapter: ChannelAdapter,
        *,
        take: Take,
        on_learnt: Callable[[ChannelAdapter], Coroutine[Any, Any, None]],
        twin: Callable[[ChannelAdapter], str | None] = lambda adapter: None,
        vacancy: Work | None = None,
        lease_is_fresh: Callable[[], bool] = lambda: True,
        buckets: Buckets | None = None,
        earlier: str = "",
        look: timedelta = ROLE_RETRY_DELAY,
        pause: timedelta = PAUSE_FIRST,
        clock: Callable[[], float] = steady,
    ) -> None:
        self.channel = adapter.channel
        self.account = adapter.account
        self._adapter = adapter
        self._take = take
        self._on_learnt = on_learnt
        self._twin_of = twin
        self._twin: str | None = None
        self._lease_is_fresh = lease_is_fresh
        self._look = look
        self._vacancy = vacancy or self._soon
        self._pause = pause
        self._earlier = earlier
        self._clock = clock
        self.reachability = Reachability(self.name)
        self.pause = Pause()
        self._known = asyncio.Event()
        self._begun = asyncio.Event()
        self._listening: set[str] = set()
        self._elsewhere: set[str] = set()
        self._setbacks = Setbacks(clock)
        self._left_out: ConnectionStatus | None = None
        own = self._asked_at_start("its features", adapter.features) or Features()
        self._features = replace(own, buckets=buckets) if buckets else own

    @property
    def name(self) -> str:
        """As people and settings call it: `slack:work`."""
        return f"{self.channel}:{self.account}"

    @property
    def identity(self) -> str:
        """Empty until it is known, while another account of ours has it, and where it is left out."""
        return "" if self._twin or self._left_out else self._adapter.identity

    @property
    def expected(self) -> str:
        """Its identity; until its platform told it, that of its last start."""
        return "" if self._twin or self._left_out else self._adapter.identity or self._earlier

    def may_send(self) -> bool:
        """True if this process still has its place, and nothing here waits for other nodes to try their way."""
        return self._lease_is_fresh() and not self.reachability.on_hold

    @property
    def is_known(self) -> bool:
        return self._known.is_set()

    @property
    def listens(self) -> bool:
        """True if this process takes in what happens there, rather than another one."""
        return self._known.is_set() and not self._is_elsewhere()

    @property
    def attends(self) -> bool:
        """True if this process is an exclusive listener of it, which another one could be."""
        return bool(self._listening)

    def roles(self) -> list[str]:
        """Exclusive listeners of it that this process has."""
        return [self._role(listener) for listener in self._listening]

    def _role(self, listener: str) -> str:
        return f"listener:{self.channel}:{self.identity}:{listener}"

    def standing(self) -> ConnectionStatus:
        if self._left_out:
            return self._left_out
        if setback := self._setbacks.standing():
            return setback
        if trouble := self.reachability.trouble():
            return trouble
        if self._is_elsewhere():
            return ELSEWHERE
        return self._told()

    def overdue(self) -> str | None:
        """Words of a trouble whose next try should have come long ago, for the watchdog; None if all goes on."""
        return self._setbacks.overdue(PAUSE_MOST)

    def connection(self) -> Connection:
        """Connection status as the adapter itself tells it."""
        return self._told().connection

    def _told(self) -> ConnectionStatus:
        try:
            return self._adapter.standing()
        except Exception as error:  # noqa: BLE001 - whoever asks looks at other accounts too
            return self._fault("its connection status", error)

    def render(self, delivery: Delivery) -> list[Wire]:
        return self._adapter.render(delivery)

    def features(self) -> Features:
        """As the adapter told them at the start, within the bounds of the settings."""
        return self._features

    def routes(self) -> Sequence[web.RouteDef]:
        """Web requests that it answers, as aiohttp's routes."""
        routes = self._features.routes
        return (self._asked_at_start("its routes", lambda: _checked(routes())) or ()) if routes else ()

    async def show(self, part: Part) -> Receipt:
        return await self.reachability.tried(self._adapter.show(part))

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        return await self.reachability.tried(self._adapter.edit(receipt, part))

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return await self._adapter.settle(part, attempt)

    # ------------------------------------------------------------------------------------------------- its identity

    async def learn(self) -> None:
        """Until it is known who the account is. `listen` waits for it; one that is left out never learns it."""
        if self._left_out:
            await asyncio.Event().wait()
        learn = self.features().learn
        if learn and not self.identity:
            await self._until_done("learning its identity", learn)
        await self._until_done("checking for a second account", self._admit)
        self._known.set()
        await self._until_done("announcing its identity", lambda: self._on_learnt(self))

    async def _admit(self) -> None:
        """Errors: ConfigError where another account is the same one: their rows could not be told apart."""
        self._twin = None
        self._twin = self._twin_of(self)
        if self._twin:
            raise ConfigError(
                f"on its platform it is the same account as {self._twin}, for example a second app in the same Slack workspace. "
                "Remove one of the two from the settings."
            )

    # --------------------------------------------------------------------------------------------------- listening

    async def listen(self, sink: Sink) -> None:
        """Take in what happens, for ever: here, and as one of its exclusive listeners wherever this process holds the role."""
        await self._known.wait()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._for_ever("listening", lambda: self._adapter.listen(sink)))
                if several := self.features().listeners:
                    group.create_task(
                        self._for_ever("sharing out its listeners", lambda: self._attend_all(several, sink))
                    )
                await asyncio.sleep(0)  # in which both take their first step
                self._begun.set()
        finally:
            self._begun.clear()

    async def begun(self) -> None:
        """Wait until it listens, or has said why it does not yet."""
        if not self._left_out:
            await self._begun.wait()

    async def _attend_all(self, several: Listeners, sink: Sink) -> None:
        async with asyncio.TaskGroup() as group:
            for listener in several.listeners():
                group.create_task(self._attend(several, listener, sink))
            await asyncio.Event().wait()  # where there is none now, as with a webhook, there is nothing to take up

    async def _attend(self, several: Listeners, listener: str, sink: Sink) -> None:
        """Be that listener whenever nobody else is, until the role is handed over or this process leaves."""
        what = f"listening ({listener})"
        try:
            while True:
                await self.pause.over()
                while wait := await self._untaken(self._role(listener)):
                    self._elsewhere.add(listener)
                    await wait()
                self._elsewhere.discard(listener)
                self._listening.add(listener)
                await self.pause.interrupt(lambda: self._for_ever(what, lambda: several.attend(listener, sink)))
                self._listening.discard(listener)
        finally:
            self._elsewhere.discard(listener)
            self._listening.discard(listener)

    async def _untaken(self, role: str) -> Work | None:
        """None once we have the role; else what to wait for before it is asked for again."""
        try:
            return self._vacancy if await self._take(role) is None else None
        except StoreError as error:
            log.debug("cannot take a listener's role", role=role, reason=str(error))
            return self._soon

    async def _soon(self) -> None:
        await asyncio.sleep(self._look.total_seconds())

    def _is_elsewhere(self) -> bool:
        return bool(self._elsewhere) and not self._listening

    # ------------------------------------------------------------------------------------------------- what breaks

    def _asked_at_start(self, what: str, ask: Callable[[], Told]) -> Told | None:
        """Answer of the adapter about itself; None where it breaks, and the account is left out then."""
        try:
            return ask()
        except Exception as error:
            log.exception("an account is left out: it breaks at the start", account=self.name, what=what)
            told = str(error) if isinstance(error, BotError) else f"{type(error).__name__}; the log has details"
            reason = f"{self.name}: {what} couldn't be read ({told}). This account was skipped. Fix it, then restart."
            self._left_out = ConnectionStatus(Connection.REFUSED, reason)
            return None

    async def _for_ever(self, what: str, work: Work) -> None:
        """Do `work` again whenever it ends, which it should not, or breaks."""
        while True:
            await self._until_done(what, work)
            words = f"{self.name}: {what} stopped unexpectedly. Starting it again."
            await self._setbacks.rest(what, ConnectionStatus(Connection.RECONNECTING, words), self._pause)

    async def _until_done(self, what: str, work: Work) -> None:
        """Do `work`, and again after a pause that grows while it breaks soon."""
        pause = self._pause
        while True:
            began = self._clock()
            try:
                await cancellable(work())
            except Exception as error:
                standing = self._fault(what, error)
                if not isinstance(error, StoreError):  # which the store tells itself, once
                    log.exception("an account broke", account=self.name, what=what)
            else:
                return
            if self._clock() - began > PAUSE_MOST.total_seconds():
                pause = self._pause
            await self._setbacks.rest(what, standing, pause)
            pause = min(pause * 2, PAUSE_MOST)

    def _fault(self, what: str, error: Exception) -> ConnectionStatus:
        if isinstance(error, StoreError):
            return ConnectionStatus(Connection.RECONNECTING, f"{self.name}: {error}")
        if isinstance(error, BotError):
            return ConnectionStatus(Connection.REFUSED, f"{self.name}: {error}")
        told = f"{type(error).__name__}, a bug in Signalbox. The log has details; retrying"
        return ConnectionStatus(Connection.RECONNECTING, f"{self.name}: {what} failed ({told}).")


def _checked(routes: Sequence[Any]) -> Sequence[web.RouteDef]:
    """Errors: TypeError for what is no route."""
    for route in routes:
        if not isinstance(route, web.RouteDef):
            raise TypeError(f"{type(route).__name__} is no route of aiohttp")
    return routes
