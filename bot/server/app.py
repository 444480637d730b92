"""The composition root: every object of the process is built here, once, and passed on."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from aiohttp import web

from adapters.web.adapter import ACCOUNT, CHANNEL, IDEAS, WebAdapter
from adapters.web.settings import WebSettings
from bot.accounts.alerts import AccountAlerts
from bot.accounts.failover import Failover, Others
from bot.accounts.naming import Accounts, Known, LiveNames, calling, fresh_identity
from bot.accounts.status import AccountStatuses
from bot.accounts.supervisor import AccountSupervisor
from bot.http.connections import Site
from bot.node.invocation import for_strangers
from bot.node.version import VERSION
from bot.node.watchdog import Watchdog
from bot.operator.context import OperatorContext
from bot.operator.reports import LateReporters, ReportDesk
from bot.operator.schedules import ScheduleDesk
from bot.server.instruments import Instruments, instruments_of
from bot.server.lifecycle import Life
from bot.server.reload import Reload, in_words
from bot.server.site import site_of
from bot.server.tools import Toolkit, toolkit_of
from bot.settings.settings import Settings
from bot.telemetry.instrument import Duty
from bot.telemetry.logs import set_level
from bot.telemetry.masking import Mask
from bot.wiring.access import gate_of
from bot.wiring.channels import MakeAdapters, adapters_of, features_of, no_adapters
from bot.wiring.engine import fetching_of, files_in, long_replies_of, model_of, notices_of, pace_of, shell_of, space_of
from bot.wiring.hooks import webhooks_of
from bot.wiring.identities import owners_now, with_identities, written
from bot.wiring.live_rules import Live, MakeGate, rules_of
from bot.wiring.retention import retention_of, trimmer_of
from bot.wiring.schedules import FileSchedules
from bot.wiring.scheduling import reach_of, timetable_of
from runtime.agent.expiry import Expiry
from runtime.agent.loop import AgentLoop
from runtime.agent.registry import MAIN, Agent, Agents, Limits
from runtime.audit.anchor import CheckpointFile, HeadFile
from runtime.audit.sealer import Sealer
from runtime.cluster.node import Membership
from runtime.cluster.notifier import LocalNotifier, SharedNotifier
from runtime.cluster.peer_events import PeerEvents, outbox_topic
from runtime.cluster.topics import LANES, ROLES
from runtime.contract import (
    AdapterContext,
    Address,
    ChannelAdapter,
    Content,
    DeliveryId,
    Kind,
    Model,
    NewId,
    Now,
    Probe,
    Sink,
    Timetable,
    Tool,
    no_probe,
)
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from runtime.domain.clock import Jumps
from runtime.domain.ids import digest
from runtime.domain.ids import new_id as fresh_id
from runtime.errors import Rejected
from runtime.intake.dispatch import Dispatch
from runtime.intake.reception import Reception
from runtime.intake.room_names import RoomNames
from runtime.models.library import preload
from runtime.reports.fan_out import Reporting
from runtime.schedules.firing import Scheduler
from runtime.store.protocol import Lease, NewDelivery
from runtime.store.store import POSTGRES, Store, open_store
from runtime.workspace.workspaces import WorkspaceFolders

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
        identity = await store.cluster.account_identity(CHANNEL, ACCOUNT, fresh_identity(new_id))
        return App(
            settings=settings,
            store=store,
            web_identity=identity,
            named_before=await store.cluster.named_accounts(),
            adapters=adapters,
            probe=probe,
            model=model or model_of(settings),
            tools=tools,
            new_id=new_id,
            instruments=instruments,
        )
    except BaseException:
        await store.close()
        raise


class App:
    """One process. `run` serves until it is cancelled, then drains."""

    def __init__(
        self,
        *,
        settings: Settings,
        store: Store,
        web_identity: str,
        named_before: Sequence[Known],
        adapters: MakeAdapters,
        probe: Probe,
        model: Model,
        tools: Mapping[str, Tool] | None,
        new_id: NewId,
        instruments: Instruments,
    ) -> None:
        self.store = store
        self._instruments = instruments
        self.control_token = secrets.token_urlsafe(32)
        self._settings = settings
        self._probe = probe
        self._new_id = new_id
        self._notices = notices_of(settings, store)
        self._notifier = SharedNotifier(self._notices.tell) if self._notices else LocalNotifier()
        self._seat = Membership(self._notifier)
        workspaces = WorkspaceFolders(settings.workspace_dir, MAIN, uid=shell_of(settings).uid)
        given = AdapterContext(
            store.history,
            store.people,
            workspaces,
            store.places,
            self._notifier,
            store.now,
            new_id,
            siblings=store.cluster.has_siblings,
        )
        self._space = space_of(settings)
        every = [self._page(given, web_identity, model), *adapters_of(settings)(given), *adapters(given)]
        self._accounts = Accounts(
            AccountSupervisor(
                adapter,
                take=self._seat.take,
                vacancy=self._seat.vacancy,
                lease_is_fresh=self._seat.lease_is_fresh,
                on_learnt=self._note,
                twin=self._twin_of,
            )
            for adapter in every
        )
        self._named = LiveNames(self._accounts, named_before)
        self._rooms = RoomNames(store.places, self._notifier)
        self._called = calling(self._named, self._rooms.of)
        gate = partial(gate_of, trouble=self._trouble_at)
        self._live = Live(rules_of(with_identities(settings, self._accounts), gate), self._named.now)
        self._reload = self._make_reload(gate, named_before)
        self._others = Others()
        self._couriers = Couriers(map(self._courier, self._accounts), store.outbox, self._call)
        self._timetable = self._make_timetable()
        self._toolkit = self._make_toolkit(tools)
        self._reporters = LateReporters(store.now)
        self._agents = Agents(self._make_main(model, workspaces))
        self._agent = self._make_loop(workspaces)
        self._elsewhere = PeerEvents(notifier=self._notifier, couriers=self._couriers, stop=self._agent.stop)
        self._reception = self._make_reception()
        self.sink: Sink = instruments.sink(self._reception.sink)
        self._webhooks = webhooks_of(settings, self._accounts, workspaces, store.now, new_id)
        self._watchdog = Watchdog(check=store.check, place=settings.data_dir)
        self._standings = AccountStatuses(self._accounts, store.now)
        self._site = site_of(
            self._accounts,
            self._desk(web_identity),
            hosts=settings.web.names,
            checks={"store": self._store_trouble, "node": self._watchdog.trouble},
            stuck=lambda: self._watchdog.reason,
            token=settings.metrics.token.get_secret_value() if settings.metrics.token else "",
            others=instruments.routes(),
            hooks=self._webhooks.routes(),
        )

    # ------------------------------------------------------------------------------------------------- the parts

    def _page(self, given: AdapterContext, identity: str, model: Model) -> WebAdapter:
        web = self._settings.web
        ideas = getattr(model, "ideas", IDEAS)
        bounds = WebSettings(web.names, int(web.upload_mib * 1024 * 1024), for_strangers())
        banner, is_named = self._settings.banner or "", self._is_destination
        return WebAdapter(
            bounds, given, identity=identity, banner=banner, is_named=is_named, ideas=ideas, space=self._space
        )

    def _is_destination(self, address: Address) -> bool:
        return self._named(address) in self._live.rules.destinations

    def _make_reload(self, gate: MakeGate, before: Sequence[Known]) -> Reload:
        planned = FileSchedules(book=self.store.schedules, now=self.store.now, accounts=self._accounts, before=before)
        return Reload(
            settings=self._settings,
            live=self._live,
            people=self.store.people,
            registry=self.store.cluster,
            set_level=set_level,
            gate=gate,
            accounts=self._accounts,
            schedules=planned.sync,
        )

    def _make_timetable(self) -> Timetable:
        return timetable_of(
            self.store,
            reach_of(self._accounts),
            new_id=self._new_id,
            serves=self._couriers.serves,
            named=self._named,
            started=lambda: self._notifier.notify(LANES),
            planning=lambda: self._live.rules.planning,
        )

    def _make_toolkit(self, instead: Mapping[str, Tool] | None) -> Toolkit:
        return toolkit_of(
            self._settings,
            self._accounts,
            timetable=self._timetable,
            figures=self.store.figures,
            named=self._called,
            now=self.store.now,
            wrap=self._instruments.tools,
            instead=instead,
            space=self._space,
        )

    def _make_reception(self) -> Reception:
        return Reception(
            store=self.store.intake,
            gate=self._live.gate,
            notifier=self._notifier,
            nudge=self._couriers.nudge,
            serves=self._couriers.serves,
            stop=self._elsewhere.stop,
            take_in=self._seat.take_in,
            heard=self._rooms.hear,
            probe=self._probe,
        )

    def _make_main(self, model: Model, workspaces: WorkspaceFolders) -> Agent:
        """The agent that the settings describe."""
        return Agent(
            name=MAIN,
            prompt=self._live.prompt,
            model=self._instruments.model(model),
            tools=self._toolkit.toolbox.tools,
            scope=MAIN,
            workspaces=workspaces,
            limits=Limits(self._settings.run.max_iterations, self._settings.approvals.expires),
        )

    def _make_loop(self, workspaces: WorkspaceFolders) -> AgentLoop:
        files_of = files_in(self._accounts)
        long_replies = long_replies_of(self._settings, workspaces, files_of, self._new_id)
        return AgentLoop(
            store=self.store.runs,
            agents=self._agents,
            policy=self._live.policy,
            lease_is_fresh=self._seat.lease_is_fresh,
            outlet=self._couriers,
            now=self.store.now,
            new_id=self._new_id,
            named=self._named,
            busy=self._live.busy,
            probe=self._probe,
            files=fetching_of(self._settings, files_of, self.store.runs.senders, self._new_id, self._space),
            long_replies=long_replies,
            reporting=Reporting(workspaces, self._new_id, long_replies.content, self.store.schedules.report_root),
            reporter=self._reporters,
        )

    def _courier(self, account: AccountSupervisor) -> Courier:
        return Courier(
            outbox=self.store.outbox,
            adapter=self._instruments.adapter(account),
            take=self._seat.take,
            vacancy=self._seat.vacancy,
            pace=pace_of(self._settings),
            now=self.store.now,
            on_shown=self._notifier.notify_room,
            lease_is_fresh=account.may_send,
            features=features_of(self._settings, account),
            previews=self._settings.outbox.previews,
            new_id=self._new_id,
            probe=self._probe,
        )

    def _desk(self, web_identity: str) -> OperatorContext:
        return OperatorContext(
            store=self.store,
            sink=self.sink,
            links=self.store.people,
            notifier=self._notifier,
            web_account=web_identity,
            now=self.store.now,
            new_id=self._new_id,
            control_token=self.control_token,
            named=self._named,
            rooms=self._rooms,
            mask=Mask(self._settings.secret_values()),
            nudge=self._couriers.nudge,
            head=self._head.demand,
            checkpoint=CheckpointFile(self._settings.data_dir).read,
            reload=self.reload,
            save=partial(self.store.save, self._settings.data_dir),
            states=self._standings.look,
            public_url=self._settings.web.public_url,
            command=for_strangers(),
            written=lambda name, identities: written(self._reload.settings, name, identities),
            given=lambda: self._live.rules.gate.rights.given,
            info=self._info(),
            reports=self._report_desk(),
            schedules=self._schedule_desk(),
        )

    def _schedule_desk(self) -> ScheduleDesk:
        mask = Mask(self._settings.secret_values())
        return ScheduleDesk(self._timetable, self._accounts.address, self._named, mask, self._called)

    def _report_desk(self) -> ReportDesk:
        return ReportDesk(
            store=self.store,
            reporters=self._reporters,
            address_at=self._accounts.address,
            named=self._named,
            now=self.store.now,
            new_id=self._new_id,
            reach=reach_of(self._accounts),
            notify=lambda: self._notifier.notify(LANES),
            tools=self._toolkit.figures,
        )

    def _outages(self) -> AccountAlerts:
        return AccountAlerts(
            room=lambda: self._accounts.address(self._settings.operators.room),
            after=self._settings.operators.after,
            told=self.store.operations,
            post=self._couriers.post,
            take=self._seat.take,
            now=self.store.now,
            new_id=self._new_id,
        )

    async def _tell_of_tool(self, name: str, form: str, changed: str) -> None:
        """Tell operators that a tool of others is another one, once however many processes see it.

        Errors: Rejected while their room is not known yet. Where they have none, log and audit tell it.
        """
        if not self._settings.operators.room:
            return
        room = self._accounts.address(self._settings.operators.room)
        if room is None:
            raise Rejected("the account of the operators' room is not known yet")
        text = f"**The tool {name} changed**: {changed}. Its next call is asked about, whatever the policy allows."
        origin = f"tool:{name}:{digest(form)}"
        await self._couriers.post(NewDelivery(DeliveryId(self._new_id()), origin, 1, Kind.REPORT, room, Content(text)))

    def _info(self) -> Mapping[str, str]:
        told = {
            "version": VERSION,
            "model": self._agents.of(MAIN).model.name,
            "database": self._settings.shown()["database_url"],
            "banner": self._settings.banner or "",
        }
        return {name: value for name, value in told.items() if value}

    # ---------------------------------------------------------------------------------------------------- rooms

    async def _store_trouble(self) -> str | None:
        """Why the store takes nothing. Errors: StoreError says it too."""
        if trouble := self._seat.trouble():
            return trouble
        await self.store.check()
        return None

    def _trouble_at(self, address: Address) -> str | None:
        """What is wrong with the account of an address."""
        found = self._accounts.at(address)
        return found.standing().trouble if found else None

    # --------------------------------------------------------------------------------------------------- duties

    @property
    def owners(self) -> Sequence[str]:
        """Identities of owners in the settings, as far as they are known by now."""
        return owners_now(self._settings, self._accounts)

    async def reload(self, by: str) -> dict[str, Any]:
        """Read the settings again, for whoever is recorded as `by`. Errors: ConfigError, StoreError: nothing changed."""
        return in_words(await self._reload(by))

    # --------------------------------------------------------------------------------------------------- running

    async def run(self, on_ready: Callable[[str], None]) -> None:
        """Serve until cancelled, then drain and close. `on_ready` gets the URL once messages are taken in.

        Errors: OSError when the port cannot be listened on; ConfigError when the demanded sandbox cannot work.
        """
        runner = web.AppRunner(self._site, access_log=None, handle_signals=False, shutdown_timeout=1)
        await runner.setup()
        try:
            url, jumps = await self._listen(runner), await self._jumps()
            await self._reload.begin()
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._watchdog.run())
                await self._life(jumps).run(lambda: on_ready(url))
                watching.cancel()
        finally:
            await runner.cleanup()
            await self._instruments.close()
            await self.store.close()

    async def _listen(self, runner: web.AppRunner) -> str:
        host, port = self._settings.web.host, self._settings.web.port
        await Site(runner, host, port).start()
        bound = runner.addresses[0][1]
        shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host  # noqa: S104 - compared, not listened on
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{bound}"

    def _life(self, jumps: Jumps) -> Life:
        listening = [account.listen for account in self._accounts]
        return Life(
            settings=self._settings,
            store=self.store.cluster,
            seat=self._seat,
            watchdog=self._watchdog,
            notifier=self._notifier,
            accounts=self._accounts,
            couriers=self._couriers,
            dispatch=self._dispatch,
            others=self._others,
            listeners=[partial(listen, self.sink) for listen in (*listening, self._webhooks.listen)],
            duties=lambda: self._duties(jumps),
            goodbye=self._tell_of_leaving,
            new_id=self._new_id,
        )

    def _dispatch(self, lease: Lease) -> Dispatch:
        return Dispatch(
            store=self.store.runs,
            lease=lease,
            agent=self._instruments.worker(self._agent),
            notifier=self._notifier,
            busy=self._live.busy_rules,
            lease_is_fresh=self._seat.lease_is_fresh,
            max_crashes=self._settings.run.max_crashes,
            probe=self._probe,
        )

    def _duties(self, jumps: Jumps) -> Iterator[Duty]:
        """What runs beside listening, working and showing."""
        if self._notices:
            yield partial(self._notices.run, self._elsewhere)
            yield self._elsewhere.remind
        yield self._toolkit.check
        if self._settings.model.preload and not self._settings.model.is_demo:
            yield preload
        yield self._sealer().run
        folders = [agent.workspaces for agent in self._agents]
        yield retention_of(self._settings, self.store, self._seat.take, folders).run
        yield jumps.run
        yield self._rooms.run
        yield self._timer().run
        yield Expiry(desk=self.store.approvals, decided=self._reception.decided, first=jumps.look).run
        yield partial(self._standings.run, self._outages().see if self._settings.operators.room else None)
        yield from (failover.run for failover in self._failovers())
        yield from self._instruments.duties()
        yield from self._toolkit.toolbox.duties()
        if self._settings.mcp:
            yield partial(
                self._toolkit.toolbox.watch, self.store.runs.see_form, self._tell_of_tool, self.store.runs.told_form
            )

    def _failovers(self) -> Iterator[Failover]:
        for account, courier in zip(self._accounts, self._couriers, strict=True):
            if account.features().ping:
                yield Failover(
                    account,
                    courier,
                    store=self.store.cluster,
                    seat=self._seat,
                    notifier=self._notifier,
                    others=self._others,
                    now=self.store.now,
                )

    async def _note(self, adapter: ChannelAdapter) -> None:
        """Keep which identity the account has, so that it can be called by its name while it is not at work."""
        await self.store.cluster.note_account(adapter.channel, adapter.account, adapter.identity)
        if adapter.features().learn:
            await self._reload.learnt()

    def _twin_of(self, adapter: ChannelAdapter) -> str | None:
        """The account at work that is the same one at its platform."""
        others = Accounts(one for one in self._accounts if one is not adapter and one.is_known)
        twin = others.holding(adapter.channel, adapter.identity)
        return twin.name if twin else None

    async def _jumps(self) -> Jumps:
        """Who notices that the clock was set. On a server it is the server's clock, and rows belong to all nodes."""
        if self._settings.database_url.startswith(POSTGRES):
            return Jumps(now=self.store.now, mend=self._clock_was_set)

        async def mend(by: timedelta) -> None:
            await self.store.cluster.shift(by)
            await self._clock_was_set(by)

        return Jumps(now=self.store.now, mend=mend, last=await self.store.cluster.last_written())

    async def _clock_was_set(self, by: timedelta) -> None:
        for courier in self._couriers:
            courier.look_anew()

    def _call(self, address: Address) -> None:
        """Something waits for a room whose courier is at another node."""
        self._notifier.tell(outbox_topic(address))

    async def _tell_of_leaving(self) -> None:
        """Have other nodes look for the work that was given back."""
        if self._notices:
            for topic in (LANES, ROLES):
                self._notices.tell(topic)
            await self._notices.flush(LAST_WORD)

    @property
    def _head(self) -> HeadFile:
        return HeadFile(self._settings.data_dir, shared=self._settings.database_file is None)

    def _sealer(self) -> Sealer:
        trimmer = trimmer_of(self._settings, self.store)
        return Sealer(
            book=self.store.audit, file=self._head, take=self._seat.take, notifier=self._notifier, trimmer=trimmer
        )

    def _timer(self) -> Scheduler:
        return Scheduler(
            book=self.store.schedules,
            notifier=self._notifier,
            take=self._seat.take,
            now=self.store.now,
            probe=self._probe,
        )
