"""All settings: their names, types, defaults and meaning; and the one place that reads the environment.

`load` puts the layers together (defaults, file, SIGNALBOX_… variables, flags), checks everything once and reports all
faults in one ConfigError. What comes out is frozen and is handed on in slices. Secrets are SecretStr: they never show
in a repr, and `Settings.shown` masks them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    Strict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
)

from bot import model_keys
from bot.settings_faults import MASK, Faults, is_secret
from bot.settings_sources import Layers, find_file, read_file, read_variables
from runtime.contract import Busy, Effect
from runtime.errors import ConfigError

PREFIX: Final = "SIGNALBOX_"
DEMO: Final = "demo"
PROMPTS: Final = Path(__file__).parents[1] / "config" / "prompts"


def _beside_file(path: Path, info: ValidationInfo) -> Path:
    """Relative paths start at the folder of the settings file, or at the working folder without one."""
    folder: Path = (info.context or {}).get("folder", Path())
    return (folder / path.expanduser()).absolute()


def _readable(path: Path) -> Path:
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"a readable text file; {path} is not ({error})") from None
    return path


def _given(value: object) -> object:
    """An empty secret is no secret: deployments often set a variable to nothing."""
    return None if value == "" else value


def _database(url: str, info: ValidationInfo) -> str:
    if url in ("sqlite://", "sqlite:///:memory:"):
        return "sqlite:///:memory:"
    if url.startswith("sqlite:///") and url != "sqlite:///":
        return f"sqlite:///{_beside_file(Path(url.removeprefix('sqlite:///')), info)}"
    if url.startswith("postgresql://") and urlsplit(url).hostname:
        return url
    raise ValueError("sqlite:///FILE, sqlite:///:memory: or postgresql://USER:PASSWORD@HOST/NAME")


def _own_database(values: dict[str, Any]) -> str:
    return f"sqlite:///{values['data_dir'] / 'signalbox.db'}" if "data_dir" in values else "sqlite:///:memory:"


def _later(value: object) -> object:
    if value:
        raise ValueError("nothing: this comes with a later release, take it out")
    return value


def _no_accounts(value: object) -> object:
    if value:
        raise ValueError("nothing: web is the only channel of this release, and it needs no account")
    return value


Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Switch = Annotated[bool, Strict()]
Text = Annotated[str, StringConstraints(min_length=1)]
Place = Annotated[Path, AfterValidator(_beside_file)]
TextFile = Annotated[Path, AfterValidator(_beside_file), AfterValidator(_readable)]
Secret = Annotated[SecretStr | None, BeforeValidator(_given)]
IdentityName = Annotated[str, StringConstraints(pattern=r"^[a-z]+:\S+$")]


class Section(BaseModel):
    """A table of the settings file."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, hide_input_in_errors=True)


class Web(Section):
    """The web page, console, API and health checks."""

    host: Text = Field(default="127.0.0.1", description="Address to listen on. The default is this machine alone.")
    port: Whole = Field(
        default=8080, ge=0, le=65535, description="Port to listen on; 0 picks a free one and prints it."
    )
    token: Secret = Field(
        default=None, description="The owner's token in the link. Without one it is made, and printed once as a link."
    )
    token_env: str = Field(default="", description="Name of the variable that holds `token`.")
    hosts: tuple[Text, ...] = Field(
        default=(), description='Further names under which browsers reach the page, such as "bot.example.org".'
    )
    upload_mib: Number = Field(default=20, gt=0, le=2048, description="Largest file a person may upload, in MiB.")


