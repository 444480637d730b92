"""Sends one mail, and tells what became of it: it was taken, certainly not, perhaps, or never will be.

All but the last step leaves nothing behind when it fails. The mail counts as taken with the server's answer to its end
(RFC 5321, 4.2.5): an error while that is waited for leaves it open, and only a look into the mailbox tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import structlog
from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPDataError,
    SMTPException,
    SMTPRecipientRefused,
    SMTPResponseException,
)

from signalbox.channels import TOO_LATE, Rejected, Retryable, Uncertain, leaves_in_time
from signalbox_email.errors import MailError, away
from signalbox_email.settings import EmailSettings
from signalbox_email.trust import trusted

log = structlog.get_logger("email")

PERMANENT: Final = 500


async def send(settings: EmailSettings, to: Sequence[str], mail: bytes, *, copy: bool) -> None:
    """Send `mail`; with `copy` to ourselves too, in the same step. Errors: Retryable; Uncertain; Rejected."""
    async with connected(settings) as smtp:
        await _addressed(smtp, settings, to, copy=copy)
        if not leaves_in_time():
            raise Retryable(TOO_LATE)
        try:
            async with asyncio.timeout(settings.waits.data.total_seconds()):
                await smtp.data(mail)
        except SMTPDataError as error:
            if error.code >= PERMANENT:
                raise Rejected(
                    f"{_name(settings)} refuses this mail: {_told(error)}", form=error.code == 552
                ) from error
            raise Retryable(f"{_name(settings)} doesn't take this mail now: {_told(error)}") from error
        except (SMTPException, OSError, TimeoutError) as error:
            raise Uncertain(f"{_name(settings)} ended the connection before it said that it has the mail") from error


async def known(settings: EmailSettings, address: str) -> str:
    """The reason for which the server takes no mail for this address; empty when it does. Nothing is sent. Errors: Retryable; Rejected."""
    async with connected(settings) as smtp:
        try:
            await _addressed(smtp, settings, [address], copy=False)
        except Rejected as error:
            return str(error)
    return ""


@asynccontextmanager
async def connected(settings: EmailSettings) -> AsyncIterator[SMTP]:
    """A connection that is let in. Errors: Retryable; Rejected for a sign-in that is refused."""
    server = settings.smtp
    seconds = settings.waits.connect.total_seconds()
    smtp = SMTP(
        hostname=server.host,
        port=server.port,
        use_tls=server.security == "tls",
        start_tls=server.security == "starttls",
        timeout=seconds,
        tls_context=None if server.security == "none" else trusted(),
    )
    try:
        try:
            async with asyncio.timeout(seconds):
                await smtp.connect()
                if settings.smtp_login:
                    await _sign_in(smtp, settings)
        except SMTPAuthenticationError as error:
            raise Retryable(f"{_name(settings)} refuses the sign-in as {settings.user}: {_told(error)}") from error
        except (SMTPException, OSError, TimeoutError, UnicodeError) as error:
            raise Retryable(str(_away(settings, error))) from error
        yield smtp
    finally:
        smtp.close()


async def _sign_in(smtp: SMTP, settings: EmailSettings) -> None:
    """Once, by one method: servers lock an account out that tries a wrong password by each of them."""
    if smtp.is_ehlo_or_helo_needed:
        await smtp.ehlo()
    user, password = settings.user.encode(), settings.password.encode()
    if "login" in smtp.supported_auth_methods and "plain" not in smtp.supported_auth_methods:
        await smtp.auth_login(user, password)
    else:
        await smtp.auth_plain(user, password)


async def _addressed(smtp: SMTP, settings: EmailSettings, to: Sequence[str], *, copy: bool) -> None:
    """Name sender and recipients. Those that the server refuses for good are left out where others remain."""
    refused: list[SMTPRecipientRefused] = []
    own = settings.address
    try:
        async with asyncio.timeout(settings.waits.connect.total_seconds()):
            await smtp.mail(own)
            for address in [*to, own] if copy else to:
                try:
                    await smtp.rcpt(address)
                except SMTPRecipientRefused as error:
                    if error.code < PERMANENT:
                        raise
                    refused.append(error)
    except SMTPResponseException as error:
        if error.code >= PERMANENT:
            raise Rejected(f"{_name(settings)} takes no mail from {own}: {_told(error)}") from error
        raise Retryable(f"{_name(settings)} doesn't take this mail now: {_told(error)}") from error
    except (SMTPException, OSError, TimeoutError) as error:
        raise Retryable(str(_away(settings, error))) from error
    if any(error.recipient == own for error in refused):
        raise Rejected(
            f'{_name(settings)} takes no mail for {own}, so no copy would tell what was sent. If the server keeps sent mail itself, set sent = "server".'
        )
    if len(refused) == len(to):
        raise Rejected(
            f"there's no such address: {_name(settings)} refuses {refused[0].recipient}: {_told(refused[0])}"
        )
    for one in refused:
        log.warning("a recipient is left out", account=settings.account, recipient=one.recipient, reason=_told(one))


def _away(settings: EmailSettings, error: BaseException) -> MailError:
    if isinstance(error, SMTPResponseException):
        return MailError(f"{_name(settings)} is not serving: {_told(error)}")
    return away(_name(settings), error)


def _name(settings: EmailSettings) -> str:
    return f"the SMTP server {settings.smtp.host}"


def _told(error: SMTPResponseException) -> str:
    return f"{error.code} {error.message}"[:300]
