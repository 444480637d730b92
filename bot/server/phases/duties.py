"""Duties of a process: what runs beside listening, working and showing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from bot.accounts.alerts import AccountAlerts
from bot.accounts.failover import Failover, Others
from bot.accounts.status import State
from bot.doors.a2a.watch import PushWatch
from bot.node.comparing import compare
from bot.server.phases.accounts import AccountsPhase
from bot.server.phases.ahead import loading_ahead
from bot.server.phases.engine import EnginePhase
from bot.server.phases.http import HttpPhase, push_way, workspaces_of
from bot.server.phases.operators_room import post_to_operators
from bot.server.phases.store import StorePhase
from bot.telemetry.instrument import Duty
from bot.wiring.events.sinks import event_sinks_of
from bot.wiring.memory.embedder import embedding_of
from bot.wiring.models.made import marks_of
from bot.wiring.retention import retention_of, trimmer_of
from bot.wiring.skills.watch import SkillWatch
from bot.wiring.tools.peers import stopping_of
from runtime.agent.duties.expiry import Expiry
from runtime.agent.duties.sleeping import Waking
from runtime.audit.sealer import Sealer
from runtime.cluster.agent_alarms import AgentAlarms
from runtime.cluster.budget_alarms import BudgetAlarms
from runtime.cluster.topics import LANES, PUSHES, SKILLS
from runtime.contract import QUESTIONS, Address
from runtime.domain.clock import Jumps
from runtime.domain.ids import digest
from runtime.markup.moments import moment
from runtime.models.choice.cooling import Rest
from runtime.policy.budgets import Counter, Scope
from runtime.schedules.firing import Scheduler
from runtime.store.contracting import run_contracts
from runtime.store.schema import CONTRACTS

if TYPE_CHECKING:
    from bot.doors.a2a.pushing import Pusher


def duties_of(
    base: StorePhase, at: AccountsPhase, engine: EnginePhase, http: HttpPhase, *, jumps: Jumps, others: Others
) -> Iterator[Duty]:
    settings, store = base.settings, base.store
    if base.notices:
        yield partial(base.notices.run, engine.peers)
        yield engine.peers.remind
    yield from engine.toolkit.duties()
    yield from loading_ahead(settings, store, engine)
    yield _sealer(base).run
    yield retention_of(settings, store, base.membership.take, partial(workspaces_of, engine)).run
    http.forgetter.tell = partial(post_to_operators, base, at, engine)
    yield http.forgetter.run
    yield jumps.run
    yield at.rooms.run
    yield from [] if settings.database_file else _beside_others(base, at)
    yield at.triggers.run
    yield _scheduler(base).run
    yield Expiry(
        approvals=store.approvals,
        decided=engine.reception.decided,
        now=store.now,
        first=partial(_first, jumps, engine),
        remind=engine.reminders.look,
        probe=base.probe,
    ).run
    yield engine.undoer.run
    yield Waking(store=store.runs, ready=partial(base.notifier.notify, LANES)).run
    yield engine.guard_book.run
    yield engine.answerer.run
    if not settings.model.is_demo:
        yield partial(base.cooldowns.run, partial(_tell_of_model, base, at, engine), marks_of(settings))
    yield from _of_logins(base, at, engine)
    yield from _of_peers(base)
    yield engine.compactor.run
    yield from _of_memory(base, engine)
    yield from _alarms(base, at, engine)
    yield from _of_events(base, at, engine)
    yield PushWatch(
        is_any=base.store.pushes.any_push, rung=base.notifier.listen(PUSHES), made=partial(_pusher, base, at)
    ).run
    yield from _browser_telling(base, at)
    if engine.interceptors:
        yield from engine.interceptors.duties()
    yield engine.executors.run
    yield partial(http.statuses.run, partial(_alert, at, _alerts(base, at, engine)))
    yield from (failover.run for failover in _failovers(base, at, engine, others))
    yield from base.instruments.duties()
    yield from _watches(base, at, engine)


def _beside_others(base: StorePhase, at: AccountsPhase) -> Iterator[Duty]:
    """Duties of a process that may have others on its database."""
    yield at.lookup.run
    yield lambda: compare(base.store.roster, base.membership.lease)
    if CONTRACTS:
        yield partial(run_contracts, base.settings.database_url)


def _watches(base: StorePhase, at: AccountsPhase, engine: EnginePhase) -> Iterator[Duty]:
    """Looks for words of others that are new or changed: skills, and tools of MCP servers."""
    yield SkillWatch(
        ready=engine.skills.ready,
        told=base.store.skills,
        tell=partial(post_to_operators, base, at, engine),
        rung=base.notifier.listen(SKILLS),
    ).run
    if base.settings.mcp:
        runs, tell = base.store.runs, partial(_tell_of_tool, base, at, engine)
        tell_login = partial(_tell_of_login, base, at, engine)
        yield partial(engine.toolkit.toolbox.watch, runs.see_form, tell, runs.told_form, tell_login)


def _of_peers(base: StorePhase) -> Iterator[Duty]:
    """Tasks at agents of other systems, which end with their runs. Nothing is imported where none is set."""
    if stopping := stopping_of(base.settings, base.store.peer_tasks, base.store.now):
        yield stopping.run


def _of_logins(base: StorePhase, at: AccountsPhase, engine: EnginePhase) -> Iterator[Duty]:
    """Tokens of sign-ins. Nothing is imported where none is set."""
    if base.tokens:
        from bot.wiring.logins.renewing import TokenRenewal

        told = partial(_tell_of_sign_in, base, at, engine)
        yield TokenRenewal(base.tokens, kept=base.store.logins.login, ended=told, now=base.store.now).run


def _of_memory(base: StorePhase, engine: EnginePhase) -> Iterator[Duty]:
    """Vectors of memories, summaries of people, and documents."""
    settings, store = base.settings, base.store
    if embedding := embedding_of(settings, store, engine.meaning.embedder, base.membership.take):
        yield embedding.run
    if engine.renewal:
        yield engine.renewal.run
    if settings.knowledge:
        from bot.wiring.knowledge.reader import reader_of

        yield reader_of(settings, store.knowledge, engine.door, base.membership.take, store.now).run


def _of_events(base: StorePhase, at: AccountsPhase, engine: EnginePhase) -> Iterator[Duty]:
    """Sinks that are told what happens."""
    sinks, at.reload.taken = event_sinks_of(
        base.settings,
        base.store,
        engine.door,
        called=at.called,
        take=base.membership.take,
        tell=partial(post_to_operators, base, at, engine),
    )
    yield sinks.run


def _browser_telling(base: StorePhase, at: AccountsPhase) -> Iterator[Duty]:
    """Tells browsers what waits for their people. Nothing of it is loaded where the settings don't turn it on."""
    settings = base.settings
    if settings.push.enabled:
        from bot.push.telling import WEB_PUSH_TOOL, BrowserTelling
        from bot.push.vapid import Vapid
        from bot.wiring.events.pushes import push_way_of

        way = cache(lambda: push_way_of(settings, WEB_PUSH_TOOL))
        yield BrowserTelling(
            store=base.store.web_push,
            way=way,
            vapid=cache(lambda: Vapid(way().sealer(), settings.push.subject)),
            said=settings.push.words,
            rights=lambda: at.live.gate().rights,
            take=base.membership.take,
            rung=base.notifier.listen(QUESTIONS),
            now=base.store.now,
            probe=base.probe,
        ).run


