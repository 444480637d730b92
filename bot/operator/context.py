"""Context of the operators' API and console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.web.rooms import IsNamed, nothing_named
from adapters.web.transfer import FileTransfer
from bot.accounts.naming import Named, calling
from bot.accounts.status import State
from bot.auth.layer import NO_AUTH, AuthLayer
from bot.operator.lookups.finding import Finder
from bot.operator.reports import ReportOperations
from bot.operator.schedules import ScheduleOperations
from bot.operator.settings.live import LiveSettings
from bot.operator.system.health_parts import HealthParts
from bot.operator.views import View
from bot.wiring.models.catalogue import ListedModel
from runtime.agent.previews import Previews
from runtime.audit.published import SignedEnds
from runtime.contract import Address, Links, NewId, Notifier, Now, Progress, RunId, Sink, Tool
from runtime.domain.approvals import Rights
from runtime.domain.goals.contract import GoalBounds
from runtime.domain.workflows.asking import Flows
from runtime.forgetting.forgetter import Forgetter
from runtime.guard.door import OPEN_DOOR, Door
from runtime.http.errors import Refusal
from runtime.intake.room_names import RoomNames
from runtime.policy.grants import form_of
from runtime.skills.ready import Shelved
from runtime.store.protocol import Claim, Granted
from runtime.store.store import Store
from runtime.text.words import marked
from runtime.vectors.near import NearRows
from runtime.workspace.workspaces import WorkspaceFolders

if TYPE_CHECKING:
    from bot.operator.work.skills import Look
    from bot.wiring.events.pushes import PushWay

Overhears = Callable[[Claim, Progress], None]
"""Told of live progress of every run of this process."""
Reloading = Callable[[str], Awaitable[View]]
"""Reads the settings again on behalf of whoever is named. Errors: ConfigError, StoreError."""


def no_folders(agent: str) -> WorkspaceFolders:
    """Refuse where there are no settings."""
    raise Refusal(409, marked("There are no workspaces here."))


def unwritten(name: str, identities: Sequence[str]) -> Sequence[str]:
    """Answer where there are no settings."""
    return ()


async def nothing_runs(by: str) -> View:
    """Refuse where no process runs."""
    raise Refusal(
        409, marked("No Signalbox runs with this data_dir. The next start reads the settings: `signalbox run`.")
    )


async def nothing_lost() -> Path | None:
    """Answer where no process runs: there is nothing that only it has."""
    return None


async def no_skills() -> Mapping[tuple[str, str], Shelved]:
    """Answer where there are no settings."""
    return {}


def kept_nowhere(address: Address, path: str, data: bytes) -> None:
    """Refuse where no process runs."""
    raise Refusal(409, marked("Only a running Signalbox takes files: `signalbox run`."))


def unheard(_: Overhears) -> None:
    """Nothing is said where no process runs."""


def no_push_way() -> PushWay:
    """Refuse where no process runs."""
    raise Refusal(409, marked("Only a running Signalbox sends push notifications: `signalbox run`."))


def no_files() -> FileTransfer:
    """Refuse where no process runs."""
    raise Refusal(409, marked("Only a running Signalbox has files of rooms: `signalbox run`."))


@dataclass(frozen=True, slots=True)
class OperatorContext:
    """`web_account` is the web channel's identity; whoever shows `control_token` acts as the owner.

    `nudge` wakes the courier of a room, and `stop` ends a run at work. `ends` knows what is signed of the audit chain. `save` copies a
    lost database. `states` tells how each account stands. `info` is shown on the overview, as name and value: version,
    model, database, guardrails, banner. `mask` hides secrets in what people wrote and tools answered.
    `named` writes an address as settings do; `rooms` knows what people call them.
    `public_url` begins links that people get; empty where whoever asks knows it better. `command` is how this
    program is called on its machine, and `settings_file` where its settings stand. `written` tells where the
    settings name a person, or one of the identities as an owner, and `rights` what they say of approvers.
    `reports` has reports made, `schedules` has what is planned. `tools` are those of this process, and `previews` make requests to
    models as it would; None where none runs. `models`, `agents` and `workflows` are those of the settings. `guarded` tells how much the leak guard
    found in this process, empty where none runs, and `intercepted` the same of interceptors; `feedback_readers` are the people who read feedback, by identity or name, empty for operators and owners; `decides_over_mcp` is true where the settings let tokens answer approvals there; `door` is the guard with all values that are held here; `scan_door`
    looks at stored rows as the settings say, whatever a flag of this process does. `meaning` searches by meaning, where a process
    runs, and `skills` looks at the folders of skills. `forgetter` goes on with people who are being forgotten, and `overhear` names who is told of live progress. `keep` writes a file of a room's
    workspace, whole, and `files` takes, lists and sends them. `logins` names the sign-ins of the settings. `folders` are the
    workspaces of an agent, and `goals` the bounds of goals. `push_way` is how programs are told of
    their tasks, and `auth` the layer behind our own links and tokens. `is_named` tells rooms to which the settings send something. `health` is what tells how this process is.
    `live_settings` are the settings as they are shown and changed; None where there are none.
    `message_link` is the address of a message on the web by its platform's id, empty where there is none.
    """

    store: Store
    sink: Sink
    links: Links
    notifier: Notifier
    web_account: str
    now: Now
    new_id: NewId
    control_token: str = field(repr=False)
    named: Named = str
    rooms: RoomNames | None = None
    mask: Callable[[str], str] = str
    meaning: NearRows | None = None
    nudge: Callable[[Address], None] = lambda _: None
    stop: Callable[[RunId], object] = lambda _: None
    ends: SignedEnds | None = None
    reload: Reloading = nothing_runs
    save: Callable[[], Awaitable[Path | None]] = nothing_lost
    states: Callable[[], Sequence[State]] = tuple
    public_url: str = ""
    command: str = "signalbox"
    settings_file: Path | None = None
    written: Callable[[str, Sequence[str]], Sequence[str]] = unwritten
    rights: Callable[[], Rights] = Rights
    info: Mapping[str, str] = field(default_factory=dict)
    guarded: Callable[[], str] = str
    intercepted: Callable[[], str] = str
    reports: ReportOperations | None = None
    schedules: ScheduleOperations | None = None
    tools: Callable[[], Mapping[str, Tool] | None] = lambda: None
    previews: Previews | None = None
    models: Callable[[], Sequence[ListedModel]] = tuple
    agents: Callable[[], Sequence[View]] = tuple
    workflows: Callable[[], Flows] = dict
    folders: Callable[[str], WorkspaceFolders] = no_folders
    goals: Callable[[], GoalBounds] = GoalBounds
    door: Callable[[], Door] = lambda: OPEN_DOOR
    scan_door: Callable[[], Door] = lambda: OPEN_DOOR
    skills: Look = no_skills
    feedback_readers: Callable[[], Sequence[str]] = tuple
    decides_over_mcp: Callable[[], bool] = bool
    keep: Callable[[Address, str, bytes], None] = kept_nowhere
    files: Callable[[], FileTransfer] = no_files
    forgetter: Forgetter | None = None
    overhear: Callable[[Overhears], None] = unheard
    logins: Callable[[], Sequence[str]] = tuple
    push_way: Callable[[], PushWay] = no_push_way
    auth: AuthLayer = NO_AUTH
    is_named: IsNamed = nothing_named
    live_settings: LiveSettings | None = None
    message_link: Callable[[Address, str], str] = lambda address, message: ""
    health: HealthParts = field(default_factory=HealthParts)

    def effect_of(self, given: Granted) -> str:
        """A word for what a grant does now. Where no process runs, nobody knows which tools there are."""
        grant, tools, now = given.grant, self.tools(), self.now()
        if grant.revoked_at is not None:
            return "revoked"
        if grant.uses_left == 0:
            return "used up"
        if now >= grant.until:
            return "expired"
        tool = None if tools is None else tools.get(grant.tool)
        is_as_granted = tools is None or (tool is not None and form_of(tool.spec, tool.caution()) == grant.form)
        return "active" if is_as_granted and given.giver else "no effect"

    @property
    def called(self) -> Named:
        """Rooms as people call them."""
        return calling(self.named, self.rooms.of) if self.rooms else self.named

    @property
    def finder(self) -> Finder:
        return Finder(self.store, self.rooms, self.named, self.called, self.web_account)

    async def refresh(self) -> None:
        """Read the names that other processes heard."""
        if self.rooms is not None:
            await self.rooms.refresh()
