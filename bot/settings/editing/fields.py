"""Every setting there is, as a row: its name in any table, its kind, its bounds and its one line of reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bot.settings.faults import is_secret
from bot.settings.settings import Settings

ANY_NAME: Final = "NAME"
"""Stands for the name of a table whose name is free."""
LONG: Final = frozenset({"prompt"})
"""Texts that take several lines."""
NAMES_ALONE: Final = ("token_endpoint", "secrets.hosts", ".secrets", ".secret_files", "max_tokens")
"""Ends of paths that sound like a secret and only say where one is sent, or what it is called."""


class FieldKind(StrEnum):
    """Ways in which a value is written on a form."""

    TEXT = "text"
    LONG_TEXT = "long text"
    NUMBER = "number"
    WHOLE = "whole number"
    SWITCH = "switch"
    CHOICE = "choice"
    TEXTS = "list of texts"
    TOML = "as TOML writes it"
    SECRET = "secret"  # noqa: S105 - the word, not one of them


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting by its path, in which `[]` stands for the number of a table: `policy[].tool`."""

    path: str
    kind: FieldKind
    doc: str
    default: object
    choices: tuple[str, ...] = ()
    required: bool = False

    @property
    def table(self) -> str:
        """The table that it stands in; empty for the top level."""
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


@cache
def all_fields() -> Mapping[str, SettingField]:
    """All settings by path, in the order of the reference."""
    found: dict[str, SettingField] = {}
    for field in _walk(Settings, ""):
        found.setdefault(field.path, field)
    return found


@cache
def tables() -> Mapping[str, type[BaseModel]]:
    """The kind of table at each path, such as `budgets` and `policy[]`; of several kinds in one list, the first."""
    found: dict[str, type[BaseModel]] = {"": Settings}
    for path, model in _tables(Settings, ""):
        found.setdefault(path, model)
    return found


def _walk(model: type[BaseModel], above: str) -> Iterator[SettingField]:
    for name, info in model.model_fields.items():
        path = above + (info.alias or name)
        if below := table_of(info.annotation):
            yield from _walk(below, f"{path}.")
        elif kinds := list(_kinds_of(info)):
            for kind in kinds:
                yield from _walk(kind, f"{path}[].")
        else:
            yield _field(path, info)
    if named := getattr(model, "NAMED", None):
        yield from _walk(named, f"{above}{ANY_NAME}.")


def _tables(model: type[BaseModel], above: str) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, info in model.model_fields.items():
        path = above + (info.alias or name)
        if below := table_of(info.annotation):
            yield path, below
            yield from _tables(below, f"{path}.")
        for kind in _kinds_of(info):
            yield f"{path}[]", kind
            yield from _tables(kind, f"{path}[].")
    if named := getattr(model, "NAMED", None):
        yield f"{above}{ANY_NAME}", named


def _field(path: str, info: FieldInfo) -> SettingField:
    kind, choices = _kind_of(path, info.annotation)
    missing = info.default is PydanticUndefined and info.default_factory is None
    default = None if info.default is PydanticUndefined else info.default
    return SettingField(path, kind, info.description or "", default, choices, missing)


def _kind_of(path: str, annotation: Any) -> tuple[FieldKind, tuple[str, ...]]:
    parts = [part for part in _parts(annotation) if part is not type(None)]
    if SecretStr in parts or (is_secret(path) and not path.endswith(NAMES_ALONE) and _may_be_text(parts)):
        return FieldKind.SECRET, ()
    choices = [choice for part in parts for choice in _choices(part)]
    if choices and all(_choices(part) for part in parts):
        return FieldKind.CHOICE, tuple(dict.fromkeys(choices))
    if len(parts) == 1:
        if get_origin(parts[0]) is tuple and _holds_text(get_args(parts[0])[0]):
            return FieldKind.TEXTS, ()
        if parts[0] is str or parts[0] is Path:
            return (FieldKind.LONG_TEXT if path.rpartition(".")[2] in LONG else FieldKind.TEXT), ()
        plain = {bool: FieldKind.SWITCH, int: FieldKind.WHOLE, float: FieldKind.NUMBER, SecretStr: FieldKind.SECRET}
        if isinstance(parts[0], type) and parts[0] in plain:
            return plain[parts[0]], ()
    return FieldKind.TOML, ()


def _may_be_text(parts: list[Any]) -> bool:
    return any(part is str or get_origin(part) in (dict, tuple) for part in parts)


def _parts(annotation: Any) -> Iterator[Any]:
    """Kinds of value that a setting takes, without what only checks them."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        for part in get_args(annotation):
            yield from _parts(part)
    elif origin is Annotated or (hasattr(annotation, "__metadata__") and hasattr(annotation, "__origin__")):
        yield from _parts(annotation.__origin__)
    else:
        yield annotation


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return [str(choice) for choice in annotation]
    return []


def _holds_text(annotation: Any) -> bool:
    return all(part is str or _choices(part) for part in _parts(annotation))


def table_of(annotation: Any) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _kinds_of(info: FieldInfo) -> Iterator[type[BaseModel]]:
    """The tables of which a setting is a list."""
    if get_origin(info.annotation) is tuple:
        yield from _kinds(get_args(info.annotation)[0])


def _kinds(annotation: Any) -> Iterator[type[BaseModel]]:
    if found := table_of(annotation):
        yield found
    elif get_origin(annotation) in (Annotated, Union, UnionType):
        for part in get_args(annotation):
            yield from _kinds(part)
