"""Showing once more who one is, by a sign-in at the provider: the whole way in a process with settings to change."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from runtime.contract import Identity, Role
from tests.fakes.openid import FakeOpenId, openid
from tests.security.running import TEXT, Running, running
from tests.unit.bot.auth.stage import OURS, AuthStage, Browser, auth_of

PLACE: Final = "/console/settings/budgets"
DAY: Final = {"values": {"day": "7"}}


@asynccontextmanager
async def owner_at_work(folder: Path, at: FakeOpenId) -> AsyncIterator[tuple[Running, Browser]]:
    """A whole process, and the browser of an owner who signed in an hour after they had typed their password."""
    async with running(folder, TEXT + auth_of(at)) as house:
        await house.app.store.people.add_person("Ada", Role.OWNER, [Identity("oidc:ada-1")], actor="test")
        stage = AuthStage(house.app.store, at, house.url)
        async with stage.browser() as ada:
            status, page = await ada.sign_in(PLACE)
            assert (status, f"0;url={PLACE}" in page) == (200, True), page
            yield house, ada


async def saved(ada: Browser) -> tuple[int, Any]:
    """An edit, tried and then saved, as the page does both."""
    api = f"{ada.stage.url}/console/api/settings/budgets"
    headers = {**OURS, "Origin": ada.stage.url}
    async with ada.session.post(f"{api}/try", json=DAY, headers=headers) as answer:
        digest = (await answer.json())["digest"]
    async with ada.session.post(api, json={"digest": digest, **DAY}, headers=headers) as answer:
        return answer.status, await answer.json()


async def test_an_owner_who_types_their_password_anew_at_the_provider_may_change_settings(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, owner_at_work(tmp_path, at) as (house, ada):
        status, told = await saved(ada)
        assert (status, "once more that it's you" in told["error"]) == (403, True), (
            "a sign-in of long ago shows nothing"
        )
        _, page = await ada.get(PLACE)
        again = re.search(r'href="(/sign-in\?again=1[^"]*)"', page)
        assert again, page
        following = again[1].partition("next=")[2]
        status, page = await ada.sign_in(following, "&again=1")
        assert (status, f"0;url={PLACE}" in page) == (200, True), page
        assert (await saved(ada))[0] == 200
        browsers = [one.issuer for one in await house.app.store.people.sessions_of("Ada")]
        assert browsers == [at.url], "one browser is one session, however often it signed in"


async def test_a_provider_that_keeps_the_time_to_itself_confirms_nobody_and_they_are_told(tmp_path: Path) -> None:
    async with openid(FakeOpenId(tells_when=False)) as at, owner_at_work(tmp_path, at) as (_, ada):
        status, page = await ada.sign_in(PLACE, "&again=1")
        assert (status, "Fake ID didn't say when you typed your password" in page) == (200, True), page
        assert "http-equiv" not in page, "it waits until that is read"
        assert (await saved(ada))[0] == 403
