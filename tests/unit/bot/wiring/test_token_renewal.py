"""The duty that renews tokens: in time, whatever fails, and telling operators once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from bot.wiring.logins.renewing import RENEWAL_LOOK, RENEWAL_REST, TokenRenewal
from bot.wiring.logins.tokens import LoginTokens, new_grant
from runtime.domain.ids import new_id
from runtime.guard.sealing import Sealer
from runtime.oauth.client import IssuerClient
from runtime.oauth.grant import IssuerGrant
from runtime.oauth.issuer import IssuerTerms
from runtime.store.store import Store, open_store
from tests.contract.store.stage import HandClock
from tests.fakes.issuer import CLIENT, FakeIssuer, issuer

KEY: Final = Sealer(b"k" * 32)


async def kept(store: Store, at: FakeIssuer, clock: HandClock) -> LoginTokens:
    terms = IssuerTerms("v", CLIENT, issuer=at.url)
    client = IssuerClient(terms, now=clock)
    endpoints = await client.endpoints()
    grant = await client.by_device(endpoints, await client.device_code(endpoints))
    await store.logins.keep_login("v", new_grant(KEY, "v", grant), at.url, "Ada")
    return LoginTokens("v", book=store.logins, client=lambda: client, sealer=lambda: KEY, now=clock, new_id=new_id)


async def test_a_token_nobody_uses_is_renewed_in_time_and_its_end_is_told_once() -> None:
    clock, told = HandClock(), list[tuple[str, str]]()
    store = await open_store("sqlite:///:memory:", now=clock)

    async def ended(name: str, why: str) -> None:
        told.append((name, why))

    async with issuer() as at:
        tokens = await kept(store, at, clock)
        duty = TokenRenewal({"v": tokens}, kept=store.logins.login, ended=ended, now=clock)
        assert await duty.look() == RENEWAL_LOOK
        clock.advance(seconds=3300 - 10)
        assert await duty.look() == timedelta(seconds=10)
        clock.advance(seconds=10)
        assert await duty.look() == RENEWAL_LOOK
        assert at.seen.count("refresh_token") == 1
        at.revoke_all()
        clock.advance(hours=1)
        for _ in range(3):
            assert await duty.look() >= RENEWAL_REST
        assert [name for name, _ in told] == ["v"]
        assert at.seen.count("refresh_token") == 2, "an issuer that ended it isn't asked again"
    await store.close()


def test_a_grant_tells_when_it_is_due() -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    empty = IssuerGrant("i", "c", "t", "")
    hour = empty.renewed({"access_token": "a", "expires_in": 3600, "refresh_token": "r"}, now)
    short = hour.renewed({"access_token": "b", "expires_in": "60"}, now)
    endless = short.renewed({"access_token": "c"}, now)
    assert hour.due_at == now + timedelta(minutes=55)
    assert short.due_at == now + timedelta(seconds=54)
    assert (endless.due_at, endless.is_due(now), endless.refresh_token) == (None, False, "r")
    assert hour.renewed({"access_token": "d", "expires_in": -1}, now).is_over(now)
