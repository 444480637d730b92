"""Flags of a start. They become settings in one place, `put_flags`, and have a source of their own there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from bot.settings.faults import Faults, nearest

if TYPE_CHECKING:
    from bot.settings.sources import Layers

FLAG: Final = "flag"
"""Source of a setting that the command line gave."""
PAGE: Final = "web"
"""The page is an account that always connects; with it alone no other does."""
MODEL: Final = "model.name"
OF_THE_MODEL: Final = ("context_tokens", "input_price", "output_price")
OF_THE_VENDOR: Final = (*("api_base", "api_key", "api_key_env", "api_keys", "api_key_envs", "login", "organization"),)
NO_ACCOUNT: Final = '--with {name}: there is no account "{name}"; {fix}'
TURNED_OFF: Final = "--with {name}: {title} is turned off; set its enabled to true, or leave it out of --with."


@dataclass(frozen=True, slots=True)
class Flags:
    """`settings` by dotted name. With names in `only`, every other account is turned off."""

    settings: Mapping[str, object] = field(default_factory=dict)
    only: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.settings or self.only)

    def as_json(self) -> dict[str, Any]:
        return {"settings": dict(self.settings), "only": list(self.only)}


NO_FLAGS: Final = Flags()


def flags_of(told: object) -> Flags:
    """Flags as `as_json` wrote them; none of what is no such thing."""
    if not isinstance(told, dict) or not isinstance(told.get("settings"), dict):
        return NO_FLAGS
    only = told.get("only")
    return Flags(told["settings"], [str(name) for name in only] if isinstance(only, list) else ())


def put_flags(layers: Layers, flags: Flags) -> None:
    """Give each setting that a flag names the flag's value."""
    before, model = layers.get(MODEL), flags.settings.get(MODEL)
    if isinstance(model, str) and model != before:
        _leave_model(layers, model, str(before or ""))
    layers.add_names(FLAG, flags.settings)


def _leave_model(layers: Layers, model: str, before: str) -> None:
    """Forget what [model] says of the model that a flag replaces. Its key is no other vendor's to see."""
    same_vendor = "/" in model and model.partition("/")[0] == before.partition("/")[0]
    layers.forget(f"model.{name}" for name in (*OF_THE_MODEL, *(() if same_vendor else OF_THE_VENDOR)))


def keep_only(layers: Layers, only: Sequence[str], faults: Faults) -> None:
    """Turn off every account that `only` doesn't name, once all accounts are there."""
    if not only:
        return
    tables = layers.tables("accounts")
    names = {str(table.get("name")): place for place, table in tables}
    for name in only:
        if name != PAGE and (place := names.get(_bare(name))) is None:
            faults.add_sentence(NO_ACCOUNT.format(name=name, fix=_fix(name, names)))
        elif name != PAGE and layers.get(f"{place}.enabled") is False:
            faults.add_sentence(TURNED_OFF.format(name=name, title=layers.title(str(place))))
    kept = {_bare(name) for name in only}
    for place, table in tables:
        if str(table.get("name")) not in kept and table.get("enabled") is not False:
            layers.fill(f"{place}.enabled", False, source=FLAG)


def _bare(name: str) -> str:
    """The name of an account, also where it stands as in addresses: `slack:work`."""
    return name.rpartition(":")[2]


def _fix(name: str, names: Mapping[str, str]) -> str:
    near = nearest(_bare(name), names)
    there = f"there are: {', '.join([*names, PAGE])}."
    return f"did you mean {near}? T{there[1:]}" if near else there
