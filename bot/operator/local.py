"""Commands' work on the store itself, for when no process runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from adapters.web.adapter import ACCOUNT, CHANNEL
from adapters.web.rooms import reach
from bot.accounts.naming import Accounts, Called, Named, accounts_of, calling, fresh_identity
from bot.node.lock import holding
from bot.node.login import command_line
from bot.operator.actor import owner_of
from bot.operator.agents import agents_of_settings
from bot.operator.context import OperatorContext
from bot.operator.lookups.titles import in_reports
from bot.operator.operations import Operations
from bot.operator.reports import LateReporters, ReportOperations, figure_tools
from bot.operator.schedules import ScheduleOperations
from bot.operator.system.health_parts import HealthParts
from bot.settings.settings import Settings, load_usable
from bot.wiring.access import gate_of, goal_bounds_of
from bot.wiring.agents import budget_rules_of, manifests_of
from bot.wiring.engine import workspaces_of
from bot.wiring.events.readers import FeedbackReaders
from bot.wiring.identities import written
from bot.wiring.live_rules import destinations_of
from bot.wiring.models.catalogue import catalogue_of
from bot.wiring.safety.forgetting import folders_of, forgetter_of
from bot.wiring.safety.guard import door_of
from bot.wiring.scheduling import Reach, timetable_of
from bot.wiring.skills.parts import skills_of
from runtime.audit.published import SignedEnds
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import Address, Signal, Verdict
from runtime.domain.agents.manifest import MAIN
from runtime.domain.ids import new_id
from runtime.domain.routing import AccountNames
from runtime.guard.masks import Mask
from runtime.intake.room_names import RoomNames
from runtime.store.protocol import Changed
from runtime.store.store import Store, open_store

if TYPE_CHECKING:
    from bot.operator.system.examination import Examination

UNCHECKED: Final = Changed(fault="A changed call is checked by its tool: start Signalbox first.")


class NoNotifier:
    """Nobody waits in this process."""

    def notify(self, topic: str) -> None:
        pass

    async def listen(self, *topics: str) -> AsyncIterator[str]:
        for topic in topics[:0]:
            yield topic

    def calling(self, told: Callable[[str], None], *topics: str) -> AbstractContextManager[None]:
        return nullcontext()


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Operations]:
    """The operations of the owner, on the store, which belongs to this command inside the block."""
    with holding(settings.data_dir):
        store = await open_store(settings.database_url)
        store.budgets.obey(budget_rules_of(settings))
        try:
            yield Operations(await _context(store, settings), await owner_of(store.people, command_line()))
        finally:
            await store.close()


async def _context(store: Store, settings: Settings) -> OperatorContext:
    async def sink(signal: Signal) -> Verdict:
        # What this wakes, the next start finds in the store.
        return (await store.intake.accept(signal, gate_of(settings), changed=UNCHECKED)).verdict

    identity = await store.cluster.account_identity(CHANNEL, ACCOUNT, fresh_identity(new_id))
    known, rooms = accounts_of(await store.cluster.named_accounts()), RoomNames(store.places, LocalNotifier())
    named = AccountNames(known.names)
    called = calling(named, rooms.of)
    door = cache(lambda: door_of(settings.with_secrets(), named))
    return OperatorContext(
        store=store,
        sink=sink,
        links=store.people,
        notifier=NoNotifier(),
        web_account=identity,
        named=named,
        rooms=rooms,
        mask=Mask(settings.secret_values()),
        now=store.now,
        new_id=new_id,
        control_token="",
        ends=SignedEnds(settings.data_dir, shared=settings.database_file is None),
        public_url=settings.web.public_url or f"http://{settings.web.host}:{settings.web.port}",
        settings_file=settings.file,
        written=partial(written, settings),
        rights=lambda: gate_of(settings).rights,
        reports=_reports(store, known, settings, named, called),
        schedules=_schedules(store, known, settings, named, called),
        models=lambda: catalogue_of(load_usable(settings.file)[0]),
        agents=partial(agents_of_settings, settings),
        skills=skills_of(lambda: settings, lambda: manifests_of(settings), store, LocalNotifier()).every.look,
        logins=lambda: [table.name for table in settings.logins],
        workflows=lambda: {table.name: table.flow for table in settings.workflows},
        folders=partial(workspaces_of, settings),
        goals=lambda: goal_bounds_of(settings),
        health=HealthParts(
            settings=lambda: (settings.shown(), settings.sources),
            examination=cache(partial(_examination, store, settings)),
        ),
        door=door,
        scan_door=door,
        forgetter=forgetter_of(settings, store, lambda: folders_of(settings, [*manifests_of(settings)])),
    )


def _examination(store: Store, settings: Settings) -> Examination:
    """Without findings about a process: this command holds the folder meanwhile."""
    from bot.operator.system.examination import Examination

    return Examination(settings_file=lambda: settings.file, now=store.now, leaves_out="process.")


def _schedules(
    store: Store, accounts: Accounts[Called], settings: Settings, named: Named, called: Named
) -> ScheduleOperations:
    """Operations on schedules; what is booked here is fired by the next start. Rooms are those of accounts that were at work before."""
    names = {(CHANNEL, ACCOUNT), *((one.channel, one.name) for one in settings.accounts if one.enabled)}
    here = Accounts(one for one in accounts if (one.channel, one.account) in names)

    def serves(address: Address) -> bool:
        return here.at(address) is not None

    timetable = timetable_of(
        store,
        _reach_of(store, named, settings),
        new_id=new_id,
        agent=MAIN,
        serves=serves,
        named=named,
        started=lambda: None,
        planning=lambda: settings.planning,
        door=cache(lambda: door_of(settings, named)),  # with the values that are at hand: no passphrase is asked for
    )
    return ScheduleOperations(timetable, here.found, named, Mask(settings.secret_values()), called, serves)


def _reach_of(store: Store, named: Named, settings: Settings) -> Reach:
    """Rooms of the page are in the store; of other channels nothing can be told while no process runs."""
    destinations = destinations_of(settings)

    async def reached(address: Address) -> str | None:
        if address.channel != CHANNEL:
            return None
        return await reach(store.history, lambda room: named(room) in destinations, address)

    return reached


def _reports(
    store: Store, accounts: Accounts[Called], settings: Settings, named: Named, called: Named
) -> ReportOperations:
    return ReportOperations(
        store=store,
        reporters=LateReporters(store.now),
        room_at=accounts.found,
        named=named,
        now=store.now,
        new_id=new_id,
        agent=MAIN,
        reach=_reach_of(store, named, settings),
        runs=False,
        tools=figure_tools(
            store.figures,
            store.now,
            in_reports(store.traces.titles, called),
            FeedbackReaders(store.people, lambda: settings.feedback.readers).may_ask,
        ),
    )
