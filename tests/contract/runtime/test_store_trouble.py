"""The whole process while its store takes nothing: a platform hands in again, and all that was said is answered once."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from bot.http.health import reasons_against
from bot.server.app import App
from bot.testing.clocks import Clock
from runtime.store.sql.sqlite import SqliteDriver
from tests.contract.runtime.test_clock_set import holds, living, told, until

LASTS = 2  # seconds: several heartbeats, and everybody else who writes


def set_read_only(app: App, state: bool) -> None:
    """As a file system does that was made read-only under an open file: root's own writes go through any `chmod`."""
    driver = app.store.driver
    assert isinstance(driver, SqliteDriver)
    driver._writer._connection.execute(f"PRAGMA query_only = {int(state)}")


async def test_a_store_made_read_only_in_mid_run_loses_nothing_and_goes_on_without_a_restart(tmp_path: Path) -> None:
    with capture_logs() as logs:
        async with living(tmp_path, Clock()) as (app, driver):
            await driver.say("before")
            await until(lambda: holds(driver, "before"))
            set_read_only(app, True)
            await driver.say("meanwhile", room="r2")
            await until(lambda: told(logs, "the store is in trouble"))
            reasons = await reasons_against({"store": app.store.check})
            await asyncio.sleep(LASTS)
            assert "meanwhile" not in "\n".join((await driver.screen()).texts())
            set_read_only(app, False)
            await until(lambda: holds(driver, "meanwhile"))
            await until(lambda: told(logs, "the store works again"))
            texts = "\n".join((await driver.screen()).texts())
    assert "read-only" in reasons["store"]
    assert (texts.count("> before"), texts.count("> meanwhile")) == (1, 1)
    assert warnings(logs) == ["the store is in trouble", "the store works again"]


def warnings(logs: Sequence[MutableMapping[str, Any]]) -> list[str]:
    """What an operator reads at the usual level, beside what goes straight."""
    return [entry["event"] for entry in logs if entry["log_level"] in ("warning", "error")]
