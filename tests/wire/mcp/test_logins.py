"""Logins at MCP servers: once by a person, then kept sealed, renewed, and told of where only a person helps."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from typer.testing import CliRunner

from bot.secrets.chain import Bound
from bot.settings.settings import Settings, load
from bot.wiring.logins.grants import (
    LookedAt,
    SharedGrant,
    grant_in,
    mcp_login,
    old_file,
    sealed_grant,
    shared_grants,
)
from bot.wiring.logins.logging_in import log_in
from bot.wiring.logins.parts import login_sealer_of
from bot.wiring.mcp import terms_of
from bot.wiring.safety.bound import BoundSecrets
from runtime.contract import CardContext, Identity, Role
from runtime.domain.ids import new_id
from runtime.errors import StoreError, ToolFailed
from runtime.store.store import Store, open_store
from tests.fakes.serve import spawned
from tests.wire.mcp.stage import SOON, AtWork, until
from tools.kit.placeholders import LentSecret, NoSecrets, SecretBook
from tools.mcp.oauth.browser import Callback
from tools.mcp.server import McpServer

HOUR: Final = "3600"


@dataclass
class Site:
    """The servers of one test, and a person at a browser."""

    url: str
    settings: Settings
    store: Store
    shown: list[str] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)

    @property
    def table(self) -> Any:
        return self.settings.mcp[0]

    async def post(self, path: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as client:
            await client.post(f"{self.url}{path}")

    async def seen(self) -> list[list[str]]:
        async with httpx2.AsyncClient(trust_env=False) as client:
            told: list[list[str]] = (await client.get(f"{self.url}/seen")).json()
            return told

    async def log_in(self) -> Any:
        """Log in as a person does, whose browser follows the page back to us."""

        async def browse() -> None:
            await until(lambda: bool(self.shown))
            async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
                assert "You&#x27;re logged in" in (await browser.get(self.shown.pop())).text

        async with asyncio.TaskGroup() as group:
            group.create_task(browse())
            grant = await log_in(self.settings, self.table, show=self.shown.append, listen=self.callbacks.append)
        assert grant is not None
        new = sealed_grant(login_sealer_of(self.settings)(), "desk", grant)
        await self.store.logins.keep_login(mcp_login("desk"), new, grant.issuer_name, "Ada")
        return grant

    @property
    def grants(self) -> SharedGrant:
        """Those of one node."""
        found = shared_grants(self.settings, self.store.logins, new_id)(self.table)
        assert isinstance(found, SharedGrant)
        return found


@asynccontextmanager
async def site(folder: Path, life: str = HOUR) -> AsyncIterator[Site]:
    async with spawned("tests.fakes.oauth", life) as (_, url):
        told = settings(folder, url)
        store = await open_store(told.database_url)
        try:
            yield Site(url, told, store)
        finally:
            await store.close()


def settings(folder: Path, url: str) -> Settings:
    file = folder / "signalbox.toml"
    file.write_text(f'data_dir = "{folder}"\n[[mcp]]\nname = "desk"\nurl = "{url}/mcp"\n')
    return load(file, environ={})


@asynccontextmanager
async def served(
    at: Site, folder: Path, logins: list[str] | None = None, secrets: SecretBook | None = None
) -> AsyncIterator[AtWork]:
    asked: list[str] = [] if logins is None else logins
    terms = replace(terms_of(at.settings, at.table, lambda _: at.grants), secrets=secrets or NoSecrets())
    server = McpServer(terms, on_change=lambda: None, patience=SOON, on_login=asked.append)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(server.run())
        try:
            yield AtWork(server, folder, folder)
        finally:
            task.cancel()


async def test_a_login_is_kept_sealed_and_used(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        grant = await at.log_in()
        (kept,) = await at.store.logins.logins()
        assert grant.token["access_token"] not in kept.sealed + repr(kept)
        assert grant.token["access_token"] not in repr(grant)
        async with served(at, tmp_path) as desk:
            await until(lambda: bool(desk.names))
            assert await desk.call("echo", text="let in") == "let in"
        assert [what for what, _ in await at.seen()] == ["register", "authorize", "token"]


async def test_without_a_login_operators_are_told_once_and_a_model_what_to_say(tmp_path: Path) -> None:
    logins: list[str] = []
    async with site(tmp_path) as at:
        await at.log_in()
        async with served(at, tmp_path, logins) as desk:
            await until(lambda: bool(desk.names))
            await at.post("/revoke-all")
            with pytest.raises(ToolFailed, match=r"it needs a login: signalbox mcp login desk\. Nothing was called"):
                await desk.call("echo", text="?")
            await until(lambda: desk.server.trouble.startswith("it needs a login"))
            with pytest.raises(ToolFailed, match="needs a login"):
                await asyncio.wait_for(desk.call("echo", text="?"), 30)
            assert logins == ["desk"]
            await at.log_in()
            await until(lambda: desk.server._up.is_set())
            assert await desk.call("echo", text="again") == "again"


async def test_a_token_that_ended_is_renewed_once_for_all_calls(tmp_path: Path) -> None:
    """Also one that the server ended before its time; the next life goes on with what was renewed."""
    async with site(tmp_path) as at:
        first = await at.log_in()
        async with served(at, tmp_path) as desk:
            await until(lambda: bool(desk.names))
            await at.post("/expire-all")
            await asyncio.gather(*(desk.call("echo", text=str(number)) for number in range(3)))
        renewed = await at.grants.read(at.table.url)
        assert renewed is not None
        assert renewed.token != first.token
        async with served(at, tmp_path) as desk:
            await until(lambda: bool(desk.names))
            assert await desk.call("echo", text="on") == "on"
        assert [kind for what, kind in await at.seen() if what == "token"] == ["authorization_code", "refresh_token"]


async def test_a_token_near_its_end_is_renewed_before_it(tmp_path: Path) -> None:
    async with site(tmp_path, "1") as at:
        await at.log_in()
        await asyncio.sleep(1)
        async with served(at, tmp_path) as desk:
            await until(lambda: bool(desk.names))
        assert "refresh_token" in [kind for what, kind in await at.seen() if what == "token"]


async def test_a_grant_is_for_its_address_alone(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        await at.log_in()
        other = settings(tmp_path, at.url.replace("127.0.0.1", "localhost"))
        assert await at.grants.read(other.mcp[0].url) is None
        assert await at.grants.read(at.table.url) is not None


async def test_two_nodes_renew_a_grant_once(tmp_path: Path) -> None:
    """Its refresh token is good once: the second node goes on with what the first one got."""
    async with site(tmp_path) as at:
        await at.log_in()
        async with served(at, tmp_path) as one, served(at, tmp_path) as other:
            await until(lambda: bool(one.names and other.names))
            await at.post("/expire-all")
            told = await asyncio.gather(*(desk.call("echo", text=str(n)) for n, desk in enumerate((one, other) * 2)))
        assert told == ["0", "1", "2", "3"]
        assert [kind for what, kind in await at.seen() if what == "token"] == ["authorization_code", "refresh_token"]


async def test_a_grant_of_an_earlier_version_is_taken_over_from_its_file(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        grant = await at.log_in()
        await at.store.logins.drop_login(mcp_login("desk"), "")
        file = old_file(at.settings, "desk")
        file.write(grant.text())
        assert await at.grants.read(at.table.url) == grant
        assert grant_in(file) is None
        assert await at.grants.read(at.table.url) == grant


async def test_a_check_uses_a_grant_and_never_renews_it(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        await at.log_in()
        sealed = {one.name: one.sealed for one in await at.store.logins.logins()}
        looked = LookedAt(login_sealer_of(at.settings), sealed, "desk")
        grant = await looked.read(at.table.url)
        assert grant is not None
        assert not grant.can_renew


async def test_a_browser_that_brings_another_state_is_no_login(tmp_path: Path) -> None:
    async with site(tmp_path) as at:

        async def forge() -> None:
            await until(lambda: bool(at.shown))
            async with httpx2.AsyncClient(trust_env=False) as browser:
                await browser.get(f"{at.callbacks[0].address}?code=stolen&state=guessed")

        async with asyncio.TaskGroup() as group:
            group.create_task(forge())
            with pytest.raises(StoreError, match="State"):
                await log_in(at.settings, at.table, show=at.shown.append, listen=at.callbacks.append)
        assert await at.store.logins.logins() == []


async def test_a_login_page_that_refuses_is_told(tmp_path: Path) -> None:
    async with site(tmp_path) as at:

        async def refuse() -> None:
            await until(lambda: bool(at.shown))
            at.callbacks[0].take("http://127.0.0.1/callback?error=access_denied&error_description=not+you")

        async with asyncio.TaskGroup() as group:
            group.create_task(refuse())
            with pytest.raises(StoreError, match="the login page refused: access_denied not you"):
                await log_in(at.settings, at.table, show=at.shown.append, listen=at.callbacks.append)


async def test_the_commands_tell_of_a_login_and_forget_it_without_a_token(tmp_path: Path) -> None:
    from bot.cli.root import cli

    async with site(tmp_path) as at:
        grant = await at.log_in()
        await at.store.people.add_person("Ada", Role.OWNER, [Identity("web:ada")], actor="test")
        told = {}
        for command in (["list"], ["show", "desk", "--json"], ["logout", "desk"], ["list", "--json"]):
            file = ["--config", str(tmp_path / "signalbox.toml")]
            done = await asyncio.to_thread(CliRunner().invoke, cli, ["mcp", *command, *file])
            assert done.exit_code == 0, done.output
            told[command[-1]] = done.stdout
        assert "renews itself" in told["list"]
        assert not any(value in text for text in told.values() for value in grant.token.values() if len(str(value)) > 9)
        assert json.loads(told["--json"])[0]["login"] == "none"


class Unhidden(BoundSecrets):
    """As it is lent, but nothing hides what a server repeats of it."""

    async def lent(self, name: str, **given: Any) -> LentSecret:
        return replace(await super().lent(name, **given), forms=())


async def test_a_secret_in_an_argument_goes_to_its_host_alone_and_its_echo_is_hidden(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        await at.log_in()
        note, said = at.store.cluster.note_fact, "key {{secret:DESK}}"
        here, elsewhere = ({"DESK": Bound("a-secret-of-ours", (host,))} for host in ("127.0.0.1", "example.com"))
        for book, answer in ((Unhidden(here, note), "key a-secret-of-ours"), (BoundSecrets(here, note), said)):
            async with served(at, tmp_path, secrets=book) as desk:
                await until(lambda desk=desk: bool(desk.names))  # type: ignore[misc]  # of this round
                assert await desk.call("echo", text=said) == answer
        async with served(at, tmp_path, secrets=BoundSecrets(elsewhere, note)) as desk:
            await until(lambda: bool(desk.names))
            with pytest.raises(ToolFailed, match=r"isn't for 127\.0\.0\.1: it's only for example\.com"):
                await desk.call("echo", text=said)
            parts = desk.tool("echo").spec.card({"text": said}, CardContext(tmp_path))  # type: ignore[misc]  # it has one
            assert f"sends the secret DESK to {at.url}" in str(parts)
