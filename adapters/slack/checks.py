"""Checks of `signalbox doctor` on a Slack account: each step, live, with what mends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from adapters.slack.errors import Refusal, sentence, token_fix
from adapters.slack.settings import SlackSettings
from adapters.slack.web import Web
from runtime.contract import Finding, Level
from runtime.errors import ChannelError

# What each scope is for. config/slack-manifest.yaml asks for exactly these.
SCOPES: Final = {
    "app_mentions:read": "it doesn't see mentions",
    "assistant:write": "it shows no status or suggestions in assistant threads",
    "channels:history": "it hears nothing in public channels, and can't check what it sent there",
    "chat:write": "it can't answer",
    "chat:write.customize": "agents beside main show their name before their words, and not as the author",
    "commands": "the slash command doesn't reach it",
    "files:read": "it can't read files that people send",
    "files:write": "it can't send files",
    "groups:history": "it hears nothing in private channels, and can't check what it sent there",
    "im:history": "it hears no direct messages, and can't check what it sent there",
    "metadata.message:read": "it can't tell whether an answer arrived when the connection was cut",
    "mpim:history": "it hears nothing in group direct messages, and can't check what it sent there",
    "reactions:read": "it doesn't see whether people rate its answers with 👍 or 👎",
    "reactions:write": "it can't mark messages with emoji",
    "users:read": "it shows ids instead of people's names",
}
NEEDED: Final = frozenset({"chat:write"})
"""Without these, nothing works at all."""
MANIFEST: Final = "Use config/slack-manifest.yaml as the app's manifest (docs/channels/slack.md), then reinstall the app."  # fmt: skip
UNTOLD: Final = "Compare the scopes under OAuth & Permissions in the app with config/slack-manifest.yaml."
TRY_AGAIN: Final = "Is slack.com reachable from this machine, perhaps through a proxy (HTTPS_PROXY)? If it is, see https://slack-status.com."


def granted(headers: Mapping[str, str]) -> frozenset[str] | None:
    """The scopes of the bot token, as an answer to it tells; None where Slack did not tell."""
    return frozenset(filter(None, map(str.strip, headers.get("x-oauth-scopes", "").split(",")))) or None


def refusal_for_want_of_scopes(headers: Mapping[str, str]) -> Refusal | None:
    """The refusal that every call would meet; None where nothing is missing, or nothing is told of scopes."""
    scopes = granted(headers)
    lacking = sorted(NEEDED - scopes) if scopes else []
    if not lacking:
        return None
    return Refusal(sentence("missing_scope", {"needed": ", ".join(lacking)}), code="missing_scope", needed=lacking[0])


async def checked(settings: SlackSettings) -> Sequence[Finding]:
    """Look at an account that need not be at work."""
    web = Web(settings, lambda: datetime.now(UTC))
    found = await Checks(settings, web).all()
    return [*found, *web.clock.findings(f"slack.{settings.account}.clock")]


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
            if not isinstance(error, Refusal):
                return [self._away(error)]
            return [self._failed("token", "bot_token", error), *await self._way_in()]
        team, bot = told.get("team"), told.get("user")
        good = self._ok("token", f'{self._who}: bot_token is good: "{bot}" in the workspace "{team}".')
        return [good, *self._scopes(granted(headers)), *await self._way_in()]

    def _scopes(self, known: frozenset[str] | None) -> list[Finding]:
        if known is None:
            what = f"{self._who}: Slack didn't say which scopes the app has."
            return [Finding(Level.WARNING, f"{self._id}.scopes", what, "One may be missing.", UNTOLD)]
        missing = [scope for scope in SCOPES if scope not in known]
        if not missing:
            return [self._ok("scopes", f"{self._who}: the app has every scope it needs.")]
        return [
            Finding(
                Level.ERROR if scope in NEEDED else Level.WARNING,
                f"{self._id}.scopes.{scope}",
                f"{self._who}: the app is missing the scope {scope}.",
                f"Without it, {SCOPES[scope]}.",
                MANIFEST,
            )
            for scope in missing
        ]

    async def _way_in(self) -> list[Finding]:
        """Check the way events reach us: the HTTP path to enter at Slack, or a trial of Socket Mode."""
        if self._settings.mode == "http":
            path = f"/slack/{self._settings.account}/events"
            return [self._ok("http", f"{self._who}: Slack should send events to {path}. Only Slack can test that.")]
        try:
            await self._web.open_socket()
        except ChannelError as error:
            return [self._failed("socket", "app_token", error)]
        return [self._ok("socket", f"{self._who}: app_token is good: Socket Mode opens.")]

    def _failed(self, step: str, setting: str, error: ChannelError) -> Finding:
        why = "Without it, no answer is sent." if setting == "bot_token" else "Without it, nobody is heard."
        if not isinstance(error, Refusal):
            return self._away(error)
        fix = token_fix(error.code, setting) or MANIFEST
        return Finding(Level.ERROR, f"{self._id}.{step}", f"{self._who}: {setting}: {error}", why, fix)

    def _away(self, error: ChannelError) -> Finding:
        why = "Messages wait until Slack can be reached."
        return Finding(Level.ERROR, f"{self._id}.reachable", f"{self._who}: {error}", why, TRY_AGAIN)

    def _ok(self, step: str, what: str) -> Finding:
        return Finding(Level.OK, f"{self._id}.{step}", what)
