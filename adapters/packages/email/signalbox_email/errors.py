"""Failures of mail servers, in our words."""

from __future__ import annotations

import ssl

from signalbox.channels import Retryable


class MailError(Exception):
    """A server did not do what it was asked."""


class Away(MailError):
    """The connection ended, or nothing came in time. It may work later."""


class Deaf(Away):
    """The connection looks open, and nothing came on it in time."""


class Denied(MailError):
    """The server does not let us in."""


class Refused(MailError):
    """The server answered NO or BAD to a command."""


def away(server: str, error: BaseException) -> Away:
    """`error` of a connection, with the server's name."""
    if isinstance(error, Away):
        return error
    if isinstance(error, TimeoutError):
        return Deaf(f"{server} didn't answer in time")
    if isinstance(error, ssl.SSLCertVerificationError):
        return Away(f"{server} has a certificate that isn't valid for it: {error.verify_message}")
    return Away(f"{server} can't be reached: {error or type(error).__name__}")


def retryable(account: str, error: MailError) -> Retryable:
    return Retryable(f'account "{account}": {error}')
