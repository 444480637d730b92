"""Sign-ins at a real issuer, shared by two nodes over one store: renewed once, stored before use, told where only a person helps."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from bot.wiring.logins import grants
from bot.wiring.logins.grants import SharedGrant
from bot.wiring.logins.tokens import LoginTokens, new_grant
from runtime.contract import Probe, no_probe
from runtime.domain.ids import new_id
from runtime.errors import StoreError
from runtime.guard.sealing import Sealer
from runtime.models.account.tokens import LoginFailed
from runtime.oauth.client import IssuerClient
from runtime.oauth.grant import IssuerGrant
from runtime.oauth.issuer import IssuerTerms
from runtime.store.logins.rows import NewGrant
from runtime.store.logins.store import RENEWING_TIME
from tests.contract.store.stage import Stage
from tests.fakes.issuer import CLIENT, FakeIssuer, issuer
from tools.mcp.oauth.grants import Grant

KEY: Final = b"k" * 32
VENDOR: Final = "vendor"
HOUR: Final = timedelta(hours=1)


class Killed(BaseException):
    """The process is gone."""


def killed_at(point: str) -> Probe:
    def probe(name: str) -> None:
        if name == point:
            raise Killed

    return probe


def client_at(at: FakeIssuer, stage: Stage) -> IssuerClient:
    return IssuerClient(IssuerTerms(VENDOR, CLIENT, issuer=at.url), now=stage.clock, timeout=timedelta(seconds=5))


async def signed_in(at: FakeIssuer, stage: Stage) -> IssuerGrant:
    """A sign-in by a device code, as `signalbox login` makes one."""
    client = client_at(at, stage)
    endpoints = await client.endpoints()
    grant = await client.by_device(endpoints, await client.device_code(endpoints))
    await stage.store.logins.keep_login(VENDOR, new_grant(Sealer(KEY), VENDOR, grant), at.url, "Ada")
    return grant


def node(at: FakeIssuer, stage: Stage, *, key: bytes = KEY, probe: Probe = no_probe) -> LoginTokens:
    return LoginTokens(
        VENDOR,
        book=stage.store.logins,
        client=lambda: client_at(at, stage),
        sealer=lambda: Sealer(key),
        now=stage.clock,
        new_id=new_id,
        probe=probe,
    )


def later(stage: Stage, time: timedelta) -> None:
    stage.clock.advance(seconds=time.total_seconds())


async def test_two_nodes_renew_a_token_once(stage: Stage) -> None:
    await stage.many()
    async with issuer() as at:
        grant = await signed_in(at, stage)
        first, second = node(at, stage), node(at, stage)
        assert {await first.token(), await second.token()} == {grant.access_token}
        later(stage, HOUR)
        tokens = await asyncio.gather(*(one.token() for one in (first, second) * 4))
        assert len(set(tokens)) == 1
        assert tokens[0] != grant.access_token
        assert at.lets_in(tokens[0])
        assert at.seen.count("refresh_token") == 1
        assert "reuse" not in at.seen
        assert await stage.audit("sign-in renewed") == [("", VENDOR, "")]
        (sealed,) = await stage.column("SELECT sealed FROM logins")
        assert tokens[0] not in sealed


async def test_a_token_is_renewed_five_minutes_before_its_end(stage: Stage) -> None:
    async with issuer() as at:
        grant = await signed_in(at, stage)
        tokens = node(at, stage)
        later(stage, HOUR - timedelta(minutes=5, seconds=1))
        assert await tokens.renew_if_due() == grant.due_at
        later(stage, timedelta(seconds=2))
        due = await tokens.renew_if_due()
        assert due is not None
        assert due > stage.clock()
        assert await tokens.token() != grant.access_token


async def test_while_the_issuer_is_away_a_token_is_used_to_its_end(stage: Stage) -> None:
    async with issuer() as at:
        grant = await signed_in(at, stage)
        tokens = node(at, stage)
        at.away = True
        later(stage, HOUR - timedelta(minutes=1))
        assert await tokens.token() == grant.access_token
        later(stage, timedelta(minutes=2))
        with pytest.raises(LoginFailed, match="could not be renewed: its issuer answered 503") as raised:
            await tokens.token()
        assert raised.value.is_away
        at.away = False
        assert at.lets_in(await tokens.token())


async def test_what_was_revoked_is_told_with_the_way_out_and_not_asked_for_again(stage: Stage) -> None:
    async with issuer() as at:
        await signed_in(at, stage)
        tokens = node(at, stage)
        at.revoke_all()
        later(stage, HOUR)
        for _ in range(2):
            with pytest.raises(LoginFailed, match=r"invalid_grant.*Sign in again: signalbox login vendor"):
                await tokens.token()
        assert at.seen.count("refresh_token") == 1
        assert len(await stage.audit("sign-in ended")) == 1
        await signed_in(at, stage)
        assert at.lets_in(await tokens.token())


async def test_a_kill_before_a_rotation_was_stored_is_told(stage: Stage) -> None:
    """The answer is lost with the process; the issuer takes the next try for a theft, and ends all tokens."""
    async with issuer() as at:
        await signed_in(at, stage)
        later(stage, HOUR)
        with pytest.raises(Killed):
            await node(at, stage, probe=killed_at("renewed")).token()
        other = node(at, stage)
        later(stage, RENEWING_TIME)
        with pytest.raises(LoginFailed, match=r"cut off before its answer was stored.*Sign in again"):
            await other.token()
        assert "reuse" in at.seen
        (kept,) = await stage.store.logins.logins()
        assert not kept.renews
        assert "cut off" in kept.trouble


async def test_a_store_that_is_away_for_a_moment_costs_no_rotated_token(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with issuer() as at:
        await signed_in(at, stage)
        later(stage, HOUR)
        real, tries = stage.store.logins.renew_login, 0

        async def away_at_first(name: str, claim: str, grant: NewGrant) -> bool:
            nonlocal tries
            tries += 1
            if tries < 3:
                raise StoreError("The database is away.")
            return await real(name, claim, grant)

        monkeypatch.setattr(stage.store.logins, "renew_login", away_at_first)
        assert at.lets_in(await node(at, stage).token())
        later(stage, HOUR)
        assert at.lets_in(await node(at, stage).token())
        assert "reuse" not in at.seen


async def test_neither_a_store_that_is_away_nor_a_caller_that_goes_away_costs_an_mcp_server_s_grant(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grants, "RENEWAL_STEP", 0.0)
    grant = Grant("https://desk.example.org/mcp", {}, {"access_token": "old", "refresh_token": "spent"})
    fresh, book = replace(grant, token={"access_token": "new", "refresh_token": "good"}), stage.store.logins
    first, second = (SharedGrant("desk", book, lambda: Sealer(KEY), new_id=new_id) for _ in range(2))
    await first.write(grant)
    assert await first.claim(grant)
    real, is_tried, away = book.renew_login, asyncio.Event(), 2

    async def away_at_first(name: str, claim: str, new: NewGrant) -> bool:
        nonlocal away
        is_tried.set()
        away -= 1
        if away >= 0:
            raise StoreError("The database is away.")
        return await real(name, claim, new)

    monkeypatch.setattr(book, "renew_login", away_at_first)
    writing = asyncio.ensure_future(first.write(fresh))
    await is_tried.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await first.free(refused=False)  # as whoever asked does at its end
    assert await second.read(grant.url) == fresh
    assert not (await book.logins())[0].unfinished
    assert await second.claim(fresh)


async def test_an_answer_that_was_cut_costs_nothing_where_refresh_tokens_stay(stage: Stage) -> None:
    async with issuer(rotates=False) as at:
        await signed_in(at, stage)
        tokens = node(at, stage)
        later(stage, HOUR)
        at.cut = True
        with pytest.raises(LoginFailed, match="broke off"):
            await tokens.token()
        assert (await stage.store.logins.logins())[0].unfinished
        assert at.lets_in(await tokens.token())
        assert not (await stage.store.logins.logins())[0].unfinished


async def test_a_caller_that_goes_away_loses_no_rotation(stage: Stage) -> None:
    async with issuer() as at:
        await signed_in(at, stage)
        tokens = node(at, stage)
        later(stage, HOUR)
        at.was_asked.clear()
        asking = asyncio.ensure_future(tokens.token())
        await at.was_asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert at.lets_in(await tokens.token())
        assert at.seen.count("refresh_token") == 1


async def test_a_refused_token_is_counted_and_renewed_once(stage: Stage) -> None:
    held = list[tuple[str, str]]()
    async with issuer() as at:
        grant = await signed_in(at, stage)
        tokens = node(at, stage)
        tokens.holds = lambda name, token: held.append((name, token))
        at.end_tokens()
        fresh = await tokens.refused(grant.access_token, again=False)
        assert at.lets_in(fresh)
        assert await tokens.refused(grant.access_token, again=False) == fresh  # another call's refusal of the old one
        assert at.seen.count("refresh_token") == 1
        assert {("login vendor", token) for token in (grant.access_token, grant.refresh_token, fresh)} <= set(held)
        with pytest.raises(LoginFailed, match=r"refused, also once it was renewed\. Sign in again"):
            await tokens.refused(fresh, again=True)
        (kept,) = await stage.store.logins.logins()
        assert kept.refusals == 1
        assert kept.trouble.endswith("Sign in again: signalbox login vendor")
        assert len(await stage.audit("sign-in refused")) == 2


async def test_a_node_with_another_key_says_so(stage: Stage) -> None:
    async with issuer() as at:
        await signed_in(at, stage)
        with pytest.raises(LoginFailed, match="sealed with another node's key"):
            await node(at, stage, key=b"o" * 32).token()


async def test_a_sign_in_is_given_up(stage: Stage) -> None:
    async with issuer() as at:
        grant = await signed_in(at, stage)
        assert await client_at(at, stage).given_back(grant)
        assert not at.lets_in(grant.access_token)
        assert await stage.store.logins.drop_login(VENDOR, "Ada")
        assert not await stage.store.logins.drop_login(VENDOR, "Ada")
        with pytest.raises(LoginFailed, match=r"Nobody is signed in at vendor\. Sign in: signalbox login vendor"):
            await node(at, stage).token()
        assert await stage.audit("sign-in made") == [("Ada", VENDOR, at.url)]
        assert await stage.audit("sign-in dropped") == [("Ada", VENDOR, "")]
