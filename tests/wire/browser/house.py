"""Browsers for a test, on a machine that has a Chromium."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runtime.contract import FileRef, RunId, SessionKey, ToolContext
from runtime.egress import Egress, Opening, Result, Rule
from tests.e2e.browser import executable
from tools.browser.browsers import Browsers
from tools.browser.terms import BrowserTerms

NEEDS_CHROMIUM = [
    pytest.mark.browser,
    pytest.mark.xdist_group("agent-browser"),
    pytest.mark.timeout(180),
    pytest.mark.skipif(executable() is None and not os.environ.get("CI"), reason="no Chromium on this machine"),
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux"),
]
ROOM = "room"


def open_to(url: str, *rules: Rule) -> Egress:
    """An egress that lets pages be read at one address of this machine."""
    place = url.removeprefix("http://")
    port = int(place.rpartition(":")[2])
    return Egress(
        [*rules, Rule(Result.ALLOW, method="GET", ports=frozenset({80, 443, port}))], allow=[Opening.parse(place)]
    )


def posting(url: str) -> Rule:
    return Rule(Result.ALLOW, "browser_click", method="POST", ports=frozenset({int(url.rpartition(":")[2])}))


@asynccontextmanager
async def browsers(
    egress: Egress, terms: BrowserTerms | None = None, *, now: Callable[[], float] = time.monotonic
) -> AsyncIterator[Browsers]:
    made = Browsers(egress, terms or BrowserTerms(), now=now)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(made.run())
        await asyncio.sleep(0)
        try:
            yield made
        finally:
            await made.close_all()
            running.cancel()


def context(workspace: Path, session: str = ROOM, attached: list[FileRef] | None = None) -> ToolContext:
    return ToolContext(
        workspace, SessionKey(session), RunId("r"), "c", attach=(attached if attached is not None else []).append
    )
