"""Failures at an issuer, by what the caller does next."""

from __future__ import annotations


class IssuerError(Exception):
    """It didn't come to a token. The text is a clause that goes on from the issuer's name."""


class IssuerRefused(IssuerError):
    """The issuer refused for good. `code` is its word, such as `invalid_grant`; `detail` is its own text, for a terminal alone."""

    def __init__(self, code: str, words: str, detail: str = "") -> None:
        super().__init__(words)
        self.code = code
        self.detail = detail


class IssuerAway(IssuerError):
    """The issuer can't be asked right now. With `sent`, nobody knows whether it carried the request out."""

    def __init__(self, words: str, *, sent: bool = False) -> None:
        super().__init__(words)
        self.sent = sent
