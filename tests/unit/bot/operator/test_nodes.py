"""Nodes for operators: on the console, by the command line alone, and by names that people give."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.console.health.nodes import nodes_part
from bot.node.comparing import differing, fingerprint
from bot.operator.client import connected
from bot.server.process import serving
from bot.settings.settings import Settings, load
from bot.wiring.owner import settle_owner
from runtime.contract import Identity, NodeId
from runtime.http.errors import Refusal
from runtime.store.protocol.leases import AboutNode
from runtime.store.store import open_store
from tests.unit.bot.operator.test_schedules import House
from tests.unit.bot.settings.test_settings import read

LONG = timedelta(hours=1)
SECRET = "xoxb-1234567890-abcdefghijkl"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, "[web]\nport = 0\n"), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def test_a_process_lists_itself_and_leaves_when_it_is_drained(house: House) -> None:
    async with asyncio.timeout(20):
        while not (row := (await house.api.nodes())[0])["accounts"]:  # noqa: ASYNC110 - no event tells that it is served
            await asyncio.sleep(0.01)
    assert (row["state"], row["accounts"], row["at_work"], row["differs"], row["notes"]) == (
        "live", ["web:main"], 0, [], []
    )  # fmt: skip
    page = await house.page("/console/health")
    assert f'action="/console/api/nodes/{row["id"]}/drain"' in page
    assert "the only one" in page
    assert "/drain" not in "".join(nodes_part([row], is_owner=False)), "an operator can't start it again"
    with pytest.raises(Refusal, match="is live"):
        await house.api.remove_node(row["name"])
    with pytest.raises(Refusal, match='No node is called "beta"'):
        await house.api.drain_node("beta")
    with pytest.raises(Refusal, match="a day at most"):
        await house.api.drain_node(row["host"], "2 days")
    assert "takes nothing more in" in (await house.api.drain_node(row["host"], "1 minute"))["told"]
    async with asyncio.timeout(20):
        await house.ready.over.wait()


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """Settings of a place where no process runs, and where two nodes joined that give no sign."""
    place = tmp_path / "signalbox.toml"
    place.write_text("")
    settings = load(place, environ={})
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.database_url)
    await settle_owner(store.people, [Identity("telegram:1")], None, with_link=False)
    for name, ttl, told in (("a", LONG, '{"language":"x"}'), ("b", LONG, "{}"), ("c", timedelta(), "{}")):
        about = AboutNode("9.9", told)
        await store.cluster.join(NodeId(f"node-{name}"), f"{name}host/7", ttl, alone=False, about=about)
    await store.close()
    return place


def told(file: Path, *words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(cli, [*words, "--config", str(file)])
    return ended.exit_code, " ".join(ended.output.split())


def test_the_command_line_alone_lists_drains_and_removes(file: Path) -> None:
    code, output = told(file, "nodes", "list")
    assert code == 0
    assert "The live nodes have different settings: language." in output
    assert "ahost/7: its program is signalbox 9.9, which knows the same schema" in output
    rows = {row["name"]: row for row in json.loads(told(file, "nodes", "list", "--json")[1])}
    assert [rows[f"{name}host/7"]["state"] for name in "abc"] == ["live", "live", "late"]
    assert told(file, "nodes", "drain", "ahost", "--within", "1m")[0] == 0
    rows = {row["name"]: row for row in json.loads(told(file, "nodes", "list", "--json")[1])}
    until = datetime.fromisoformat(rows["ahost/7"]["drain_until"])
    assert rows["ahost/7"]["state"] == "draining"
    assert until - datetime.now(UTC) < timedelta(seconds=61)
    assert told(file, "nodes", "remove", "bhost", "--yes")[0] == 1
    assert told(file, "nodes", "remove", "chost", "--yes")[1].startswith("chost/7 is given up.")
    assert told(file, "nodes", "drain", "chost", "--wait")[0] == 1
    assert told(file, "nodes", "drain", "host")[0] == 1


def test_settings_that_differ_are_named_and_secrets_only_by_whether_there_is_one(tmp_path: Path) -> None:
    def made(**given: object) -> Settings:
        return Settings.model_validate(given)

    plain = fingerprint(made())
    account = {"channel": "slack", "name": "work", "bot_token": SECRET, "app_token": "xapp-1-A-1-" + "a" * 20}
    one = fingerprint(made(language="de", model={"name": "demo", "api_key": SECRET}, accounts=[account]))
    other = fingerprint(made(language="de", model={"name": "demo", "api_key": SECRET[::-1]}, accounts=[account]))
    assert plain == "{}"
    assert one == other
    assert differing(plain, one) == ["accounts", "language", "model.api_key"]
    assert SECRET not in one
    assert differing("", one) == []
    assert fingerprint(made(data_dir=tmp_path, log={"level": "debug"}, web={"port": 4711})) == plain


def test_another_shared_key_is_named_without_telling_it() -> None:
    def told(key: str | None) -> str:
        secrets = {"shared_key": key} if key else {}
        return fingerprint(Settings.model_validate({"database_url": "postgresql://u@db/x", "secrets": secrets}))

    one, other, none = told("k" * 32), told("l" * 32), told(None)
    assert differing(one, told("k" * 32)) == []
    assert differing(one, other) == differing(none, one) == ["secrets.shared_key"]
    assert differing(one, "{}") == []  # an older program tells nothing of it
    assert "k" * 32 not in one
