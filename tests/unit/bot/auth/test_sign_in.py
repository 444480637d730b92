"""Sign-in at a provider with a browser: who comes in, as what, until when, and who doesn't."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from bot.auth import sessions
from bot.auth.parts import layer_of
from bot.auth.sessions import SESSION_PREFIX
from runtime.contract import Identity, Role
from runtime.domain.approvals import Rights
from runtime.domain.ids import new_id
from runtime.http.errors import Refusal
from tests.fakes.openid import FakeOpenId, openid
from tests.unit.bot.auth.stage import OURS, auth_of, settings_of, signing_in

MINUTE: Final = 60.0


async def test_a_person_signs_in_is_made_once_and_signs_out(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        status, page = await ada.get("/api/who")
        assert (status, "Sign in at Fake ID" in page) == (401, True)
        status, page = await ada.sign_in("/console/runs?state=done")
        assert status == 200
        assert 'content="0;url=/console/runs?state=done"' in page
        assert await ada.who() == (200, "Ada user")
        assert [name for name in ada.cookies() if name.startswith("signalbox-in-")] == []
        async with stage.browser() as other:
            await other.sign_in()
            assert await other.who() == (200, "Ada user")
        assert await stage.names() == {"Ada": "user", "owner": "owner"}
        known = await stage.store.people.person_named("Ada")
        assert known is not None
        assert "oidc:ada-1" in known.identities
        assert await ada.sign_out() == 403, "another site's form"
        held = ada.cookies()
        assert await ada.sign_out(**OURS, Origin=stage.url) == 200
        assert ada.cookies() == {}
        assert (await ada.who())[0] == 401
        ada.session.cookie_jar.update_cookies(held)
        assert (await ada.who())[0] == 401, "a copy of the cookie is worth nothing"
        assert "revoke" in at.seen
        assert await stage.audit("person added") == [
            ("sign-in", "Ada", "user, as oidc:ada-1"),
            ("test", "owner", "owner"),
        ]
        assert len(await stage.audit("link used")) == 2


async def test_a_sign_out_holds_here_before_the_provider_took_its_tokens_back(tmp_path: Path) -> None:
    provider = FakeOpenId()
    async with openid(provider) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        await ada.sign_in()
        provider.meanwhile = ada.who
        assert await ada.sign_out(**OURS, Origin=stage.url) == 200
        assert [status for status, _ in provider.found] == [401]


async def test_a_role_follows_the_groups_within_a_minute(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        at.person["groups"] = ["staff", "ops"]
        await ada.sign_in()
        assert await ada.who() == (200, "Ada operator")
        at.person["groups"] = ["staff"]
        asked = len(at.seen)
        stage.seconds += MINUTE - 1
        assert await ada.who() == (200, "Ada operator")
        assert len(at.seen) == asked, "nobody is asked anew within a minute"
        stage.seconds += 1
        assert await ada.who() == (200, "Ada user")
        assert (await stage.names())["Ada"] == "user"
        at.person["groups"] = []
        stage.seconds += MINUTE
        status, page = await ada.who()
        assert (status, "none of your groups" in page) == (401, True)
        at.person["groups"] = ["ops"]
        assert (await ada.who())[0] == 401, "the session is over: it takes a new sign-in"
        assert (await stage.names())["Ada"] == "viewer"
        assert ("oidc:ada-1", "no role", "") in await stage.audit("turned away")


async def test_one_session_more_than_are_in_mind_has_not_all_asked_about_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "SESSIONS_IN_MIND", 2)
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, AsyncExitStack() as stack:
        browsers = [await stack.enter_async_context(stage.browser()) for _ in range(3)]
        for browser in browsers:
            await browser.sign_in()
        asked = at.seen.count("userinfo")
        assert [await browser.who() for browser in browsers[1:]] == [(200, "Ada user")] * 2
        assert at.seen.count("userinfo") == asked


async def test_a_token_that_ended_is_renewed_and_one_that_was_revoked_ends_the_session(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        await ada.sign_in()
        at.end_tokens()
        stage.seconds += MINUTE
        assert await asyncio.gather(*(ada.who() for _ in range(5))) == [(200, "Ada user")] * 5
        at.revoke_all()
        stage.seconds += MINUTE
        status, page = await ada.who()
        assert (status, "didn't work" in page) == (401, True), page
        assert (await ada.who())[0] == 401


async def test_a_provider_that_is_away_lets_nobody_in_and_ends_nothing(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        await ada.sign_in()
        at.away = True
        assert await ada.who() == (200, "Ada user")
        stage.seconds += MINUTE
        status, page = await ada.who()
        assert (status, "can't be asked" in page) == (503, True)
        asked = len(at.seen)
        assert (await ada.who())[0] == 503
        assert len(at.seen) == asked, "not asked by each request of a page"
        async with stage.browser() as other:
            assert (await other.get("/sign-in"))[0] == 303, "its addresses are known; it says itself that it's away"
            assert (await other.get("/link/no-such-link"))[0] == 401, "our own layer needs no provider"
        at.away = False
        stage.seconds += MINUTE
        assert await ada.who() == (200, "Ada user")


async def test_a_sign_in_at_another_provider_is_over_and_neither_is_told_of_it(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, openid(FakeOpenId()) as other, signing_in(tmp_path, at) as stage:
        async with stage.browser() as ada:
            await ada.sign_in()
            token = next(value for value in ada.cookies().values() if value.startswith(SESSION_PREFIX))
        links, _ = layer_of(settings_of(tmp_path, auth_of(other)), stage.store, new_id, "main", lambda: stage.rights)
        asked = len(at.seen)
        with pytest.raises(Refusal, match="another provider did"):
            await links.person_of(token)
        assert (len(at.seen), other.seen) == (asked, [])
        assert await stage.store.people.session(token) is None


async def test_nobodys_sign_in_ends_with_what_a_provider_says_of_itself(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        await ada.sign_in()
        at.named = "https://evil.example"
        stage.seconds += 10 * MINUTE
        assert (await ada.who())[0] == 503
        at.named = ""
        stage.seconds += MINUTE
        assert await ada.who() == (200, "Ada user")


async def test_a_sign_in_is_finished_once_and_only_where_it_was_begun(tmp_path: Path) -> None:
    async with (
        openid(FakeOpenId()) as at,
        signing_in(tmp_path, at) as stage,
        stage.browser() as ada,
        stage.browser() as eve,
    ):
        hers = await eve.begin()
        assert (await ada.get(hers))[0] == 400, "login CSRF: another browser began it"
        assert (await ada.who())[0] == 401
        back = await ada.begin()
        held = ada.cookies()
        assert (await ada.get(back))[0] == 200
        ada.session.cookie_jar.update_cookies(held)
        assert (await ada.get(back))[0] == 400, "a replay, with the cookie"
        assert (await ada.get("/sign-in/back?code=x&state="))[0] == 400
        assert (await eve.get(hers + "x"))[0] == 400, "another state"
        one, two = await ada.begin("/one"), await ada.begin("/two")
        assert "/two" in (await ada.get(two))[1]
        assert "/one" in (await ada.get(one))[1], "two tabs at once"
        status, page = await ada.get("/sign-in", **{"Sec-Fetch-Site": "cross-site"})
        assert (status, "Sign in?" in page) == (200, True), "a page elsewhere signs nobody in"


@pytest.mark.parametrize("path", ["https://evil.example", "//evil.example", "/%5Cevil.example", "/%09/evil", "x" * 999])
async def test_nobody_is_sent_to_another_site(path: str, tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        status, page = await ada.sign_in(path)
        assert (status, 'content="0;url=/"' in page) == (200, True)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"nonce": "replayed"}, "another sign-in"),
        ({"aud": "another-client"}, "another audience"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"exp": 1}, "has ended"),
        ({"alg": "none"}, "signed with"),
        ({"azp": "another-client"}, "another client"),
        ({"sub": "eve-1"}, "somebody else"),
    ],
)
async def test_an_id_token_that_isnt_good_lets_nobody_in(changed: dict[str, Any], why: str, tmp_path: Path) -> None:
    provider = FakeOpenId(changed=lambda claims: {**claims, **changed})
    async with openid(provider) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        status, page = await ada.sign_in()
        assert (status, why in page) == (400, True), page
        assert (await ada.who())[0] == 401
        assert await stage.names() == {"owner": "owner"}
        assert any(why in subject for _, subject, _ in await stage.audit("turned away"))


async def test_a_provider_that_names_itself_otherwise_isnt_asked(tmp_path: Path) -> None:
    async with openid(FakeOpenId(named="https://evil.example")) as at, signing_in(tmp_path, at) as stage:
        async with stage.browser() as ada:
            status, page = await ada.get("/sign-in")
        assert (status, "evil.example" in page) == (503, True)


async def test_groups_make_no_owner_and_take_no_owner_away(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        await stage.store.people.add_person("Boss", Role.OWNER, [Identity("oidc:ada-1")], actor="test")
        at.person["groups"] = ["guests"]
        await ada.sign_in()
        assert await ada.who() == (200, "Boss owner")
        at.person["groups"] = ["none"]
        stage.seconds += MINUTE
        assert (await ada.who())[0] == 401, "not let in without any group"
        assert (await stage.names())["Boss"] == "owner"


async def test_groups_make_and_unmake_owners_where_the_settings_say_so(tmp_path: Path) -> None:
    more, roles = "owners_by_group = true\n", '[auth.roles]\nowner = ["bosses"]\nuser = ["*"]\n'
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at, more, roles) as stage, stage.browser() as ada:
        at.person["groups"] = ["bosses"]
        await ada.sign_in()
        assert await ada.who() == (200, "Ada owner")
        at.person["groups"] = []
        stage.seconds += MINUTE
        assert await ada.who() == (200, "Ada user")


async def test_only_those_who_are_known_come_in_where_nobody_is_made(tmp_path: Path) -> None:
    at_work = openid(FakeOpenId())
    async with at_work as at, signing_in(tmp_path, at, "create = false\nby_email = true\n") as stage:
        async with stage.browser() as ada:
            status, page = await ada.sign_in()
            assert (status, "nobody here has the identity oidc:ada-1" in page) == (403, True)
        await stage.store.people.add_person("Ada L.", Role.VIEWER, [Identity("email:ada@example.com")], actor="test")
        at.person["email"] = "Ada@Example.com"
        async with stage.browser() as ada:
            assert (await ada.sign_in())[0] == 403, "an address that nobody verified"
            at.person["email_verified"] = "true"
            assert (await ada.sign_in())[0] == 403, "a word is no truth"
            at.person["email_verified"] = True
            await ada.sign_in()
            assert await ada.who() == (200, "Ada L. user")
        await stage.store.people.add_person("Boss", Role.OWNER, [Identity("email:boss@example.com")], actor="test")
        at.person = {**at.person, "sub": "eve-1", "email": "boss@example.com"}
        async with stage.browser() as eve:
            assert (await eve.sign_in())[0] == 403, "nobody becomes an owner by an address"


async def test_an_owner_here_signs_people_out_blocks_and_removes_them(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        await ada.sign_in()
        await stage.store.people.sign_out("Ada", actor="owner")
        stage.seconds += 1
        assert (await ada.who())[0] == 401
        await ada.sign_in()
        stage.rights = Rights(blocked=frozenset(["Ada"]))
        stage.seconds += MINUTE
        assert (await ada.who())[0] == 401
        assert (await ada.sign_in())[0] == 403
        stage.rights = Rights()
        await ada.sign_in()
        await stage.store.people.remove("Ada", actor="owner")
        stage.seconds += 1
        assert (await ada.who())[0] == 401
        assert await stage.store.logins.login("page:") is None


async def test_a_newcomer_gets_no_name_that_has_rights(tmp_path: Path) -> None:
    async with openid(FakeOpenId()) as at, signing_in(tmp_path, at) as stage, stage.browser() as ada:
        stage.rights = Rights(given=frozenset(["Ada"]))
        await ada.sign_in()
        assert await ada.who() == (200, "Ada 2 user")


@pytest.mark.parametrize("subject", ["", "a b", "ä", "x" * 256, 7, None])
async def test_a_subject_that_is_no_identity_lets_nobody_in(subject: object, tmp_path: Path) -> None:
    async with (
        openid(FakeOpenId(person={"sub": subject, "groups": ["staff"]})) as at,
        signing_in(tmp_path, at) as stage,
    ):
        async with stage.browser() as ada:
            assert (await ada.sign_in())[0] == 400
        assert await stage.names() == {"owner": "owner"}


async def test_groups_may_be_in_id_tokens_alone(tmp_path: Path) -> None:
    more = 'groups_from = "id_token"\nscopes = ["openid", "offline_access"]\n'
    at_work = openid(FakeOpenId(groups_in_id_token=True))
    async with at_work as at, signing_in(tmp_path, at, more) as stage, stage.browser() as ada:
        at.person["groups"] = ["ops"]
        await ada.sign_in()
        assert await ada.who() == (200, "Ada operator")
        stage.seconds += MINUTE
        assert await ada.who() == (200, "Ada operator")
        at.person["groups"] = ["staff"]
        at.end_tokens()
        stage.seconds += MINUTE
        assert await ada.who() == (200, "Ada user")
        at.revoke_all()
        stage.seconds += MINUTE
        assert (await ada.who())[0] == 401
