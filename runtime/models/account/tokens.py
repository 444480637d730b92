"""Tokens of a sign-in in place of a model's key: filled in when the model is asked."""

from __future__ import annotations

from typing import Final, Protocol

from runtime.errors import Cause, ModelFailed

OAUTH_KEY: Final = "__oauth__"
"""Stands for the token of a sign-in, wherever a model's key is kept."""


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
        """Another token in place of one that was refused; empty where only a person can help, who is told then.

        `again`: it was renewed for this very call. Errors: LoginFailed.
        """
