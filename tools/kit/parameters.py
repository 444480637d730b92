"""A tool's parameters: the JSON schema the model sees, and the check of what it gave, both from the type hints."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from runtime.contract import Json, ToolContext
from runtime.errors import ToolRetry

# Strict, so that "3" is not silently an integer: the model is told and writes what it meant.
STRICT = ConfigDict(strict=True)

WORD_OF_TYPE: Mapping[str, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "object": "an object",
}


@dataclass(frozen=True)
class Parameter:
    """One argument the model may give. A parameter with a default need not be given.

    Its schema and its check are made when they are first needed: those of all tools take 4 MB, and an idle process has
    no use for them.
    """

    name: str
    hint: Any
    default: Any

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.hint, config=STRICT)

    @cached_property
    def schema(self) -> Mapping[str, Json]:
        made = dict(self.adapter.json_schema())
        if notes := [note for note in getattr(self.hint, "__metadata__", ()) if isinstance(note, str)]:
            made["description"] = " ".join(notes)
        return made if self.required else made | {"default": self.default}


def parameters_of(function: Callable[..., object]) -> tuple[tuple[Parameter, ...], str | None]:
    """Parameters that the model may give `function`, and the name of the parameter that takes the ToolContext, if there is one.

    Errors: TypeError for a function that no model could call: a parameter without a type, `*args`, `**kwargs`.
    """
    hints = get_type_hints(function, include_extras=True)
    given: list[Parameter] = []
    context: str | None = None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) or name not in hints:
            raise TypeError(
                f"{function.__qualname__}: parameter {name!r} needs a name, a type and to be a single value"
            )
        if hints[name] is ToolContext:
            context = name
        else:
            given.append(Parameter(name, hints[name], parameter.default))
    return tuple(given), context


class Schema(Mapping[str, Json]):
    """The JSON schema of the whole argument object, made when it is first read."""

    def __init__(self, parameters: tuple[Parameter, ...]) -> None:
        self._parameters = parameters

    @cached_property
    def _made(self) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": {parameter.name: dict(parameter.schema) for parameter in self._parameters},
            "required": [parameter.name for parameter in self._parameters if parameter.required],
            "additionalProperties": False,
        }

    def __getitem__(self, name: str) -> Json:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def faults(parameters: tuple[Parameter, ...], arguments: Mapping[str, Json]) -> Iterator[str]:
    """A sentence for each thing wrong with `arguments`, which the model can act on; values are never repeated."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in arguments:
        if name not in known:
            yield f"There is no argument {name[:60]!r}; the arguments are {_listed(list(known))}."
    for name, parameter in known.items():
        if name in arguments:
            yield from _type_faults(parameter, arguments[name])
        elif parameter.required:
            yield f"The argument {name!r} is missing; give {expected(parameter.schema)}."


def _type_faults(parameter: Parameter, value: Json) -> Iterator[str]:
    try:
        parameter.adapter.validate_python(value)
    except ValidationError:
        yield f"The argument {parameter.name!r} must be {expected(parameter.schema)}; you gave {shape(value)}."


def expected(schema: Mapping[str, Json]) -> str:
    """Value that a JSON schema asks for, in words."""
    match schema:
        case {"enum": [*values]}:
            return f"one of {_listed(values)}"
        case {"const": value}:
            return repr(value)
        case {"anyOf": [*options]}:
            return " or ".join(expected(option) for option in options)
        case {"type": "array", "items": items} if items:
            return f"a list in which each item is {expected(items)}"
        case {"type": "array"}:
            return "a list"
        case _:
            return WORD_OF_TYPE.get(schema.get("type", ""), "a value that the schema allows")


def shape(value: Json) -> str:
    """Shape of a JSON value, without its content: it may be long, or secret."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return f"a string of {len(value)} characters"
        case list() if kinds := sorted({shape(item) for item in value if not isinstance(item, str | list | dict)}):
            return f"a list of {len(value)} with {_listed(kinds, quote=False)} in it"
        case list():
            return f"a list of {len(value)}"
        case _:
            return "an object"


def moment_in(text: str, called: str, example: str) -> datetime | None:
    """The time that an argument writes, None for none; without a zone it is in UTC. Errors: ToolRetry for anything else."""
    if not text.strip():
        return None
    try:
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ToolRetry(f"{text[:40]!r} isn't {called}. Write it as {example}.") from error


def _listed(values: list[Any], *, quote: bool = True) -> str:
    return ", ".join(repr(value) if quote else str(value) for value in values) or "none"
