"""Parts made of settings, which know nothing of settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.accounts.naming import Accounts
from bot.accounts.supervisor import AccountSupervisor
from bot.settings.settings import Settings
from bot.wiring.models.made import window_of
from bot.wiring.safety.forgetting import uploads_ledger
from runtime.agent.guard import GuardLimits
from runtime.agent.outcome import LongForm, LongText
from runtime.agent.registry import Limits
from runtime.context.resting import Rest, Restore
from runtime.contract import Address, Features, Fetch, NewId, Space, Transcriber
from runtime.delivery.retry_policy import RetryPolicy, Unknown
from runtime.domain.agents.manifest import MAIN
from runtime.intake.downloads import Fetching, FileBounds, FilesOf, Senders
from runtime.store.store import POSTGRES, Store
from runtime.workspace.disk_space import DiskBounds, DiskSpace
from runtime.workspace.lent import Lending
from runtime.workspace.workspaces import WorkspaceFolders
from tools.sandbox.shell import ShellSettings
from tools.transcribe import CommandTranscriber

if TYPE_CHECKING:
    from runtime.store.sql.notices import Notices

MIB: Final = 1 << 20


def limits_of(settings: Settings) -> Limits:
    """Bounds of the main agent's runs."""
    run, guard = settings.run, settings.run.guard
    return Limits(
        run.max_iterations,
        settings.approvals.expires,
        window=window_of(settings),
        guard=GuardLimits(guard.warn, guard.refuse, guard.outcome, guard.breaker),
        rest=Rest(settings.sessions.rest, Restore(settings.sessions.restore)),
        hand_overs=run.hand_overs,
    )


def space_of(settings: Settings) -> DiskSpace:
    files = settings.files
    bounds = DiskBounds(files.room_mib * MIB, files.person_mib * MIB, files.free_mib * MIB)
    return DiskSpace(bounds, uploads_ledger(settings))


def fetching_of(
    settings: Settings,
    files_of: FilesOf,
    senders: Senders,
    new_id: NewId,
    space: Space,
    shared: WorkspaceFolders,
    transcriber: Transcriber | None,
) -> Fetching:
    sessions = settings.sessions
    bounds = FileBounds(
        int(sessions.file_mib * MIB), int(sessions.message_files_mib * MIB), timedelta(seconds=sessions.file_seconds)
    )
    return Fetching(
        files_of=files_of,
        senders=senders,
        new_id=new_id,
        bounds=bounds,
        transcriber=transcriber,
        space=space,
        shared=shared,
    )


def transcriber_of(settings: Settings) -> Transcriber | None:
    """The program of the operator's choice; None where there is none."""
    transcribe = settings.tools.transcribe
    if not transcribe.command:
        return None
    return CommandTranscriber(transcribe.command, timeout=transcribe.timeout, uid=shell_of(settings).uid)


def long_replies_of(settings: Settings, workspaces: WorkspaceFolders, files_of: FilesOf, new_id: NewId) -> LongText:
    outbox = settings.outbox
    return LongText(workspaces, new_id, files_of, LongForm(outbox.long_replies), outbox.long_reply_characters)


def links_in(accounts: Accounts[AccountSupervisor]) -> Callable[[Address, str], str]:
    """The address of a message on the web, where the account of its room knows it."""

    def link(address: Address, message: str) -> str:
        found = accounts.at(address)
        made = found.features().link if found else None
        return made(address, message) if made else ""

    return link


def marks_in(accounts: Accounts[AccountSupervisor]) -> Callable[[Address], str]:
    """The mark before a command in a room."""

    def mark(address: Address) -> str:
        found = accounts.at(address)
        return (found.features() if found else Features()).command_mark

    return mark


def files_in(accounts: Accounts[AccountSupervisor]) -> FilesOf:
    """Finds the account of an address, if it carries files."""

    def files_of(address: Address) -> Fetch | None:
        found = accounts.at(address)
        return found.features().fetch if found else None

    return files_of


def shell_of(settings: Settings) -> ShellSettings:
    shell = settings.tools.shell
    return ShellSettings(
        sandbox=shell.sandbox,
        uid=shell.uid or ShellSettings().uid,
        memory_mib=shell.memory_mib,
        processes=shell.processes,
        file_mib=shell.file_mib,
        cpu_seconds=shell.cpu_seconds,
        timeout_seconds=shell.timeout_seconds,
    )


def workspaces_of(settings: Settings, agent: str = MAIN) -> WorkspaceFolders:
    """Folders of conversations, or those below `files.lent` that stand in place of one; never where Signalbox keeps its own."""
    own = [("our data", settings.data_dir), ("the files of conversations", settings.workspace_dir)]
    if settings.file:
        own.append(("our settings", settings.file))
    lending = Lending(settings.files.lendable, own)
    return WorkspaceFolders(settings.workspace_dir, agent, uid=shell_of(settings).uid, lending=lending)


def pace_of(settings: Settings) -> RetryPolicy:
    outbox = settings.outbox
    return RetryPolicy(
        unknown=Unknown(outbox.unknown),
        settle_first=outbox.settle_first,
        settle_second=outbox.settle_second,
        backoff_first=outbox.backoff_first,
        backoff_most=outbox.backoff_most,
        send_timeout=outbox.send_timeout,
    )


def notices_of(settings: Settings, store: Store) -> Notices | None:
    """The way to other nodes; None with an embedded database, which has one process."""
    if not settings.database_url.startswith(POSTGRES):
        return None
    from runtime.store.sql.notices import Notices

    async def newest() -> object:
        """The number of facts in the audit: each lasting change adds one."""
        return (await store.audit.audit_head()).number + await store.audit.audit_unsealed()

    return Notices(url=settings.database_url, listen_url=settings.listen_url, newest=newest)
