"""Second phase: accounts on platforms, what they are called, and the rules that hold for them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from adapters.web.adapter import WebAdapter
from adapters.web.ideas import IDEAS
from adapters.web.settings import WebSettings
from bot.accounts.lookup import RoomLookup
from bot.accounts.naming import Account, Accounts, Known, LiveNames, Named, accounts_of, calling
from bot.accounts.supervisor import AccountSupervisor
from bot.auth.confirming import Confirmations
from bot.auth.layer import NO_AUTH, AuthLayer
from bot.node.comparing import fingerprint
from bot.node.invocation import for_strangers
from bot.node.version import VERSION
from bot.server.phases.store import StorePhase
from bot.server.reload import Reload
from bot.settings.settings import Settings
from bot.telemetry.logs import set_level
from bot.wiring.access import Invites, gate_of
from bot.wiring.agents import budget_rules_of, digest_of
from bot.wiring.channels import MakeAdapters, adapters_of, buckets_of
from bot.wiring.forms import Forms
from bot.wiring.identities import with_identities
from bot.wiring.live_rules import Live, MakeGate, place_in, rules_of
from bot.wiring.schedules import FileSchedules, Synced
from bot.wiring.triggers.of_file import FileTriggers
from runtime.chat import inbox
from runtime.cluster.topics import TRIGGERS
from runtime.cluster.trigger_watch import TriggerWatch
from runtime.contract import (
    AdapterContext,
    Address,
    ApprovalId,
    ChannelAdapter,
    Closed,
    Identity,
    Links,
    Model,
    Waiting,
)
from runtime.domain.agents.manifest import Manifest
from runtime.domain.approvals import Rights
from runtime.events.rating import Ratings
from runtime.http.authentication import Authenticator
from runtime.intake.room_names import RoomNames

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsPhase:
    """Accounts at work. `lookup` finds the rooms that people write; `named` writes an address as settings do, `called` as people do."""

    accounts: Accounts[AccountSupervisor]
    lookup: RoomLookup
    named: LiveNames
    rooms: RoomNames
    called: Named
    live: Live
    reload: Reload
    triggers: TriggerWatch
    ratings: Ratings
    links: Links
    auth: AuthLayer
    page: Authenticator
    is_destination: Callable[[Address], bool]


def accounts_phase(
    base: StorePhase, *, web_identity: str, before: Sequence[Known], adapters: MakeAdapters, model: Model
) -> AccountsPhase:
    """`before` are accounts of earlier starts; `adapters` come beside those of the settings."""

    async def note(adapter: ChannelAdapter) -> None:
        """Keep which identity the account has, so that it can be called by its name while it is not at work."""
        await base.store.cluster.note_account(adapter.channel, adapter.account, adapter.identity)
        if adapter.features().learn:
            await reload.learnt()

    def twin_of(adapter: ChannelAdapter) -> str | None:
        """The account at work that is the same one at its platform."""
        others = Accounts(one for one in accounts if one is not adapter and one.is_known)
        twin = others.holding(adapter.channel, adapter.identity)
        return twin.name if twin else None

    def is_destination(address: Address) -> bool:
        return named(address) in live.rules.destinations

    def rights() -> Rights:
        return live.gate().rights

    ratings, invites = Ratings(base.store.feedback), Invites(base.store.people)
    context, links, auth = _context(base, web_identity, rights, ratings, invites)
    page = _page(base, context, auth, web_identity, is_destination, model)
    every = [page, *adapters_of(base.settings)(context), *adapters(context)]
    accounts = Accounts(_supervised(base, adapter, note, twin_of, before) for adapter in every)
    named, rooms = LiveNames(accounts, before), RoomNames(base.store.places, base.notifier)
    gate = partial(gate_of, trouble=partial(_trouble_at, accounts))
    known = with_identities(base.settings, also_stored(accounts, before))
    live = Live(rules_of(known, gate), named.now, place_in(accounts, rooms.of))
    invites.gate = live.gate
    triggers = TriggerWatch(book=base.store.triggers, take=live.waits_for, rung=base.notifier.listen(TRIGGERS))
    reload = _reload(base, accounts, live, gate, before, triggers)
    return AccountsPhase(
        accounts=accounts,
        lookup=RoomLookup(accounts, before, None if base.settings.database_file else base.store.cluster),
        named=named,
        rooms=rooms,
        called=calling(named, rooms.of),
        live=live,
        reload=reload,
        triggers=triggers,
        ratings=ratings,
        links=links,
        auth=auth,
        page=page.authenticator,
        is_destination=is_destination,
    )


def also_stored(accounts: Accounts[AccountSupervisor], before: Sequence[Known]) -> Accounts[Account]:
    """Accounts here, and behind them those that the store knows: settings may name one that another node serves."""
    return Accounts([*accounts, *accounts_of(before)])


def _trouble_at(accounts: Accounts[AccountSupervisor], address: Address) -> str | None:
    """Trouble with the account of an address."""
    found = accounts.at(address)
    return found.standing().trouble if found else None


def _auth(base: StorePhase, web_identity: str, rights: Callable[[], Rights]) -> tuple[Links, AuthLayer]:
    """Links, and the second layer of sign-in; nothing of it is imported where none is set."""
    links: Links = base.store.people
    auth, confirmations = NO_AUTH, Confirmations()
    if base.settings.auth.is_on:
        from bot.auth.parts import layer_of

        links, auth = layer_of(base.settings, base.store, base.new_id, web_identity, rights, confirmations.opened)
    page = replace(auth.page, opened=confirmations.opened)
    return links, replace(auth, page=page, confirmations=confirmations)


def _context(
    base: StorePhase, web_identity: str, rights: Callable[[], Rights], ratings: Ratings, invites: Invites
) -> tuple[AdapterContext, Links, AuthLayer]:
    """Context that every adapter is given, with the links and the second layer of sign-in in it."""
    links, auth = _auth(base, web_identity, rights)
    forms, asked = Forms(base.store, rights), _asked(base, rights, invites)
    return replace(base.context(forms.open, ratings), links=links, **asked), links, auth


def _asked(base: StorePhase, rights: Callable[[], Rights], invites: Invites) -> dict[str, Any]:
    """Answers about one person: the questions that wait for them, and whether they may invite the agent."""
    waiting, closed = partial(_waiting, base, rights), partial(_closed, base, rights)
    return {"inbox": waiting, "closed": closed, "may_invite": invites}


async def _waiting(base: StorePhase, rights: Callable[[], Rights], who: Identity) -> Sequence[Waiting]:
    """Questions that wait for somebody, as the rules of now say."""
    now = base.store.now()
    found = await base.store.approvals.inbox(who, rights())
    return [inbox.waiting(one, now) for one in found]


async def _closed(
    base: StorePhase, rights: Callable[[], Rights], who: Identity, questions: Sequence[ApprovalId]
) -> Sequence[Closed]:
    """Questions that waited for somebody and no longer do."""
    return [inbox.closed(one) for one in await base.store.approvals.closed(who, questions, rights())]


def _page(
    base: StorePhase,
    context: AdapterContext,
    auth: AuthLayer,
    identity: str,
    is_named: Callable[[Address], bool],
    model: object,
) -> WebAdapter:
    web, banner = base.settings.web, base.settings.warning
    ideas, notice = getattr(model, "ideas", IDEAS), getattr(model, "notice", "")
    bounds = WebSettings(web.names, int(web.upload_mib * MIB), for_strangers(), auth.page, VERSION)
    return WebAdapter(
        bounds,
        context,
        identity=identity,
        banner=banner,
        is_named=is_named,
        ideas=ideas,
        notice=notice,
        space=base.space,
    )


def _supervised(
    base: StorePhase,
    adapter: ChannelAdapter,
    note: Callable[[ChannelAdapter], Coroutine[Any, Any, None]],
    twin_of: Callable[[ChannelAdapter], str | None],
    before: Sequence[Known],
) -> AccountSupervisor:
    place, earlier = base.membership, accounts_of(before).called(adapter.channel, adapter.account)
    return AccountSupervisor(
        adapter,
        take=place.take,
        vacancy=place.vacancy,
        lease_is_fresh=place.lease_is_fresh,
        buckets=buckets_of(base.settings, adapter),
        on_learnt=note,
        twin=twin_of,
        earlier=earlier.identity if earlier else "",
    )


def _reload(
    base: StorePhase,
    accounts: Accounts[AccountSupervisor],
    live: Live,
    gate: MakeGate,
    before: Sequence[Known],
    watch: TriggerWatch,
) -> Reload:
    store = base.store

    async def keep(settings: Settings, agents: Mapping[str, Manifest]) -> None:
        """Have the store know by what this process is about to work: budgets, the digest of its agents, and its settings."""
        if (rules := budget_rules_of(settings)) != store.budgets.rules:
            await store.budgets.begin(rules)
        if lease := base.membership.lease:
            await store.cluster.note_agents(lease, digest_of(agents), fingerprint(settings))

    planned = FileSchedules(book=store.schedules, now=store.now, accounts=accounts, before=before)
    triggers = FileTriggers(book=store.triggers, accounts=accounts, before=before, looked=watch.look)

    async def sync(settings: Settings) -> Synced:
        """All of the settings that stands in the store."""
        both = await planned.sync(settings), await triggers.sync(settings)
        return Synced(*(tuple(chain.from_iterable(words)) for words in zip(*map(astuple, both), strict=True)))

    return Reload(
        settings=base.settings,
        live=live,
        people=store.people,
        registry=store.cluster,
        set_level=set_level,
        gate=gate,
        accounts=also_stored(accounts, before),
        schedules=sync,
        kept=keep,
    )
