"""Duties of a process: what runs beside listening, working and showing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bot.accounts.alerts import AccountAlerts
from bot.accounts.failover import Failover, Others
from bot.server.phases.accounts import AccountsPhase
from bot.server.phases.engine import EnginePhase
from bot.server.phases.http import HttpPhase
from bot.server.phases.store import StorePhase
from bot.telemetry.instrument import Duty
from bot.wiring.retention import retention_of, trimmer_of
from runtime.agent.duties.expiry import Expiry
from runtime.audit.sealer import Sealer
from runtime.contract import Content, DeliveryId, Kind
from runtime.domain.clock import Jumps
from runtime.domain.ids import digest
from runtime.errors import Rejected
from runtime.markup import parse
from runtime.models.litellm_loading import preload
from runtime.schedules.firing import Scheduler
from runtime.store.protocol import NewDelivery


def duties_of(
    base: StorePhase, at: AccountsPhase, engine: EnginePhase, http: HttpPhase, *, jumps: Jumps, others: Others
) -> Iterator[Duty]:
    settings, store = base.settings, base.store
    if base.notices:
        yield partial(base.notices.run, engine.peers)
        yield engine.peers.remind
    yield engine.toolkit.check
    if settings.model.preload and not settings.model.is_demo:
        yield partial(preload, settings.model.name, (partial(parse, "**ready**"), partial(_schemas, engine)))
    yield _sealer(base).run
    folders = [agent.workspaces for agent in engine.agents]
    yield retention_of(settings, store, base.membership.take, folders).run
    yield jumps.run
    yield at.rooms.run
    yield _scheduler(base).run
    decided, remind = engine.reception.decided, engine.reminders.look
    yield Expiry(approvals=store.approvals, decided=decided, first=jumps.look, remind=remind).run
    yield engine.undoer.run
    yield engine.answerer.run
    yield engine.compactor.run
    yield partial(http.statuses.run, _alerts(base, at, engine).see if settings.operators.room else None)
    yield from (failover.run for failover in _failovers(base, at, engine, others))
    yield from base.instruments.duties()
    yield from engine.toolkit.toolbox.duties()
    if settings.mcp:
        tell = partial(_tell_of_tool, base, at, engine)
        yield partial(engine.toolkit.toolbox.watch, store.runs.see_form, tell, store.runs.told_form)


def _schemas(engine: EnginePhase) -> None:
    """Have the tools' schemas made, which they are when they are first read."""
    for tool in engine.toolkit.toolbox.tools.values():
        dict(tool.spec.schema)


def _sealer(base: StorePhase) -> Sealer:
    return Sealer(
        book=base.store.audit,
        file=base.head(),
        take=base.membership.take,
        notifier=base.notifier,
        trimmer=trimmer_of(base.settings, base.store),
    )


def _scheduler(base: StorePhase) -> Scheduler:
    return Scheduler(
        book=base.store.schedules,
        notifier=base.notifier,
        take=base.membership.take,
        now=base.store.now,
        probe=base.probe,
    )


def _alerts(base: StorePhase, at: AccountsPhase, engine: EnginePhase) -> AccountAlerts:
    operators = base.settings.operators
    return AccountAlerts(
        room=lambda: at.accounts.address(operators.room),
        after=operators.after,
        told=base.store.operations,
        post=engine.couriers.post,
        take=base.membership.take,
        now=base.store.now,
        new_id=base.new_id,
    )


def _failovers(base: StorePhase, at: AccountsPhase, engine: EnginePhase, others: Others) -> Iterator[Failover]:
    for account, courier in zip(at.accounts, engine.couriers, strict=True):
        if account.features().ping:
            yield Failover(
                account,
                courier,
                store=base.store.cluster,
                membership=base.membership,
                notifier=base.notifier,
                others=others,
                now=base.store.now,
            )


async def _tell_of_tool(
    base: StorePhase, at: AccountsPhase, engine: EnginePhase, name: str, form: str, changed: str
) -> None:
    """Tell operators that a tool of others is another one, once however many processes see it.

    Errors: Rejected while their room is not known yet. Where they have none, log and audit tell it.
    """
    if not base.settings.operators.room:
        return
    room = at.accounts.address(base.settings.operators.room)
    if room is None:
        raise Rejected("the account of the operators' room is not known yet")
    text = f"**The tool {name} changed**: {changed}. Its next call needs approval, whatever the policy says."
    origin = f"tool:{name}:{digest(form)}"
    await engine.couriers.post(NewDelivery(DeliveryId(base.new_id()), origin, 1, Kind.REPORT, room, Content(text)))
