"""Secrets of the settings: found where their `…_env` twins point, listed for masking, and refused when used twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, SecretStr

from bot.secrets import account_keys, model_keys
from bot.secrets.chain import Chain, Found
from bot.secrets.errors import SecretsError
from bot.secrets.keys import VARIABLE
from bot.settings.accounts import is_unused, usable_channel
from bot.settings.events.tables import EventSinkTable
from bot.settings.faults import MASK, Faults, is_secret
from bot.settings.given.flags import keep_only
from bot.settings.hooks import HookTable
from bot.settings.mcp import McpTable, handed_on
from bot.settings.models.aliases import OWN_KEYS, asked_vendors, key_names
from bot.settings.models.tables import AUTO, DEMO, ModelTable
from bot.settings.programs.peers import PeerTable
from bot.settings.safety.logins import LoginTable, login_meant
from bot.settings.sources import Layers, names_of, source_of
from bot.settings.tools.databases import DatabaseTable
from bot.settings.tools.git import GitTable

UNRESOLVED: Final = "sealed:"
"""Stands for the address of a database that this command did not ask for. No store opens it."""

ADDRESSES: Final = ("database_url", "database_listen_url")
"""Settings that hold a secret in part: the password of an address."""

DATABASE: Final = "databases["
"""Begins the names of settings of a database that agents ask."""

Demand = Collection[str] | None
"""Names of the settings whose secrets must be at hand; None is all of them. Others are taken if they cost nothing."""


@dataclass(frozen=True, slots=True)
class Use:
    """A secret at work under the setting `name`."""

    name: str
    value: str = field(repr=False)
    source: str = ""

    @property
    def purpose(self) -> str:
        """A model and its fallbacks may share a key, and both ways to the database its password."""
        if self.name in ADDRESSES:
            return ADDRESSES[0]
        if self.name.startswith(DATABASE):  # two of them may be one, for other rooms
            return "databases"
        if ".env_secret." in self.name:  # two MCP servers may be handed the same variable
            return self.name.rpartition(".")[2]
        return (
            "model"
            if self.name.startswith(("model.", "models[", "embeddings.", "images.", "transcription.", "speech."))
            else self.name
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.source})" if self.source else self.name


def resolve(
    model: type[BaseModel],
    layers: Layers,
    variables: Mapping[str, str],
    chain: Chain,
    faults: Faults,
    demand: Demand,
    *,
    only: Sequence[str] = (),
) -> None:
    """Give each setting whose twin names a variable or a sealed secret its value, and the model its vendor's key.

    Accounts beside `only`, if that names some, are turned off first, so that they need no secret.
    """
    search = _Search(layers, variables, chain, faults, demand)
    try:
        if demand is None:
            chain.require_named()
        for name in twins(model):
            search.twin(name)
        search.models()
        search.usual_accounts()
        keep_only(layers, only, faults)
        search.accounts()
        search.handed_on()
    except SecretsError as error:
        faults.add_sentence(f"{error.setting}: {error}")


def twins(model: type[BaseModel]) -> list[str]:
    """Settings that have an `…_env` twin; not those in lists of tables."""
    names = list(names_of(model))
    return [name for name in names if f"{name}_env" in names]


def twins_in_lists(layers: Layers) -> list[str]:
    """Settings with an `…_env` twin in lists of tables: `accounts[1].token`."""
    plugins = ((name, usable_channel(table)) for name, table in layers.tables("accounts"))
    kinds: list[tuple[str, type[BaseModel]]] = [(name, plugin.settings) for name, plugin in plugins if plugin]
    kinds += [(name, HookTable) for name, _ in layers.tables("hooks")]
    kinds += [(name, EventSinkTable) for name, _ in layers.tables("event_sinks")]
    kinds += [(name, ModelTable) for name, _ in layers.tables("models")]
    kinds += [(name, McpTable) for name, _ in layers.tables("mcp")]
    kinds += [(name, PeerTable) for name, _ in layers.tables("a2a")]
    kinds += [(name, DatabaseTable) for name, _ in layers.tables("databases")]
    kinds += [(name, GitTable) for name, _ in layers.tables("git")]
    kinds += [(name, LoginTable) for name, _ in layers.tables("logins")]
    unused = ((name, table) for name, table in layers.tables("accounts") if is_unused(table))
    found = [f"{name}.{key.removesuffix('_env')}" for name, table in unused for key in table if key.endswith("_env")]
    return found + [f"{name}.{twin}" for name, kind in kinds for twin in twins(kind)]


@dataclass
class _Search:
    layers: Layers
    variables: Mapping[str, str]
    chain: Chain
    faults: Faults
    demand: Demand

    def twin(self, name: str) -> None:
        named = self.layers.get(f"{name}_env")
        if not isinstance(named, str) or not named:
            return
        if self.layers.get(name):
            self.faults.add(self.layers.title(name), f"is set, and {name}_env too; keep one of them")
        elif not self._take(name, [named]):
            self._missing(name, named)

    def usual_accounts(self) -> None:
        """Make an account by the channel's name where none is set and its usual variables are."""
        theirs = {table.get("channel") for _, table in self.layers.tables("accounts")}
        for plugin in account_keys.complete(self.chain.is_handed_over):
            if (name := plugin.channel) not in theirs:
                first = next(iter(plugin.secrets.values())).variable
                self.layers.add_table("accounts", {"name": name, "channel": name}, source=first)

    def accounts(self) -> None:
        for name in twins_in_lists(self.layers):
            if not self._is_off(name):
                self.twin(name)
        for account, table in self.layers.tables("accounts"):
            plugin = usable_channel(table)
            if plugin and not self._is_off(account):
                for name, secret in plugin.needed(table.get("mode")).items():
                    self._account_key(f"{account}.{name}", secret.variable)

    def handed_on(self) -> None:
        """Find what MCP servers are handed of ours, each variable under its own name."""
        for server, variable in handed_on(self.layers):
            name = f"{server}.env_secret.{variable}"
            if not self.layers.get(name) and not self._take(name, [variable]) and self._is_demanded(name):
                fix = f"set it, or seal it: signalbox secrets set {variable}"
                place = self.layers.title(f"{server}.env_from")
                self.faults.add_sentence(f"{place}: the variable {variable} is not set; {fix}{self._skipped()}")

    def _is_off(self, name: str) -> bool:
        return self.layers.get(f"{name.partition('.')[0]}.enabled") is False

    def _account_key(self, name: str, usual: str) -> None:
        """Take the secret under its usual name where an account names none that it needs."""
        if self.layers.get(name) or self.layers.get(f"{name}_env") or self._take(name, [usual]):
            return
        if self._is_demanded(name):
            fix = f"set the variable {usual}, or seal it: signalbox secrets set {usual}"
            self.faults.add_sentence(f"{self.layers.title(name)}: is missing; {fix}{self._skipped()}")

    def models(self) -> None:
        """Take each model's key, under its vendor's usual name where none is set."""
        self._choose_model()
        for place in ("model", *(place for place, _ in self.layers.tables("models"))):
            self._login(place)
        for place, model in asked_vendors(self.layers):
            if self.layers.get(f"{place}.login"):
                continue
            self._several(place)
            if not any(self.layers.get(f"{place}.{name}") for name in OWN_KEYS):
                self._model_key(f"{place}.api_key", model, self.layers.get(f"{place}.api_base"))

    def _login(self, place: str) -> None:
        """Take a key that stands for the token of a sign-in as such: it is no secret."""
        name, tables = f"{place}.api_key", self.layers.tables("logins")
        login, fault = login_meant(self.layers.get(name), self.layers.get(f"{place}.login"), tables)
        if fault:
            self.faults.add(self.layers.title(name), fault)
        elif login:
            source = self.layers.source(name)
            self.layers.fill(name, None, source=source)
            self.layers.fill(f"{place}.login", login, source=source)

    def _choose_model(self) -> None:
        """Of "auto", the first vendor whose key is found."""
        if self.layers.get("model.name") != AUTO:
            return
        for vendor, model in model_keys.AUTO.items():
            for variable in model_keys.KEYS[vendor]:
                if self._take("model.api_key", [variable]):
                    self.layers.put("model.name", model, source=f"auto, by {variable}")
                    return
        if self._is_demanded("model.api_key"):
            names = ", ".join(model_keys.KEYS[vendor][0] for vendor in model_keys.AUTO)
            self.faults.add_sentence(f"model.name: auto found no key; set one of {names}{self._skipped()}")

    def _several(self, place: str) -> None:
        """The keys that `api_key_envs` names."""
        name = f"{place}.api_keys"
        found = {variable: self._look(name, variable) for variable in key_names(self.layers, place)}
        for variable in (one for one, value in found.items() if value is None and self._is_demanded(name)):
            fix = f"set it, or seal it: signalbox secrets set {variable}"
            title = self.layers.title(f"{place}.api_key_envs")
            self.faults.add_sentence(f"{title}: the variable {variable} is not set; {fix}{self._skipped()}")
        if keys := [value for value in found.values() if value]:
            self.layers.fill(name, [key.value for key in keys], source=", ".join(key.source for key in keys))

    def _model_key(self, name: str, model: str, api_base: object) -> None:
        names = model_keys.names(model)
        if self._take(name, names) or not names or api_base or not self._is_demanded(name):
            return
        fix = f"set the variable {names[0]}, or seal the key: signalbox secrets set {names[0]}"
        title = self.layers.title(name)
        self.faults.add_sentence(f"{title}: {model} needs a key, and none was found; {fix}{self._skipped()}")

    def _take(self, name: str, variables: Sequence[str]) -> bool:
        """Give `name` the value of the first variable that has one; those of the environment go before sealed ones."""
        near = (Found(value, variable) for variable in variables if (value := self.variables.get(variable)))
        found = next(near, None) or next(filter(None, (self._look(name, one) for one in variables)), None)
        if found:
            self.layers.fill(name, found.value, source=found.source)
        return found is not None

    def _look(self, name: str, variable: str) -> Found | None:
        """The value of `variable`; sealed ones only where `name` is in demand."""
        if value := self.variables.get(variable):
            return Found(value, variable)
        return self.chain.find(variable) if self._is_demanded(name) else None

    def _missing(self, name: str, variable: str) -> None:
        if self._is_demanded(name):
            fix = f"set it, or set {name}, or seal it: signalbox secrets set {variable}"
            place = self.layers.title(f"{name}_env")
            self.faults.add_sentence(f"{place}: the variable {variable} is not set; {fix}{self._skipped()}")
        elif name == "database_url":
            self.layers.fill(name, UNRESOLVED, source=variable)

    def _is_demanded(self, name: str) -> bool:
        if name == "model.api_key" and self.layers.get("model.name") in (None, DEMO):
            return False
        return self.demand is None or name in self.demand

    def _skipped(self) -> str:
        return "".join(f"\n    A sealed file was skipped: {error}" for error in self.chain.skipped)


