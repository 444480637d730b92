"""Tools of values under keys, for work of several runs: what was done, where it goes on.

Values aren't fenced when they are read, so that after outside text a person has to say yes to one that is set.
"""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal

from runtime.contract import Carries, Effect, Flow, Json, Reads, Tool, ToolContext
from runtime.contract.memory.facts import ScopeKind
from runtime.contract.memory.values import StateBook, StateValue
from runtime.errors import ToolRetry
from runtime.text.glyphs import clip
from tools.kit.declare import tool
from tools.remembering.actors import MEMORY_TIMEOUT, reader, setter

VALUE_SHOWN_CHARS: Final = 200
"""Characters of a value in a list."""
READING: Final = Flow(Reads.PEOPLE, stays=True, carries={})
CHANGING: Final = Flow(Reads.OURS, carries={"key": Carries.WORDS, "scope": Carries.DETAIL})
"""What is set is read later, where nothing says that it came from outside: so its words are to be somebody's own."""

Key = Annotated[str, "Such as report/last."]
Where = Annotated[Literal["room", "person", "agent"], "Whose."]


def state_tools(book: StateBook) -> list[Tool]:
    return [*_reading(book), *_changing(book)]


def _reading(book: StateBook) -> list[Tool]:
    @tool(effect=Effect.READ, timeout=MEMORY_TIMEOUT, seldom=True, flow=READING)
    async def state_get(key: Key, context: ToolContext, scope: Where = "room") -> str:
        """Read the value of a key."""
        found = await book.get(key, ScopeKind(scope), reader(context))
        return f"version {found.version}\n{found.value}" if found else "There is no such key."

    @tool(effect=Effect.READ, timeout=MEMORY_TIMEOUT, seldom=True, flow=READING)
    async def state_list(
        context: ToolContext, prefix: Annotated[str, "How the keys begin."] = "", scope: Where = "room"
    ) -> str:
        """List keys with their values."""
        found = await book.listed(prefix, ScopeKind(scope), reader(context))
        return "\n".join(map(_line, found)) or "There are no such keys."

    return [state_get, state_list]


def _changing(book: StateBook) -> list[Tool]:
    @tool(effect=Effect.WRITE, timeout=MEMORY_TIMEOUT, seldom=True, flow=CHANGING)
    async def state_set(
        key: Key,
        value: Annotated[str, "JSON."],
        context: ToolContext,
        scope: Where = "room",
        expected: Annotated[int | None, "Its version now; 0: it is new."] = None,
    ) -> str:
        """Set the value of a key."""
        made = await book.put(key, _checked(value), ScopeKind(scope), setter(context), expected=expected)
        return f"{made.key} has version {made.version}."

    @tool(effect=Effect.WRITE, idempotent=True, timeout=MEMORY_TIMEOUT, seldom=True, flow=CHANGING)
    async def state_delete(key: Key, context: ToolContext, scope: Where = "room") -> str:
        """Remove a key."""
        return "Removed." if await book.delete(key, ScopeKind(scope), setter(context)) else "There is no such key."

    return [state_set, state_delete]


def _checked(value: str) -> str:
    """Errors: ToolRetry for what isn't JSON."""
    try:
        parsed: Json = json.loads(value)
    except ValueError as error:
        raise ToolRetry("The value isn't JSON: a text needs quotes around it.") from error
    return json.dumps(parsed, ensure_ascii=False)


def _line(one: StateValue) -> str:
    return f"- {one.key} (version {one.version}): {clip(one.value, VALUE_SHOWN_CHARS)}"
