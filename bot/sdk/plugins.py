"""Tools that a program brings: functions, declared with `@tool` or as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeGuard

from runtime.contract import Tool, ToolSpec
from runtime.errors import ConfigError
from tools.kit.declare import tool

NO_TOOL: Final = (
    "tools[{number}]: {given} is no tool. Give a function with a docstring and annotated parameters, or what @tool made of "
    "one. A tool of an installed package is named in `tools.installed` of the settings."
)
BAD_FUNCTION: Final = "tools[{number}]: {fault}."
TWICE: Final = "tools: two are called {name}. Rename one of the functions."
NAME_IS_TAKEN: Final = "tools: {name} is the name of a tool that is there already. Rename the function."
NOT_FOR_AGENT: Final = (
    "tools: the agent {agent} may not use {name}: its tools are {globs}, and they may do no more than {effects}. Change "
    "that in its table of `[[agents]]`, or leave the tool out."
)


def tools_of(given: Iterable[Tool | Callable[..., object]]) -> dict[str, Tool]:
    """Tools by name. A bare function may change anything, so people are asked about each call of it.

    Errors: ConfigError for what is no tool, by its number, and for two of one name.
    """
    made: dict[str, Tool] = {}
    for number, one in enumerate(given):
        found = _tool(number, one)
        if found.spec.name in made:
            raise ConfigError(TWICE.format(name=found.spec.name))
        made[found.spec.name] = found
    return made


def check_new(tools: Mapping[str, Tool], there: Mapping[str, Tool]) -> None:
    """Errors: ConfigError for a tool whose name another one has."""
    if taken := sorted(tools.keys() & there.keys()):
        raise ConfigError(NAME_IS_TAKEN.format(name=taken[0]))


def _tool(number: int, one: object) -> Tool:
    if is_tool(one):
        return one
    if not callable(one) or isinstance(one, type):
        raise ConfigError(NO_TOOL.format(number=number, given=repr(one)[:100]))
    try:
        return tool()(one)
    except TypeError as error:
        raise ConfigError(BAD_FUNCTION.format(number=number, fault=str(error).removesuffix("."))) from error


def is_tool(one: object) -> TypeGuard[Tool]:
    return isinstance(getattr(one, "spec", None), ToolSpec) and callable(getattr(one, "call", None))
