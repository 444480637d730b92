"""Tokens that are wrong, swapped, revoked, or lack a scope: a sentence with the account and the fix, and the others go on."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.slack.checks import checked
from runtime.contract import Connection, Level
from runtime.errors import Rejected, Retryable
from tests.contract.adapters.stage import until
from tests.wire.slack.stage import DIRECT, Workspace, part


async def refused(on: Workspace, **changes: Any) -> str:
    """What it says about an account that Slack refuses."""
    async with on.life(connected=False, **changes) as adapter:
        await until(lambda: adapter.standing().connection is Connection.REFUSED, f"refusal: {adapter.standing()}")
        return adapter.standing().reason


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bot_token": "nonsense"}, ["work", "bot_token", "invalid_auth", "xoxb-", "OAuth & Permissions"]),
        ({"bot_token": "xapp-T1-token"}, ["work", "bot_token", "not_allowed_token_type", "xoxb-"]),
        ({"app_token": "xoxb-T1-token"}, ["work", "app_token", "not_allowed_token_type", "xapp-", "connections:write"]),
        ({"app_token": "nonsense"}, ["work", "app_token", "invalid_auth", "xapp-"]),
    ],
    ids=["wrong bot token", "app token for bot token", "bot token for app token", "wrong app token"],
)
async def test_a_refused_token_is_named_with_its_fix(on: Workspace, changes: dict[str, str], words: list[str]) -> None:
    reason = await refused(on, **changes)
    assert all(word in reason for word in words), reason
    assert "token-" not in reason
    assert "nonsense" not in reason


@pytest.mark.parametrize("code", ["token_revoked", "account_inactive", "token_expired"])
async def test_a_token_that_is_no_longer_good_says_what_to_do(on: Workspace, code: str) -> None:
    await on.driver.switch(token=code)
    reason = await refused(on)
    assert code in reason
    assert "install the app" in reason


async def test_a_token_with_which_nothing_can_be_said_is_refused_with_the_scope_and_hears_all_the_same(
    on: Workspace,
) -> None:
    await on.driver.switch(without=["chat:write"])
    async with on.life(connected=False) as adapter:
        await until(lambda: adapter.standing().connection is Connection.REFUSED, f"refusal: {adapter.standing()}")
        assert (
            'Slack account "work": bot_token is refused. The app is missing the scope chat:write'
            in adapter.standing().reason
        )
        await on.driver.say("hello")
        await on.taken()
        await on.driver.lift()
        await on.connected(adapter)


async def test_a_refused_account_harms_no_other_and_goes_on_by_itself(on: Workspace) -> None:
    await on.driver.fault("refuse", count=20, on="auth.test", error="invalid_auth")
    async with on.life(connected=False) as one:
        await until(lambda: one.standing().connection is Connection.REFUSED, "refusal")
        await on.driver.lift()
        other: dict[str, Any] = {"account": "play", "bot_token": "xoxb-T2-token", "app_token": "xapp-T2-token"}
        async with on.life(**other):
            await on.driver.say("to two", team="T2", channel="DU2", user="U2")
            await on.taken()
        await on.connected(one)


async def test_a_revoked_token_refuses_sends_with_the_account_and_the_fix(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.switch(token="token_revoked")
        with pytest.raises(Rejected, match=r'Slack account "work".*token_revoked.*install the app'):
            await adapter.show(part(adapter, "hello"))


async def test_a_missing_scope_is_named(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.switch(without=["chat:write"])
        with pytest.raises(Rejected, match=r'Slack account "work".*scope chat:write.*manifest'):
            await adapter.show(part(adapter, "hello"))


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("is_archived", "Unarchive"),
        ("not_in_channel", "/invite"),
        ("channel_not_found", "/invite"),
        ("no_such_word", "no_such_word"),
    ],
)
async def test_a_closed_room_says_what_to_do(on: Workspace, code: str, word: str) -> None:
    async with on.life() as adapter:
        await on.driver.fault("refuse", error=code)
        with pytest.raises(Rejected, match=word) as told:
            await adapter.show(part(adapter, "hello"))
        assert not told.value.form


async def test_an_unknown_room_is_refused(on: Workspace) -> None:
    from dataclasses import replace

    async with on.life() as adapter:
        with pytest.raises(Rejected, match="channel_not_found"):
            await adapter.show(part(adapter, "hello", address=replace(DIRECT, room="C0NONE")))


async def test_an_error_that_passes_is_worth_another_try(on: Workspace) -> None:
    async with on.life() as adapter:
        for code in ("ratelimited", "service_unavailable", "request_timeout"):
            await on.driver.fault("refuse", error=code)
            with pytest.raises(Retryable, match=code):
                await adapter.show(part(adapter, "hello"))
        assert (await on.screen()).ours() == []


async def test_a_bot_token_that_is_revoked_under_a_living_socket_is_told(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.switch(token="token_revoked")
        await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
        assert "bot_token" in adapter.standing().reason
        await on.driver.say("heard all the same")
        await on.taken()
        await on.driver.lift()
        await on.connected(adapter)


# -------------------------------------------------------------------------------------------------------- doctor


async def test_a_good_account_has_nothing_but_good_findings(on: Workspace) -> None:
    findings = await checked(on.settings())
    assert {finding.level for finding in findings} == {Level.OK}
    assert [finding.id for finding in findings] == ["slack.work.token", "slack.work.scopes", "slack.work.socket"]
    assert (await on.screen()).raw["messages"] == []
    assert on.slack.delivery.opened == 0


async def test_each_missing_scope_is_a_finding_with_what_it_costs(on: Workspace) -> None:
    await on.driver.switch(without=["chat:write", "metadata.message:read"])
    findings = {finding.id: finding for finding in await checked(on.settings()) if finding.level is not Level.OK}
    assert set(findings) == {"slack.work.scopes.chat:write", "slack.work.scopes.metadata.message:read"}
    assert findings["slack.work.scopes.chat:write"].level is Level.ERROR
    assert findings["slack.work.scopes.metadata.message:read"].level is Level.WARNING
    assert all("manifest" in finding.fix and finding.why for finding in findings.values())


async def test_scopes_that_slack_does_not_tell_are_not_called_missing(on: Workspace) -> None:
    await on.driver.switch(untold=True)
    [finding] = [finding for finding in await checked(on.settings()) if finding.level is not Level.OK]
    assert (finding.level, finding.id) == (Level.WARNING, "slack.work.scopes")
    assert "which scopes the app has" in finding.what


async def test_swapped_tokens_are_both_found(on: Workspace) -> None:
    findings = await checked(on.settings(bot_token="xapp-T1-token", app_token="xoxb-T1-token"))
    assert [(f.id, f.level) for f in findings] == [
        ("slack.work.token", Level.ERROR),
        ("slack.work.socket", Level.ERROR),
    ]
    assert "xoxb-" in findings[0].fix
    assert "xapp-" in findings[1].fix


async def test_a_slack_that_is_away_is_told_as_that(on: Workspace) -> None:
    await on.driver.switch(away=True)
    [finding] = await checked(on.settings())
    assert (finding.id, finding.why) == ("slack.work.reachable", "Messages wait until Slack can be reached.")
    assert "proxy (HTTPS_PROXY)" in finding.fix
    assert "slack-status" in finding.fix
    assert "token" not in finding.what


async def test_over_http_no_app_token_is_looked_at(on: Workspace) -> None:
    findings = await checked(on.settings(mode="http", app_token=""))
    assert [finding.id for finding in findings] == ["slack.work.token", "slack.work.scopes", "slack.work.http"]
    assert "/slack/work/events" in findings[-1].what
