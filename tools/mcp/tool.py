"""A tool of an MCP server as a Tool of ours."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from runtime.contract import FileRef, Json, ToolContext, ToolSpec
from runtime.errors import ToolFailed
from runtime.workspace.safe_fs import replace
from tools.files.workspace import opened_parent, own_like, told
from tools.mcp.errors import Lost
from tools.mcp.offers import MARGIN, Offer, spec_of
from tools.mcp.terms import ServerTerms

if TYPE_CHECKING:
    from tools.mcp.connection import Connection
    from tools.mcp.results import Answer, Blob

MCP_FOLDER: Final = "mcp"  # of the workspace
MOST_FILES: Final = 8  # of one answer

Reach = Callable[[Offer], "Awaitable[Connection]"]
"""The connection for a call of the tool that was offered so. Errors: ToolFailed, and nothing was called."""


class McpTool:
    """Implements `contract.Tool`. `offer` is what it was when its server told of it: a call is of that tool or of none."""

    def __init__(self, offer: Offer, terms: ServerTerms, reach: Reach) -> None:
        self.offer = offer
        self.spec: ToolSpec = spec_of(offer, terms)
        self._terms = terms
        self._reach = reach

    def caution(self) -> str:
        """Also names the form of the tool: a yes to one form is none to another."""
        terms = self._terms
        return f"A tool of the {terms.called}, in its form {self.offer.form}. {terms.whereabouts}"

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        connection = await self._reach(self.offer)
        limit = (self.spec.timeout - MARGIN).total_seconds()
        try:
            async with asyncio.timeout(limit):
                answer = await connection.call(self.offer.name, arguments)
        except TimeoutError:
            raise ToolFailed(self._without_answer(f"did not answer within {limit:g} s")) from None
        except Lost as lost:
            raise ToolFailed(
                self._without_answer(f"gave no answer that tells what became of the call ({lost})")
            ) from lost
        return await self._told(answer, context)

    def _without_answer(self, what: str) -> str:
        head = f"The {self._terms.called} {what}."
        if self.spec.repeatable:
            return f"{head} The call changes nothing, so it may be made again."
        return f"{head} Whether the call was carried out is unknown. Don't repeat it until somebody has checked."

    async def _told(self, answer: Answer, context: ToolContext) -> str:
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
        # A call that is repeated writes its files anew, over those of the first time.
        call = hashlib.sha256(f"{context.run_id} {context.call_id}".encode()).hexdigest()[:8]
        for piece in answer.pieces:
            if isinstance(piece, str):
                texts.append(piece)
            elif len(files) < MOST_FILES:
                files.append(_kept(piece, f"{self._terms.name}-{call}-{len(files) + 1}", context))
                texts.append(f"[{piece.what}, {_size(len(piece.data))}: {files[-1].path}]")
            else:
                texts.append(f"[{piece.what}, {_size(len(piece.data))}, not kept: at most {MOST_FILES} are]")
        return texts, files


def _kept(blob: Blob, stem: str, context: ToolContext) -> FileRef:
    name = stem + (mimetypes.guess_extension(blob.mime) or ".bin")
    path = f"{MCP_FOLDER}/{name}"
    with opened_parent(context.workspace, path) as (folder, last), told(path):
        replace(last, folder, blob.data, partial(own_like, folder=folder))
    return FileRef(name, path, len(blob.data), mime=blob.mime)


def _size(count: int) -> str:
    return f"{count:,} bytes" if count < 1000 else f"{count / 1000:,.0f} kB"
