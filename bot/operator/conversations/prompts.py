"""The next request of a conversation, made without sending it."""

from __future__ import annotations

from collections.abc import Callable

from bot.accounts.naming import Named
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.chat.views.context import Kept
from runtime.context.measuring import Preview, texts_of
from runtime.context.sizes import of_tool
from runtime.contract import AssistantTurn, ToolSpec, ToolTurn, Turn, UserTurn
from runtime.domain.agents.manifest import MAIN
from runtime.http.errors import Refusal
from runtime.store.protocol import Conversed
from runtime.text.words import marked


@by_role
class PromptsApi(PartialApi):
    """The next request of a conversation, and how full its window is."""

    async def context(self, room: str, agent: str = "") -> View:
        """Tell how full the window is for the next message of a conversation, and what was condensed of it."""
        made, conversed = await self._preview(room, agent)
        return await self._one_entitled(context_view(made, conversed, *self._names))

    async def prompt(self, room: str, agent: str = "") -> View:
        """Make the request that the next message of a conversation would send, without sending it."""
        made, conversed = await self._preview(room, agent)
        view = context_view(made, conversed, *self._names)
        return await self._one_entitled({**view, **prompt_view(made, self._context.mask)})

    async def _preview(self, room: str, agent: str) -> tuple[Preview, Conversed]:
        """Errors: Refusal where no process runs: its tools and its model make the request."""
        address, previews = await self._room_meant(room), self._context.previews
        if address is None:
            raise Refusal(400, marked("Name a room."))
        if previews is None:
            raise Refusal(409, marked("Only a running Signalbox knows what it would send: `signalbox run`."))
        name = agent or MAIN
        if not previews.knows(name):
            raise Refusal(404, marked("There is no agent {name} here.").format(name=name))
        conversed = await self._store.runs.conversation(name, address)
        return await previews.of(conversed), conversed


def context_view(made: Preview, conversed: Conversed, named: Named, called: Named) -> View:
    """Sizes of the request for the next message of a conversation. `source` tells where the window's size is from."""
    sizes, step, kept = made.sizes, made.parts.step, conversed.remembered
    tokens = sum(sizes.values())
    return {
        "address": named(conversed.address),
        "room": called(conversed.address),
        "agent": made.agent,
        "model": made.model,
        "window": made.window,
        "source": made.source,
        "tokens": tokens,
        "percent": _percent(tokens, made.window),
        "partitions": [
            {"name": name, "tokens": size, "percent": _percent(size, made.window)} for name, size in sizes.items()
        ],
        "turns": kept.turns,
        "condensed": step.name.lower(),
        "spare": made.spare,
        "summaries": [_kept(one) for one in kept.summaries],
    }


def _percent(tokens: int, window: int) -> float:
    return round(100 * tokens / max(window, 1), 2)


def _kept(one: Kept) -> View:
    return {
        "at": at(one.at),
        "kind": one.kind,
        "model": one.model,
        "turns": one.turns,
        "since": at(one.since),
        "until": at(one.until),
        "tokens_before": one.tokens_before,
        "tokens_after": one.tokens_after,
    }


def prompt_view(made: Preview, mask: Callable[[str], str]) -> View:
    """The request itself: its texts, its turns and the tools that are offered."""
    request = made.request
    return {
        "system": mask(request.system),
        "texts": {name: mask(text) for name, text in texts_of(made.parts).items()},
        "messages": [_turn(turn, mask) for turn in request.turns],
        "tools": [_offered(tool) for tool in request.tools],
    }


def _turn(turn: Turn, mask: Callable[[str], str]) -> View:
    match turn:
        case UserTurn(text, author, files):
            return {"role": "user", "author": author, "text": mask(text), "files": [file.path for file in files]}
        case AssistantTurn(text, calls):
            made = [{"id": call.id, "tool": call.tool, "arguments": mask(call.arguments)} for call in calls]
            return {"role": "assistant", "text": mask(text), "calls": made}
        case ToolTurn(call_id, tool, text):
            return {"role": "tool", "call": call_id, "tool": tool, "text": mask(text)}


def _offered(tool: ToolSpec) -> View:
    told = {"name": tool.name, "effect": tool.effect.value, "description": tool.description}
    return {**told, "schema": dict(tool.schema), "tokens": of_tool(tool)}