class Model(Section):
    """The language model."""

    name: Text = Field(
        default=DEMO,
        description='"demo" (built in, needs nothing) or any LiteLLM name: "openai/…", "anthropic/…", "ollama/…".',
    )
    api_base: str = Field(
        default="", description="Address of an OpenAI-compatible or local server; empty: the vendor's own."
    )
    api_key: Secret = Field(
        default=None,
        description="The vendor's key. Without one it is looked for under its usual name (OPENAI_API_KEY, …).",
    )
    api_key_env: str = Field(default="", description="Name of the variable that holds `api_key`.")
    stream: Switch = Field(default=True, description="Show the reply while the model writes it.")
    timeout_seconds: Number = Field(default=120, gt=0, le=3600, description="Longest wait for one reply of the model.")
    preload: Switch = Field(
        default=False, description="Load the model client at start: more memory, a faster first reply."
    )
    fallbacks: Annotated[tuple[object, ...], BeforeValidator(_later)] = Field(
        default=(), description="Reserved; empty."
    )

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)

    @property
    def is_demo(self) -> bool:
        return self.name == DEMO


class Access(Section):
    """Who may talk to the agent, and who may approve."""

    default: Literal["pair", "deny", "allow"] = Field(
        default="pair",
        description='What an unknown person meets: "deny", "allow" (becomes a user), or "pair" (as "deny" until '
        "pairing comes with a later release).",
    )
    owners: tuple[IdentityName, ...] = Field(default=(), description='Identities of owners, such as "telegram:1001".')
    approvers: tuple[Text, ...] = Field(
        default=(), description="Identities of those who may approve. Empty: operators and owners."
    )
    self_approval: Switch = Field(default=True, description="Operators and owners may approve what they asked for.")


class PolicyRule(Section):
    """One rule about tool calls; the first that matches wins. Texts are globs; what is left out matches anything."""

    tool: Text = Field(default="*", description="Name of the tool.")
    effect: Effect | None = Field(default=None, description='What the tool may do: "read", "write" or "danger".')
    agent: Text = Field(default="*", description="Name of the agent.")
    room: Text = Field(default="*", description="Address of the room.")
    person: Text = Field(default="*", description="Identity of the one who asked.")
    arguments: dict[str, str] = Field(default={}, description="A glob for each argument that matters, by its name.")
    result: Literal["allow", "ask", "deny"] = Field(description="What happens with the call.")


class Sessions(Section):
    """Conversations."""

    busy: Busy = Field(
        default=Busy.STEER,
        description='A message that comes while the agent works: "steer" joins the work, "followup" is answered on '
        'its own, "collect" shares the next answer with others that wait.',
    )


class Run(Section):
    """One piece of agent work."""

    max_iterations: Whole = Field(default=25, ge=1, le=1000, description="Model calls in one piece of work.")
    prompt_file: TextFile | None = Field(
        default=None, description="Text file with the system prompt, instead of our own."
    )
    approval_hours: Number = Field(default=12, gt=0, le=8760, description="How long a question waits for an answer.")

    @property
    def approval_time(self) -> timedelta:
        return timedelta(hours=self.approval_hours)

    @property
    def prompt(self) -> str:
        """The system prompt."""
        return (self.prompt_file or PROMPTS / "main.md").read_text(encoding="utf-8").strip()


class ShellTool(Section):
    """The shell tool and its sandbox."""

    sandbox: Literal["auto", "bwrap", "external"] = Field(
        default="auto",
        description='"auto" and "bwrap" use bubblewrap and refuse to run without it; "external" says that '
        "Signalbox itself runs in a container that is the boundary.",
    )
    uid: Whole | None = Field(
        default=None, ge=1, le=2**31 - 1, description="User as whom commands run when Signalbox runs as root."
    )
    memory_mib: Whole = Field(default=1024, ge=16, le=1 << 20, description="Memory of one process.")
    processes: Whole = Field(default=128, ge=1, le=100_000, description="Processes at once.")
    file_mib: Whole = Field(default=256, ge=1, le=1 << 20, description="Largest file a command may write.")
    cpu_seconds: Whole = Field(default=60, ge=1, le=86_400, description="Processor time of one process.")
    timeout_seconds: Number = Field(default=60, gt=0, le=86_400, description="Longest time one command may take.")

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)


class Tools(Section):
    """What the agent may call."""

    shell: ShellTool = Field(default_factory=ShellTool, description="The shell tool.")


