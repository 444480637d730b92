"""Pictures of every page: a page of the console can't be forgotten."""

from __future__ import annotations

from bot.console.layout import PLACES
from tests.e2e.every_page import console_pages
from tests.security.routes import declared


def test_every_page_of_the_console_is_photographed() -> None:
    pages = set(console_pages())
    assert {address for address, _ in PLACES} <= pages
    declared_pages = {route.removeprefix("GET ") for route in declared() if route.startswith("GET /console/")}
    data = {path for path in declared_pages if "/api/" in path or "/static/" in path or path.endswith(".zip")}
    assert declared_pages - data - {"/console/"} <= pages
