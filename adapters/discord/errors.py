"""Errors of Discord and of the way to it, as ours, in words that name the fix.

Codes: discord.com/developers/docs/topics/opcodes-and-status-codes, read 2026-08.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import aiohttp
import discord

from runtime.errors import ChannelError, Rejected, Retryable, Scope, Uncertain

UNKNOWN_CHANNEL: Final = 10003
UNKNOWN_MESSAGE: Final = 10008
ALREADY_ACKNOWLEDGED: Final = 40060
UNKNOWN_INTERACTION: Final = 10062
NO_ACCESS: Final = 50001
NOT_THERE: Final = 50024
NO_RIGHT: Final = 50013
ARCHIVED: Final = 50083
NO_REPLIES: Final = 160002
THREAD_EXISTS: Final = 160004
THREAD_LOCKED: Final = 160005
NO_THREAD: Final = frozenset({UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, NO_ACCESS, NOT_THERE, NO_RIGHT, THREAD_LOCKED})
"""A message has no thread that could be written to, and none can be begun: it is gone, or this is no place for threads."""

# What a person must mend, by Discord's code. A code without a row is told in Discord's words alone.
FIXES: Final[Mapping[int, str]] = {
    UNKNOWN_CHANNEL: "The channel or thread is gone, or the bot was removed from its server.",
    10004: "The bot is no longer in that server.",
    UNKNOWN_MESSAGE: "Somebody deleted the message.",
    20016: "The channel's slow mode holds the bot back.",
    40005: "A file is larger than Discord allows a bot here.",
    40333: "Discord didn't accept this as a bot's request.",
    NO_ACCESS: "The bot can't see the channel. Give its role View Channel there, or invite it to the server again.",
    50005: "The message belongs to someone else.",
    50007: "This person can't be messaged: they blocked the bot, or share no server with it.",
    NO_RIGHT: "The bot's role is missing a permission. It needs Send Messages, Send Messages in Threads, Attach Files, "
    "Add Reactions, Read Message History and Create Public Threads.",
    ARCHIVED: "The thread is archived.",
    NO_REPLIES: "To reply there, the bot's role needs Read Message History.",
    THREAD_LOCKED: "The thread is locked. A moderator has to unlock it.",
    200000: "A rule of the server's AutoMod blocks the message.",
    200001: "A rule of the server's AutoMod blocks the title.",
}
FOREIGN_ERROR_MAX_CHARS: Final = 500  # characters of a foreign error
OF_THE_FORM: Final = frozenset({0, 50006, 50035, 50109, 40005})
"""The plain twin, which may be shorter and has no file, may pass."""

# What a closed session means, by its code. Source: …/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
CLOSED: Final[Mapping[int, str]] = {
    4004: "Discord refuses the token (4004). Was it reset, or does it belong to another application? Get a new "
    "one under Bot at https://discord.com/developers/applications/{identity} and set it as the account's "
    "token.",
    4010: "Discord doesn't know this shard (4010). Set shards to 0, or to a number that all processes share.",
    4011: "The bot is in too many servers for this few connections (4011). Set shards to 0, or to a higher number.",
    4012: "Discord no longer supports this version of its gateway (4012). A newer release of Signalbox is needed.",
    4013: "Discord doesn't know an intent that Signalbox asked for (4013). A newer release of Signalbox is needed.",
    4014: "Discord does not give the bot the Message Content intent (4014). Turn it on under Bot, Privileged "
    "Gateway Intents, at https://discord.com/developers/applications/{identity}/bot.",
}


OTHER_BOT: Final = (
    "the token names the bot {identity}, but Discord says it's {welcomed}, so it would answer to the wrong "
    "mentions. Get a new token under Bot at https://discord.com/developers/applications/{welcomed}/bot and set "
    "it as the account's token."
)


class Closed(aiohttp.ClientError):
    """Nothing was sent: the account is being left."""


class LoginRefused(Exception):
    """The platform will not let this account in until a person mends what `sentence` says."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def ours(error: Exception, account: str, *, reads: bool = False) -> ChannelError:
    """Our error, by what the runtime does next. An answer of 429 or 5xx counts as not applied; a cut read is simply made again."""
    match error:
        case discord.RateLimited():
            return Retryable(_of(account, "Discord asks us to wait"), retry_after=timedelta(seconds=error.retry_after))
        case discord.HTTPException():
            return _answered(error, account)
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError() | Closed():
            return Retryable(_of(account, f"no connection to Discord: {told(error)}"))
        case _ if reads:
            return Retryable(_of(account, f"no answer from Discord: {told(error)}"))
        case _:
            return Uncertain(_of(account, f"no answer from Discord: {told(error)}"))


def _answered(error: discord.HTTPException, account: str) -> ChannelError:
    if error.status == 429:
        scope = Scope.ACCOUNT if is_global(error) else Scope.ROOM
        return Retryable(_of(account, "Discord asks us to wait"), retry_after=wait_of(error), scope=scope)
    if error.status >= 500:
        return Retryable(_of(account, f"Discord has a problem: {told(error)}"))
    if error.status == 401:
        return Retryable(token_refused(account))
    form = error.status in (400, 413) and error.code in OF_THE_FORM
    return Rejected(
        _of(account, " ".join(filter(None, [f"Discord says {told(error)}.", FIXES.get(error.code, "")]))), form=form
    )


def is_global(error: discord.HTTPException) -> bool:
    """True if all calls must wait: of one that the proxy before Discord sent too, for it bans the address."""
    headers = error.response.headers
    return headers.get("X-RateLimit-Global") == "true" or "Via" not in headers


def wait_of(error: discord.HTTPException) -> timedelta | None:
    try:
        return timedelta(seconds=float(error.response.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def token_refused(account: str) -> str:
    return _of(
        account,
        "Discord refuses the token (401). Get a new one under Bot in the application at "
        "https://discord.com/developers/applications and set it as the account's token.",
    )


def login_refused(code: int, account: str, identity: str) -> LoginRefused | None:
    """Help that a session closed with `code` needs from a person; None where it may just be opened again."""
    words = CLOSED.get(code)
    return LoginRefused(_of(account, words.format(identity=identity))) if words else None


def check_identity(welcomed: str, account: str, identity: str) -> None:
    """Errors: LoginRefused when Discord welcomes another bot than `identity`, by which mentions are known."""
    if welcomed != identity:
        raise LoginRefused(_of(account, OTHER_BOT.format(identity=identity, welcomed=welcomed)))


def told(error: BaseException) -> str:
    """The error in its own words, on one line."""
    text = error.text or str(error.status) if isinstance(error, discord.HTTPException) else str(error)
    code = f"{error.code} " if isinstance(error, discord.HTTPException) and error.code else ""
    return " ".join(f"{code}{text or type(error).__name__}"[:FOREIGN_ERROR_MAX_CHARS].split()).rstrip(".")


def _of(account: str, words: str) -> str:
    return f'account "{account}": {words}'
