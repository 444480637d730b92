"""Wrong use of the command line, told in one line: the word as it was typed, and where the help is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from typer._click.exceptions import (  # typer carries its own copy of click, which has no public name
    BadOptionUsage,
    BadParameter,
    MissingParameter,
    NoArgsIsHelpError,
    NoSuchOption,
    UsageError,
)

from bot.node.invocation import as_called, called

TYPED: Final = "signalbox.typed"  # in the context of a command
FIELD: Final = re.compile(r"`(\w+)`")
FIELDS: Final[Mapping[str, str]] = {"prompt": "task", "template": "template_file", "options": "option"}
"""Fields of the API whose parameters have other names."""
TOO_MANY: Final = re.compile(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)

Parameter = Any
Context = Any

__all__ = ["NoArgsIsHelpError", "UsageError", "as_typed", "note_parameters", "told"]


def told(error: UsageError, context: Context) -> str:
    """The line for a person. `context` is that of the whole program."""
    below = context.invoked_subcommand
    path = error.ctx.command_path if error.ctx else " ".join(filter(None, [context.command_path, below]))
    return f"{_reason(error)} See: {as_called(f'{path} --help', called())}"


def note_parameters(context: Context) -> None:
    """Keep how the parameters of this command are typed, for errors that name the fields they fill."""
    context.find_root().meta[TYPED] = {one.name: _typed(one) for one in context.command.params}


def as_typed(text: str, context: Context) -> str:
    """`text` with the command's own words in place of the API's fields in backticks."""
    typed: Mapping[str, str] = context.find_root().meta.get(TYPED, {})
    return FIELD.sub(lambda found: typed.get(FIELDS.get(found[1], found[1]), found[0]), text)


def _reason(error: UsageError) -> str:
    match error:
        case MissingParameter():
            return f"{_typed(error.param)} is missing."
        case BadParameter(param=param) if param is not None:
            return f"{_typed(param)}: {_unfit(error)}."
        case NoSuchOption(possibilities=near):
            return f"There is no option {error.option_name}{f'; did you mean {near[0]}?' if near else '.'}"
        case BadOptionUsage():
            return f"{error.option_name} needs a value."
        case _:
            return _other(error)


def _other(error: UsageError) -> str:
    if found := TOO_MANY.fullmatch(error.message):
        return f'Too many words: "{found[1]}". Put quotes around words that belong together.'
    return error.format_message()


def _unfit(error: BadParameter) -> str:
    from pydantic import ValidationError

    from bot.settings.faults import wanted

    if not isinstance(error.__cause__, ValidationError):
        return str(error.message).rstrip(".")
    detail = error.__cause__.errors(include_url=False)[0]
    return f'got "{detail["input"]}"; expected {wanted("", detail)}'


def _typed(parameter: Parameter) -> str:
    """An option by its longest form, an argument as the help writes it."""
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return str(parameter.metavar or parameter.name.upper()).strip("[]{}")
