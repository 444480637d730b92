"""Stages for tests of the runtime: `stage` in memory, `any_stage` also over a file and a real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from bot.testing.clocks import HandClock
from runtime.store.store import open_store
from tests.contract.database import EmptyDatabase
from tests.contract.runtime import stage as stage_module
from tests.contract.runtime.leaks import Leaks
from tests.contract.runtime.stage import Commits, Stage
from tests.contract.runtime.stores import memory_store
from tests.security.tally import Tallied
from tests.unit.guard.secrets import SECRETS

USUAL_SECRETS: Final = ("telegram", "private key")
"""Shapes of the usual run; the others are soak."""


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def stage(clock: HandClock, tmp_path: Path) -> AsyncIterator[Stage]:
    commits = Commits()
    store = memory_store(clock, commits)
    set_up = Stage(store, clock, tmp_path, commits=commits)
    await set_up.open()
    yield set_up
    await store.close()


# In memory is the engine of the file without one, and `stage` is there: those are for the long run.
@pytest.fixture(params=[pytest.param("memory", marks=pytest.mark.soak), "file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    match request.param:
        case "memory":
            return "sqlite:///:memory:"
        case "file":
            return f"sqlite:///{tmp_path / 'signalbox.db'}"
        case _:
            database: EmptyDatabase = request.getfixturevalue("database")
            return database.emptied()


@pytest.fixture
async def any_stage(url: str, clock: HandClock, tmp_path: Path) -> AsyncIterator[Stage]:
    commits = Commits()
    store = await open_store(url, now=clock, watch=commits)
    set_up = Stage(store, clock, tmp_path, commits=commits)
    await set_up.open()
    yield set_up
    await store.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For hundreds of calls in one run."""
    monkeypatch.setattr(stage_module, "PATIENCE", 150.0)


@pytest.fixture(params=[pytest.param(one, marks=[] if one in USUAL_SECRETS else pytest.mark.soak) for one in SECRETS])
def secret(request: pytest.FixtureRequest) -> str:
    return SECRETS[request.param][1]


@pytest.fixture
def leaks(tallied: Tallied) -> Leaks:
    return Leaks(tallied)