def _pusher(base: StorePhase, at: AccountsPhase) -> Pusher:
    """Tells programs of their tasks; made once a place is to be told."""
    from bot.doors.a2a.pushing import Pusher
    from bot.doors.a2a.wire import link_of

    return Pusher(
        pushes=base.store.pushes,
        programs=base.store.programs,
        way=push_way(base.settings),
        take=base.membership.take,
        now=base.store.now,
        link=link_of(base.settings.web.public_url, at.named),
        probe=base.probe,
    )


def _alarms(base: StorePhase, at: AccountsPhase, engine: EnginePhase) -> Iterator[Duty]:
    """Alarms that operators get by themselves."""
    store, tell = base.store, partial(post_to_operators, base, at, engine)
    yield BudgetAlarms(store=store.budgets, naming=partial(_name_of, base, at), tell=tell, now=store.now).run
    yield AgentAlarms(store=store.lives, tell=tell, is_wanted=partial(_is_agent_told, at)).run


def _is_agent_told(at: AccountsPhase) -> bool:
    """True while the settings have agents, or a room in which one that is suspended is told."""
    settings = at.reload.settings
    return bool(settings.agents or settings.operators.room)


async def _alert(at: AccountsPhase, alerts: AccountAlerts, states: Sequence[State]) -> None:
    """Tell operators of accounts, while they have a room."""
    if at.reload.settings.operators.room:
        await alerts.see(states)


