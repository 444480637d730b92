"""Sources of texts that tools bring: whose words a result is, and which files have such words in them from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import structlog

from runtime.agent.run_state import LiveRun
from runtime.contract import Json, Reads, ToolSpec
from runtime.domain.transcript import ERROR
from runtime.policy.taint import Known, ReadStep, is_outside, origin
from runtime.text.outside import material, suspicion
from runtime.workspace.outside_files import ALL_FILES, has_outside, note_outside

log = structlog.get_logger("agent")


class Sources:
    """Looks up whose words a call reads, and notes the files that it may write them to. `known` is what a run read so far."""

    def __init__(self, known: Callable[[LiveRun], Awaitable[Known]]) -> None:
        self._known = known

    async def of(self, run: LiveRun, tool: ToolSpec, arguments: Mapping[str, Json]) -> str:
        """The source of a call's result where that may be words from outside, else nothing. Comes before the call, so that
        a kill can't lose what it writes."""
        flow = tool.flow
        if flow.reads is Reads.FILES:
            path = arguments.get("path")
            named = path if isinstance(path, str) else ""
            is_source = _reaches_out(arguments) or await asyncio.to_thread(
                has_outside, run.agent.workspaces, run.claim.address, named
            )
        else:
            is_source = flow.reads not in (Reads.OURS, Reads.PEOPLE)
        if flow.writes and (is_source or (await self._known(run)).taint.active):
            await self.note(run, _written(flow.writes, arguments))
        return origin(ReadStep(0, tool.name, flow, arguments, "")) if is_source else ""

    async def note(self, run: LiveRun, path: str) -> None:
        """Keep in mind that a file may have words from outside in it."""
        await asyncio.to_thread(note_outside, run.agent.workspaces, run.claim.address, path)


def _written(writes: str, arguments: Mapping[str, Json]) -> str:
    """The file or folder that a call may write to: the value of an argument, or what its tool names."""
    named = writes.strip("{}")
    return writes if named == writes else str(arguments.get(named, ALL_FILES))


def _reaches_out(arguments: Mapping[str, Json]) -> bool:
    """True if a call names an address on the web, as a command that fetches something does where there is a network."""
    return any(isinstance(value, str) and "://" in value for value in arguments.values())


def fenced(text: str, tool: ToolSpec, arguments: Mapping[str, Json], source: str) -> str:
    """The result as the model reads it: between marks, as far as it is words from `source`.

    The refusal of a tool that declares itself is in our own words.
    """
    failed = text.startswith(ERROR)
    if failed and tool.flow.carries is not None:
        return text
    words = text.removeprefix(ERROR)
    if not is_outside(ReadStep(0, tool.name, tool.flow, arguments, words)):
        return text
    if turns := suspicion(words):
        log.warning("a text from outside speaks to the model", tool=tool.name, source=source, why=", ".join(turns))
    is_markup = tool.flow.reads is not Reads.FILES and not tool.flow.writes  # else it's a page's source that is read
    return f"{ERROR if failed else ''}{material(words, source, markup=is_markup)}"
