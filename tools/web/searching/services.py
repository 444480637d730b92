"""Search services: how each is asked, and what it answers. No I/O.

Sources: docs.searxng.org (search API), api-dashboard.search.brave.com (web search), docs.tavily.com (search).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode

from runtime.text.glyphs import clip

BRAVE: Final = "https://api.search.brave.com"
TAVILY: Final = "https://api.tavily.com"
TITLE_MAX_CHARS: Final = 200
WORDS_MAX_CHARS: Final = 600
URL_MAX_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Result:
    """A page that was found, in the words of the service."""

    title: str
    url: str
    words: str


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a service. Headers may hold its key."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """A service as the settings have it. `names` are the keys of its answer: where results are, and their text."""

    name: str
    ask: Callable[[str, int], Request]
    found_at: Sequence[str]
    words: str

    def read(self, body: bytes, most: int) -> list[Result]:
        """Results of an answer, at most so many, each address once. Errors: ValueError for one that is no such answer."""
        answer: Any = json.loads(body)
        for name in self.found_at:
            answer = answer.get(name) if isinstance(answer, dict) else None
        if not isinstance(answer, list):
            raise ValueError(f"it has no {'.'.join(self.found_at)}")
        return list({one.url: one for one in _results(answer, self.words)}.values())[:most]


def _results(rows: Sequence[Any], words: str) -> Iterator[Result]:
    for row in rows:
        url = row.get("url") if isinstance(row, dict) else None
        if isinstance(url, str) and url.startswith(("http://", "https://")) and len(url) <= URL_MAX_CHARS:
            yield Result(_line(row.get("title"), TITLE_MAX_CHARS), url, _line(row.get(words), WORDS_MAX_CHARS))


def _line(value: object, most: int) -> str:
    return clip(" ".join(value.split()), most) if isinstance(value, str) else ""


def searxng(url: str) -> Service:
    """An instance of one's own, at `url`; its settings must list "json" among `search.formats`."""

    def ask(query: str, n: int) -> Request:
        return Request("GET", f"{url}/search?{urlencode({'q': query, 'format': 'json'})}", {})

    return Service("searxng", ask, ("results",), "content")


def brave(key: str, at: str = BRAVE) -> Service:
    def ask(query: str, n: int) -> Request:
        url = f"{at}/res/v1/web/search?{urlencode({'q': query, 'count': n}, quote_via=quote)}"
        return Request("GET", url, {"X-Subscription-Token": key, "Accept": "application/json"})

    return Service("brave", ask, ("web", "results"), "description")


def tavily(key: str, at: str = TAVILY) -> Service:
    def ask(query: str, n: int) -> Request:
        body = json.dumps({"query": query, "max_results": n}).encode()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        return Request("POST", f"{at}/search", headers, body)

    return Service("tavily", ask, ("results",), "content")
