"""Errors of a homeserver and of the way to it, as ours.

`api.py` raises the first three; `ours` makes of them what Signalbox knows. A 5xx is certainly no answer, and may be
repeated: what shows something carries a transaction id, by which a homeserver knows the repeat.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from signalbox.channels import ChannelError, Rejected, Retryable, Scope, Uncertain

TOKEN_CODES: Final = frozenset(
    {"M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED", "M_USER_SUSPENDED"}
)
FORM_CODES: Final = frozenset({"M_TOO_LARGE", "M_BAD_JSON", "M_NOT_JSON", "M_INVALID_PARAM"})
"""The message itself is refused: its plain twin may pass."""
TOKEN_RETRY_DELAY: Final = timedelta(seconds=30)
"""How long a refused token keeps everything of the account from being sent again."""


class MatrixError(Exception):
    """A call that came to nothing."""


class NotSent(MatrixError):
    """No connection was made: nothing went out."""


class Cut(MatrixError):
    """The connection ended, or nothing came back in time, after the request went out."""


class Refused(MatrixError):
    """The homeserver answered no. `code` is its word, such as M_FORBIDDEN; empty where the answer is none of Matrix."""

    def __init__(self, status: int, code: str, text: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(f"{status} {code} {text}".replace("  ", " ").strip())
        self.status = status
        self.code = code
        self.text = text
        self.retry_after = retry_after

    @property
    def is_of_token(self) -> bool:
        return self.code in TOKEN_CODES

    @property
    def is_missing(self) -> bool:
        """True if what was asked for is not there, by a homeserver's own word."""
        return self.code in ("M_NOT_FOUND", "M_UNRECOGNIZED")


def token_refused(account: str, error: Refused) -> str:
    """Words for the person who must mend it."""
    return (
        f'account "{account}": the homeserver refuses the access token ({error.code}): {error.text} '
        "Log the bot in again, and set the new token."
    )


def ours(error: MatrixError, account: str, *, reads: bool = False) -> ChannelError:
    """`reads`: the call changed nothing, so a cut one may be made again."""
    match error:
        case NotSent():
            return Retryable(f"the homeserver can't be reached: {error}")
        case Cut():
            told = f"the connection to the homeserver was cut: {error}"
            return Retryable(told) if reads else Uncertain(told)
        case Refused():
            return _refused(error, account)
        case _:
            return Uncertain(str(error))


def _refused(error: Refused, account: str) -> ChannelError:
    if error.is_of_token:
        return Retryable(token_refused(account, error), retry_after=TOKEN_RETRY_DELAY, scope=Scope.ACCOUNT)
    if error.status == 429:
        return Retryable("the homeserver asks to wait", retry_after=error.retry_after, scope=Scope.ACCOUNT)
    if error.status >= 500 or error.status < 400 or not error.code:
        return Retryable(f"the homeserver gave an unexpected answer: {error}")
    if error.code in FORM_CODES:
        return Rejected(f"the homeserver doesn't take this message: {error.text or error.code}", form=True)
    if error.code == "M_FORBIDDEN":
        return Rejected(f"the bot may not write in this room: {error.text}")
    if error.status in (403, 404):
        return Rejected(f"the homeserver knows no such room or message: {error.text or error.code}")
    return Rejected(f"the homeserver refused it: {error}", form=True)
