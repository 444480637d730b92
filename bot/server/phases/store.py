"""First phase: the open store, and what needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bot.server.instruments import Instruments
from bot.settings.settings import Settings
from bot.wiring.engine import notices_of, space_of, workspaces_of
from bot.wiring.logins.parts import tokens_of
from runtime.audit.anchor import HeadFile
from runtime.audit.published import SignedEnds
from runtime.cluster.cooldowns import SharedCooldowns
from runtime.cluster.node import Membership
from runtime.cluster.notifier import LocalNotifier, SharedNotifier
from runtime.contract import AdapterContext, NewId, OpenForm, Probe, Rated, no_form, unrated
from runtime.store.store import Store
from runtime.workspace.disk_space import DiskSpace
from runtime.workspace.workspaces import WorkspaceFolders

if TYPE_CHECKING:
    from bot.wiring.logins.tokens import LoginTokens
    from runtime.store.sql.notices import Notices


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePhase:
    """Base on which every later part is built. `notices` carries wake-ups between nodes; an embedded database has none.
    `tokens` are those of sign-ins."""

    settings: Settings
    store: Store
    instruments: Instruments
    probe: Probe
    new_id: NewId
    notices: Notices | None
    notifier: LocalNotifier
    membership: Membership
    cooldowns: SharedCooldowns
    workspaces: WorkspaceFolders
    space: DiskSpace
    tokens: Mapping[str, LoginTokens]

    def context(self, forms: OpenForm = no_form, rated: Rated = unrated) -> AdapterContext:
        """Context that every adapter is given."""
        store = self.store
        return AdapterContext(
            store.history,
            store.people,
            self.workspaces,
            store.places,
            self.notifier,
            store.now,
            self.new_id,
            siblings=store.cluster.has_siblings,
            forms=forms,
            rated=rated,
            own_marks=store.feedback.own_marks,
        )

    def clock_offset(self) -> timedelta | None:
        """Time by which the clock of this machine is ahead of the database's; None for an embedded one, which has no other."""
        return None if self.settings.database_file else datetime.now(UTC) - self.store.now()

    def head(self) -> HeadFile:
        """The file that holds the end of the audit's chain."""
        return HeadFile(self.settings.data_dir, shared=self.settings.database_file is None)

    def ends(self) -> SignedEnds:
        """The signed ends of the audit, of this node and of others."""
        return SignedEnds(self.settings.data_dir, shared=self.settings.database_file is None)


def store_phase(
    settings: Settings, store: Store, instruments: Instruments, *, probe: Probe, new_id: NewId
) -> StorePhase:
    notices = notices_of(settings, store)
    notifier = SharedNotifier(notices.tell) if notices else LocalNotifier()
    return StorePhase(
        settings=settings,
        store=store,
        instruments=instruments,
        probe=probe,
        new_id=new_id,
        notices=notices,
        notifier=notifier,
        membership=Membership(notifier),
        cooldowns=SharedCooldowns(store=store.cooldowns, notifier=notifier, now=store.now),
        workspaces=workspaces_of(settings),
        space=space_of(settings),
        tokens=tokens_of(settings, store, new_id, probe),
    )
