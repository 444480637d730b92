"""The composition root: every object of the process is built here, once, and passed on."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final

import structlog
from aiohttp import web

from adapters.web.adapter import ACCOUNT, CHANNEL, WebAdapter
from adapters.web.settings import WebSettings
from bot.channels import MakeAdapters, adapters_of, extras_of_account, no_adapters
from bot.console.desk import ConsoleDesk
from bot.console.planning import ScheduleDesk
from bot.egress import egress_of
from bot.gate import gate_of
from bot.hooks import webhooks_of
from bot.identities import owners_now, with_identities
from bot.instruments import Instruments, instruments_of
from bot.live import Live, rules_of
from bot.logs import set_level
from bot.masking import Mask
from bot.mcp import check_sandboxes, toolbox_of
from bot.names import address_at, fresh_identity, of_adapters
from bot.outages import Outages
from bot.parts import fetching_of, files_in, long_replies_of, model_of, notices_of, pace_of, shell_of
from bot.planning import planning_tools, timetable_of
from bot.presence import Presence
from bot.reload import Reload, in_words
from bot.reports import LateReporters, ReportDesk, figure_tools
from bot.schedules import FileSchedules
from bot.settings import Settings
from bot.site import site_of
from bot.standings import Standings
from bot.upkeep import retention_of, trimmer_of
from bot.version import VERSION
from runtime.agent import Agent, Limits
from runtime.bell import LocalBell, SharedBell
from runtime.clock import Jumps
from runtime.contract import (
    Address,
    Busy,
    ChannelAdapter,
    Given,
    LearnsIdentity,
    Model,
    NewId,
    NodeId,
    Now,
    Probe,
    Signal,
    Tool,
    Verdict,
    no_probe,
    room_topic,
)
from runtime.courier import Courier
from runtime.couriers import Couriers
from runtime.dispatch import Dispatch
from runtime.elsewhere import Elsewhere, outbox_topic
from runtime.errors import ConfigError, StoreError
from runtime.expiry import Expiry
from runtime.ids import new_id as fresh_id
from runtime.intake import LANES, Accept, Reception
from runtime.models.library import preload
from runtime.nodes import Node, NodeLost
from runtime.pulse import Pulse
from runtime.reporting import Reporting
from runtime.retention import Retention
from runtime.sealer import Sealer
from runtime.signed import CheckpointFile, HeadFile
from runtime.store.protocol import Duty, Taken
from runtime.store.store import POSTGRES, SqlStore, open_store
from runtime.timer import Timer
from runtime.workspaces import SessionWorkspaces
from tools.catalogue import first_tools
from tools.charting.easel import Easel
from tools.shell import Sandbox, sandbox_for

log = structlog.get_logger("app")

DRAIN: Final = timedelta(seconds=6)
"""How long runs and couriers get to come to a good place before the process leaves: 10 s less what closing takes."""
REJOIN: Final = timedelta(seconds=1)
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
    store = instruments.store(await open_store(settings.database_url, now=now, new_id=new_id, watch=instruments.watch))
    try:
        identity = await store.account_identity(CHANNEL, ACCOUNT, fresh_identity(new_id))
        return App(
            settings=settings,
            store=store,
            web_identity=identity,
            named_before=await store.named_accounts(),
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
        store: SqlStore,
        web_identity: str,
        named_before: Sequence[tuple[str, str, str]],
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
        self._bell = SharedBell(self._notices.tell) if self._notices else LocalBell()
        self._node: Node | None = None
        self._dispatch: Dispatch | None = None
        shell = shell_of(settings)
        self._sandbox: Sandbox = sandbox_for(shell)
        self._sandbox_required = shell.required
        workspaces = SessionWorkspaces(settings.workspace_dir, uid=shell.uid)
        given = Given(store, store, workspaces, store, self._bell, store.now, new_id)
        page = WebAdapter(
            WebSettings(settings.web.hosts, int(settings.web.upload_mib * 1024 * 1024)),
            given,
            identity=web_identity,
            banner=settings.banner or "",
        )
        every = [page, *adapters_of(settings)(given), *adapters(given)]
        self._accounts = [
            Presence(adapter, take=self._take, on_learnt=self._note, twin=self._twin_of) for adapter in every
        ]
        self._named = of_adapters(self._accounts, named_before)
        gate = partial(gate_of, named=self._named, trouble=self._trouble_at)
        self._live = Live(rules_of(with_identities(settings, self._accounts), gate))
        self._reload = Reload(
            settings=settings,
            live=self._live,
            people=store,
            registry=store,
            set_level=set_level,
            gate=gate,
            accounts=self._accounts,
            schedules=FileSchedules(book=store, now=store.now, accounts=self._accounts, before=named_before).sync,
        )
        self._couriers = Couriers(map(self._courier, self._accounts), store, self._call)
        self._egress = egress_of(settings)
        easel = Easel(settings.data_dir / "fonts")
        own_tools = first_tools(shell, sandbox=self._sandbox, egress=self._egress, easel=easel)
        self._timetable = timetable_of(
            store,
            self._accounts,
            new_id=new_id,
            serves=self._couriers.serves,
            named=self._named,
            started=lambda: self._bell.ring(LANES),
            planning=lambda: self._live.rules.planning,
        )
        own_tools |= planning_tools(self._timetable, self._accounts, self._named)
        self._figure_tools = figure_tools(store, store.now, self._named)
        self._reporters = LateReporters(store.now)
        own_tools |= self._figure_tools
        self._toolbox = toolbox_of(settings, tools or own_tools, instruments.tools)
        self._agent = self._make_agent(model, self._toolbox, workspaces)
        self._elsewhere = Elsewhere(bell=self._bell, couriers=self._couriers, stop=self._agent.stop)
        self._reception = Reception(
            store=store,
            gate=lambda: self._live.rules.gate,
            bell=self._bell,
            nudge=self._couriers.nudge,
            serves=self._couriers.serves,
            stop=self._elsewhere.stop,
            take_in=self._take_in,
            probe=probe,
        )
        self._sink = instruments.sink(self._reception.sink)
        self._webhooks = webhooks_of(settings, self._accounts, workspaces, store.now, new_id)
        self._standings = Standings(self._accounts, store.now)
        self._site = site_of(
            self._accounts,
            self._desk(web_identity),
            hosts=settings.web.hosts,
            checks={"store": store.check},
            others=instruments.routes(),
            hooks=self._webhooks.routes(),
        )

    # ------------------------------------------------------------------------------------------------- the parts

    def _make_agent(self, model: Model, tools: Mapping[str, Tool], workspaces: SessionWorkspaces) -> Agent:
        files_of = files_in(self._accounts)
        long_replies = long_replies_of(self._settings, workspaces, files_of, self._new_id)
        return Agent(
            store=self.store,
            model=self._instruments.model(model),
            tools=tools,
            policy=lambda: self._live.rules.policy,
            prompt=lambda: self._live.rules.prompt,
            limits=Limits(self._settings.run.max_iterations, self._settings.run.approval_time),
            workspaces=workspaces,
            lease_is_fresh=self._lease_is_fresh,
            outlet=self._couriers,
            now=self.store.now,
            new_id=self._new_id,
            named=self._named,
            busy=self._busy_in,
            probe=self._probe,
            files=fetching_of(self._settings, workspaces, files_of, self._new_id),
            long_replies=long_replies,
            reporting=Reporting(workspaces, self._new_id, long_replies.content, self.store.report_root),
            reporter=self._reporters,
        )

    def _courier(self, account: Presence) -> Courier:
        return Courier(
            outbox=self.store,
            adapter=self._instruments.adapter(account),
            take=self._take,
            pace=pace_of(self._settings),
            now=self.store.now,
            on_shown=lambda address: self._bell.ring(room_topic(address)),
            lease_is_fresh=self._lease_is_fresh,
            extras=extras_of_account(self._settings, account.raw),
            previews=self._settings.outbox.previews,
            new_id=self._new_id,
            probe=self._probe,
        )

    def _desk(self, web_identity: str) -> ConsoleDesk:
        return ConsoleDesk(
            store=self.store,
            sink=self._sink,
            links=self.store,
            bell=self._bell,
            web_account=web_identity,
            now=self.store.now,
            new_id=self._new_id,
            control_token=self.control_token,
            named=self._named,
            mask=Mask(self._settings.secret_values()),
            nudge=self._couriers.nudge,
            head=HeadFile(self._settings.data_dir).read,
            checkpoint=CheckpointFile(self._settings.data_dir).read,
            reload=self.reload,
            states=self._standings.look,
            info=self._info(),
            reports=self._report_desk(),
            schedules=self._schedule_desk(),
        )

    def _schedule_desk(self) -> ScheduleDesk:
        mask = Mask(self._settings.secret_values())
        return ScheduleDesk(self._timetable, partial(address_at, self._accounts), self._named, mask)

    def _report_desk(self) -> ReportDesk:
        return ReportDesk(
            store=self.store,
            reporters=self._reporters,
            address_at=partial(address_at, self._accounts),
            named=self._named,
            now=self.store.now,
            new_id=self._new_id,
            ring=lambda: self._bell.ring(LANES),
            tools=self._figure_tools,
        )

    def _outages(self) -> Outages:
        return Outages(
            room=lambda: address_at(self._accounts, self._settings.operators.room),
            after=self._settings.operators.after,
            told=self.store,
            post=self._couriers.post,
            take=self._take,
            now=self.store.now,
            new_id=self._new_id,
        )

    def _info(self) -> Mapping[str, str]:
        return {
            "version": VERSION,
            "model": self._settings.model.name,
            "database": self._settings.shown()["database_url"],
            "banner": self._settings.banner or "",
        }

    # ---------------------------------------------------------------------------------------------------- rooms

    def _busy_in(self, address: Address) -> Busy:
        return self._live.rules.gate.busy_in(address)

    def _trouble_at(self, address: Address) -> str | None:
        """What is wrong with the account of an address."""
        here = (address.channel, address.account)
        return next((one.standing().trouble for one in self._accounts if (one.channel, one.identity) == here), None)

    # --------------------------------------------------------------------------------------------------- duties

    def _lease_is_fresh(self) -> bool:
        return self._node is not None and self._node.fresh()

    async def _take(self, role: str) -> Duty | None:
        return await self._node.take(role) if self._node else None

    async def _take_in(self, accept: Accept) -> Taken:
        """A message begins its run at once where this node has room for one more."""
        return await (self._dispatch.take_in(accept) if self._dispatch else accept(None))

    @property
    def owners(self) -> Sequence[str]:
        """Identities of owners in the settings, as far as they are known by now."""
        return owners_now(self._settings, self._accounts)

    async def reload(self, by: str) -> dict[str, Any]:
        """Read the settings again, for whoever is recorded as `by`. Errors: ConfigError, StoreError: nothing changed."""
        return in_words(await self._reload(by))

    async def sink(self, signal: Signal) -> Verdict:
        """Take a signal in: for those that hold no adapter."""
        return await self._sink(signal)

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
            while True:
                try:
                    await self._as_node(jumps, lambda: on_ready(url))
                except BaseExceptionGroup as ended:
                    if ended.split(NodeLost)[1] is not None:
                        raise
                    if leaving():
                        raise asyncio.CancelledError from None
                    log.warning("joining again", reason="no sign for longer than the lease; others go on with our work")
        finally:
            await runner.cleanup()
            await self._instruments.close()
            await self.store.close()

    async def _listen(self, runner: web.AppRunner) -> str:
        host, port = self._settings.web.host, self._settings.web.port
        await web.TCPSite(runner, host, port).start()
        bound = runner.addresses[0][1]
        shown = "127.0.0.1" if host in ("0.0.0.0", "::", "") else host  # noqa: S104 - compared, not listened on
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{bound}"

    async def _as_node(self, jumps: Jumps, on_ready: Callable[[], None]) -> None:
        """One life as a node: it ends by cancellation, with a drain, or by the loss of its lease."""
        node = self._node = await self._join()
        dispatch = self._dispatch = Dispatch(
            store=self.store,
            lease=node.lease,
            agent=self._instruments.worker(self._agent),
            bell=self._bell,
            busy=self._busy_in,
            lease_is_fresh=self._lease_is_fresh,
            max_crashes=self._settings.run.max_crashes,
            probe=self._probe,
        )
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(node.run())
            group.create_task(self._pulse(node).run())
            if self._notices:
                group.create_task(self._notices.run(self._elsewhere))
                group.create_task(self._elsewhere.remind())
            group.create_task(self._check_sandbox())
            if self._settings.model.preload and not self._settings.model.is_demo:
                group.create_task(preload())
            group.create_task(self._sealer().run())
            group.create_task(self._retention().run())
            group.create_task(jumps.run())
            group.create_task(self._timer().run())
            group.create_task(Expiry(desk=self.store, decided=self._reception.decided, first=jumps.look).run())
            for account, courier in zip(self._accounts, self._couriers, strict=True):
                group.create_task(self._serve(account, courier))
            told = self._outages().see if self._settings.operators.room else None
            group.create_task(self._standings.run(told))
            for duty in (*self._instruments.duties(), *self._toolbox.duties()):
                group.create_task(duty())
            group.create_task(dispatch.run())
            listening = [group.create_task(account.listen(self._sink)) for account in self._accounts]
            listening.append(group.create_task(self._webhooks.listen(self._sink)))
            group.create_task(self._announce(on_ready))
            try:
                await asyncio.Event().wait()
            finally:
                await self._drain(dispatch, listening)
                beating.cancel()  # before the lease is given back: a beat after it would say that it was lost
                with suppress(StoreError):
                    await node.leave()
                await self._tell_of_leaving()

    async def _serve(self, account: Presence, courier: Courier) -> None:
        """Be the account's courier, as soon as it is known who the account is."""
        await account.learn()
        await courier.run()

    async def _note(self, adapter: ChannelAdapter) -> None:
        """Keep which identity the account has, so that it can be called by its name while it is not at work."""
        await self.store.note_account(adapter.channel, adapter.account, adapter.identity)
        if isinstance(adapter, LearnsIdentity):
            await self._reload.learnt()

    def _twin_of(self, adapter: ChannelAdapter) -> str | None:
        """The account at work that is the same one at its platform."""
        who = adapter.channel, adapter.identity
        others = (one for one in self._accounts if one.raw is not adapter and one.is_known)
        return next((one.name for one in others if (one.channel, one.identity) == who), None)

    async def _jumps(self) -> Jumps:
        """Who notices that the clock was set. On a server it is the server's clock, and rows belong to all nodes."""
        if self._settings.database_url.startswith(POSTGRES):
            return Jumps(now=self.store.now, mend=self._clock_was_set)

        async def mend(by: timedelta) -> None:
            await self.store.shift(by)
            await self._clock_was_set(by)

        return Jumps(now=self.store.now, mend=mend, last=await self.store.last_written())

    async def _clock_was_set(self, by: timedelta) -> None:
        for courier in self._couriers:
            courier.look_anew()

    async def _join(self) -> Node:
        """A node with a fresh lease. After the first time it is asked for until the store gives it."""
        while True:
            try:
                return await Node.join(
                    store=self.store,
                    node=NodeId(self._new_id()),
                    label=f"{socket.gethostname()}/{os.getpid()}",
                    length=self._settings.nodes.lease,
                    # The lock of an embedded database proves that every earlier process is gone.
                    alone=self._settings.database_file is not None,
                    on_reaped=lambda: self._bell.ring(LANES),
                )
            except StoreError as error:
                if self._node is None:
                    raise
                log.debug("cannot join again yet", reason=str(error))
                await asyncio.sleep(REJOIN.total_seconds())

    async def _announce(self, on_ready: Callable[[], None]) -> None:
        """Say that we are ready once the page takes messages. Platforms may take long; `/readyz` tells of them."""
        await self._accounts[0].begun()
        with suppress(asyncio.InvalidStateError):  # it was said in an earlier life of this process
            on_ready()

    async def _drain(self, dispatch: Dispatch, listening: Sequence[asyncio.Task[None]]) -> None:
        """Take nothing more in, and let what runs come to an end."""
        for task in listening:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN.total_seconds()):
                await dispatch.drain()
                for courier in self._couriers:
                    await courier.quiet()

    def _call(self, address: Address) -> None:
        """Something waits for a room whose courier is at another node."""
        self._bell.tell(outbox_topic(address))

    async def _tell_of_leaving(self) -> None:
        """Have other nodes look for the work that was given back."""
        if self._notices:
            self._notices.tell(LANES)
            await self._notices.flush(LAST_WORD)

    def _pulse(self, node: Node) -> Pulse:
        return Pulse(
            store=self.store,
            node=node.lease.node,
            bell=self._bell,
            reap=node.reap,
            look_around=self._couriers.look_around,
        )

    def _sealer(self) -> Sealer:
        trimmer = trimmer_of(self._settings, self.store)
        file = HeadFile(self._settings.data_dir)
        return Sealer(book=self.store, file=file, take=self._take, bell=self._bell, trimmer=trimmer)

    def _timer(self) -> Timer:
        return Timer(book=self.store, bell=self._bell, take=self._take, now=self.store.now, probe=self._probe)

    def _retention(self) -> Retention:
        return retention_of(self._settings, self.store, self._take)

    async def _check_sandbox(self) -> None:
        """Beside the start, since it takes longer than the rest of it."""
        await check_sandboxes(self._settings)
        trouble = await self._sandbox.self_test()
        if trouble and self._sandbox_required:
            raise ConfigError(f'tools.shell.sandbox: "bwrap" is demanded, and it cannot work here. {trouble}')
        if trouble:
            log.warning("the shell tool refuses every call", reason=trouble)


def leaving() -> bool:
    """Whether this task was asked to end, whatever else came in between."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