def uses(settings: BaseModel, sources: Mapping[str, str]) -> list[Use]:
    """Every secret that is set."""
    found = [
        Use(name, value, source_of(name, sources))
        for name, value in _secrets_in(settings)
        if not name.startswith(DATABASE) or urlsplit(value).password
    ]
    addresses = [(name, str(getattr(settings, name, ""))) for name in ADDRESSES]
    addresses += [(one.name, one.value) for one in found if one.name.startswith(DATABASE)]
    for name, address in addresses:
        if password := urlsplit(address).password:
            words = dict.fromkeys([unquote(password), password])  # as it is, and as the address writes it
            found += [Use(name, word, source_of(name, sources)) for word in words]
    return found


def asked_for(settings: BaseModel) -> dict[str, list[str]]:
    """Names of variables or sealed secrets, with the settings whose `…_env` twins ask for them."""
    asked: dict[str, list[str]] = {}
    for name, value in values_in(settings):
        if name.endswith("_env") and value:
            asked.setdefault(str(value), []).append(name.removesuffix("_env"))
        for variable in value if name.endswith((".env_from", ".api_key_envs")) else ():
            asked.setdefault(variable, []).append(name)
    return asked


def add_reused(found: Sequence[Use], chain: Chain, faults: Faults) -> None:
    """One value under two purposes is a fault: whoever sees one of them has both."""
    opening = [Use(VARIABLE, text) for text in dict.fromkeys(chain.passphrases())]
    for one, other in combinations([*found, *opening], 2):
        if one.value == other.value and one.purpose != other.purpose:
            faults.add_sentence(
                f"{one} and {other} hold the same value. A secret has one purpose: make a new one for one of them."
            )


