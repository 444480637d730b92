"""Grant of an issuer: its tokens, when they end, and where they are renewed. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

EARLY: Final = timedelta(minutes=5)
"""Time before its end in which a token is renewed, or a tenth of its life where that is less."""
LIFE_MAX: Final = timedelta(days=366)
"""An issuer that tells of more is taken to mean this."""


@dataclass(frozen=True, slots=True)
class IssuerGrant:
    """Tokens, and the addresses that were found at the sign-in: a renewal goes there, after a restart too."""

    issuer: str
    client_id: str
    token_endpoint: str
    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    revocation_endpoint: str = ""
    given_at: float = 0.0
    expires_at: float | None = None
    scope: str = ""

    def text(self) -> str:
        return json.dumps(asdict(self))

    @property
    def can_renew(self) -> bool:
        return bool(self.refresh_token)

    @property
    def ends_at(self) -> datetime | None:
        return None if self.expires_at is None else datetime.fromtimestamp(self.expires_at, UTC)

    @property
    def due_at(self) -> datetime | None:
        """Time from which it is renewed; None where it has no end."""
        if self.expires_at is None:
            return None
        life = timedelta(seconds=max(0.0, self.expires_at - self.given_at))
        return datetime.fromtimestamp(self.expires_at, UTC) - min(EARLY, life / 10)

    def is_over(self, now: datetime) -> bool:
        return self.ends_at is not None and self.ends_at <= now

    def is_due(self, now: datetime) -> bool:
        return self.due_at is not None and self.due_at <= now

    def renewed(self, answer: dict[str, Any], now: datetime) -> IssuerGrant:
        """The grant with what the issuer answered; a refresh token that isn't replaced stays good.

        Errors: ValueError for an answer without a token.
        """
        token = answer.get("access_token")
        if not isinstance(token, str) or not token or not token.isprintable() or not token.isascii():
            raise ValueError("its answer has no access token")
        kind = str(answer.get("token_type", "Bearer"))
        if kind.lower() != "bearer":
            raise ValueError(f"its token is of the kind {kind[:40]!r}, which can't be used here")
        again = answer.get("refresh_token")
        return replace(
            self,
            access_token=token,
            refresh_token=again if isinstance(again, str) and again else self.refresh_token,
            given_at=now.timestamp(),
            expires_at=_end(answer.get("expires_in"), now),
            scope=str(answer.get("scope") or self.scope),
        )


def issuer_grant_of(text: str) -> IssuerGrant | None:
    """A grant as `text` wrote it; None for anything else."""
    try:
        return IssuerGrant(**json.loads(text))
    except (ValueError, TypeError):
        return None


def _end(seconds: object, now: datetime) -> float | None:
    """The end of a token; None where the issuer names none, or nothing that is a time."""
    try:
        life = float(seconds)  # type: ignore[arg-type]  # None and texts are told by the errors
    except (TypeError, ValueError):
        return None
    if not 0 < life < float("inf"):
        return now.timestamp() if life <= 0 else None
    return now.timestamp() + min(life, LIFE_MAX.total_seconds())
