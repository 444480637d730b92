"""Errors of Slack's client, as ours: what became of the call, and words for whoever must mend it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError

from runtime.errors import ChannelError, Rejected, Retryable, Uncertain


class Refusal(Rejected):
    """Slack's `ok: false`. `code` is its own word for it, `needed` the missing scope where it names one."""

    def __init__(self, reason: str, *, code: str, needed: str = "", form: bool = False) -> None:
        super().__init__(reason, form=form)
        self.code = code
        self.needed = needed


class Ending(Enum):
    """Meaning of an error word of Slack for the call. A word without a row: refused for good."""

    AGAIN = "not done, but worth another try"
    UNCLEAR = "perhaps done in part"
    FORM = "the formatting was refused; plain text may work"


# Source: docs.slack.dev/reference/methods/chat.postMessage, errors, read 2026-08.
ENDINGS: Final[Mapping[str, Ending]] = {
    "ratelimited": Ending.AGAIN,
    "rate_limited": Ending.AGAIN,
    "service_unavailable": Ending.AGAIN,
    "request_timeout": Ending.AGAIN,  # our request was cut on its way in
    "team_added_to_org": Ending.AGAIN,  # the workspace moves; it is back when that is done
    "org_login_required": Ending.AGAIN,
    "fatal_error": Ending.UNCLEAR,  # "it's possible some aspect of the operation succeeded"
    "internal_error": Ending.UNCLEAR,
    "invalid_blocks": Ending.FORM,
    "invalid_blocks_format": Ending.FORM,
    "msg_blocks_too_long": Ending.FORM,
    "msg_too_long": Ending.FORM,
}

MEND_BOT: Final = "Copy the bot token (xoxb-…) from OAuth & Permissions in the app into bot_token"
MEND_APP: Final = "Make an app-level token (xapp-…) with the scope connections:write under Basic Information in the app, and put it into app_token"  # fmt: skip
REINSTALL: Final = "reinstall the app in the workspace, and copy its new bot token into bot_token"
INVITE: Final = "Invite the bot there: /invite @ and its name."

# What a person must mend, by Slack's word for it.
FIXES: Final[Mapping[str, str]] = {
    "invalid_auth": "Slack does not know the token.",
    "not_authed": "Slack saw no token.",
    "token_revoked": f"The token was revoked: {REINSTALL}.",
    "token_expired": f"The token has expired: {REINSTALL}.",
    "account_inactive": f"The token's app was removed: {REINSTALL}.",
    "not_allowed_token_type": "This kind of token doesn't work here.",
    "app_uninstalled": f"The app was uninstalled: {REINSTALL}.",
    "link_disabled": "Socket Mode is off. Turn it on under Socket Mode in the app, or set mode to http.",
    "is_archived": "The channel is archived. Unarchive it, or post somewhere else.",
    "channel_not_found": f"There is no such channel, or it is private and the bot isn't in it. {INVITE}",
    "not_in_channel": f"The bot is not in the channel. {INVITE}",
    "restricted_action": "The workspace doesn't let apps post there. Ask its administrators.",
    "restricted_action_read_only_channel": "The channel is read-only for this app.",
    "cannot_dm_bot": "Bots can't write to bots.",
    "user_is_restricted": "The workspace doesn't let this person and the app talk.",
    "thread_not_found": "The thread is gone.",
}

NO_THREAD: Final = frozenset({"thread_not_found", "invalid_thread_ts"})
"""First message of a thread that is gone or never existed."""

TOKEN_TROUBLE: Final = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
        "not_allowed_token_type",
        "app_uninstalled",
        "missing_scope",
        "no_permission",
        "ekm_access_denied",
        "access_denied",
        "two_factor_setup_required",
        "org_login_required",
        "enterprise_is_restricted",
        "link_disabled",
        "socket_mode_disabled",
    }
)
"""Nothing of the account works until a person mends it."""


def ours(error: Exception, what: str) -> ChannelError:
    """`error` of the call named `what` as ours, for `raise … from error`."""
    match error:
        case SlackApiError():
            return answered(error, what)
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return Retryable(f"{what}: no connection to Slack ({brief(error)})")
        case _:
            return Uncertain(f"{what}: the connection to Slack ended without an answer ({brief(error)})")


def answered(error: SlackApiError, what: str) -> ChannelError:
    """Our error for Slack's answer."""
    status, headers, told = _answer(error.response)
    code = str(told.get("error", ""))
    if status == 429 or status >= 500 or ENDINGS.get(code) is Ending.AGAIN:
        return Retryable(f"{what}: Slack answered {code or status}", retry_after=_wait(headers))
    if ENDINGS.get(code) is Ending.UNCLEAR or not code:
        return Uncertain(f"{what}: Slack answered {code or f'{status} without an error code'}")
    return Refusal(
        f"{what}: {sentence(code, told)}",
        code=code,
        needed=str(told.get("needed", "")),
        form=ENDINGS.get(code) is Ending.FORM,
    )


def sentence(code: str, told: Mapping[str, Any]) -> str:
    """Say what is wrong and what mends it."""
    if code == "missing_scope":
        needed = told.get("needed", "?")
        return (
            f"The app is missing the scope {needed}. Add it under OAuth & Permissions in the app, or use the manifest "
            f"config/slack-manifest.yaml. Then reinstall the app."
        )
    details = "; ".join((told.get("response_metadata") or {}).get("messages", ()))
    return " ".join(filter(None, [f"Slack says {code}.", FIXES.get(code, ""), details]))


def token_fix(code: str, setting: str) -> str:
    """The fix for the token in `setting` (bot_token or app_token); empty if `code` is not about a token."""
    if code == "missing_scope":
        return "It lacks the scope connections:write." if setting == "app_token" else ""
    if code in ("invalid_auth", "not_authed", "not_allowed_token_type"):
        return f"{MEND_APP if setting == 'app_token' else MEND_BOT}."
    return ""


def brief(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _answer(response: Any) -> tuple[int, Mapping[str, str], Mapping[str, Any]]:
    """Status, headers and body: of the client's answer, or of the bare one where the body was no JSON."""
    data: Any = getattr(response, "data", None)
    status: int = getattr(response, "status_code", 0) or getattr(response, "status", 0)
    return status, response.headers, data if isinstance(data, dict) else {}


def _wait(headers: Mapping[str, str]) -> timedelta | None:
    try:
        return timedelta(seconds=float(headers["Retry-After"]))
    except (KeyError, ValueError):
        return None
