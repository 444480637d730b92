"""All settings, put together from their layers; and the one place that reads the environment.

`load` takes defaults, the file, SIGNALBOX_… variables and flags, checks everything once and reports all faults in one
ConfigError. What comes out is frozen and is handed on in slices. Secrets are SecretStr: they never show in a repr, and
`Settings.shown` masks them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, ValidationError, ValidationInfo

from bot import model_keys
from bot.settings_faults import MASK, Faults, is_secret
from bot.settings_sources import Layers, find_file, read_file, read_variables
from bot.settings_tables import (
    DEMO,
    Access,
    Log,
    Model,
    Nodes,
    Outbox,
    Place,
    PolicyRule,
    Retention,
    Run,
    Section,
    Sessions,
    Tools,
    Web,
    beside_file,
)
from runtime.models.library import VARIABLES as LITELLM_VARIABLES

PREFIX: Final = "SIGNALBOX_"


def _database(url: str, info: ValidationInfo) -> str:
    if url in ("sqlite://", "sqlite:///:memory:"):
        return "sqlite:///:memory:"
    if url.startswith("sqlite:///") and url != "sqlite:///":
        return f"sqlite:///{beside_file(Path(url.removeprefix('sqlite:///')), info)}"
    if url.startswith("postgresql://") and urlsplit(url).hostname:
        return url
    raise ValueError("sqlite:///FILE, sqlite:///:memory: or postgresql://USER:PASSWORD@HOST/NAME")


def _own_database(values: dict[str, Any]) -> str:
    return f"sqlite:///{values['data_dir'] / 'signalbox.db'}" if "data_dir" in values else "sqlite:///:memory:"


def _no_accounts(value: object) -> object:
    if value:
        raise ValueError("nothing: web is the only channel of this release, and it needs no account")
    return value


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
    retention: Retention = Field(default_factory=Retention, description="How long things are kept.")
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

    def secrets(self) -> list[str]:
        """Secret values, for those who must keep them out of what they write."""
        password = urlsplit(self.database_url).password
        held = [secret.get_secret_value() for secret in (self.web.token, self.model.api_key) if secret]
        return [*held, *([password] if password else [])]

    def with_free_port(self) -> Settings:
        """The same, listening on this machine alone, on whichever port is free."""
        return self.model_copy(update={"web": self.web.model_copy(update={"host": "127.0.0.1", "port": 0})})

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
    _prepare_litellm()
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


def _prepare_litellm() -> None:
    """LiteLLM reads these when it is imported or called: see `runtime.models.library`."""
    for name in LITELLM_VARIABLES:
        os.environ.setdefault(name, "True")


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


__all__ = [
    "Access",
    "Log",
    "Model",
    "Nodes",
    "Outbox",
    "PolicyRule",
    "Retention",
    "Run",
    "Sessions",
    "Settings",
    "Tools",
    "Web",
    "load",
]
