"""Searching the web: three services on the wire, one after another, and what hostile answers come to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.settings.settings import load
from bot.testing.serve import serving
from bot.wiring.tools.search import search_tools
from runtime.contract import RunId, SessionKey, Tool, ToolContext
from runtime.egress import Egress, Opening, Result, Rule
from runtime.errors import ConfigError, ToolFailed, ToolRetry
from tests.fakes.searching import BRAVE_KEY, TAVILY_KEY, SearchServices
from tools.web.searching.services import Service, brave, searxng, tavily
from tools.web.searching.tool import NOTHING_FOUND, search_tool

PAGES = [("Leave  in\nNorway", "https://example.org/leave", "Twenty-five days."), ("", "http://example.com/a", "")]


@dataclass
class Web:
    fake: SearchServices
    at: str

    @property
    def services(self) -> list[Service]:
        return [searxng(self.at), brave(BRAVE_KEY, self.at), tavily(TAVILY_KEY, self.at)]

    def tool(self, *services: Service) -> Tool:
        allow = [Rule(Result.ALLOW, "web_search", ports=frozenset({int(self.at.rpartition(":")[2])}))]
        return search_tool(Egress(allow, allow=[Opening.parse("127.0.0.0/8")]), services or self.services)


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    fake = SearchServices()
    fake.pages = list(PAGES)
    async with serving(fake.app()) as at:
        yield Web(fake, at)


async def asked(tool: Tool, tmp_path: Path, query: str = "days of leave", **more: int) -> str:
    return await tool.call({"query": query, **more}, ToolContext(tmp_path, SessionKey("s"), RunId("r"), "c"))


@pytest.mark.parametrize("which", [0, 1, 2])
async def test_each_service_is_asked_and_read(web: Web, tmp_path: Path, which: int) -> None:
    service = web.services[which]
    told = await asked(web.tool(service), tmp_path, "days  of\nleave & more", n=2)
    assert (
        told
        == "1. Leave in Norway\nhttps://example.org/leave\nTwenty-five days.\n\n2. http://example.com/a\nhttp://example.com/a"
    )
    assert [(name, query) for name, query, _ in web.fake.asked] == [(service.name, "days of leave & more")]


async def test_the_next_service_is_asked_where_one_is_away(web: Web, tmp_path: Path) -> None:
    web.fake.down = {"searxng", "brave"}
    await asked(web.tool(), tmp_path)
    assert [name for name, _, _ in web.fake.asked] == ["searxng", "brave", "tavily"]
    web.fake.down.add("tavily")
    with pytest.raises(
        ToolFailed, match=r"No search service answered\. searxng: It answered with status 503\. brave: "
    ):
        await asked(web.tool(), tmp_path)


async def test_a_wrong_key_is_told_without_the_key(web: Web, tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="brave: It answered with status 422") as caught:
        await asked(web.tool(brave("not-this-one", web.at)), tmp_path)
    assert "not-this-one" not in str(caught.value)


@pytest.mark.parametrize(
    "raw", [b"", b"<html>", b"[]", b'{"results": 7}', b"[" * 200_000, b'{"results": {"url": "x"}}']
)
async def test_an_answer_that_is_none_is_a_fault(web: Web, tmp_path: Path, raw: bytes) -> None:
    web.fake.raw = raw
    with pytest.raises(ToolFailed, match="searxng: "):
        await asked(web.tool(searxng(web.at)), tmp_path)


async def test_only_pages_with_an_address_are_shown_each_once_and_no_more_than_asked(web: Web, tmp_path: Path) -> None:
    odd = [("js", "javascript:alert(1)", "x"), (7, None, None), ("long", "https://example.org/" + "a" * 2_000, "x")]
    web.fake.pages = [*odd, *PAGES, *PAGES, *((f"t{n}", f"https://example.org/{n}", "w" * 5_000) for n in range(30))]
    told = await asked(web.tool(searxng(web.at)), tmp_path, n=3)
    assert [line for line in told.splitlines() if line.startswith("http")] == [
        PAGES[0][1],
        PAGES[1][1],
        "https://example.org/0",
    ]
    assert len(told) < 1_000
    web.fake.pages = odd
    assert await asked(web.tool(searxng(web.at)), tmp_path) == NOTHING_FOUND


@pytest.mark.parametrize(("query", "n"), [(" ", 5), ("x" * 401, 5), ("leave", 0), ("leave", 21)])
async def test_what_cannot_be_asked_is_told_before(web: Web, tmp_path: Path, query: str, n: int) -> None:
    with pytest.raises(ToolRetry, match="Give a query of at most 400 characters"):
        await asked(web.tool(), tmp_path, query, n=n)
    assert web.fake.asked == []


# ------------------------------------------------------------------------------------------------------- the settings


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "signalbox.toml").write_text(f"[tools.search]\n{text}\n", encoding="utf-8")
    return tmp_path


def test_there_is_no_tool_without_a_service(tmp_path: Path) -> None:
    assert search_tools(load(folder=tmp_path, environ={})) == {}
    settings = load(folder=written(tmp_path, 'provider = "searxng"\nurl = "https://search.example.org/"'), environ={})
    assert list(search_tools(settings)) == ["web_search"]


def test_a_key_is_taken_from_its_variable(tmp_path: Path) -> None:
    folder = written(tmp_path, 'provider = ["brave", "tavily"]\nbrave_key_env = "A_KEY"\ntavily_key_env = "B_KEY"')
    settings = load(folder=folder, environ={"A_KEY": "one", "B_KEY": "two"})
    assert settings.tools.search.without_key == []
    assert "one" in settings.secret_values()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('provider = "google"', "'searxng', 'brave' or 'tavily'|searxng"),
        ('provider = "searxng"', "set url to the address of its instance"),
        ('provider = "searxng"\nurl = "search"', 'such as "https://search.example.org"'),
        ('provider = "brave"', "tools.search.brave_key: is missing; set brave_key_env"),
        ('provider = ["brave", "brave"]\nbrave_key = "x"', "names one service twice"),
    ],
)
def test_faults_of_the_settings_name_the_fix(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load(folder=written(tmp_path, text), environ={})
