"""The MCP server as the library of the protocol has it: both revisions, without sessions, so that any node answers."""

from __future__ import annotations

from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from bot.doors.callers import Caller
from bot.doors.mcp.offers import Call, Offer, Offers, Tell
from bot.doors.mcp.resources import TEMPLATES, Resources
from runtime.http.errors import Refusal

CALLER: Final = "caller"
"""Name under which the scope of a request has whoever asks."""
SERVER_NAME: Final = "signalbox"
MARKDOWN: Final = "text/markdown"
INSTRUCTIONS: Final = (
    "Agents that work for a team in its chat rooms. `ask_agent` asks one and waits. Where people have to decide first, or it "
    "takes longer, it ends with an id, and `message` has the answer later. Give `key` where you may try again: the same "
    "key is the same message."
)
Context = Any
"""Context of a request, as the library makes it."""


def server_of(offers: Offers, resources: Resources, version: str) -> Server[Any]:
    """A server whose every request brings its caller along."""
    served = Served(offers, resources)
    return Server(
        SERVER_NAME,
        version=version,
        title="Signalbox",
        instructions=INSTRUCTIONS,
        cache_hints=dict.fromkeys(
            ("tools/list", "resources/list", "resources/templates/list", "resources/read"), CacheHint(0, "private")
        ),
        on_list_tools=served.tools,
        on_call_tool=served.call,
        on_list_resources=served.resources,
        on_list_resource_templates=served.templates,
        on_read_resource=served.read,
    )


class Served:
    """Answers to the requests of the protocol."""

    def __init__(self, offers: Offers, resources: Resources) -> None:
        self._offers = offers
        self._resources = resources

    async def tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(one) for one in self._offers.of(_caller(context))])

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """A result, also for a refusal: so the model that called reads the reason."""
        call = Call(_caller(context), _teller(context))
        try:
            told = await self._offers.call(call, params.name, params.arguments or {})
        except Refusal as refusal:
            return types.CallToolResult(content=[types.TextContent(text=refusal.sentence)], is_error=True)
        return types.CallToolResult(content=[types.TextContent(text=told.words)], structured_content=told.data)

    async def resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = await self._resources.of(_caller(context))
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=one.uri, name=one.name, description=one.words, mime_type=MARKDOWN) for one in found
            ]
        )

    async def templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(name=name, uri_template=uri, description=words, mime_type=MARKDOWN)
                for name, uri, words in TEMPLATES
            ]
        )

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Errors: MCPError, where there is none for this token: invalid parameters, as the protocol wants it."""
        uri = str(params.uri)
        try:
            text = await self._resources.read(_caller(context), uri)
        except Refusal as refusal:
            raise MCPError(types.INVALID_PARAMS, refusal.sentence, {"uri": uri}) from refusal
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])


def _caller(context: Context) -> Caller:
    caller: Caller = getattr(context.request.state, CALLER)
    return caller


def _teller(context: Context) -> Tell:
    """Tells progress, each a step further; nothing where the client didn't ask for it."""
    steps = 0

    async def tell(words: str) -> None:
        nonlocal steps
        steps += 1
        await context.session.report_progress(float(steps), None, words)

    return tell


def _tool(offer: Offer) -> types.Tool:
    return types.Tool(
        name=offer.name,
        description=offer.words,
        input_schema=offer.schema,
        annotations=types.ToolAnnotations(read_only_hint=offer.reads),
    )
