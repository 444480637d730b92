"""Reasons a request was not sent or had no answer. The texts are for the model, and name no path, query or header, since
those may hold a secret."""

from __future__ import annotations

from enum import StrEnum

from runtime.errors import ToolFailed


class Why(StrEnum):
    """Checks that a request may fail."""

    FORM = "form"  # it is no address that could be dialled
    SCHEME = "scheme"
    USERINFO = "userinfo"
    HOST = "host"
    PORT = "port"
    METHOD = "method"
    HEADER = "header"
    RULE = "rule"
    LOOKUP = "lookup"
    ADDRESS = "address"
    REDIRECT = "redirect"


class Refused(ToolFailed):
    """Not sent: `why` names the check that failed. No packet went to the host that is named."""

    def __init__(self, why: Why, reason: str) -> None:
        super().__init__(f"Not sent: {reason}")
        self.why = why


class NoAnswer(ToolFailed):
    """It was allowed, and no whole answer came. `sent` means that the request may have reached the other side."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent
