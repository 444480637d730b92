"""A tool of an MCP server as a Tool of ours."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from runtime.contract import FileRef, Json, ToolContext, ToolSpec
from runtime.errors import ToolFailed
from runtime.workspace.safe_fs import replace as replace_file
from tools.files.workspace import opened_parent, own_like, told
from tools.kit.placeholders import NOTHING_FILLED, Filled, filling, hidden_in, names_in
from tools.mcp.asked.fields import Unfit
from tools.mcp.asked.held import MOST_ROUNDS, Held, Waiting
from tools.mcp.asked.needs import GoesOn, Needs
from tools.mcp.errors import Lost
from tools.mcp.offers import MARGIN, Offer, spec_of
from tools.mcp.terms import Endpoint, ServerTerms

if TYPE_CHECKING:
    from tools.mcp.connection import Connection
    from tools.mcp.results import Answer, Blob

MCP_FOLDER: Final = "mcp"  # of the workspace
MOST_FILES: Final = 8  # of one answer
STEM_MAX_CHARS: Final = 60
ENDING_MAX_CHARS: Final = 8

RUNS_HERE: Final = "Secrets aren't sent to the {called}, which runs here: env_from in its settings hands it some."

Reach = Callable[[Offer], "Awaitable[Connection]"]
"""The connection for a call of the tool that was offered so. Errors: ToolFailed, and nothing was called."""


class McpTool:
    """Implements `contract.Tool`. `offer` is what it was when its server told of it: a call is of that tool or of none."""

    def __init__(self, offer: Offer, terms: ServerTerms, reach: Reach, held: Held) -> None:
        self.offer = offer
        self.spec: ToolSpec = spec_of(offer, terms)
        self._terms = terms
        self._reach = reach
        self._held = held

    def caution(self) -> str:
        """Also names the form of the tool: a yes to one form is none to another."""
        terms = self._terms
        return f"A tool of the {terms.called}, in its form {self.offer.form}. {terms.whereabouts}"

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        filled = await self._filled(arguments, context)
        connection = await self._reach(self.offer)
        with hidden_in(filled):
            outcome = await self._within(connection.carry_out(self.offer, filled.arguments(arguments), context.tell))
            if isinstance(outcome, Needs):
                return await self._wait(self._waiting(arguments, outcome, context), connection)
            return await self._told(outcome, context, filled)

    async def _filled(self, arguments: Mapping[str, Json], context: ToolContext) -> Filled:
        """The secrets that the arguments name. Errors: ToolFailed for one that this server doesn't get."""
        if not (names := names_in(dict(arguments))):
            return NOTHING_FILLED
        if not isinstance(self._terms.way, Endpoint):
            raise ToolFailed(RUNS_HERE.format(called=self._terms.called))
        return await filling(self._terms.secrets, names, self._terms.way.url, tool=self.spec.name, context=context)

    async def go_on(self, waiting: Waiting, answers: Mapping[str, Json], context: ToolContext) -> str:
        """Go on with a call that waited, once people answered. Errors: ToolError."""
        if waiting.form != self.offer.form:
            raise ToolFailed(f"{self.spec.name} has changed since the call was made, so it did not go on.")
        filled = await self._filled(waiting.arguments, context)
        connection, needs = await self._reach(self.offer), waiting.needs
        full = filled.arguments(waiting.arguments)
        match needs.goes_on:
            case GoesOn.HELD:
                (answer,) = answers.values()
                going = connection.go_on(needs.held, answer if isinstance(answer, dict) else {"action": "cancel"})
            case GoesOn.AGAIN_WITH:
                ours = needs.with_ours(answers)
                going = connection.call(self.offer.name, full, ours, needs.state, context.tell)
            case GoesOn.AGAIN if all(
                isinstance(one, dict) and one.get("action") == "accept" for one in answers.values()
            ):
                going = connection.call(self.offer.name, full, tell=context.tell)
            case GoesOn.AGAIN:
                raise ToolFailed("The page that the server asks for was refused, so nothing was called.")
        with hidden_in(filled):
            outcome = await self._within(going)
            if not isinstance(outcome, Needs):
                return await self._told(outcome, context, filled)
        if waiting.rounds >= MOST_ROUNDS:
            raise ToolFailed(f"The server asked {MOST_ROUNDS} times and didn't finish. Nobody is asked again.")
        again = self._waiting(waiting.arguments, outcome, context)
        return await self._wait(replace(again, rounds=waiting.rounds + 1), connection)

    async def _within(self, work: Awaitable[Answer | Needs]) -> Answer | Needs:
        limit = (self.spec.timeout - MARGIN).total_seconds()
        try:
            async with asyncio.timeout(limit):
                return await work
        except TimeoutError:
            raise ToolFailed(self._without_answer(f"did not answer within {limit:g} s")) from None
        except Lost as lost:
            raise ToolFailed(
                self._without_answer(f"gave no answer that tells what became of the call ({lost})")
            ) from lost

    def _waiting(self, arguments: Mapping[str, Json], needs: Needs, context: ToolContext) -> Waiting:
        return Waiting(context.run_id, context.call_id, self.offer.name, self.offer.form, arguments, needs)

    async def _wait(self, waiting: Waiting, connection: Connection) -> str:
        """Have a person asked. Errors: ToolFailed where nobody can be."""
        needs, name = waiting.needs, self._terms.name
        try:
            if needs.refused:
                raise Unfit(f"It asks for {needs.refused}, which it does not get here.")
            await self._held.wait(waiting)
        except Unfit as error:
            if needs.goes_on is GoesOn.HELD:
                await self._within(connection.go_on(needs.held, {"action": "cancel"}))
            raise ToolFailed(f"The MCP server {name} asks for something before it goes on. {error}") from None
        return f"The MCP server {name} asks a person something before it goes on. What comes of it stands below."

    def _without_answer(self, what: str) -> str:
        head = f"The {self._terms.called} {what}."
        if self.spec.repeatable:
            return f"{head} The call changes nothing, so it may be made again."
        return f"{head} Whether the call was carried out is unknown. Don't repeat it until somebody has checked."

    async def _told(self, answer: Answer, context: ToolContext, filled: Filled) -> str:
        answer = replace(answer, pieces=[_without(piece, filled) for piece in answer.pieces])
        texts, files = await asyncio.to_thread(self._written, answer, context)
        for file in files:
            context.attach(file)
        text = "\n".join(texts) or "[no output]"
        if answer.failed:
            raise ToolFailed(text[: self.spec.output_bound])
        return text

    def _written(self, answer: Answer, context: ToolContext) -> tuple[list[str], list[FileRef]]:
        """The answer as text, once the files in it lie in the workspace."""
        texts: list[str] = []
        files: list[FileRef] = []
        for piece in answer.pieces:
            if isinstance(piece, str):
                texts.append(piece)
            elif len(files) < MOST_FILES:
                files.append(_kept(piece, f"{self._terms.name}-{self.offer.name}", len(files) + 1, context))
                texts.append(f"[{piece.what}, {_size(len(piece.data))}: {files[-1].path}]")
            else:
                texts.append(f"[{piece.what}, {_size(len(piece.data))}, not kept: at most {MOST_FILES} are]")
        return texts, files


def _without(piece: str | Blob, filled: Filled) -> str | Blob:
    """A piece of an answer without what it repeats of the call's secrets."""
    return filled.hidden(piece) if isinstance(piece, str) else replace(piece, data=filled.hidden_bytes(piece.data))


def _kept(blob: Blob, usual: str, number: int, context: ToolContext) -> FileRef:
    name = file_name(blob, usual, number, context)
    path = f"{MCP_FOLDER}/{name}"
    with opened_parent(context.workspace, path) as (folder, last), told(path):
        replace_file(last, folder, blob.data, partial(own_like, folder=folder))
    return FileRef(name, path, len(blob.data), mime=blob.mime)


def file_name(blob: Blob, usual: str, number: int, context: ToolContext) -> str:
    """A name to read by, which no other file gets: the resource's own or `usual`, and what tells this one apart.

    A call that is repeated writes its files anew, over those of the first time.
    """
    stem, dot, ending = blob.name.rpartition(".")
    known = mimetypes.guess_extension(blob.mime) or ".bin"
    if not dot or not stem:
        stem, ending = blob.name, ""
    kept = f".{ending.lower()}" if ending and ending.isalnum() and len(ending) <= ENDING_MAX_CHARS else known
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", stem or usual).strip("-")[:STEM_MAX_CHARS] or "file"
    told = f"{context.run_id} {context.call_id} {usual} {number} {hashlib.sha256(blob.data).hexdigest()}"
    return f"{readable}-{hashlib.sha256(told.encode()).hexdigest()[:8]}{kept}"


def _size(count: int) -> str:
    return f"{count:,} bytes" if count < 1000 else f"{count / 1000:,.0f} kB"
