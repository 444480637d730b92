"""`docs/settings.md`, made from the settings themselves: `python -m bot.reference.settings` writes it anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bot.settings.settings import Settings

SETTINGS_PAGE: Final = Path(__file__).parents[2] / "docs" / "settings.md"
INTRODUCTION: Final = """\
# Settings

This page is made from the tables in `bot/settings/` by `python -m bot.reference.settings`; a test fails when it is stale.

Settings come from `signalbox.toml` (in the working folder, else in the user's config folder, if anywhere; or the file
named by `--config`), then from variables, then from flags. The variable of `web.port` is `SIGNALBOX_WEB__PORT`: two
underscores between levels. Its value is written as in TOML (`true`, `25`, `["web:ada"]`), text also without quotes; an
empty variable counts as not set. A list of tables is one value: `SIGNALBOX_ACCOUNTS` holds all accounts, as
`[{channel = "telegram", name = "tg"}]`, and takes the place of those in the file. A setting within such a table has no
variable; its `…_env` names whichever variable holds the secret. Relative paths start at the folder of the settings file.
Everything is checked at the start, and all faults are reported together. `signalbox config show` prints what is in effect and
where it came from, and so does the console, where owners change [some of it](settings-page.md).
"""
WORD_OF_TYPE: Final = {
    bool: "switch",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "secret",
}
BOUNDS: Final = {Ge: ("ge", "≥"), Gt: ("gt", ">"), Le: ("le", "≤"), Lt: ("lt", "<")}


def document() -> str:
    """The whole page."""
    sections = [f"## {title}\n\n{_rows(model)}" for title, model in _tables(Settings, "")]
    return "\n".join([INTRODUCTION, *sections])


def _tables(model: type[BaseModel], above: str) -> Iterator[tuple[str, type[BaseModel]]]:
    """(title, model) of each table that holds plain settings, in order."""
    if any(_below(info) is None for info in model.model_fields.values()):
        yield (f"`[{above.removesuffix('.')}]`" if above else "Top level"), model
    for name, info in model.model_fields.items():
        if below := _below(info):
            yield from _tables(below, f"{above}{name}.")
        for kind in _repeated(info):
            yield f"`[[{above}{name}]]`{_which(kind)}", kind
            yield from _tables_in(kind, f"{above}{name}.")
    if named := getattr(model, "NAMED", None):  # tables by a name that is free, beside its settings
        yield f"`[{above}NAME]`", named


def _tables_in(model: type[BaseModel], above: str) -> Iterator[tuple[str, type[BaseModel]]]:
    """(title, model) of tables within a table of a list: lists of them, and those by a name that is free."""
    for name, info in model.model_fields.items():
        if below := _below(info):
            yield f"`[{above}{name}]`", below
        for kind in _repeated(info):
            yield f"`[[{above}{name}]]`", kind
        if get_origin(info.annotation) is dict and (named := _table(get_args(info.annotation)[1])):
            yield f"`[{above}{name}.NAME]`", named


def _rows(model: type[BaseModel]) -> str:
    lines = [(model.__doc__ or "").strip(), "", "| setting | type | default | meaning |", "| --- | --- | --- | --- |"]
    for name, info in model.model_fields.items():
        if _below(info) is None:
            cells = (f"`{info.alias or name}`", _type(info), _default(info), info.description or "")
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _type(info: FieldInfo) -> str:
    bounds = [f"{BOUNDS[type(m)][1]} {getattr(m, BOUNDS[type(m)][0])}" for m in info.metadata if type(m) in BOUNDS]
    return ", ".join([_kind(info.annotation), *bounds])


def _kind(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f'`"{choice}"`' for choice in arguments)
    if origin in (Union, UnionType):
        return " or ".join(_kind(part) for part in arguments if part is not type(None))
    if origin is tuple:
        return "list of tables" if list(_kinds(arguments[0])) else "list"
    if origin is dict:
        return "table"
    if origin is not None and arguments:
        return _kind(arguments[0])
    if hasattr(annotation, "__metadata__"):
        return _kind(annotation.__origin__)
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return " or ".join(f'`"{choice}"`' for choice in annotation)
    return WORD_OF_TYPE.get(annotation, "text")


def _default(info: FieldInfo) -> str:
    match info.default:
        case _ if info.default is PydanticUndefined:
            return "in `data_dir`" if info.default_factory else "required"
        case None:
            return "none"
        case bool():
            return f"`{str(info.default).lower()}`"
        case () | {}:
            return "`[]`" if info.default == () else "`{}`"
        case tuple() as values:
            return f"`{json.dumps(values)}`"
        case int() | float():
            return f"`{info.default}`"
        case _:
            return f'`"{info.default}"`'


def _below(info: FieldInfo) -> type[BaseModel] | None:
    """The table that a setting is."""
    return _table(info.annotation)


def _repeated(info: FieldInfo) -> Iterator[type[BaseModel]]:
    """The tables of which a setting is a list."""
    if get_origin(info.annotation) is tuple:
        yield from _kinds(get_args(info.annotation)[0])


def _kinds(annotation: Any) -> Iterator[type[BaseModel]]:
    """The kinds of table that something may be."""
    if found := _table(annotation):
        yield found
    elif get_origin(annotation) in (Annotated, Union, UnionType):
        for part in get_args(annotation):
            yield from _kinds(part)


def _which(kind: type[BaseModel]) -> str:
    """Field that tells this kind of table from the others of its list."""
    channel = kind.model_fields.get("channel")
    return f', `channel = "{get_args(channel.annotation)[0]}"`' if channel else ""


def _table(annotation: Any) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


if __name__ == "__main__":
    SETTINGS_PAGE.write_text(document(), encoding="utf-8")
