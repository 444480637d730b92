"""Sign-in at a certified OpenID provider, `oidc-provider` on node: `make conformance` prints what held.

    python -m tests.conformance.openid.suite

It insists on PKCE, asks for consent, gives tokens of two seconds and refresh tokens that are good once.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import ClientSession, CookieJar
from yarl import URL

from tests.fakes.openid import FakeOpenId
from tests.fakes.ports import free_port
from tests.unit.bot.auth.stage import OURS, ROLES, AuthStage, Browser, staged
from tests.wire.mcp.conformance.test_suite import NODE

CERTIFIED: Final = "oidc-provider@9.13.3"
PROVIDER: Final = Path(__file__).with_name("provider.mjs")
SECRET_OF_CLIENT: Final = "a secret that nobody guesses"
FORM: Final = re.compile(r'action="([^"]+)"')
PROMPT: Final = re.compile(r'name="prompt" value="(\w+)"')
PAGES_MAX: Final = 10
TOKEN_LIFE: Final = 2.5
"""Seconds after which a token of the provider is over."""
MINUTE: Final = 60.0


def fetched(folder: Path) -> tuple[str, Path] | None:
    """The program of node and the modules beside it, or None where npm can't fetch them."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", NODE, CERTIFIED]
    if subprocess.run(command, capture_output=True, timeout=600, check=False).returncode:
        return None
    return str(folder / "node_modules/node/bin/node"), folder / "node_modules"


@asynccontextmanager
async def provider(programs: tuple[str, Path], port: int, back: str, groups: Path) -> AsyncIterator[str]:
    """The provider's address."""
    node, modules = programs
    process = await asyncio.create_subprocess_exec(
        *(node, str(PROVIDER), str(modules), str(port), back, str(groups)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode().strip()
        if not line:
            raise RuntimeError("the provider did not start")
        yield line
    finally:
        process.kill()
        await process.wait()


async def signs_in(ada: Browser) -> tuple[int, str]:
    """Ada fills in the forms of the provider, each as it comes, and is sent back to us."""
    _, page = await ada.get("/sign-in?next=/console")
    place, form = URL(page, encoded=True), dict[str, str]()
    for _ in range(PAGES_MAX):
        method = "POST" if form else "GET"
        async with ada.session.request(method, place, data=form or None, allow_redirects=False) as answer:
            text, onward = await answer.text(), answer.headers.get("Location", "")
        if onward.startswith(ada.stage.url):
            return await ada.get(onward.removeprefix(ada.stage.url))
        form = {}
        if onward:
            place = place.join(URL(onward, encoded=True))
        elif (action := FORM.search(text)) and (prompt := PROMPT.search(text)):
            place = place.join(URL(action[1], encoded=True))
            form = {"prompt": prompt[1], **({"login": "ada", "password": "any"} if prompt[1] == "login" else {})}
        else:
            return 0, text
    return 0, "too many pages"


def put(groups: Path, *names: str) -> None:
    """The groups of Ada from now on."""
    groups.write_text(json.dumps({"ada": names}))


async def steps(stage: AuthStage, groups: Path) -> AsyncIterator[tuple[str, bool]]:
    """What was tried, and whether it held."""
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
        ada = Browser(session, stage)
        status, page = await signs_in(ada)
        yield "a person signs in with a code, PKCE, state and nonce", status == 200 and "0;url=/console" in page
        yield "their groups give the role", await ada.who() == (200, "Person ada operator")
        for name, wanted in (("staff", "user"), ("ops", "operator")):
            put(groups, name)
            await asyncio.sleep(TOKEN_LIFE)
            stage.seconds += MINUTE
            told = await asyncio.gather(ada.who(), ada.who())
            yield f"a renewed token tells of the group {name}", [*told] == [(200, f"Person ada {wanted}")] * 2
        put(groups)
        stage.seconds += MINUTE
        yield "a role that was taken away is gone", (await ada.who())[0] == 401
        put(groups, "staff")
        yield "a new sign-in gives the new role", (await signs_in(ada))[0] == 200 and (await ada.who())[0] == 200
        held = {cookie.key: cookie.value for cookie in session.cookie_jar}
        yield "signing out is taken", await ada.sign_out(**OURS, Origin=stage.url) == 200
        session.cookie_jar.update_cookies(held, URL(stage.url))
        yield "a copy of the cookie is worth nothing then", (await ada.who())[0] == 401


async def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        programs = await asyncio.to_thread(fetched, folder)
        if programs is None:
            sys.stdout.write("OpenID provider: not run, npm can't fetch it here.\n")
            return 0
        groups, port = folder / "groups.json", free_port()
        put(groups, "staff", "ops")
        text = f'[auth]\nissuer = "http://127.0.0.1:{port}"\nclient_id = "signalbox-page"\nclient_secret = "{SECRET_OF_CLIENT}"\n'
        scopes = 'scopes = ["openid", "profile", "offline_access"]\n'
        async with (
            staged(folder, text + scopes + ROLES, FakeOpenId()) as stage,
            provider(programs, port, f"{stage.url}/sign-in/back", groups),
        ):
            found = [one async for one in steps(stage, groups)]
    held = sum(good for _, good in found)
    sys.stdout.write(f"OpenID provider, {CERTIFIED}: {held} of {len(found)} steps\n")
    for name, good in found:
        sys.stdout.write(f"  {'held' if good else 'failed'} {name}\n")
    return 0 if held == len(found) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
