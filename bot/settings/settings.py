"""All settings, put together from their layers; and the one place that reads the environment.

`load` takes defaults, the file, SIGNALBOX_… variables and flags, checks everything once and reports all faults in one
ConfigError. What comes out is frozen and is handed on in slices. Secrets are SecretStr: they never show in a repr, and
`Settings.shown` masks them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, PrivateAttr, ValidationError, ValidationInfo

from bot.plugins.channels import token_forms
from bot.secrets import model_keys
from bot.secrets.account_keys import usual_variables
from bot.secrets.chain import Chain, members
from bot.secrets.folder import Folder
from bot.secrets.keys import KEY_FILE, Ask, Keyring
from bot.secrets.keys import VARIABLE as PASSPHRASE_VARIABLE
from bot.settings.accounts import AnyAccount
from bot.settings.agents.folder import AGENTS, add_agents
from bot.settings.agents.tables import AgentTable
from bot.settings.approvals import OLD_NAME, Approvals, take_old_name
from bot.settings.cross_checks import add_together
from bot.settings.events.tables import EventSinkTable, FeedbackSection
from bot.settings.faults import Faults, without_tag
from bot.settings.given.flags import NO_FLAGS, Flags, put_flags
from bot.settings.hands.folder import add_hands
from bot.settings.heartbeats import HeartbeatTable
from bot.settings.hooks import HookTable
from bot.settings.knowledge.packs import KnowledgeTable
from bot.settings.mcp import McpTable, handed_on
from bot.settings.memory import MemorySection
from bot.settings.models.aliases import key_names
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
    add_reused,
    masked,
    resolve,
    twins_in_lists,
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
    Layers,
    config_folder,
    find_file,
    names_of,
    parsed,
    read_file,
    read_variables,
    source_of,
)
from bot.settings.telemetry import find_collector
from bot.settings.tools.databases import DatabaseTable
from bot.settings.tools.folder import add_tools_folder
from bot.settings.tools.git import GitTable
from bot.settings.triggers.tables import TriggerTable
from bot.settings.workflows.folder import add_workflows
from bot.settings.workflows.goals import GoalsSection
from bot.settings.workflows.tables import WorkflowTable
from runtime.errors import ConfigError
from runtime.models.litellm_loading import VARIABLES as LITELLM_VARIABLES
from runtime.settings.accounts import TOKENS
from runtime.settings.types import Place, Section, beside_file
from runtime.text.words import marked

PREFIX: Final = "SIGNALBOX_"
DEMO: Final = marked(
    "This is the demo model: it understands a few phrases and needs no key. Set model.name, for example "
    '"openai/gpt-4o-mini", to talk to a real one.'
)


SECRET_NAME: Final = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|PASSWD|CREDENTIALS?)\Z", re.IGNORECASE)
"""Names of variables that hold a secret, whoever reads them."""


def _is_plain(value: str) -> bool:
    """True for what is no secret, such as a path or a switch."""
    return value.startswith(("/", "./", "~")) or value.isalpha()


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
    def _of_demo(self) -> str:
        if not self.model.is_demo:
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


def load(
    file: Path | None = None,
    overrides: Mapping[str, object] | Flags | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    demand: Demand = None,
    ask: Ask | None = None,
) -> Settings:
    """The settings of this process: defaults, then the file, then variables, then flags (or dotted names with values).

    `demand` names the secrets that must be at hand: all, or for a client of the running process none; `with_secrets`
    gets them later. `ask` asks the person at the terminal for the passphrase of a sealed file.
    Shape:  without `file`, `signalbox.toml` of the working folder (`folder`), then of the user's config folder, if any.
    Errors: ConfigError with one line for each fault of all layers.
    """
    return _reading(file, overrides, environ, folder, ask).settings(demand)


def load_usable(
    file: Path | None = None,
    flags: Flags = NO_FLAGS,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    ask: Ask | None = None,
) -> tuple[Settings, ConfigError | None]:
    """As `load`, but what is wrong is left out and told beside the rest: for whoever looks at what is broken."""
    return _reading(file, flags, environ, folder, ask).usable()


def add_variables(path: Path) -> str:
    """Take variables from a file; those that are set already stay. A warning for whoever starts us, or nothing.

    Errors: ConfigError names the file, and the line of each fault.
    """
    from bot.settings.given.env_file import read_env_file

    found = read_env_file(path)
    for name, value in found.variables.items():
        if not os.environ.get(name):
            os.environ[name] = value
    return found.warning


def environment() -> Mapping[str, str]:
    """The variables of this process, for those who set it up and have no settings yet."""
    _prepare_litellm()
    return os.environ


def keyring_of(variables: Mapping[str, str], passphrase_file: Path | None, ask: Ask | None) -> Keyring:
    """Keyring for sealed files."""
    config = config_folder(variables)
    return Keyring(
        variable=variables.get(PASSPHRASE_VARIABLE, ""),
        file=passphrase_file,
        key_file=config / KEY_FILE if config else None,
        ask=ask,
    )


def _reading(
    file: Path | None,
    overrides: Mapping[str, object] | Flags | None,
    environ: Mapping[str, str] | None,
    folder: Path | None,
    ask: Ask | None,
) -> _Reading:
    _prepare_litellm()
    variables, folder = os.environ if environ is None else environ, folder or Path.cwd()
    flags = overrides if isinstance(overrides, Flags) else Flags(overrides or {})
    return _Reading(file or find_file(folder, variables), flags, variables, folder, ask)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The layers of one process, which can be read again with more secrets in demand."""

    file: Path | None
    flags: Flags
    variables: Mapping[str, str]
    folder: Path
    ask: Ask | None
    more: tuple[tuple[str, Mapping[str, object]], ...] = ()
    """Agents that are tried out, each with the file that it would have."""
    text: str | None = None
    """What the file is to say, where that is tried out."""

    def settings(self, demand: Demand) -> Settings:
        faults, layers = Faults(Settings), Layers()
        if self.file is not None:
            said = read_file(self.file) if self.text is None else parsed(self.file, self.text)
            layers.add(str(self.file), said)
            add_agents(layers, faults, self._start)
            add_workflows(layers, faults, self._start)
            add_hands(layers, faults, self._start)
            for source, table in self.more:
                layers.add_table(AGENTS, table, source=source)
        chain = self._fill(layers, faults, demand)
        try:
            settings = self._validated(layers, chain)
        except ValidationError as error:
            faults.add_invalid(error, layers)
            raise faults.error() from None
        if demand is None:
            add_reused(uses(settings, layers.sources), chain, faults)
        if faults:
            raise faults.error()
        settings._again = None if demand is None else self.settings
        settings._reread, settings._with_agent, settings._with_text = self.reread, self.with_agent, self.with_text
        return settings

    def reread(self) -> Settings:
        file = self.file or find_file(self.folder, self.variables)
        return replace(self, file=file, ask=None).settings(())

    def with_agent(self, source: str, table: Mapping[str, object]) -> Settings:
        return replace(self, more=((source, table),)).reread()

    def with_text(self, text: str) -> Settings:
        file = self.file or find_file(self.folder, self.variables) or self.folder / SETTINGS_FILE
        return replace(self, file=file, text=text).reread()

    def usable(self) -> tuple[Settings, ConfigError | None]:
        faults, layers = Faults(Settings), Layers()
        try:
            if self.file is not None:
                layers.add(str(self.file), read_file(self.file))
        except ConfigError as error:
            faults.add_sentence(str(error))
        if self.file is not None:
            add_agents(layers, faults, self._start)
            add_workflows(layers, faults, self._start)
            add_hands(layers, faults, self._start)
        chain = self._fill(layers, faults, None)
        settings = self._without_what_is_wrong(layers, chain, faults)
        add_reused(uses(settings, layers.sources), chain, faults)
        return settings, faults.error() if faults else None

    def _fill(self, layers: Layers, faults: Faults, demand: Demand) -> Chain:
        """Add variables, flags and secrets to what the file says."""

        def others() -> list[str]:
            return [PASSPHRASE_VARIABLE, *self._named(layers)]

        read_variables(Settings, self.variables, PREFIX, layers, faults, others=others)
        put_flags(layers, self.flags)
        chain = self._chain(layers)
        resolve(Settings, layers, self.variables, chain, faults, demand, only=self.flags.only)
        take_old_name(layers, faults)
        add_tools_folder(layers, self._start)
        add_together(layers, faults)
        find_collector(layers, self.variables)
        return chain

    def _named(self, layers: Layers) -> list[str]:
        """Variables that hold a secret because a setting says so: they may begin as settings do, and are none."""
        names = [*names_of(Settings), *(f"{name}_env" for name in twins_in_lists(layers))]
        twins = (layers.get(name) for name in names if name.endswith("_env"))
        others = (value for name, value in self.variables.items() if name.startswith(PREFIX) and name.endswith("_ENV"))
        handed = (variable for _, variable in handed_on(layers))
        several = (
            name for place in ("model", *(p for p, _ in layers.tables("models"))) for name in key_names(layers, place)
        )
        return [name for name in (*twins, *others, *handed, *several) if isinstance(name, str) and name]

    def _without_what_is_wrong(self, layers: Layers, chain: Chain, faults: Faults) -> Settings:
        first = True
        while True:
            try:
                return self._validated(layers, chain)
            except ValidationError as error:
                if first:  # later ones only follow from what was left out
                    faults.add_invalid(error, layers)
                first = False
                if not layers.drop(without_tag(detail["loc"]) for detail in error.errors()):
                    layers.values.clear()  # the defaults have no fault

    def _validated(self, layers: Layers, chain: Chain) -> Settings:
        settings = Settings.model_validate(layers.values, context={"folder": self._start, TOKENS: token_forms()})
        settings._file = self.file.absolute() if self.file else None
        settings._place = (self.file or self.folder / SETTINGS_FILE).absolute()
        settings._sources = dict(layers.sources)
        settings._unused_key = model_keys.any_present(self.variables)
        handed = (name for table in settings.skills.named.values() for name in table.secrets)
        settings._held = [value for name in (*model_keys.ALL_KEYS, *handed) if (value := self.variables.get(name))]
        settings._secret_variables = [
            (name, value) for name, value in self.variables.items() if SECRET_NAME.search(name) and not _is_plain(value)
        ]
        settings._chain, settings._flags = chain, self.flags
        return settings

    def _chain(self, layers: Layers) -> Chain:
        config = config_folder(self.variables)
        keyring = keyring_of(self.variables, self._path(layers.get("secrets.passphrase_file")), self.ask)
        data_dir = self._path(layers.get("data_dir") or Settings.model_fields["data_dir"].default)
        files = members(self._path(layers.get("secrets.file")), data_dir, config)
        handed = self._path(layers.get("secrets.folder"))
        return Chain(self.variables, files, keyring, folder=Folder(handed) if handed else None)

    def _path(self, given: object) -> Path | None:
        """A path of the settings before they are checked; None when it is none."""
        return (self._start / Path(given).expanduser()).absolute() if isinstance(given, str | Path) else None

    @property
    def _start(self) -> Path:
        """Folder at which relative paths start."""
        return self.file.absolute().parent if self.file else self.folder


def _prepare_litellm() -> None:
    """LiteLLM reads these when it is imported or called: see `runtime.models.litellm_loading`."""
    for name in LITELLM_VARIABLES:
        os.environ.setdefault(name, "True")


__all__ = [
    "Access",
    "Files",
    "Log",
    "Metrics",
    "Model",
    "Nodes",
    "Operators",
    "Outbox",
    "Planning",
    "PolicyRule",
    "Retention",
    "Run",
    "Secrets",
    "Sessions",
    "Settings",
    "Telemetry",
    "Tools",
    "Web",
    "load",
    "load_usable",
]
