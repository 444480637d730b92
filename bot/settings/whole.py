"""All settings as one frozen record, with what follows from several of them.

`bot.settings.settings` reads it. Secrets are SecretStr: they never show in a repr, and `Settings.shown` masks them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, PrivateAttr, ValidationInfo

from bot.secrets.account_keys import usual_variables
from bot.secrets.chain import Chain
from bot.secrets.keys import VARIABLE as PASSPHRASE_VARIABLE
from bot.secrets.keys import Keyring
from bot.settings.accounts import AnyAccount
from bot.settings.agents.tables import AgentTable
from bot.settings.approvals import OLD_NAME, Approvals
from bot.settings.events.tables import EventSinkTable, FeedbackSection
from bot.settings.given.flags import NO_FLAGS, Flags
from bot.settings.heartbeats import HeartbeatTable
from bot.settings.hooks import HookTable
from bot.settings.knowledge.packs import KnowledgeTable
from bot.settings.mcp import McpTable
from bot.settings.memory import MemorySection
from bot.settings.models.budgets import BudgetSection
from bot.settings.models.embeddings import Embeddings
from bot.settings.models.media import ImageSection, SpeechSection, TranscriptionSection
from bot.settings.models.tables import Model, ModelTable
from bot.settings.policy.rules import PolicyRule
from bot.settings.programs.peers import PeerTable
from bot.settings.programs.tables import ProgramsSection
from bot.settings.safety.auth import AuthSection
from bot.settings.safety.egress import Egress
from bot.settings.safety.guard import Guardrails, GuardRule, GuardSection
from bot.settings.safety.interceptors import InterceptorTable
from bot.settings.safety.logins import LoginTable
from bot.settings.schedules import Planning, ScheduleTable
from bot.settings.secrets import (
    ADDRESSES,
    UNRESOLVED,
    Demand,
    masked,
    uses,
    without_password,
)
from bot.settings.sections.operating import Log, Metrics, Nodes, Operators, Outbox, Retention, Telemetry
from bot.settings.sections.rooms import Access, Language, RoomTable, Sessions, Web
from bot.settings.sections.runs import Files, Run, Tools
from bot.settings.sections.secrets import Secrets
from bot.settings.sections.web_push import PushSection
from bot.settings.skills.tables import SkillsSection
from bot.settings.sources import (
    SETTINGS_FILE,
    source_of,
)
from bot.settings.tools.databases import DatabaseTable
from bot.settings.tools.git import GitTable
from bot.settings.triggers.tables import TriggerTable
from bot.settings.workflows.goals import GoalsSection
from bot.settings.workflows.tables import WorkflowTable
from runtime.domain.agents.manifest import MAIN
from runtime.settings.types import Place, Section, beside_file
from runtime.text.words import marked

DEMO: Final = marked(
    "This is the demo model: it understands a few phrases and needs no key. Set model.name, for example "
    '"openai/gpt-4o-mini", to talk to a real one.'
)


def _database(url: str, info: ValidationInfo) -> str:
    if url in ("sqlite://", "sqlite:///:memory:"):
        return "sqlite:///:memory:"
    if url.startswith("sqlite:///") and url != "sqlite:///":
        return f"sqlite:///{beside_file(Path(url.removeprefix('sqlite:///')), info)}"
    if url == UNRESOLVED or (url.startswith("postgresql://") and urlsplit(url).hostname):
        return url
    raise ValueError("sqlite:///FILE, sqlite:///:memory: or postgresql://USER:PASSWORD@HOST/NAME")


def _listening(url: str) -> str:
    if not url or (url.startswith("postgresql://") and urlsplit(url).hostname):
        return url
    raise ValueError("postgresql://USER:PASSWORD@HOST/NAME")


def _own_database(values: dict[str, Any]) -> str:
    return f"sqlite:///{values['data_dir'] / 'signalbox.db'}" if "data_dir" in values else "sqlite:///:memory:"


class Settings(Section):
    """All settings."""

    data_dir: Place = Field(
        default=Path("var"), description="Folder for the database, the workspaces and everything else that is kept."
    )
    workspace_dir: Place = Field(
        default_factory=lambda values: values.get("data_dir", Path()) / "workspaces",
        description="Folder for the files of conversations. Default: `workspaces` in `data_dir`.",
    )
    database_url: Annotated[str, AfterValidator(_database)] = Field(
        default_factory=_own_database,
        repr=False,
        description='"sqlite:///FILE" or "postgresql://USER:PASSWORD@HOST/NAME". Default: `signalbox.db` in '
        "`data_dir`.",
    )
    database_url_env: str = Field(
        default="",
        description="Name of the variable or sealed secret that holds `database_url`, where it has a password.",
    )
    database_listen_url: Annotated[str, AfterValidator(_listening)] = Field(
        default="",
        repr=False,
        description="Where processes notify each other on PostgreSQL: like `database_url`, but bypassing any pooler such as PgBouncer in transaction mode, which loses notifications. Default: `database_url`.",
    )
    database_listen_url_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `database_listen_url`."
    )
    language: Language = Field(
        default="en",
        description="The language of commands, cards and notices, and of pages for browsers that ask for no other that there is: `en` or `de`. Agents answer in whatever language people write.",
    )
    web: Web = Field(default_factory=Web, description="Web page, console and API.")
    model: Model = Field(default_factory=Model, description="The language model.")
    models: tuple[ModelTable, ...] = Field(default=(), description="More models, each with a name.")
    embeddings: Embeddings = Field(default_factory=Embeddings, description="The model that finds by meaning.")
    images: ImageSection = Field(default_factory=ImageSection, description="The model that makes pictures.")
    transcription: TranscriptionSection = Field(
        default_factory=TranscriptionSection, description="The model that writes recordings down."
    )
    speech: SpeechSection = Field(default_factory=SpeechSection, description="The model that speaks.")
    budgets: BudgetSection = Field(default_factory=BudgetSection, description="Limits on spending.")
    agents: tuple[AgentTable, ...] = Field(
        default=(), description="More agents, each with its own prompt, tools and rooms; also as files in `agents/`."
    )
    access: Access = Field(default_factory=Access, description="People.")
    auth: AuthSection = Field(default_factory=AuthSection, description="Sign-in of people at a provider.")
    accounts: tuple[AnyAccount, ...] = Field(
        default=(),
        description=f"Accounts on chat platforms, one table each. A channel without one gets an account from its usual variables: {usual_variables()}. The web page needs none.",
    )
    rooms: tuple[RoomTable, ...] = Field(default=(), description="Rules for particular rooms.")
    hooks: tuple[HookTable, ...] = Field(default=(), description="Webhooks that bring what other programs say.")
    event_sinks: tuple[EventSinkTable, ...] = Field(default=(), description="Places that are told what happens.")
    feedback: FeedbackSection = Field(default_factory=FeedbackSection, description="What people think of messages.")
    schedules: tuple[ScheduleTable, ...] = Field(default=(), description="Work by the clock.")
    workflows: tuple[WorkflowTable, ...] = Field(
        default=(), description="Work of several steps; also as files in `workflows/`."
    )
    push: PushSection = Field(default_factory=PushSection, description="Notifications in people's browsers.")
    programs: ProgramsSection = Field(default_factory=ProgramsSection, description="Programs that have tokens.")
    goals: GoalsSection = Field(default_factory=GoalsSection, description="Goals, and tasks that are done in sprints.")
    triggers: tuple[TriggerTable, ...] = Field(default=(), description="Work that begins when something happens.")
    heartbeats: tuple[HeartbeatTable, ...] = Field(
        default=(), description="Tools that are called regularly and report when their answer changes."
    )
    planning: Planning = Field(default_factory=Planning, description="Limits on what people schedule.")
    operators: Operators = Field(default_factory=Operators, description="The people who keep it running.")
    policy: tuple[PolicyRule, ...] = Field(default=(), description="Rules about tool calls.")
    guard: GuardSection = Field(
        default_factory=GuardSection, description="The leak guard: secrets and personal data in what flows."
    )
    guard_rules: tuple[GuardRule, ...] = Field(
        default=(), description="Words, phrases and patterns of your own that must not flow."
    )
    interceptors: tuple[InterceptorTable, ...] = Field(
        default=(), description="Programs and packages that look in on runs."
    )
    approvals: Approvals = Field(default_factory=Approvals, description="Questions about calls.")
    sessions: Sessions = Field(default_factory=Sessions, description="Conversations.")
    run: Run = Field(default_factory=Run, description="Agent work.")
    memory: MemorySection = Field(default_factory=MemorySection, description="What agents keep beyond a conversation.")
    tools: Tools = Field(default_factory=Tools, description="Tools.")
    mcp: tuple[McpTable, ...] = Field(default=(), description="MCP servers, whose tools the agent may call.")
    a2a: tuple[PeerTable, ...] = Field(default=(), description="Agents of other systems, which agents may ask.")
    logins: tuple[LoginTable, ...] = Field(default=(), description="Sign-ins at issuers of tokens.")
    git: tuple[GitTable, ...] = Field(default=(), description="Git servers that agents may reach.")
    knowledge: tuple[KnowledgeTable, ...] = Field(
        default=(), description="Packs of documents that agents search and cite."
    )
    skills: SkillsSection = Field(default_factory=SkillsSection, description="Instructions for particular tasks.")
    databases: tuple[DatabaseTable, ...] = Field(default=(), description="Databases that agents ask, read-only.")
    egress: Egress = Field(default_factory=Egress, description="The web.")
    files: Files = Field(default_factory=Files, description="Room on the disk.")
    outbox: Outbox = Field(default_factory=Outbox, description="Messages on their way out.")
    nodes: Nodes = Field(default_factory=Nodes, description="Processes.")
    retention: Retention = Field(default_factory=Retention, description="How long things are kept.")
    secrets: Secrets = Field(default_factory=Secrets, description="Secrets outside of variables.")
    log: Log = Field(default_factory=Log, description="Logs.")
    metrics: Metrics = Field(default_factory=Metrics, description="Metrics.")
    telemetry: Telemetry = Field(default_factory=Telemetry, description="Traces.")

    _file: Path | None = PrivateAttr(None)
    _place: Path = PrivateAttr(Path(SETTINGS_FILE))
    _sources: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _unused_key: str | None = PrivateAttr(None)
    _held: Sequence[str] = PrivateAttr(())
    _secret_variables: Sequence[tuple[str, str]] = PrivateAttr(())
    _chain: Chain = PrivateAttr(default_factory=lambda: Chain({}, [], Keyring()))
    _again: Callable[[Demand], Settings] | None = PrivateAttr(None)
    _reread: Callable[[], Settings] | None = PrivateAttr(None)
    _with_agent: Callable[[str, Mapping[str, object]], Settings] | None = PrivateAttr(None)
    _with_text: Callable[[str], Settings] | None = PrivateAttr(None)
    _guardrails: Guardrails = PrivateAttr(Guardrails.AS_SET)
    _flags: Flags = PrivateAttr(NO_FLAGS)

    @property
    def file(self) -> Path | None:
        """The settings file that was read."""
        return self._file

    @property
    def place(self) -> Path:
        """The settings file; where there is none, the one that the next start would read first."""
        return self._place

    @property
    def database_file(self) -> Path | None:
        """File of the embedded database; None in memory and on a server."""
        path = self.database_url.removeprefix("sqlite:///")
        return None if path in (":memory:", self.database_url) else Path(path)

    @property
    def old_names(self) -> tuple[str, ...]:
        """Settings given by a name that is read for one minor version more."""
        return tuple(name for name in (OLD_NAME,) if source_of(name, self._sources))

    @property
    def planned(self) -> tuple[ScheduleTable, ...]:
        """All work by the clock: schedules, and heartbeats as such."""
        return (*self.schedules, *(one.schedule() for one in self.heartbeats))

    @property
    def listen_url(self) -> str:
        """Address at which processes on one server hear each other."""
        return self.database_listen_url or self.database_url

    @property
    def banner(self) -> str | None:
        """Words for everybody who sees this process; None where there are none."""
        return " ".join(self.banners) or None

    @property
    def warning(self) -> str:
        """Words about a guard that is off; empty where it is on."""
        return self._guardrails.words or ""

    @property
    def banners(self) -> Sequence[str]:
        """Words about a guard that is off, and those of the demo model about itself."""
        return [words for words in (self._guardrails.words, self._of_demo) if words]

    @property
    def demo_answers(self) -> bool:
        """True if somebody may be answered by the demo model: no executor is in its place in every agent."""
        by_others = {one.name for one in self.agents if one.executor != "model"}
        return self.model.is_demo and by_others != {MAIN, *(one.name for one in self.agents)}

    @property
    def _of_demo(self) -> str:
        if not self.demo_answers:
            return ""
        found = f" {self._unused_key} is set but not used until then." if self._unused_key else ""
        return f"{DEMO}{found}"

    def source(self, name: str) -> str:
        """Source of the setting `name` (dotted): a file, a variable, a flag or "default"."""
        return source_of(name, self._sources) or "default"

    @property
    def chain(self) -> Chain:
        """Chain in which secrets were looked for."""
        return self._chain

    @property
    def sources(self) -> Mapping[str, str]:
        """Sources of values, by setting; those that are not in it are defaults."""
        return self._sources

    def with_sources_of(self, fresh: Settings, names: Collection[str]) -> Settings:
        """These settings, whose `names`, and all below these, are said to come from where `fresh` has them from."""

        def is_named(setting: str) -> bool:
            return any(setting == name or setting.startswith((f"{name}.", f"{name}[")) for name in names)

        made = self.model_copy()
        kept = {setting: source for setting, source in self._sources.items() if not is_named(setting)}
        made._sources = kept | {setting: source for setting, source in fresh.sources.items() if is_named(setting)}
        return made

    def secret_values(self) -> list[str]:
        """Secret values, for those who must keep them out of what they write."""
        used = [use.value for use in uses(self, self._sources)]
        return list(dict.fromkeys([*used, *self._chain.values(), *self._chain.passphrases(), *self._held]))

    def held_values(self) -> list[tuple[str, str]]:
        """Secret values by what people call them: the setting, or the variable with a name like that of a secret."""
        named = [(use.purpose, use.value) for use in uses(self, self._sources)]
        known = {value for _, value in named}
        others = [("a secret of the settings", value) for value in self.secret_values() if value not in known]
        return [*named, *others, *self._secret_variables]

    def sealed_values(self) -> list[str]:
        """Values that only a sealed file may keep, and what opens it."""
        own = [value for name, value in self._secret_variables if name == PASSPHRASE_VARIABLE]
        return [*self._chain.values(), *self._chain.passphrases(), *own]

    def with_secrets(self, *names: str) -> Settings:
        """Settings with the named secrets at hand; without names, with all. Errors: as `load`."""
        return self._again(names or None).guarded_by(self._guardrails) if self._again else self

    def reread(self) -> Settings:
        """Settings read anew from the same places, without sealed secrets. Errors: as `load`."""
        return self._reread().guarded_by(self._guardrails) if self._reread else self

    def with_agent(self, source: str, table: Mapping[str, object]) -> Settings:
        """Settings read anew with one more agent, as if `source` had it. Errors: ConfigError with every fault."""
        return self._with_agent(source, table) if self._with_agent else self

    def with_text(self, text: str) -> Settings:
        """Settings read anew as if the file said `text`. Errors: ConfigError with every fault."""
        return self._with_text(text).guarded_by(self._guardrails) if self._with_text else self

    @property
    def flags(self) -> Flags:
        """Flags of the start that made them."""
        return self._flags

    @property
    def guardrails(self) -> Guardrails:
        return self._guardrails

    def guarded_by(self, guardrails: Guardrails) -> Settings:
        """These settings in a process whose start says so; they stay so when they are read again."""
        made = self.model_copy()
        made._guardrails = guardrails
        return made

    def for_one_question(self) -> Settings:
        """Settings for a process that answers one question: any free port, no accounts, no hooks, no sinks."""
        web = self.web.model_copy(update={"host": "127.0.0.1", "port": 0})
        return self.model_copy(update={"web": web, "accounts": (), "hooks": (), "event_sinks": ()})

    def shown(self) -> dict[str, Any]:
        """All values as JSON would hold them, with secrets masked."""
        values: dict[str, Any] = masked(self.model_dump(mode="json"))
        for name in ADDRESSES:
            values[name] = without_password(getattr(self, name))
        return values
