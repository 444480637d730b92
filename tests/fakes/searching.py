"""Search services on the wire: SearXNG, Brave and Tavily, as far as they are asked for pages."""

from __future__ import annotations

from typing import Any, Final

from aiohttp import web

BRAVE_KEY: Final = "brave-key"
TAVILY_KEY: Final = "tavily-key"


class SearchServices:
    """All three at one address. `pages` are (title, url, words) of any query; `down` are names that answer with 503."""

    def __init__(self) -> None:
        self.pages: list[tuple[Any, Any, Any]] = []
        self.down: set[str] = set()
        self.asked: list[tuple[str, str, int | None]] = []
        self.raw: bytes | None = None

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/search", self._searxng)
        app.router.add_get("/res/v1/web/search", self._brave)
        app.router.add_post("/search", self._tavily)
        return app

    def _answer(self, name: str, answer: Any) -> web.Response:
        if name in self.down:
            return web.json_response({"error": "unavailable"}, status=503)
        return web.Response(body=self.raw) if self.raw is not None else web.json_response(answer)

    async def _searxng(self, request: web.Request) -> web.Response:
        if request.query.get("format") != "json":
            return web.Response(status=403, text="Forbidden")
        self.asked.append(("searxng", request.query["q"], None))
        rows = [{"title": title, "url": url, "content": words, "engine": "a"} for title, url, words in self.pages]
        return self._answer("searxng", {"query": request.query["q"], "results": rows})

    async def _brave(self, request: web.Request) -> web.Response:
        if request.headers.get("X-Subscription-Token") != BRAVE_KEY:
            return web.json_response({"type": "ErrorResponse"}, status=422)
        count = int(request.query["count"])
        self.asked.append(("brave", request.query["q"], count))
        rows = [{"title": title, "url": url, "description": words} for title, url, words in self.pages[:count]]
        return self._answer("brave", {"type": "search", "web": {"type": "search", "results": rows}})

    async def _tavily(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {TAVILY_KEY}":
            return web.json_response({"detail": {"error": "Unauthorized"}}, status=401)
        asked = await request.json()
        self.asked.append(("tavily", asked["query"], asked["max_results"]))
        rows = [{"title": title, "url": url, "content": words, "score": 0.9} for title, url, words in self.pages]
        return self._answer("tavily", {"query": asked["query"], "results": rows[: asked["max_results"]]})
