"""Sources of settings: the TOML file and the variables, as nested plain values with a note of each one's source."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel

from bot.settings.faults import MASK, Faults, is_secret, nearest
from runtime.errors import ConfigError

SETTINGS_FILE: Final = "signalbox.toml"
LEVEL: Final = "__"
_PLACE: Final = re.compile(r"(?P<reason>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)$")
_HEAD: Final = re.compile(r"^\s*(#|\[{1,2}[\w.\"-]+\]{1,2}\s*(#|$))")  # a comment, or the head of a table
_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_ITEM: Final = re.compile(r"(?:[^.\[\]]+\.)*?[^.\[\]]+\[\d+\]")
_PAIR: Final = re.compile(r"^\s*(?P<key>[^=\[\]#]+?)\s*=")


@dataclass
class Layers:
    """Values as a settings file would nest them; a later layer replaces single values of an earlier one."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def add(self, source: str, values: Mapping[str, Any]) -> None:
        for name, value in _leaves(values):
            self.put(name, value, source=source)

    def add_names(self, source: str, values: Mapping[str, object]) -> None:
        """Values by dotted name."""
        for name, value in values.items():
            self.put(name, value, source=source)

    def put(self, name: str, value: object, *, source: str) -> None:
        *path, last = name.split(".")
        table = self.values
        for step in path:
            below = table.get(step)
            table[step] = table = dict(below) if isinstance(below, dict) else {}
        table[last] = _own(value)
        self._forget_twin(name, table, last, source)
        self.sources[name] = source

    def fill(self, name: str, value: object, *, source: str) -> None:
        """Put what the `…_env` twin of `name` led to; the twin stays. The name may lead into a list: `accounts[1].token`."""
        *path, last = steps_of(name)
        table: Any = self.values
        for step in path:
            table = table.setdefault(step, {}) if isinstance(step, str) else table[step]
        table[last] = value
        self.sources[name] = source

    def add_table(self, name: str, table: Mapping[str, Any], *, source: str) -> None:
        """Put one more table into the list `name`."""
        tables = self.values.setdefault(name, [])
        tables.append(dict(table))
        self.sources[f"{name}[{len(tables)}]"] = source

    def tables(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        """The tables of the list `name`, each with its own name: `accounts[1]`. What is no table is left out."""
        found = self.get(name)
        rows = enumerate(found, 1) if isinstance(found, list) else ()
        return [(f"{name}[{number}]", row) for number, row in rows if isinstance(row, dict)]

    def get(self, name: str) -> object:
        return value_at(self.values, name)

    def forget(self, names: Iterable[str]) -> None:
        """Take single values out, as if no layer had given them."""
        for name in names:
            above, _, last = name.rpartition(".")
            if isinstance(table := self.get(above), dict):
                table.pop(last, None)
            self.sources.pop(name, None)

    def source(self, name: str) -> str:
        """Source of the setting, else of what holds it, else of what it holds; empty for a default."""
        below = (source for key, source in self.sources.items() if key.startswith(f"{name}."))
        return source_of(name, self.sources) or next(below, "")

    def title(self, name: str) -> str:
        """The setting for people: in a list also by what the table is called, `accounts[2].token ("work")`."""
        within = _ITEM.match(name)
        called = self.get(f"{within[0]}.name") if within else None
        return f'{name} ("{called}")' if isinstance(called, str) and called.isprintable() else name

    def drop(self, places: Iterable[Sequence[int | str]]) -> bool:
        """Take out what stands at each place, or the nearest table or list that holds it; whether anything went."""
        found = {there for place in places if (there := self._nearest(place))}
        for *above, last in sorted(found, reverse=True):  # so that what goes from a list moves none of the others
            holder: Any = self.values
            for step in above:
                holder = holder[step]
            del holder[last]
        return bool(found)

    def _nearest(self, place: Sequence[int | str]) -> tuple[int | str, ...]:
        """The longest beginning of `place` at which something stands; empty for none."""
        value, found = self.values, 0
        for step in place:
            value = _below(value, step)
            if value is None:
                break
            found += 1
        return tuple(place[:found])

    def _forget_twin(self, name: str, table: dict[str, Any], last: str, source: str) -> None:
        """`token` of a later layer replaces `token_env` of an earlier one, and the other way round."""
        other = last.removesuffix("_env") if last.endswith("_env") else f"{last}_env"
        full = f"{name.removesuffix(last)}{other}"
        if self.sources.get(full, source) != source:
            table.pop(other, None)
            self.sources.pop(full)


def source_of(name: str, sources: Mapping[str, str]) -> str:
    """Source of the setting `name`: its own layer, or that of the list or table it stands in; empty for a default."""
    while name not in sources and name:
        name = name[: max(name.rfind("."), name.rfind("["), 0)]
    return sources.get(name, "")


def value_at(values: Mapping[str, Any], name: str) -> object:
    """The value of a setting in a file as it was read; None for none."""
    value: Any = values
    for step in steps_of(name):
        value = _below(value, step)
    return value


def steps_of(name: str) -> list[str | int]:
    """`accounts[1].token` as what leads to it: "accounts", 0, "token"."""
    return [int(number) - 1 if number else word for word, number in _STEP.findall(name)]


def _below(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return value.get(step) if isinstance(value, dict) else None
    return value[step] if isinstance(value, list) and step < len(value) else None


def _own(value: object) -> object:
    """Tables in a list are filled in later: those are not to be the caller's."""
    if isinstance(value, list | tuple):
        return [dict(row) if isinstance(row, dict) else row for row in value]
    return value


def find_file(folder: Path, variables: Mapping[str, str]) -> Path | None:
    """The settings file of the working folder, or else the user's."""
    own = config_folder(variables)
    places = [folder / SETTINGS_FILE, *([own / SETTINGS_FILE] if own else [])]
    return next((place for place in places if place.is_file()), None)


def config_folder(variables: Mapping[str, str]) -> Path | None:
    """Folder of the user's own Signalbox files; None for one without a home."""
    home = variables.get("HOME") or variables.get("USERPROFILE")
    config = variables.get("XDG_CONFIG_HOME") or variables.get("APPDATA") or (home and f"{home}/.config")
    return Path(config) / "signalbox" if config else None


def read_file(path: Path) -> dict[str, Any]:
    """Read the file. Errors: ConfigError names the file, and line and column of what is not TOML."""
    return parsed(path, _text(path))


def parsed(path: Path, text: str) -> dict[str, Any]:
    """Read `text` as if it stood in the file. Errors: as `read_file`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_where(path, text, str(error))) from None


def read_variables(
    model: type[BaseModel],
    variables: Mapping[str, str],
    prefix: str,
    layers: Layers,
    faults: Faults,
    *,
    others: Callable[[], Collection[str]] = tuple,
) -> None:
    """Add each variable with `prefix` to `layers`. An empty one counts as not set; an unknown one is a fault.

    `others` are ours too, but no settings; asked for once the settings are read.
    """
    known = {variable_of(name, prefix): name for name in names_of(model)}
    ours = [variable for variable in sorted(variables) if variable.startswith(prefix) and variables[variable]]
    for variable in ours:
        if name := known.get(variable):
            layers.put(name, _value(variables[variable], text=_takes_text(model, name)), source=variable)
    beside = others()
    for variable in ours:
        if variable not in known and variable not in beside:
            _add_unknown(variable, known, beside, faults)


def _add_unknown(variable: str, known: Mapping[str, str], beside: Collection[str], faults: Faults) -> None:
    whole = next((other for other in known if variable.startswith(other + LEVEL)), None)
    if whole:
        faults.add(variable, f"there is no such variable; {whole} holds all of {known[whole]}, as TOML writes it")
    else:
        faults.add_unknown(variable, nearest(variable, [*beside, *known]))


def variable_of(name: str, prefix: str) -> str:
    return prefix + name.replace(".", LEVEL).upper()


def names_of(model: type[BaseModel], above: str = "") -> Iterator[str]:
    """Dotted names of all settings, in order."""
    for name, info in model.model_fields.items():
        below = info.annotation
        if isinstance(below, type) and issubclass(below, BaseModel):
            yield from names_of(below, f"{above}{name}.")
        else:
            yield above + name


def _leaves(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value and "." not in key:
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield above + key.replace(".", "·"), value


def _takes_text(model: type[BaseModel], name: str) -> bool:
    first, _, rest = name.partition(".")
    annotation = model.model_fields[first].annotation
    if rest and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _takes_text(annotation, rest)
    kinds = list(_kinds_in(annotation))
    return not any(
        issubclass(kind, (bool, int, float, tuple, list, dict)) and not issubclass(kind, str) for kind in kinds
    ) and ("tuple" not in str(annotation))


def _kinds_in(annotation: Any) -> Iterator[type]:
    """Kinds of value in a union, and behind what checks them: a number that may be left out is one still."""
    if isinstance(annotation, type):
        yield annotation
    elif isinstance(inner := getattr(annotation, "__origin__", None), type) and hasattr(annotation, "__metadata__"):
        yield inner
    else:
        for part in get_args(annotation):
            yield from _kinds_in(part)


def _value(raw: str, *, text: bool) -> object:
    """A TOML value where the setting is no text; otherwise, and where it is not TOML, the text as it stands."""
    if text:
        return raw
    try:
        return tomllib.loads(f"value = {raw}")["value"]
    except tomllib.TOMLDecodeError:
        return raw


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"There is no settings file {path}. Make it, or leave out --config.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text. Save the file as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"The settings file {path} cannot be read: {error.strerror}.") from None


def _where(path: Path, text: str, message: str) -> str:
    lines = text.split("\n")
    place = _PLACE.match(message)
    if place is None:  # the reason speaks of the end of the document
        line, column, reason = len(lines), len(lines[-1]) + 1, message.removesuffix(" (at end of document)")
    else:
        line, column, reason = int(place["line"]), int(place["column"]), place["reason"]
    shown = _without_secret(lines, line)
    return f"{path}:{line}:{column}: not TOML: {reason}.\n    {shown}"


def safe_lines(text: str) -> list[str]:
    """The lines of a settings file, with values of secrets left out."""
    lines = text.splitlines()
    return [
        line if not line.strip() or _HEAD.match(line) else _without_secret(lines, number)
        for number, line in enumerate(lines, 1)
    ]


def _without_secret(lines: list[str], number: int) -> str:
    """The line, with its value left out when the key it belongs to names a secret."""
    line = lines[number - 1].strip()
    for above in reversed(lines[:number]):
        if pair := _PAIR.match(above):
            if not is_secret(pair["key"]):
                return line
            return f"{pair['key']} = {MASK}" if above == lines[number - 1] else MASK
    return MASK if is_secret(line) else line
