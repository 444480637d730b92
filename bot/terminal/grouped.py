"""Options that several commands share, as one parameter of each: a dataclass, whose fields are the options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command as typer takes it: in the place of each parameter that is a dataclass stand its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(command)
    def call(**given: Any) -> None:
        records = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)}) for name, kind in groups.items()
        }
        command(**given, **records)

    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        kind = groups.get(one.name)
        parameters += _options(kind) if kind else [one.replace(annotation=hints[one.name])]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _options(kind: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=field.default, annotation=hints[field.name]
        )
        for field in fields(kind)
    ]
