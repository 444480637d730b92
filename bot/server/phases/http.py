"""Last phase: the one web application, with everything that is reached through it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from adapters.web.transfer import FileTransfer
from bot.accounts.status import AccountStatuses
from bot.http.entrance import Entrance
from bot.node.invocation import for_strangers
from bot.node.version import VERSION
from bot.node.watchdog import Watchdog
from bot.operator.agents import agents_at_work
from bot.operator.context import OperatorContext
from bot.operator.reports import ReportOperations
from bot.operator.schedules import ScheduleOperations
from bot.operator.settings.live import LiveSettings
from bot.operator.system.health_parts import HealthParts
from bot.own.routes import OwnRoutes
from bot.push.routes import PushRoutes
from bot.push.vapid import Vapid
from bot.server.phases.accounts import MIB, AccountsPhase
from bot.server.phases.engine import EnginePhase
from bot.server.phases.operators_room import post_to_operators
from bot.server.phases.store import StorePhase
from bot.server.reload import MAY_CHANGE, in_words
from bot.server.site import site_of
from bot.settings.settings import Settings
from bot.telemetry.logs import last_lines
from bot.wiring.engine import links_in
from bot.wiring.identities import written
from bot.wiring.logins.parts import login_sealer_of
from bot.wiring.models.catalogue import catalogue_of
from bot.wiring.safety.forgetting import forgetter_of
from bot.wiring.safety.guard import scan_door_of
from bot.wiring.scheduling import reach_of
from runtime.cluster.topics import LANES
from runtime.contract import Address
from runtime.forgetting.forgetter import Forgetter
from runtime.guard.masks import Mask
from runtime.workspace.workspaces import WorkspaceFolders

if TYPE_CHECKING:
    from adapters.webhook.adapter import Webhooks
    from bot.operator.system.examination import Examination
    from bot.wiring.events.pushes import PushWay

Reread = Callable[[str], Awaitable[dict[str, Any]]]
"""Reads the settings again, for whoever is recorded by that name."""


DRAINING: Final = "An operator asked this process to leave: it takes nothing more in, and finishes what is at work."


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPhase:
    """The site and what it tells of. `control_token` opens the operators' API to commands on this machine, and `operators` is
    what that API and programs inside this process work on."""

    site: web.Application
    webhooks: Webhooks | None
    watchdog: Watchdog
    statuses: AccountStatuses
    control_token: str
    forgetter: Forgetter
    operators: OperatorContext


def http_phase(base: StorePhase, at: AccountsPhase, engine: EnginePhase, *, web_identity: str) -> HttpPhase:
    settings, token = base.settings, secrets.token_urlsafe(32)
    webhooks = _webhooks(base, at) if settings.hooks else None
    watchdog = Watchdog(check=base.store.check, place=settings.data_dir, overdue=partial(_overdue, at))
    statuses = AccountStatuses(at.accounts, base.store.now)
    forgetter = forgetter_of(settings, base.store, partial(workspaces_of, engine), base.membership.take)
    operators = replace(_operators(base, at, engine, statuses, web_identity, token), forgetter=forgetter)
    at.page.holder = Entrance(operators).speaks_for
    site = site_of(
        at.accounts,
        operators,
        hosts=settings.web.names,
        checks={"store": partial(_store_trouble, base), "node": partial(_node_trouble, base, watchdog)},
        stuck=lambda: watchdog.reason,
        token=settings.metrics.token.get_secret_value() if settings.metrics.token else "",
        others=[*base.instruments.routes(), *at.auth.routes, *_of_everybody(settings, operators)],
        hooks=webhooks.routes() if webhooks else (),
    )
    return HttpPhase(
        site=site,
        webhooks=webhooks,
        watchdog=watchdog,
        statuses=statuses,
        control_token=token,
        forgetter=forgetter,
        operators=operators,
    )


def _of_everybody(settings: Settings, context: OperatorContext) -> list[web.RouteDef]:
    """Routes of one's own data, and of browsers that want to be told; where that is off they say so."""
    sealer = login_sealer_of(settings)
    vapid = cache(lambda: Vapid(sealer(), settings.push.subject)) if settings.push.enabled else None
    own = OwnRoutes(context, Entrance(context))
    return [*PushRoutes(context, sealer, vapid).routes(), *own.routes()]


def workspaces_of(engine: EnginePhase) -> list[WorkspaceFolders]:
    """Workspaces of the agents that there are now: a reload may have brought some."""
    return [agent.workspaces for agent in engine.agents.values()]


def _webhooks(base: StorePhase, at: AccountsPhase) -> Webhooks:
    from bot.wiring.hooks import webhooks_of

    return webhooks_of(base.settings, at.accounts, base.workspaces, base.store.now, base.new_id)


def _keep(base: StorePhase, address: Address, path: str, data: bytes) -> None:
    from bot.wiring.hooks import keep

    keep(base.workspaces, address, path, data, base.new_id())


async def _store_trouble(base: StorePhase) -> str | None:
    """The reason the store takes no writes, or None. Errors: StoreError, with such a reason."""
    if trouble := base.membership.trouble():
        return trouble
    await base.store.check()
    return None


def _overdue(at: AccountsPhase) -> str | None:
    """Words of an account that is neither at work nor tried again, or None."""
    return next((words for account in at.accounts if (words := account.overdue())), None)