class Outbox(Section):
    """How messages leave."""

    unknown: Literal["repeat", "hold"] = Field(
        default="repeat",
        description='When nobody can tell whether a message was shown: "repeat" it with a mark, or "hold" it for a '
        "person.",
    )
    settle_first_seconds: Number = Field(
        default=10, gt=0, le=3600, description="First look for a message cut while sent."
    )
    settle_second_seconds: Number = Field(
        default=25, gt=0, le=3600, description="Second look, counted from the cut too."
    )
    backoff_first_seconds: Number = Field(
        default=1, gt=0, le=3600, description="Wait before the first retry; it doubles."
    )
    backoff_most_seconds: Number = Field(default=60, gt=0, le=86_400, description="Longest wait between two retries.")
    send_timeout_seconds: Number = Field(default=30, gt=0, le=3600, description="Longest wait for a platform's answer.")

    @property
    def settle_first(self) -> timedelta:
        return timedelta(seconds=self.settle_first_seconds)

    @property
    def settle_second(self) -> timedelta:
        return timedelta(seconds=self.settle_second_seconds)

    @property
    def backoff_first(self) -> timedelta:
        return timedelta(seconds=self.backoff_first_seconds)

    @property
    def backoff_most(self) -> timedelta:
        return timedelta(seconds=self.backoff_most_seconds)

    @property
    def send_timeout(self) -> timedelta:
        return timedelta(seconds=self.send_timeout_seconds)


class Nodes(Section):
    """Processes that share one database."""

    lease_seconds: Number = Field(
        default=5, ge=0.2, le=300, description="A process that gave no sign for so long is taken for dead."
    )

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)


class Log(Section):
    """What the program tells about itself, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="The least that is told.")
    format: Literal["auto", "human", "json"] = Field(
        default="auto", description='"auto": for people on a terminal, else JSON.'
    )


class Settings(Section):
    """Everything that can be set."""

    data_dir: Place = Field(
        default=Path("var"), description="Folder of the database, workspaces and what else is kept."
    )
    workspace_dir: Place = Field(
        default_factory=lambda values: values.get("data_dir", Path()) / "workspaces",
        description="Folder of the conversations' files; without it `workspaces` in `data_dir`.",
    )
    database_url: Annotated[str, AfterValidator(_database)] = Field(
        default_factory=_own_database,
        repr=False,
        description='"sqlite:///FILE" or "postgresql://USER:PASSWORD@HOST/NAME"; without it `signalbox.db` in '
        "`data_dir`.",
    )
    web: Web = Field(default_factory=Web, description="Web page, console and API.")
    model: Model = Field(default_factory=Model, description="The language model.")
    access: Access = Field(default_factory=Access, description="People.")
    accounts: Annotated[tuple[object, ...], BeforeValidator(_no_accounts)] = Field(
        default=(), description="Reserved for the channels of later releases; the web page needs none."
    )
    policy: tuple[PolicyRule, ...] = Field(default=(), description="Rules about tool calls.")
    sessions: Sessions = Field(default_factory=Sessions, description="Conversations.")
    run: Run = Field(default_factory=Run, description="Agent work.")
    tools: Tools = Field(default_factory=Tools, description="Tools.")
    outbox: Outbox = Field(default_factory=Outbox, description="Messages on their way out.")
    nodes: Nodes = Field(default_factory=Nodes, description="Processes.")
    log: Log = Field(default_factory=Log, description="Logs.")

    _file: Path | None = PrivateAttr(None)
    _sources: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _unused_key: str | None = PrivateAttr(None)

    @property
    def file(self) -> Path | None:
        """The settings file that was read."""
        return self._file

    @property
    def database_file(self) -> Path | None:
        """Where the embedded database is; None in memory and on a server."""
        path = self.database_url.removeprefix("sqlite:///")
        return None if path in (":memory:", self.database_url) else Path(path)

    @property
    def banner(self) -> str | None:
        """What the demo model says about itself; None with a real model."""
        if not self.model.is_demo:
            return None
        found = f" {self._unused_key} is set but not used until then." if self._unused_key else ""
        return (
            "This is the demo model: it understands a few phrases and needs no key. Set model.name, for example "
            f'"openai/gpt-4o-mini", to talk to a real one.{found}'
        )

    def source(self, name: str) -> str:
        """Where the value of the setting `name` (dotted) came from: a file, a variable, a flag or "default"."""
        return self._sources.get(name, "default")

    def shown(self) -> dict[str, Any]:
        """All values as JSON would hold them, with secrets masked."""
        values: dict[str, Any] = _masked(self.model_dump(mode="json"))
        values["database_url"] = _without_password(self.database_url)
        return values


def load(
    file: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """The settings of this process: defaults, then the file, then variables, then `overrides` (dotted name to value).

    Shape:  without `file`, `signalbox.toml` of the working folder (`folder`), then of the user's config folder, if any.
    Errors: ConfigError with one line for each fault of all layers.
    """
    variables = os.environ if environ is None else environ
    _keep_litellm_offline()
    chosen = file or find_file(folder or Path.cwd(), variables)
    faults = Faults(Settings)
    layers = Layers()
    if chosen is not None:
        layers.add(str(chosen), read_file(chosen))
    read_variables(Settings, variables, PREFIX, layers, faults)
    layers.add_names("flag", overrides or {})
    _resolve_twins(layers, variables, faults)
    _find_model_key(layers, variables, faults)
    settings = _checked(layers, faults, chosen, folder or Path.cwd())
    settings._unused_key = model_keys.any_present(variables)
    return settings


def _keep_litellm_offline() -> None:
    """LiteLLM fetches its price list when it is imported, unless told not to before."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def _checked(layers: Layers, faults: Faults, file: Path | None, folder: Path) -> Settings:
    context = {"folder": file.absolute().parent if file else folder}
    try:
        settings = Settings.model_validate(layers.values, context=context)
    except ValidationError as error:
        faults.add_invalid(error, layers.values, layers.sources)
        raise faults.error() from None
    if faults:
        raise faults.error()
    settings._file = file.absolute() if file else None
    settings._sources = dict(layers.sources)
    return settings


