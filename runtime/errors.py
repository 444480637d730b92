"""The error tree, sorted by what the caller does next.

BotError
├── ConfigError      fix the setting named in the message; the process does not start
├── ChannelError     Retryable (certainly not shown) · Uncertain (perhaps shown: look first) · Rejected (never)
├── StoreError       the store is away, full, locked or newer than we are (a duplicate or a lost lease is a
│                    return value)
├── RowDamaged       rows of one conversation can't be read: keep it apart, and go on with the others
├── ToolError        ToolRetry (the model may correct itself) · ToolFailed (the model is told, the run goes on)
├── RunError         BudgetSpent · ModelFailed (ContextOverflow: a smaller request may do) · RunFailed (no answer comes)
├── ProgramError     a program asks otherwise: AgentClosed (open one) · Declined (its words say what may be done)
└── IllegalMove      a bug in our code
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

UNSURE: Final = "Nobody knows whether it was "
"""How the words of a ToolFailed begin that leaves open what the call did: it is made again under the same key, if at all."""


class BotError(Exception):
    """Anything we raise on purpose."""


class ConfigError(BotError):
    """A setting is wrong. The message names the setting, the value's shape and the fix; never a secret value.

    `left_out` are the settings whose values are of no use, as the message names them.
    """

    def __init__(self, message: str, *, left_out: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.left_out = tuple(left_out)


class ChannelError(BotError):
    """A channel did not show something."""


class Scope(StrEnum):
    """Scope of a platform's wait."""

    ROOM = "room"
    ACCOUNT = "account"


class Retryable(ChannelError):
    """Certainly not shown; worth another try, not before `retry_after` where the platform named a wait.

    With a wait, `scope` is what must be quiet until then: the room that was meant, or the whole account.
    """

    def __init__(self, reason: str, *, retry_after: timedelta | None = None, scope: Scope = Scope.ROOM) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        self.scope = scope


class Uncertain(ChannelError):
    """Perhaps shown: the connection ended after the request went out."""


class Rejected(ChannelError):
    """Never: the platform will not show this, now or later. `form` means that its plain twin may still go."""

    def __init__(self, reason: str, *, form: bool = False) -> None:
        super().__init__(reason)
        self.form = form


class Trouble(StrEnum):
    """Kinds of trouble of a store, for counting."""

    AWAY = "away"
    FULL = "full"
    LOCKED = "locked"
    READ_ONLY = "read-only"
    DAMAGED = "damaged"
    LOST = "lost"
    OTHER = "other"


class StoreError(BotError):
    """The store is away, full, locked, read-only or newer than this program."""

    def __init__(self, reason: str, *, trouble: Trouble = Trouble.OTHER) -> None:
        super().__init__(reason)
        self.trouble = trouble


class RowDamaged(BotError):
    """A row holds what this program cannot read: it was damaged, or a newer program wrote it. `session` waits for that."""

    def __init__(self, session: str, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.session = session


class ToolError(BotError):
    """A tool did not do what was asked. The text is written for the model."""


class ToolRetry(ToolError):
    """The call was wrong: the model may correct it. `field` is what of it is wrong, for a form; empty where nobody can say."""

    def __init__(self, words: str, field: str = "") -> None:
        super().__init__(words)
        self.field = field


class ToolFailed(ToolError):
    """The call was right and did not work."""


class RunError(BotError):
    """A run cannot go on. The text is written for the person who waits."""


class BudgetSpent(RunError):
    """No budget allows another call of a model. `until` is when it may again; None where calls under way hold what is left."""

    def __init__(self, words: str, until: datetime | None = None) -> None:
        super().__init__(words)
        self.until = until


class Cause(StrEnum):
    """Causes for which a model gives no answer, by what may be done about them."""

    REQUEST = "request"  # the request itself is refused: another model would refuse it too
    OVERFLOW = "overflow"  # it is larger than the window
    AUTH = "auth"  # the key, or its right to this model: until settings or key change
    BILLING = "billing"  # no credit, or a limit of use that lasts hours
    BUSY = "busy"  # too many requests
    AWAY = "away"  # an error of the vendor's own, a cut connection, no answer in time
    ANSWER = "answer"  # it answered, and nothing of use
    OTHER = "other"


class ModelFailed(RunError):
    """The model gave no usable answer. `detail` is for the operator; `wait` is what its vendor asked for."""

    def __init__(
        self, reason: str, *, detail: str = "", cause: Cause = Cause.OTHER, wait: timedelta | None = None
    ) -> None:
        super().__init__(reason)
        self.detail = detail
        self.cause = cause
        self.wait = wait


class ContextOverflow(ModelFailed):
    """The vendor refused the request: it is larger than the model's window. A smaller one may be accepted."""

    def __init__(
        self, reason: str, *, detail: str = "", cause: Cause = Cause.OVERFLOW, wait: timedelta | None = None
    ) -> None:
        super().__init__(reason, detail=detail, cause=cause, wait=wait)


class RunFailed(RunError):
    """A run that a program waited for ended without an answer. `state` is failed, stopped or refused, `run` its id."""

    def __init__(self, words: str, *, state: str, run: str) -> None:
        super().__init__(words)
        self.state = state
        self.run = run


class ProgramError(BotError):
    """A program asked for what cannot be done; the message says what to do instead."""


class AgentClosed(ProgramError):
    """The agent isn't open here and now. What it was asked before is stored: the next one on its data goes on with it."""


class Declined(ProgramError):
    """Not done, by the rules of rooms, agents, keys and approvals. `status` is what the API answers in its place."""

    def __init__(self, words: str, *, status: int) -> None:
        super().__init__(words)
        self.status = status


class IllegalMove(BotError):
    """A state machine was asked for a move it does not have: a bug in our code."""
