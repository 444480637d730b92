"""Doctor tells of agents: their names, nodes that differ, and a process that has not read its settings again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.doctor.agents import check_agents
from bot.doctor.subject import Subject
from bot.settings.settings import Settings
from bot.wiring.agents import digest_of, manifests_of
from runtime.contract import Finding, Level, NodeId
from runtime.store.store import open_store
from tests.unit.bot.settings.test_settings import read

OPS = '[[agents]]\nname = "ops"\nprompt = "You keep things running."\n'


async def told(folder: Path, *digests: str, ttl: timedelta = timedelta(hours=1)) -> tuple[Settings, list[Finding]]:
    """Findings where a live node has each of the digests, or the one of the settings where it is empty."""
    settings = read(folder, OPS)
    own = digest_of(manifests_of(settings))
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.database_url, now=lambda: datetime.now(UTC))
    for number, digest in enumerate(digests):
        await store.cluster.join(NodeId(f"n{number}"), f"host{number}", ttl, alone=False, agents=digest or own)
    await store.close()
    return settings, list(await check_agents(Subject(settings, None, None, None)))


async def test_agents_of_the_settings_are_named(tmp_path: Path) -> None:
    _, [found] = await told(tmp_path, "", "")
    assert (found.level, found.what) == (Level.OK, "1 agent beside main: ops")


async def test_live_nodes_with_different_agents_are_an_error(tmp_path: Path) -> None:
    settings, [found] = await told(tmp_path, "", "another")
    own = digest_of(manifests_of(settings))
    assert (found.level, found.id) == (Level.ERROR, "agents.nodes")
    sides = sorted([(own, "host0"), ("another", "host1")])
    words = "; ".join(f"{label} has {digest}" for digest, label in sides)
    assert found.what == f"the live nodes work with different agents ({words})"
    assert "signalbox reload" in found.fix


async def test_a_process_with_other_agents_than_the_settings_needs_a_reload(tmp_path: Path) -> None:
    _, [found] = await told(tmp_path, "another")
    assert (found.level, found.what, found.fix) == (
        Level.WARNING,
        "host0 works with other agents than these settings",
        "signalbox reload",
    )


async def test_a_node_whose_lease_ended_counts_for_nothing(tmp_path: Path) -> None:
    _, [found] = await told(tmp_path, "another", ttl=-timedelta(hours=1))
    assert found.level is Level.OK


@pytest.mark.parametrize(
    ("places", "told_of"),
    [
        ('rooms = ["slack:work/C1"]', "rooms slack:work/C1"),
        ('accounts = ["telegram:*"]', "accounts telegram:*"),
        ('channels = ["slak"]', "channels slak"),
        ('rooms = ["web:*", "*/lobby"]\naccounts = ["web:main"]\nchannels = ["w*"]', ""),
    ],
)
async def test_a_place_that_no_account_has_is_told(tmp_path: Path, places: str, told_of: str) -> None:
    [found] = await check_agents(Subject(read(tmp_path, f"{OPS}{places}\n"), None, None, None))
    assert (found.level is Level.WARNING, told_of in found.what) == (bool(told_of), True)