def _secrets_in(settings: BaseModel) -> Iterator[tuple[str, str]]:
    for name, value in values_in(settings):
        if isinstance(value, SecretStr):
            yield name, value.get_secret_value()


def values_in(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Each value by its dotted name, also in lists of tables: `accounts[1].token`."""
    match value:
        case BaseModel():
            for name in type(value).model_fields:
                yield from values_in(getattr(value, name), f"{above}.{name}" if above else name)
        case dict() if any(isinstance(inner, SecretStr) for inner in value.values()):
            for key, inner in value.items():
                yield f"{above}.{key}", inner
        case [BaseModel(), *_]:
            for number, item in enumerate(value, 1):
                yield from values_in(item, f"{above}[{number}]")
        case [SecretStr(), *_]:
            for number, item in enumerate(value, 1):
                yield f"{above}[{number}]", item
        case _:
            yield above, value


def masked(values: Any, name: str = "") -> Any:
    """`values` as JSON holds them, without what stands under the names of secrets."""
    match values:
        case dict():
            return {key: masked(value, f"{name}.{key}") for key, value in values.items()}
        case list():
            return [masked(value, name) for value in values]
        case str() if values and is_secret(name):
            return MASK
        case _:
            return values


def without_password(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", f":{MASK}@") if parts.password else url