async def _first(jumps: Jumps, engine: EnginePhase) -> None:
    """Looks before questions end: at the clock, and at children whose time is over."""
    await jumps.look()
    await engine.children.look()


def _sealer(base: StorePhase) -> Sealer:
    return Sealer(
        book=base.store.audit,
        file=base.head(),
        take=base.membership.take,
        notifier=base.notifier,
        trimmer=trimmer_of(base.settings, base.store),
        ends=None if base.settings.database_file else base.ends(),
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
    return AccountAlerts(
        room=lambda: at.lookup.known(at.reload.settings.operators.room),
        after=lambda: at.reload.settings.operators.after,
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


async def _tell_of_model(base: StorePhase, at: AccountsPhase, engine: EnginePhase, rest: Rest) -> None:
    """Tell operators of a model that only they can help. Where they have no room, log and audit tell it."""
    text = _of_one_alone(rest) if rest.is_alone else _of_a_rest(rest)
    await post_to_operators(base, at, engine, f"model:{rest.model}:{int(rest.since.timestamp() * 1_000_000)}", text)


def _of_a_rest(rest: Rest) -> str:
    until = f" until {moment(rest.until)}" if rest.until else " until its settings or its key change"
    return (
        f"**The model {rest.model} isn't in use**{until}. {rest.reason} "
        f"To try it again now: `signalbox models clear {rest.model}`"
    )


def _of_one_alone(rest: Rest) -> str:
    failures = "" if rest.count == 1 else f", {rest.count} times in a row"
    return (
        f"**The model {rest.model} failed{failures}**, and there's no other to take its place. {rest.reason} "
        "Each new message asks it again. `model.fallbacks` names models that answer meanwhile."
    )


async def _name_of(base: StorePhase, at: AccountsPhase, counter: Counter) -> str:
    """Name of the person, room or agent that a budget bounds."""
    match counter.scope:
        case Scope.PERSON_DAY:
            people = await base.store.people.people()
            return next((one.person.name for one in people if one.person.id == counter.subject), counter.subject)
        case Scope.ROOM_DAY:
            return at.called(Address.parse(counter.subject))
        case _:
            return counter.subject


async def _tell_of_tool(
    base: StorePhase, at: AccountsPhase, engine: EnginePhase, name: str, form: str, changed: str
) -> None:
    """Tell operators that a tool of others is another one. Where they have no room, log and audit tell it."""
    text = f"**The tool {name} changed**: {changed}. Its next call needs approval, whatever the policy says."
    await post_to_operators(base, at, engine, f"tool:{name}:{digest(form)}", text)


async def _tell_of_login(base: StorePhase, at: AccountsPhase, engine: EnginePhase, server: str) -> None:
    """Tell operators that a server wants a login, at most once a day."""
    text = (
        f"**The MCP server {server} needs a login.** Until then its tools can't be used: `signalbox mcp login {server}`"
    )
    await post_to_operators(base, at, engine, f"mcp-login:{server}:{base.store.now():%Y-%m-%d}", text)


async def _tell_of_sign_in(base: StorePhase, at: AccountsPhase, engine: EnginePhase, name: str, why: str) -> None:
    """Tell operators that a sign-in only works again once somebody signs in, at most once a day for one reason. Where they have
    no room, log and audit tell it."""
    origin = f"login:{name}:{base.store.now():%Y-%m-%d}:{digest(why)}"
    await post_to_operators(base, at, engine, origin, f"**The sign-in {name} doesn't work.** {why}")
