"""Errors of the platform and of the way to it, as ours.

`client.py` raises the first three, each a TelegramError, so that the library hands them on as they are; `ours` makes of
them what the runtime knows.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from telegram.error import NetworkError, TelegramError

from runtime.errors import ChannelError, Rejected, Retryable, Uncertain

UNTOUCHED: Final = "message is not modified"
MESSAGE_GONE: Final = ("message to edit not found", "message can't be edited", "message_id_invalid")
NO_TEXT_THERE: Final = "there is no text in the message to edit"
TOO_BIG: Final = "file is too big"
ROOM_CLOSED: Final = (
    "chat not found",
    "not enough rights",
    "have no rights",
    "need administrator rights",
    "chat_write_forbidden",
    "chat_restricted",
    "chat_send_",  # CHAT_SEND_PLAIN_FORBIDDEN, CHAT_SEND_DOCS_FORBIDDEN …
    "topic_closed",
    "topic_deleted",
    "message thread not found",
    "peer_id_invalid",
    "user not found",
    "group is deactivated",
    "the group chat was deleted",
    *MESSAGE_GONE,
)
"""What a 400 says of the room or the message. Any other is about the form: the plain twin may pass."""


class NotSent(NetworkError):
    """No connection was made: nothing went out."""


class Cut(NetworkError):
    """The connection ended, or nothing came back in time, after the request went out."""


class Refused(TelegramError):
    """The platform answered no. `text` is its description, in small letters."""

    def __init__(
        self, code: int, description: str, *, retry_after: timedelta | None = None, moved_to: int | None = None
    ) -> None:
        super().__init__(f"{code} {description}")
        self.code = code
        self.description = description
        self.text = description.lower()
        self.retry_after = retry_after
        self.moved_to = moved_to

    @property
    def is_untouched(self) -> bool:
        """An edit that would change nothing: what it says is on screen already."""
        return self.code == 400 and UNTOUCHED in self.text

    @property
    def is_of_token(self) -> bool:
        """401 for a token that is not (or no longer) valid, 404 for one that never could be."""
        return self.code in (401, 404)


def ours(error: TelegramError, account: str) -> ChannelError:
    """Our error, by what the runtime does next. An answer of 429 or 5xx counts as not applied."""
    match error:
        case NotSent():
            return Retryable(f'account "{account}": no connection to Telegram: {error.message}')
        case Refused(code=429, retry_after=wait):
            return Retryable(f'account "{account}": Telegram asks us to wait', retry_after=wait)
        case Refused(code=code) if code >= 500:
            return Retryable(f'account "{account}": Telegram has a problem: {error.message}')
        case Refused() if error.is_of_token:
            return Retryable(token_refused(account, error))
        case Refused(code=403):
            return Rejected(
                f"Telegram: {error.description}. The bot can't write there until someone in that chat lets it."
            )
        case Refused(code=413):
            return Rejected("This file is too large: a bot may send Telegram 50 MB, or 10 MB as a photo.", form=True)
        case Refused():
            return Rejected(f"Telegram refused this: {error.description}", form=not _is_of_the_room(error))
        case _:  # cut, or an answer that is none
            return Uncertain(f'account "{account}": no answer from Telegram: {error.message}')


def _is_of_the_room(error: Refused) -> bool:
    return error.code != 400 or any(words in error.text for words in ROOM_CLOSED)


def token_refused(account: str, error: Refused) -> str:
    return (
        f'account "{account}": Telegram refuses the token ({error.code} {error.description}). '
        "Was it revoked, or does it belong to another bot? @BotFather shows the valid one under /mybots, API Token."
    )


def is_of_webhook(error: Refused) -> bool:
    """True if a 409 tells of a webhook, and not of another poll."""
    return "webhook" in error.text


def other_poller(account: str, error: Refused) -> str:
    """A 409 is about the way updates are fetched; which way, the description says."""
    if is_of_webhook(error):
        return (
            f'account "{account}": this bot has a webhook, so it cannot be polled. Remove the webhook (deleteWebhook, '
            'see docs/channels/telegram.md) or set mode = "webhook".'
        )
    return (
        f'account "{account}": another program polls with this token. Stop it, or use another bot here: '
        "Telegram only gives updates to one poller."
    )
