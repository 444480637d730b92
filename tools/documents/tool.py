"""The tool that reads a document of the workspace, or of the web."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import Annotated, Final
from urllib.parse import unquote, urlsplit

from runtime.contract import (
    CardContext,
    CardNote,
    CardPart,
    CardValue,
    Carries,
    Effect,
    Flow,
    Json,
    Reads,
    Tool,
    ToolContext,
)
from runtime.egress import Egress
from runtime.errors import ToolFailed, ToolRetry
from tools.documents.reader import DOCUMENT_MAX_BYTES, READING_TIMEOUT, DocumentReader
from tools.files.workspace import attached, named, opened
from tools.kit.declare import tool

READ_DOCUMENT: Final = "read_document"
DOCUMENT_FETCH_TIMEOUT: Final = timedelta(seconds=30)
DOCUMENT_TIMEOUT: Final = READING_TIMEOUT * 2 + DOCUMENT_FETCH_TIMEOUT
"""Others may be read first."""
DOCUMENT_BOUND: Final = 40_000
"""Characters of a result: some 20,000 of text, with marks between its pages."""
DOCUMENT_FLOW: Final = Flow(
    Reads.FILES, "{url}{path}", carries={"path": Carries.THING, "url": Carries.HOST, "pages": Carries.DETAIL}
)
DOCUMENT_TOO_LARGE: Final = (
    f"It has more than {DOCUMENT_MAX_BYTES >> 20} MB, which is the most that is read. Ask for a smaller one."
)


def document_tool(reader: DocumentReader, egress: Egress | None) -> Tool:
    """The tool `read_document`. Without `egress` it reads files alone."""

    @tool(
        effect=Effect.READ,
        timeout=DOCUMENT_TIMEOUT,
        output_bound=DOCUMENT_BOUND,
        card=_card,
        seldom=True,
        flow=DOCUMENT_FLOW,
    )
    async def read_document(
        context: ToolContext,
        path: Annotated[str, "In the workspace; of a sent file, its name."] = "",
        url: Annotated[str, "Or its http(s):// address."] = "",
        pages: Annotated[str, 'Pages, slides or parts, such as "11-20"; else the beginning and the end.'] = "",
    ) -> str:
        """Read a PDF, Word, Excel, PowerPoint, EPUB, CSV, HTML or mail file as text."""
        if bool(path) == bool(url):
            raise ToolRetry("Give the path of a file, or an url, and not both.")
        if path:
            return await of_file(reader, context, path, pages)
        if egress is None:
            raise ToolFailed("No address can be read here.")
        return await of_page(reader, egress, url, pages)

    return read_document


def _card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    """The host first: an address may be long."""
    try:
        host = urlsplit(str(arguments.get("url") or "")).hostname
    except ValueError:
        host = None
    return [CardValue("url"), CardNote(f"GET, from {host}")] if host else [CardValue("path")]


async def of_file(reader: DocumentReader, context: ToolContext, path: str, pages: str) -> str:
    path = attached(context.workspace, path)
    with opened(context.workspace, path) as file:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise ToolFailed(f"{named(path)} is no file.")
        if found.st_size > DOCUMENT_MAX_BYTES:
            raise ToolFailed(DOCUMENT_TOO_LARGE)
        return await reader.read(file, path, pages=pages)


async def of_page(reader: DocumentReader, egress: Egress, url: str, pages: str) -> str:
    """A document of the web. Its content type decides, where its bytes don't."""
    answer = await egress.request(
        "GET", url, tool=READ_DOCUMENT, most=DOCUMENT_MAX_BYTES, timeout=DOCUMENT_FETCH_TIMEOUT
    )
    if answer.status != HTTPStatus.OK:
        raise ToolFailed(f"The address answered with status {answer.status}.")
    if answer.truncated:
        raise ToolFailed(DOCUMENT_TOO_LARGE)
    name = PurePosixPath(unquote(urlsplit(answer.url).path)).name
    return await reader.read_bytes(answer.body, name, media=answer.headers.get("content-type", ""), pages=pages)
