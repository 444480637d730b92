"""The tool that reads documents: of the workspace, and of the web through the guarded client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.testing.serve import serving
from runtime.contract import CardContext, CardNote, CardValue, RunId, SessionKey, ToolContext
from runtime.egress import Egress, Opening, Refused, Result, Rule
from runtime.errors import ToolError
from runtime.policy.taint import ReadStep, origin
from tests.unit.tools.documents import made
from tools.documents.reader import DOCUMENT_MAX_BYTES, DocumentReader
from tools.documents.tool import DOCUMENT_FLOW, document_tool

PAGES = {"/leave": (made.CHROMIUM, "application/octet-stream"), "/list": (b"a;b\n1;2\n", "text/csv; charset=utf-8")}


@pytest.fixture
async def at() -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.Response:
        if request.path not in PAGES:
            return web.Response(status=404)
        body, media = PAGES[request.path]
        return web.Response(body=body, headers={"Content-Type": media})

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with serving(app) as address:
        yield address


async def read(workspace: Path, egress: Egress | None = None, **arguments: Any) -> str:
    context = ToolContext(workspace, SessionKey("s"), RunId("r"), "c")
    return await document_tool(DocumentReader(), egress).call(arguments, context)


def open_to(at: str) -> Egress:
    allow = [Rule(Result.ALLOW, "read_document", ports=frozenset({int(at.rpartition(":")[2])}))]
    return Egress(allow, allow=[Opening.parse("127.0.0.0/8")])


async def test_a_file_that_somebody_sent_is_found_by_its_bare_name(tmp_path: Path) -> None:
    (tmp_path / "uploads").mkdir()
    (tmp_path / "uploads" / "sales.pdf").write_bytes(made.MATPLOTLIB)
    told = await read(tmp_path, path="sales.pdf", pages="2")
    assert told == "PDF, 3 pages. Title: Sales of May.\n[page 2]\nSales of region 2: 200 units"


async def test_a_document_of_the_web_is_read_by_its_bytes_and_else_its_type(tmp_path: Path, at: str) -> None:
    assert "thirty days" in await read(tmp_path, open_to(at), url=f"{at}/leave")
    assert (await read(tmp_path, open_to(at), url=f"{at}/list")).endswith("1: a | b\n2: 1 | 2")


async def test_what_rules_refuse_and_what_is_not_there_is_told(tmp_path: Path, at: str) -> None:
    with pytest.raises(Refused):
        await read(tmp_path, Egress([Rule(Result.DENY)]), url=f"{at}/leave")
    with pytest.raises(ToolError, match="status 404"):
        await read(tmp_path, open_to(at), url=f"{at}/gone")


@pytest.mark.parametrize("path", ["gone.pdf", "../x.pdf", "/etc/passwd", "link.pdf", "folder", "large.pdf"])
async def test_what_is_no_document_of_the_workspace_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "link.pdf").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "large.pdf").open("wb") as large:
        large.truncate(DOCUMENT_MAX_BYTES + 1)
    with pytest.raises(ToolError):
        await read(tmp_path, path=path)


@pytest.mark.parametrize("arguments", [{}, {"path": "a.pdf", "url": "https://example.org"}])
async def test_one_of_path_and_url_is_given(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="and not both"):
        await read(tmp_path, **arguments)


def test_its_source_is_the_host_or_the_path_and_its_card_says_so(tmp_path: Path) -> None:
    def source(**arguments: str) -> str:
        return origin(ReadStep(1, "read_document", DOCUMENT_FLOW, arguments, "x"))

    assert source(url="https://example.org/a.pdf") == "example.org"
    assert source(path="mail/a b.pdf") == "mail/a b.pdf"
    assert source(url="", path="a.pdf") == "a.pdf"
    assert source() == "read_document"
    card = document_tool(DocumentReader(), None).spec.card
    assert card
    url = {"url": "https://example.org/a.pdf"}
    assert card(url, CardContext(tmp_path)) == [CardValue("url"), CardNote("GET, from example.org")]
    assert card({"path": "a.pdf"}, CardContext(tmp_path)) == [CardValue("path")]
