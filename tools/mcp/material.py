"""Resources and prompts of a server: listed in lines, or fetched as material. Knows the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    InputRequiredResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    Resource,
    ResourceTemplate,
)
from pydantic import ValidationError

from runtime.contract import Json
from runtime.errors import ToolFailed, ToolRetry
from runtime.text.glyphs import clip
from runtime.text.outside import stripped
from tools.mcp.results import Answer, prompt_of, resource_of

MOST_LISTED: Final = 100  # of one page
LINE_MAX_CHARS: Final = 300
NAME_MAX_CHARS: Final = 2_000
MOST_ARGUMENTS: Final = 50
ASKS_BACK: Final = "It asks for input before it answers. Signalbox gives that to tools alone; nothing was read."


async def has_resources(session: ClientSession) -> bool:
    """True if it lists a resource or a template now; a server that can't tell has none."""
    try:
        return bool((await session.list_resources()).resources or await _templates(session))
    except (MCPError, ValidationError):
        return False


async def has_prompts(session: ClientSession) -> bool:
    try:
        return bool((await session.list_prompts()).prompts)
    except (MCPError, ValidationError):
        return False


async def looked_up(session: ClientSession, arguments: Mapping[str, Json]) -> Answer:
    """The resource at `uri`, or the list of them. Errors: ToolRetry; MCPError."""
    if uri := _word(arguments, "uri"):
        result = await session.read_resource(uri, allow_input_required=True)
        if isinstance(result, InputRequiredResult):
            raise ToolFailed(ASKS_BACK)
        return resource_of(result)
    cursor = _word(arguments, "cursor")
    page = await session.list_resources(params=_page(cursor))
    templates = [] if cursor else await _templates(session)
    lines = [*map(_resource, page.resources), *map(_template, templates)]
    return _listed(lines, "resources", page.next_cursor)


async def prompted(session: ClientSession, arguments: Mapping[str, Json]) -> Answer:
    """The prompt called `name`, or the list of them. Errors: ToolRetry; MCPError."""
    if name := _word(arguments, "name"):
        result = await session.get_prompt(name, _filled(arguments), allow_input_required=True)
        if isinstance(result, InputRequiredResult):
            raise ToolFailed(ASKS_BACK)
        return prompt_of(result)
    page = await session.list_prompts(params=_page(_word(arguments, "cursor")))
    return _listed(list(map(_prompt, page.prompts)), "prompts", page.next_cursor)


async def _templates(session: ClientSession) -> list[ResourceTemplate]:
    """None of a server that has resources and knows no templates."""
    ask: Callable[[], Awaitable[ListResourceTemplatesResult]] = session.list_resource_templates
    try:
        return (await ask()).resource_templates
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:
            return []
        raise


def _word(arguments: Mapping[str, Json], name: str) -> str:
    value = arguments.get(name) or ""
    if not isinstance(value, str) or len(value) > NAME_MAX_CHARS:
        raise ToolRetry(f"Give {name} as a text of at most {NAME_MAX_CHARS:,} characters. Nothing was read.")
    return value


def _filled(arguments: Mapping[str, Json]) -> dict[str, str]:
    given: Any = arguments.get("arguments") or {}
    if (
        not isinstance(given, dict)
        or len(given) > MOST_ARGUMENTS
        or not all(isinstance(it, str) for it in given.values())
    ):
        raise ToolRetry(f"Give arguments as an object of at most {MOST_ARGUMENTS} texts. Nothing was read.")
    return given


def _page(cursor: str) -> PaginatedRequestParams | None:
    return PaginatedRequestParams(cursor=cursor) if cursor else None


def _resource(one: Resource) -> Iterator[str]:
    yield from (str(one.uri), one.title or one.name, one.mime_type or "", one.description or "")


def _template(one: ResourceTemplate) -> Iterator[str]:
    yield from (one.uri_template, f"{one.title or one.name} (a template)", one.mime_type or "", one.description or "")


def _prompt(one: Prompt) -> Iterator[str]:
    wants = ", ".join(f"{it.name}{'' if it.required else '?'}" for it in one.arguments or ())
    yield from (one.name, one.title or "", f"arguments: {wants}" if wants else "", one.description or "")


def _listed(rows: list[Iterator[str]], what: str, cursor: str | None) -> Answer:
    lines = [
        clip(" · ".join(" ".join(stripped(part).text.split()) for part in row if part), LINE_MAX_CHARS) for row in rows
    ]
    told = [f"- {line}" for line in lines[:MOST_LISTED]] or [f"It has no {what} at present."]
    if len(lines) > MOST_LISTED:
        told.append(f"… and {len(lines) - MOST_LISTED} more on this page.")
    if cursor:
        told.append(f"There are more: cursor {cursor!r}.")
    return Answer(["\n".join(told)], failed=False)
