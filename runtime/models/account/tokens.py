"""Tokens of a sign-in in place of a model's key: filled in when the model is asked."""

from __future__ import annotations

from typing import Final, Protocol

from runtime.errors import Cause, ModelFailed
from runtime.models.account.keys import Keys

OAUTH_KEY: Final = "__oauth__"
"""Stands for the token of a sign-in, wherever a model's key is kept."""
NO_TOKENS: Final = "The sign-in for this model can't be used here: start Signalbox, and ask the model there."
TOKEN_REFUSED: Final = 401
"""The status by which a vendor refuses a token (RFC 6750, 3.1)."""


class LoginFailed(ModelFailed):
    """There is no token. `is_away`: the issuer may give one in a moment."""

    def __init__(self, words: str, *, is_away: bool = False) -> None:
        super().__init__(words, cause=Cause.AWAY if is_away else Cause.AUTH)
        self.is_away = is_away


class KeyTokens(Protocol):
    """The token of one sign-in."""

    @property
    def name(self) -> str: ...

    async def token(self) -> str:
        """The token to use now, renewed where it is near its end. Errors: LoginFailed."""

    async def refused(self, token: str, *, again: bool) -> str:
        """Another token in place of one that was refused. `again`: that one was renewed for this very call.

        Errors: LoginFailed where only a person can help.
        """


class KeyInUse:
    """The key for one answer: one of the settings, or the token of a sign-in, renewed once where it is refused."""

    def __init__(self, keys: Keys, tokens: KeyTokens | None) -> None:
        self._keys = keys
        self._tokens = tokens
        self._token = ""
        self._is_fresh = False

    async def value(self, key: str) -> str:
        """`key`, or the token that it stands for. Errors: LoginFailed."""
        if key != OAUTH_KEY:
            return key
        if self._tokens is None:
            raise LoginFailed(NO_TOKENS)
        if not self._token:
            self._use(await self._tokens.token())
        return self._token

    async def renewed(self, status: object) -> bool:
        """True where the call is worth another try, since its token was refused and another one is here. Errors: LoginFailed."""
        if status != TOKEN_REFUSED or not self._token or self._tokens is None:
            return False
        self._use(await self._tokens.refused(self._token, again=self._is_fresh))
        self._is_fresh = True
        return True

    def _use(self, token: str) -> None:
        self._keys.hide(token)
        self._token = token
