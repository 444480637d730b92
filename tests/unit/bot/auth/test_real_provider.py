"""The same against a provider by others, `oidc-provider-mock` on Authlib: what it sends, we must understand."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Final

import pytest
from yarl import URL

from tests.fakes.openid import FakeOpenId
from tests.unit.bot.auth.stage import OURS, ROLES, Browser, staged

ADA: Final = {"sub": "ada-1", "name": "Ada Lovelace", "groups": ["staff", "ops"]}
MINUTE: Final = 60.0


async def let_in(ada: Browser) -> tuple[int, str]:
    """Ada says at the provider's page that it's her, and comes back."""
    status, page = await ada.get("/sign-in?next=/console")
    assert status == 303
    async with ada.session.post(URL(page, encoded=True), data={"sub": "ada-1"}, allow_redirects=False) as answer:
        return await ada.get(answer.headers["Location"].removeprefix(ada.stage.url))


@pytest.mark.filterwarnings("ignore::Warning")
async def test_a_person_signs_in_at_a_provider_by_others_and_loses_a_role_there(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True):  # Authlib's, of its own past, which it turns on itself
        from oidc_provider_mock import User, run_server_in_thread

    users = [User(sub="ada-1", claims={"name": ADA["name"], "groups": ADA["groups"]})]
    with run_server_in_thread(user_claims=users, require_nonce=True) as server:
        at = f"http://127.0.0.1:{server.server_port}"
        text = f'[auth]\nissuer = "{at}"\nclient_id = "signalbox"\nclient_secret = "a secret of ours"\n{ROLES}'
        async with staged(tmp_path, text, FakeOpenId()) as stage, stage.browser() as ada:
            status, page = await let_in(ada)
            assert (status, 'content="0;url=/console"' in page) == (200, True), page
            assert await ada.who() == (200, "Ada Lovelace operator")
            async with ada.session.put(f"{at}/users/ada-1", json={"groups": ["staff"]}) as answer:
                assert answer.status == 204
            stage.seconds += MINUTE
            assert await ada.who() == (200, "Ada Lovelace user")
            async with ada.session.post(f"{at}/users/ada-1/revoke-tokens") as answer:
                assert answer.status == 204
            stage.seconds += MINUTE
            assert (await ada.who())[0] == 401
            assert (await let_in(ada))[0] == 200
            assert await ada.sign_out(**OURS, Origin=stage.url) == 200
            assert (await ada.who())[0] == 401
