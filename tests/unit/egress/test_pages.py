"""What a model reads of a page: what a person would see there, and nothing that a person would not (golden/)."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from runtime.errors import ToolFailed
from tests.golden import same_as
from tools.web.feeds import NoFeed, page_of
from tools.web.page_worker import markdown
from tools.web.pages import readable

HERE = Path(__file__).parent / "golden"
URL = "https://example.org/harbour/index.html"


def page(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["article.html", "layout.html"])
def test_a_page_reads_as_a_person_would(name: str) -> None:
    same_as(HERE / f"{name}.md.txt", markdown(page(name), url=URL, most=10_000))


def test_nothing_that_is_hidden_is_read() -> None:
    text = markdown(page("article.html"), url=URL, most=10_000)
    assert not re.findall(r"Ignore|not for readers|Log in|javascript:|data:", text)


@pytest.mark.parametrize("name", ["feed.rss", "feed.atom"])
def test_a_feed_reads_as_a_page(name: str) -> None:
    same_as(HERE / f"{name}.md.txt", markdown(page_of(page(name)), url=URL, most=10_000))


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "no xml",
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "<!DOCTYPE rss [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><rss><channel><title>&b;</title></channel></rss>",
        "<!DOCTYPE rss SYSTEM 'file:///etc/passwd'><rss/>",
        "<rss><channel><title>cut",
    ],
)
def test_what_is_no_feed_is_not_read_as_one(xml: str) -> None:
    with pytest.raises(NoFeed):
        page_of(xml)


def test_a_feed_that_was_cut_is_read_as_far_as_it_goes() -> None:
    text = page("feed.rss")
    assert "Ferry" in page_of(text[: text.index("New pier")])


@pytest.mark.parametrize("most", [100, 1000, 5000])
def test_only_the_beginning_of_a_long_page_is_made(most: int) -> None:
    long = "".join(f"<h2>Part {n}</h2><p>{'word ' * 40}</p>" for n in range(200))
    whole, part = markdown(long, url=URL, most=1 << 20), markdown(long, url=URL, most=most)
    assert len(part) >= most
    assert len(part) < most + 1000
    assert whole.startswith(part[:most])


async def test_a_page_is_read_in_a_process_of_its_own() -> None:
    assert await readable("<p>grüße <a href=x>hier</a>", url=URL, most=100) == (
        "grüße [hier](https://example.org/harbour/x)"
    )


async def test_of_a_long_page_the_first_characters_come_whole() -> None:
    long = "".join(f"<p>{n} <a href='/{n}/{'x' * 50}'>a</a></p>" for n in range(600))
    text = await readable(long, url=URL, most=2000)
    assert text[:2000] == markdown(long, url=URL, most=2000)[:2000]


async def test_a_page_that_is_nested_without_end_is_read_as_its_words() -> None:
    text = await readable(f"{'<div><b>' * 3_000}deep", url=URL, most=1000)
    assert text == "deep"


async def test_a_page_that_takes_too_long_is_told() -> None:
    with pytest.raises(ToolFailed, match=r"too complex to be read as text within 0\.05 s"):
        await readable("<p>x", url=URL, most=100, deadline=timedelta(seconds=0.05))
