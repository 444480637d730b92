"""The composition root: every object of the process is built here, once, and passed on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from aiohttp import web

from adapters.web.adapter import ACCOUNT, CHANNEL
from bot.accounts.failover import Others
from bot.accounts.naming import fresh_identity
from bot.http.connections import Site
from bot.node.comparing import fingerprint
from bot.node.version import VERSION
from bot.server.instruments import instruments_of
from bot.server.lifecycle import Life
from bot.server.phases.accounts import AccountsPhase, accounts_phase
from bot.server.phases.duties import duties_of
from bot.server.phases.engine import EnginePhase, dispatch_of, engine_phase
from bot.server.phases.http import HttpPhase, http_phase, reread_of
from bot.server.phases.store import StorePhase, store_phase
from bot.settings.settings import Settings
from bot.wiring.agents import budget_rules_of, digest_of
from bot.wiring.channels import MakeAdapters, no_adapters
from bot.wiring.identities import owners_now
from bot.wiring.models.made import models_of
from bot.wiring.safety.guard import note_start
from runtime.cluster.topics import LANES, ROLES
from runtime.contract import Model, NewId, Now, Probe, Sink, Tool, no_probe
from runtime.domain.clock import Jumps
from runtime.domain.ids import new_id as fresh_id
from runtime.store.protocol.leases import AboutNode
from runtime.store.store import POSTGRES, Store, open_store
from runtime.text.words import LANGUAGES

LAST_WORD: Final = timedelta(seconds=0.25)
"""How long other nodes are told that we leave; who is not told finds out by looking."""


async def build(
    settings: Settings,
    *,
    adapters: MakeAdapters = no_adapters,
    probe: Probe = no_probe,
    model: Model | None = None,
    tools: Mapping[str, Tool] | None = None,
    now: Now | None = None,
    new_id: NewId = fresh_id,
) -> App:
    """Everything of one process, ready to `run`. Tests call this with probe, model and clock of their own, and `adapters`
    beside those of the settings.

    Errors: StoreError when the database cannot be opened; ConfigError when a channel is not part of this build.
    """
    instruments = instruments_of(settings)
    store = await open_store(
        settings.database_url,
        now=now,
        new_id=new_id,
        watch=instruments.watch,
        observer=instruments.observer,
        within=settings.nodes.patience,
    )
    try:
        instruments.opened(store)
        await store.budgets.begin(budget_rules_of(settings))
        identity = await store.cluster.account_identity(CHANNEL, ACCOUNT, fresh_identity(new_id))
        before = await store.cluster.named_accounts()
        base = store_phase(settings, store, instruments, probe=probe, new_id=new_id)
        if settings.models:  # which of them rest is known before the first message
            await base.cooldowns.look()
        model = model or models_of(settings, base.cooldowns, store.now, probe, base.tokens)
        at = accounts_phase(base, web_identity=identity, before=before, adapters=adapters, model=model)
        engine = engine_phase(base, at, model=model, tools=tools)
        return App(base, at, engine, http_phase(base, at, engine, web_identity=identity))
    except BaseException:
        await store.close()
        raise


class App:
    """One process. `run` serves until it is cancelled, then drains."""

    def __init__(self, base: StorePhase, at: AccountsPhase, engine: EnginePhase, http: HttpPhase) -> None:
        self.base = base
        self.at = at
        self.engine = engine
        self.http = http
        self.sink: Sink = engine.sink
        self._others = Others()

    @property
    def store(self) -> Store:
        return self.base.store

    @property
    def control_token(self) -> str:
        """Opens the operators' API to commands on this machine."""
        return self.http.control_token

    @property
    def owners(self) -> Sequence[str]:
        """Identities of owners in the settings, as far as they are known by now."""
        return owners_now(self.base.settings, self.at.accounts)

    async def reload(self, by: str) -> dict[str, Any]:
        """Read the settings again, for whoever is recorded as `by`. Errors: ConfigError, StoreError: nothing changed."""
        return await reread_of(self.at)(by)

    async def run(self, on_ready: Callable[[str], None]) -> None:
        """Serve until cancelled, or until an operator has this node leave; then drain and close. `on_ready` gets the URL once messages are taken in.

        Errors: OSError when the port cannot be listened on; ConfigError when the demanded sandbox cannot work.
        """
        LANGUAGES.set(self.at.live.languages)  # every task of the process begins below
        runner = web.AppRunner(self.http.site, access_log=None, handle_signals=False, shutdown_timeout=1)
        await runner.setup()
        try:
            url, jumps = await self._listen(runner), await self._jumps()
            await self.at.reload.begin()
            await note_start(self.base.settings, self.store.cluster)
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self.http.watchdog.run())
                await self._life(jumps).run(lambda: on_ready(url))
                watching.cancel()
        finally:
            await runner.cleanup()
            await self.base.instruments.close()
            await self.store.close()

    async def _listen(self, runner: web.AppRunner) -> str:
        host, port = self.base.settings.web.host, self.base.settings.web.port
        await Site(runner, host, port).start()
        bound = runner.addresses[0][1]
        shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host  # noqa: S104 - compared, not listened on
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{bound}"

    def _life(self, jumps: Jumps) -> Life:
        base, at, engine, http = self.base, self.at, self.engine, self.http
        listening = [account.listen for account in at.accounts] + ([http.webhooks.listen] if http.webhooks else [])
        return Life(
            settings=base.settings,
            store=base.store.cluster,
            membership=base.membership,
            watchdog=http.watchdog,
            notifier=base.notifier,
            accounts=at.accounts,
            couriers=engine.couriers,
            dispatch=partial(dispatch_of, base, at, engine),
            others=self._others,
            listeners=[partial(listen, engine.sink) for listen in listening],
            duties=lambda: duties_of(base, at, engine, http, jumps=jumps, others=self._others),
            goodbye=self._tell_of_leaving,
            agents=lambda: digest_of(at.live.rules.agents),
            about=lambda: AboutNode(VERSION, fingerprint(at.reload.settings)),
            offset=base.clock_offset,
            new_id=base.new_id,
        )

    async def _jumps(self) -> Jumps:
        """The watch that notices when the clock is set. On a server it is the server's clock, and rows belong to all nodes:
        whoever starts later has no clock that was set."""

        async def mend(by: timedelta, unseen: timedelta) -> None:
            await self.store.cluster.shift(by, unseen)
            await self._clock_was_set(by)

        if self.base.settings.database_url.startswith(POSTGRES):
            seen = self.store.driver.clock_seen
            return Jumps(now=self.store.now, mend=mend, wall=partial(datetime.now, UTC), seen=seen)
        return Jumps(now=self.store.now, mend=mend, last=await self.store.cluster.last_written())

    async def _clock_was_set(self, by: timedelta) -> None:
        for courier in self.engine.couriers:
            courier.look_anew()

    async def _tell_of_leaving(self) -> None:
        """Have other nodes look for the work that was given back."""
        if self.base.notices:
            for topic in (LANES, ROLES):
                self.base.notices.tell(topic)
            await self.base.notices.flush(LAST_WORD)
