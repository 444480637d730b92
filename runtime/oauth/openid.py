"""OpenID Connect at an issuer: its discovery, its keys, the ID token of a sign-in, and what it says of a person now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from runtime.oauth.client import ISSUER_TIMEOUT, IssuerClient
from runtime.oauth.errors import IssuerAway, IssuerRefused
from runtime.oauth.grant import IssuerGrant
from runtime.oauth.issuer import Endpoints, IssuerTerms, endpoints_of, is_private

DISCOVERY: Final = "/.well-known/openid-configuration"
NEEDED: Final = ("authorization", "keys", "userinfo")
METADATA_NAMES: Final = {
    "authorization": "authorization_endpoint",
    "keys": "jwks_uri",
    "userinfo": "userinfo_endpoint",
}


class OpenIdClient(IssuerClient):
    """Asks one provider. Every method raises IssuerRefused or IssuerAway, as those of IssuerClient do."""

    def __init__(
        self,
        terms: IssuerTerms,
        *,
        now: Callable[[], datetime],
        timeout: timedelta = ISSUER_TIMEOUT,
        heard: Callable[[str], object] | None = None,
    ) -> None:
        """`heard` is told each ID token that comes with an access token."""
        super().__init__(terms, now=now, timeout=timeout)
        self._heard = heard

    async def endpoints(self) -> Endpoints:
        """The provider's addresses, as its discovery tells them."""
        status, told = await self._ask("GET", self._terms.issuer.rstrip("/") + DISCOVERY)
        if status >= 500 or status in (408, 429):
            raise IssuerAway(f"answered {status}")
        if status != 200 or not told:
            raise IssuerRefused("metadata", f"has no OpenID metadata at {DISCOVERY}")
        found = endpoints_of(self._terms, told)
        for field in NEEDED:
            address = getattr(found, field)
            if not address:
                raise IssuerRefused("metadata", f"names no {METADATA_NAMES[field]}")
            if not is_private(address):
                raise IssuerRefused("metadata", f"{address[:200]} isn't https://, so nothing is sent there")
        # Without an address to take tokens back, a sign-out is ours alone.
        return found if not found.revocation or is_private(found.revocation) else replace(found, revocation="")

    async def keys(self, endpoints: Endpoints) -> dict[str, Any]:
        """Its JWKS as it is."""
        status, told = await self._ask("GET", endpoints.keys)
        if status != 200 or not isinstance(told.get("keys"), list):
            raise IssuerAway(f"answered {status} to a request for its keys")
        return told

    async def signed_in(self, endpoints: Endpoints, code: str, verifier: str, back: str) -> tuple[IssuerGrant, str]:
        """The grant and the ID token that a code is traded for."""
        told = await self._traded(endpoints, code, verifier, back)
        token = told.get("id_token")
        if not isinstance(token, str) or not token:
            raise IssuerRefused("id_token", "its answer has no ID token; is `openid` among the scopes?")
        return self._granted(endpoints, told), token

    def _read(self, grant: IssuerGrant, told: dict[str, Any]) -> IssuerGrant:
        token = told.get("id_token")
        if self._heard and isinstance(token, str):
            self._heard(token)
        return super()._read(grant, told)

    async def userinfo(self, endpoints: Endpoints, token: str) -> dict[str, Any]:
        """Claims about whoever the token is of, now. Errors: IssuerRefused for a token that it takes no more."""
        status, told = await self._ask("GET", endpoints.userinfo, bearer=token)
        if status == 200 and told:
            return told
        if status in (400, 401, 403):  # 404 is what proxies say of a provider that is being restarted
            raise IssuerRefused(str(status), f"refused the token ({status})")
        raise IssuerAway(f"answered {status}" if status != 200 else "answered with no JSON")