def _node_trouble(base: StorePhase, watchdog: Watchdog) -> str | None:
    """The reason this process takes on no work, or None."""
    return DRAINING if base.membership.is_draining else watchdog.trouble()


def _operators(
    base: StorePhase, at: AccountsPhase, engine: EnginePhase, statuses: AccountStatuses, web_identity: str, token: str
) -> OperatorContext:
    known = _known(base, at, engine, web_identity, token)
    return replace(
        known,
        meaning=engine.meaning,
        nudge=engine.couriers.nudge,
        stop=engine.peers.stop,
        states=statuses.look,
        info=_info(base, engine),
        reports=_reports(base, at, engine),
        tools=lambda: engine.toolkit.toolbox.tools,
        previews=engine.previews,
        agents=lambda: agents_at_work(engine.agents, at.reload.settings),
        guarded=engine.guard_book.words,
        intercepted=engine.interceptors.words if engine.interceptors else str,
        skills=engine.skills.every.look,
        overhear=engine.couriers.overhear,
        message_link=links_in(at.accounts),
        door=lambda: engine.door,
        scan_door=cache(lambda: scan_door_of(base.settings, at.named, engine.door)),
        live_settings=LiveSettings(
            current=lambda: at.reload.settings,
            now=at.reload.read_anew,
            trial=at.reload.trial,
            tell=partial(post_to_operators, base, at, engine),
            nodes=base.store.cluster.live_nodes,
            confirmations=at.auth.confirmations,
            at_once=MAY_CHANGE,
            is_at_work=True,
            provider=at.auth.page.called,
        ),
        schedules=ScheduleOperations(
            *(engine.timetable, at.lookup.found, at.named, known.mask, at.called, engine.couriers.serves)
        ),
    )


def _known(base: StorePhase, at: AccountsPhase, engine: EnginePhase, web_identity: str, token: str) -> OperatorContext:
    """Operators' context as far as the settings, the store and the accounts go."""
    settings, store = base.settings, base.store
    return OperatorContext(
        store=store,
        sink=engine.sink,
        links=at.links,
        auth=at.auth,
        is_named=at.is_destination,
        notifier=base.notifier,
        web_account=web_identity,
        now=store.now,
        new_id=base.new_id,
        control_token=token,
        named=at.named,
        rooms=at.rooms,
        mask=Mask(settings.secret_values()),
        ends=base.ends(),
        reload=reread_of(at),
        save=partial(store.save, settings.data_dir),
        public_url=settings.web.public_url,
        command=for_strangers(),
        settings_file=settings.file,
        written=lambda name, identities: written(at.reload.settings, name, identities),
        rights=lambda: at.live.rules.gate.rights,
        models=partial(catalogue_of, settings),
        workflows=lambda: at.live.gate().workflows,
        folders=base.workspaces.of,
        goals=lambda: at.live.gate().goals,
        feedback_readers=lambda: at.reload.settings.feedback.readers,
        decides_over_mcp=lambda: at.reload.settings.programs.decide_over_mcp,
        files=partial(_files, base),
        keep=partial(_keep, base),
        push_way=cache(partial(push_way, settings)),
        health=_health(base, at),
        logins=lambda: [table.name for table in settings.logins],
    )


def _health(base: StorePhase, at: AccountsPhase) -> HealthParts:
    """All of it as it is when somebody looks."""
    return HealthParts(
        node=lambda: base.membership.lease.node if base.membership.lease else "",
        ring=last_lines,
        examination=cache(partial(_examination, base)),
        settings=lambda: (at.reload.settings.shown(), at.reload.settings.sources),
        metrics=base.instruments.figures,
    )


def _examination(base: StorePhase) -> Examination:
    """Made with the first look: few processes are ever asked."""
    from bot.operator.system.examination import Examination

    return Examination(settings_file=lambda: base.settings.file, now=base.store.now)


def push_way(settings: Settings) -> PushWay:
    """Made with its first use: few programs want to be told."""
    from bot.wiring.events.pushes import push_way_of

    return push_way_of(settings)


def _files(base: StorePhase) -> FileTransfer:
    most = int(base.settings.web.upload_mib * MIB)
    return FileTransfer(workspaces=base.workspaces, upload_bytes=most, new_id=base.new_id, space=base.space)


def reread_of(at: AccountsPhase) -> Reread:
    async def reread(by: str) -> dict[str, Any]:
        """Read the settings again; the changes, in words. Errors: ConfigError, StoreError: nothing changed."""
        return in_words(await at.reload(by))

    return reread


def _reports(base: StorePhase, at: AccountsPhase, engine: EnginePhase) -> ReportOperations:
    return ReportOperations(
        store=base.store,
        reporters=engine.reporters,
        room_at=at.lookup.found,
        named=at.named,
        now=base.store.now,
        new_id=base.new_id,
        reach=reach_of(at.accounts),
        notify=lambda: base.notifier.notify(LANES),
        tools=engine.toolkit.figures,
        agent=engine.agents.main.name,
    )


def _info(base: StorePhase, engine: EnginePhase) -> Mapping[str, str]:
    told = {
        "version": VERSION,
        "model": engine.agents.main.model.name,
        "database": base.settings.shown()["database_url"],
        "guardrails": base.settings.guardrails.value,
        "banner": base.settings.banner or "",
    }
    return {name: value for name, value in told.items() if value}
