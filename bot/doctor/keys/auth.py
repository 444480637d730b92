"""The provider at which people sign in: its answers, and what it has to know of us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from bot.doctor.subject import REACH, Subject, fault, fine, warning
from bot.settings.safety.auth import AuthSection
from bot.settings.settings import Settings
from runtime.contract import Finding, Role
from runtime.text.naming import listed

WHY_ISSUER: Final = "Nobody can sign in there, and sessions of the page end within a minute."
WHY_URL: Final = "Nobody it should name can come in; our own links and tokens still work."
WHY_OPEN: Final = "Everybody who reaches the page would be that person."
RETURN_PATH: Final = "/sign-in/back"


async def check_auth(subject: Subject) -> Sequence[Finding]:
    auth = subject.settings.auth
    if auth.issuer:
        return [await _issuer(subject.settings), *_audience(auth)]
    return [await _url(auth)] if auth.url else []


async def _issuer(settings: Settings) -> Finding:
    from bot.auth.parts import provider_terms
    from runtime.oauth.errors import IssuerError
    from runtime.oauth.openid import OpenIdClient
    from runtime.oauth.signed import keys_of

    auth = settings.auth
    client = OpenIdClient(provider_terms(auth), now=lambda: datetime.now(UTC), timeout=REACH)
    try:
        keys = keys_of(await client.keys(await client.endpoints()))
    except IssuerError as error:
        return fault("auth.issuer", f"{auth.issuer}: it {error}", WHY_ISSUER, "check auth.issuer, or the provider")
    if not keys:
        why = "It signs with none of RS256 and ES256, or doesn't say so."
        return fault("auth.issuer", f"{auth.issuer} has no key that can be used", why, "have it sign with RS256")
    web = settings.web
    back = f"{web.public_url.rstrip('/') or f'http://{web.host}:{web.port}'}{RETURN_PATH}"
    return fine("auth.issuer", f"{auth.called} answers; it must send browsers back to {back}. {_roles(auth)}")


def _audience(auth: AuthSection) -> Sequence[Finding]:
    if auth.audience != auth.client_id:
        return []
    why = "Every ID token that a browser gets would open the API, too."
    return [warning("auth.audience", "auth.audience is our client_id", why, "name an audience of its own for the API")]


def _roles(auth: AuthSection) -> str:
    return "; ".join(_role(role, names) for role, names in reversed([*auth.by_role.items()]) if names)


def _role(role: Role, names: Sequence[str]) -> str:
    return f"{role.word}: {listed(names, 'or')}"


async def _url(auth: AuthSection) -> Finding:
    """Asked as somebody who shows nothing: that must be refused."""
    try:
        status, told = await _answer(auth.url)
    except (OSError, TimeoutError) as error:
        why = str(error) or "it didn't answer in time"
        return fault("auth.url", f"{auth.url} can't be asked: {why}", WHY_URL, "check auth.url, or start it")
    if 200 <= status < 300 and told.get(auth.user_header):
        fix = "have it refuse requests without a session"
        return fault("auth.url", f"{auth.url} names somebody for a request that shows nothing", WHY_OPEN, fix)
    if 300 <= status < 400 or status in (401, 403):
        return fine("auth.url", f"{auth.url} refuses strangers ({status}). {_roles(auth)}")
    return fault("auth.url", f"{auth.url} answers {status} to a stranger, not 401", WHY_URL, "check auth.url")


async def _answer(url: str) -> tuple[int, Mapping[str, str]]:
    """Errors: OSError, TimeoutError."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=REACH.total_seconds())
    try:
        async with (
            aiohttp.ClientSession(trust_env=False, timeout=timeout) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            return answer.status, answer.headers
    except aiohttp.ClientError as error:
        raise OSError(str(error)) from None
