"""Nodes, their roles, and the handover of an account's roles to another node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from runtime.contract import (
    NodeId,
)
from runtime.domain.failover import Ping
from runtime.models.choice.cooling import Failed, Rest
from runtime.policy.budgets import BudgetRules, Counter
from runtime.store.protocol.leases import UNTOLD, AboutNode, Beat, Duty, Lease


@dataclass(frozen=True, slots=True)
class Agenda:
    """Work that is due at one moment: lanes that are ready, runs to be watched since processes died under them, what
    must still be shown, facts to be sealed, roles of accounts that nobody has, another node that asks whether we reach the
    platform of an account; when the next schedule fires or is tried
    again, and when the first lease of another node ends.
    """

    lanes: bool = False
    suspects: bool = False
    deliveries: bool = False
    facts: bool = False
    roles: bool = False
    asked: bool = False
    fires_at: datetime | None = None
    lease_ends_at: datetime | None = None


class Cluster(Protocol):
    """Nodes and roles."""

    async def join(
        self, node: NodeId, label: str, ttl: timedelta, *, alone: bool, agents: str = "", about: AboutNode = UNTOLD
    ) -> Lease:
        """Register a live node. `alone` proves every earlier node dead: they are reaped at once.

        `agents` is the digest of its agents' manifests. Errors: StoreError where the database has outgrown this program.
        """

    async def note_agents(self, lease: Lease, agents: str, settings: str = "") -> None:
        """Keep the digest of agents and the settings that the node has by now. One that was declared dead keeps what it had."""

    async def beat(self, lease: Lease, ttl: timedelta, *, offset: timedelta | None = None) -> Beat | None:
        """Renew; None when this node was declared dead. `offset` is how far its machine's clock is ahead of the store's."""

    async def give_up_roles(self, lease: Lease) -> bool:
        """Give all roles back, and keep the lanes at work; False for a node that was declared dead."""

    async def reap(self, *, but: NodeId | None = None) -> int:
        """Declare nodes dead whose lease ended; their lanes are ready and their roles free. How many.

        A node spares itself (`but`): late as it is, it works on, unless another one took over.
        """

    async def leave(self, lease: Lease) -> None:
        """A clean end: lanes and roles are given back at once."""

    async def take(self, lease: Lease, role: str) -> Duty | None:
        """An exclusive role, if it is free or already ours."""

    async def account_identity(self, channel: str, name: str, fresh: str) -> str:
        """The stored identity of a channel whose platform gives none; `fresh` is stored the first time."""

    async def note_account(self, channel: str, name: str, identity: str) -> None:
        """Keep which identity the platform gave to the account that the settings call `name`."""

    async def named_accounts(self) -> list[tuple[str, str, str]]:
        """Channel, identity and name of each account that was ever at work, by the name of its last time."""

    async def served_accounts(self) -> list[tuple[str, str]]:
        """Channel and identity of each account whose courier some node has at this moment."""

    async def shift(self, by: timedelta, unseen: timedelta = timedelta()) -> None:
        """The clock was set by so much: move with it what waits for its time, once, whoever notices.

        `unseen` is how long the one who noticed had not looked at the clock: frozen, or cut off, it may come long after
        others did the same. It needs no lease for it: of a jump tells whoever saw the clock before and after it.
        """

    async def last_written(self) -> datetime | None:
        """Time of the newest fact of the audit, in UTC by the clock of its writer; None for an empty audit."""

    async def live_nodes(self) -> list[str]:
        """Host and process of each live node, such as "alpha/4711"."""

    async def note_fact(self, kind: str, by: str, subject: str, detail: str) -> None:
        """A fact for the audit that no other transaction tells of: somebody changed how this process works."""


class Budgeting(Protocol):
    """Counters of budgets."""

    @property
    def rules(self) -> BudgetRules:
        """Budgets as they are set."""

    def obey(self, rules: BudgetRules) -> None:
        """Take `rules` for those that hold, and leave the counters as they are: for a process that makes no calls."""

    async def begin(self, rules: BudgetRules) -> None:
        """Obey `rules` from now on: all transactions of this process do."""

    async def counters(self) -> list[Counter]:
        """Every counter as it is now."""

    async def alarms(self) -> list[Counter]:
        """Counters that are nearly spent, or spent."""

    async def without_price(self) -> list[str]:
        """Models that were called today and whose price nobody knows."""


class Cooling(Protocol):
    """Models that rest after failures."""

    async def resting(self) -> list[Rest]:
        """All of them, by name."""

    async def failed(self, failed: Failed) -> Rest:
        """One more failure: the rest that follows."""

    async def clear(self, model: str, by: str = "") -> bool:
        """End a rest: the model answered, or a person (`by`) says so. False if there was none."""

    async def probe(self, model: str) -> bool:
        """True for the first that asks once a rest is over; others are told to wait for what comes of it."""


class Failover(Protocol):
    """An account is `telegram:1001`: its channel and its identity there."""

    async def ping(self, lease: Lease, account: str, *, answered_at: datetime | None, asks: bool) -> list[Ping]:
        """Tell how our way stands, and whether the others are asked to try theirs; what other live nodes told."""

    async def asked(self, but: NodeId) -> list[str]:
        """Accounts for which other nodes than `but` ask."""

    async def hand_over(self, lease: Lease, account: str, roles: Sequence[str], to: NodeId) -> bool:
        """Give the `roles` that are ours to a live node; False when it is none, or we are none: nothing has changed."""
