"""All settings, put together from their layers; and the one place that reads the environment.

`load` takes defaults, the file, SIGNALBOX_… variables and flags, checks everything once and reports all faults in one
ConfigError. What comes out is frozen and is handed on in slices: `Settings` in `whole.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.plugins.channels import token_forms
from bot.secrets import model_keys
from bot.secrets.chain import Chain, members
from bot.secrets.folder import Folder
from bot.secrets.keys import KEY_FILE, Ask, Keyring
from bot.secrets.keys import VARIABLE as PASSPHRASE_VARIABLE
from bot.settings.agents.folder import AGENTS, add_agents
from bot.settings.approvals import take_old_name
from bot.settings.cross_checks import add_together
from bot.settings.faults import Faults, without_tag
from bot.settings.given.flags import NO_FLAGS, Flags, put_flags
from bot.settings.hands.folder import add_hands
from bot.settings.mcp import handed_on
from bot.settings.models.aliases import key_names
from bot.settings.secrets import Demand, add_reused, resolve, twins_in_lists, uses
from bot.settings.sources import (
    SETTINGS_FILE,
    Layers,
    config_folder,
    find_file,
    names_of,
    parsed,
    read_file,
    read_variables,
)
from bot.settings.telemetry import find_collector
from bot.settings.tools.folder import add_tools_folder
from bot.settings.whole import Settings
from bot.settings.workflows.folder import add_workflows
from runtime.errors import ConfigError
from runtime.models.litellm_loading import VARIABLES as LITELLM_VARIABLES
from runtime.settings.accounts import TOKENS

PREFIX: Final = "SIGNALBOX_"
SECRET_NAME: Final = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|PASSWD|CREDENTIALS?)\Z", re.IGNORECASE)
"""Names of variables that hold a secret, whoever reads them."""


def _is_plain(value: str) -> bool:
    """True for what is no secret, such as a path or a switch."""
    return value.startswith(("/", "./", "~")) or value.isalpha()


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


__all__ = ["Settings", "load", "load_usable"]
