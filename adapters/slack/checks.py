"""What `signalbox doctor` finds out about a Slack account: each step, live, with what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adapters.slack.errors import Refusal, token_fix
from adapters.slack.settings import SlackSettings
from adapters.slack.web import Web
from runtime.contract import Finding, Level
from runtime.errors import ChannelError

# What each scope is for. config/slack-manifest.yaml asks for exactly these.
SCOPES: Final = {
    "app_mentions:read": "it does not hear when it is mentioned",
    "assistant:write": "it shows no status and no suggestions in assistant threads",
    "channels:history": "it hears nothing in public channels, and cannot tell there what it sent",
    "chat:write": "it cannot answer",
    "commands": "the slash command does not reach it",
    "files:read": "it cannot read files that people send",
    "files:write": "it cannot send files",
    "groups:history": "it hears nothing in private channels, and cannot tell there what it sent",
    "im:history": "it hears no direct messages, and cannot tell there what it sent",
    "metadata.message:read": "it cannot tell whether an answer arrived when the connection was cut",
    "mpim:history": "it hears nothing in conversations of several people, and cannot tell there what it sent",
    "users:read": "people go by their ids",
}
NEEDED: Final = frozenset({"chat:write"})
"""Without these nothing works at all."""
MANIFEST: Final = "Take config/slack-manifest.yaml as the app's manifest (docs/channels/slack.md), and install the app once more."  # fmt: skip
AGAIN: Final = "Try again; see https://slack-status.com."


class Checks:
    """The steps of one account, first things first: without a token nothing else can be looked at."""

    def __init__(self, settings: SlackSettings, web: Web) -> None:
        self._settings = settings
        self._web = web
        self._id = f"slack.{settings.account}"
        self._who = f'Slack account "{settings.account}"'

    async def all(self) -> Sequence[Finding]:
        try:
            told, headers = await self._web.answer("auth.test")
        except ChannelError as error:
            return [self._failed("token", "bot_token", error), *await self._way_in()]
        team, bot = told.get("team"), told.get("user")
        good = self._ok("token", f'{self._who}: bot_token is good: "{bot}" in the workspace "{team}".')
        return [good, *self._scopes(headers.get("x-oauth-scopes", "")), *await self._way_in()]

    def _scopes(self, header: str) -> list[Finding]:
        granted = {scope.strip() for scope in header.split(",")}
        missing = [scope for scope in SCOPES if scope not in granted]
        if not missing:
            return [self._ok("scopes", f"{self._who}: the app has every scope it needs.")]
        return [
            Finding(
                Level.ERROR if scope in NEEDED else Level.WARNING,
                f"{self._id}.scopes.{scope}",
                f"{self._who}: the app lacks the scope {scope}.",
                f"Without it {SCOPES[scope]}.",
                MANIFEST,
            )
            for scope in missing
        ]

    async def _way_in(self) -> list[Finding]:
        """How events reach us."""
        if self._settings.mode == "http":
            path = f"/slack/{self._settings.account}/events"
            return [self._ok("http", f"{self._who}: Slack is to send events to {path}; only Slack can try that.")]
        try:
            await self._web.open_socket()
        except ChannelError as error:
            return [self._failed("socket", "app_token", error)]
        return [self._ok("socket", f"{self._who}: app_token is good: Socket Mode opens.")]

    def _failed(self, step: str, setting: str, error: ChannelError) -> Finding:
        why = "Without it no answer is sent." if setting == "bot_token" else "Without it nobody is heard."
        fix = token_fix(error.code, setting) or MANIFEST if isinstance(error, Refusal) else AGAIN
        return Finding(Level.ERROR, f"{self._id}.{step}", f"{self._who}: {setting}: {error}", why, fix)

    def _ok(self, step: str, what: str) -> Finding:
        return Finding(Level.OK, f"{self._id}.{step}", what)