def _find_model_key(layers: Layers, variables: Mapping[str, str], faults: Faults) -> None:
    """Where no key is set, take the one under its vendor's usual name."""
    model = layers.get("model.name")
    if not isinstance(model, str) or model == DEMO or layers.get("model.api_key"):
        return
    names = model_keys.names(model)
    found = next((name for name in names if variables.get(name)), None)
    if found:
        layers.put("model.api_key", variables[found], source=found)
    elif names and not layers.get("model.api_base") and not layers.get("model.api_key_env"):
        faults.add("model.api_key", f"{model} needs a key, and none was found; set the variable {names[0]}")


def _resolve_twins(layers: Layers, variables: Mapping[str, str], faults: Faults) -> None:
    """Give each setting with an `…_env` twin the value of the variable that the twin names."""
    demo = layers.get("model.name") in (None, DEMO)
    for name in ("web.token", "model.api_key"):
        variable = layers.get(f"{name}_env")
        if not isinstance(variable, str) or not variable:
            continue
        if layers.get(name):
            faults.add(name, f"is set, and {name}_env too; keep one of them")
        elif variables.get(variable):
            layers.put(name, variables[variable], source=variable)
        elif not (demo and name == "model.api_key"):
            faults.add(f"{name}_env", f"the variable {variable} is not set; set it, or set {name}")


def _masked(values: Any, name: str = "") -> Any:
    match values:
        case dict():
            return {key: _masked(value, key) for key, value in values.items()}
        case list():
            return [_masked(value, name) for value in values]
        case str() if values and is_secret(name):
            return MASK
        case _:
            return values


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", f":{MASK}@") if parts.password else url


__all__ = ["ConfigError", "Settings", "load"]
