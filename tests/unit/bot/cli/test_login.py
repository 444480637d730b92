"""`signalbox login`: a code or a browser, a list that shows no token, and signing out; with the page and doctor's lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import httpx2
import pytest
from typer.testing import CliRunner

from bot.cli.root import cli
from bot.console.models_page import _login
from bot.doctor.keys.logins import check_logins
from bot.doctor.subject import Subject
from bot.operator.access.logins import LoginOperations
from bot.settings.settings import Settings, load
from bot.wiring.logins.parts import issuer_terms_of
from bot.wiring.logins.signing_in import SigningIn
from runtime.contract import Identity, Level, Role
from runtime.errors import StoreError
from runtime.oauth.grant import IssuerGrant
from runtime.store.store import open_store
from tests.fakes.issuer import CLIENT, CLIENT_SECRET, FakeIssuer, issuer

MODEL: Final = '[model]\nname = "openai/gpt-4o"\napi_key = "__oauth__"\n'


@dataclass
class Home:
    """An installation with an owner, and an issuer."""

    folder: Path
    at: FakeIssuer

    @property
    def settings(self) -> Settings:
        return load(self.folder / "signalbox.toml", environ={"CLIENT_SECRET": CLIENT_SECRET})

    async def command(self, *words: str, code: int = 0) -> str:
        given = ["login", *words, "--config", str(self.folder / "signalbox.toml")]
        done = await asyncio.to_thread(CliRunner().invoke, cli, given)
        assert done.exit_code == code, done.output
        return done.output

    async def doctor(self) -> tuple[Level, str]:
        (found,) = await check_logins(Subject(self.settings, None, None, None))
        return found.level, found.what


async def home(folder: Path, at: FakeIssuer, more: str = "") -> Home:
    text = f'data_dir = "{folder}"\n{MODEL}[[logins]]\nname = "vendor"\nissuer = "{at.url}"\nclient_id = "{CLIENT}"\n{more}'
    (folder / "signalbox.toml").write_text(text)
    made = Home(folder, at)
    store = await open_store(made.settings.database_url)
    await store.people.add_person("Ada", Role.OWNER, [Identity("web:ada")], actor="test")
    await store.close()
    return made


def database(folder: Path) -> str:
    return str([path.read_bytes() for path in folder.rglob("signalbox.db*")])


async def test_a_person_signs_in_with_a_code_and_out_again(tmp_path: Path) -> None:
    async with issuer() as at:
        it = await home(tmp_path, at)
        assert await it.doctor() == (Level.WARNING, "nobody is signed in at vendor, for openai/gpt-4o")
        told = await it.command("vendor")
        assert f"{at.url}/enter\n  WDJB-MJHT" in told
        assert "sealed for all nodes" in told
        assert "renewed before its end" in told
        (row,) = json.loads(await it.command("list", "--json"))
        assert (row["name"], row["state"], row["renews"], row["by"], row["issuer"]) == (
            "vendor",
            "works",
            True,
            "Ada",
            at.url,
        )
        assert (await it.doctor())[0] is Level.OK
        (token,) = at.tokens
        assert token not in told + json.dumps(row) + await asyncio.to_thread(database, tmp_path)
        assert "Its issuer has ended the tokens" in await it.command("out", "vendor", "--yes")
        assert not at.lets_in(token)
        assert json.loads(await it.command("list", "--json"))[0]["state"] == "not signed in"
        assert "There is no sign-in 'x'. There are vendor." in await it.command("x", code=2)


async def test_a_sign_in_that_another_node_sealed_is_told(tmp_path: Path) -> None:
    async with issuer() as at:
        it = await home(tmp_path, at)
        await it.command("vendor")
        await asyncio.to_thread((tmp_path / "guard.key").write_bytes, b"o" * 32)
        assert await it.doctor() == (Level.WARNING, "vendor was sealed with another node's key")
        assert "can't be read here, so its issuer wasn't told" in await it.command("out", "vendor", "--yes")


async def sign_in(it: Home, browse: Callable[[str], str] = str) -> IssuerGrant:
    """By a browser, which follows the page that `browse` makes of ours."""
    shown: list[str] = []
    arrived = asyncio.Event()

    def show(address: str) -> None:
        shown.append(address)
        arrived.set()

    async def browser() -> None:
        await arrived.wait()
        async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as client:
            await client.get(browse(shown[0]))

    signing = SigningIn(
        issuer_terms_of(it.settings.logins[0]),
        now=lambda: datetime.now(UTC),
        show_code=lambda _: pytest.fail("a code was not wanted"),
        show_page=show,
        listen=lambda _: None,
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(browser())
        return await signing.grant(browser=True)


async def test_a_browser_brings_back_a_code_that_only_we_can_trade(tmp_path: Path) -> None:
    """PKCE, the client's secret with odd letters in it, and the API that the token is for."""
    more = 'client_secret_env = "CLIENT_SECRET"\naudience = "https://api.example.com"\nscopes = ["chat", "offline_access"]\n'
    async with issuer(secret=CLIENT_SECRET, audience="https://api.example.com") as at:
        it = await home(tmp_path, at, more)
        grant = await sign_in(it)
        assert at.lets_in(grant.access_token)
        assert grant.can_renew
        asked = next(iter(at.asked))
        assert asked["scope"] == "chat offline_access"
        assert asked["code_challenge_method"] == "S256"


@pytest.mark.parametrize(
    ("says", "browse", "why"),
    [
        ("https://evil.example.com", str, "says that it is https://evil.example.com"),
        ("", str, "doesn't say who it is"),
        (None, lambda page: page.replace("state=", "state=x"), "came back from another sign-in"),
    ],
    ids=["another issuer", "no issuer", "another state"],
)
async def test_a_return_from_somebody_elses_page_is_no_sign_in(
    tmp_path: Path, says: str | None, browse: Callable[[str], str], why: str
) -> None:
    async with issuer(names_itself=says) as at:
        it = await home(tmp_path, at)
        with pytest.RaisesGroup(pytest.RaisesExc(StoreError, match=why)):
            await sign_in(it, browse)
        assert at.tokens == {}


async def test_the_page_shows_until_when_a_token_is_good(tmp_path: Path) -> None:
    async with issuer() as at:
        it = await home(tmp_path, at)
        await it.command("vendor")
        store = await open_store(it.settings.database_url)
        (row,) = await LoginOperations(store.logins, ["vendor"], store.now).listed()
        await store.close()
        line = " ".join(map(str, _login(row)))
        assert "renewed before that" in line
        assert row["ends_at"][:13] in line
