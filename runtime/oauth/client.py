"""Requests to an issuer: its metadata, a device code, tokens, and giving one back."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote_plus

from runtime.oauth.errors import IssuerAway, IssuerRefused
from runtime.oauth.grant import IssuerGrant
from runtime.oauth.issuer import Endpoints, IssuerTerms, endpoints_of, is_private, metadata_places

if TYPE_CHECKING:
    from aiohttp import ClientResponse

ISSUER_TIMEOUT: Final = timedelta(seconds=20)
"""Wait for one answer; less than a claim to a renewal lasts."""
ANSWER_MAX_BYTES: Final = 256 << 10
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
DEVICE_INTERVAL: Final = 5.0
"""Seconds between two looks where the issuer names none, and what `slow_down` adds (RFC 8628, 3.5)."""
DEVICE_TIME: Final = 900.0
"""Seconds in which a person enters a code, where the issuer names none."""
NOT_NOW: Final = frozenset({408, 429})
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """A code for a person to enter at `page`. `whole` is the page with the code in it, where there is one."""

    code: str
    shown: str
    page: str
    whole: str
    interval: float
    life: float


class IssuerClient:
    """Asks one issuer. Every method raises IssuerRefused or IssuerAway. No redirect is followed: it would carry secrets on."""

    def __init__(self, terms: IssuerTerms, *, now: Callable[[], datetime], timeout: timedelta = ISSUER_TIMEOUT) -> None:
        self._terms = terms
        self._now = now
        self._timeout = timeout

    async def endpoints(self) -> Endpoints:
        """Addresses of the settings, with those of the metadata where an issuer is named."""
        if not self._terms.issuer:
            return endpoints_of(self._terms, {})
        for place in metadata_places(self._terms.issuer):
            status, told = await self._ask("GET", place)
            if status == 200 and told:
                return endpoints_of(self._terms, told)
        if self._terms.wants_metadata:
            raise IssuerRefused("metadata", "it has no metadata; set token_endpoint and the others")
        return endpoints_of(self._terms, {})

    async def device_code(self, endpoints: Endpoints) -> DeviceCode:
        told = await self._asked(endpoints.device, self._terms.asked())
        try:
            page = str(told.get("verification_uri") or told["verification_url"])
            code = DeviceCode(
                str(told["device_code"]),
                str(told["user_code"]),
                page,
                str(told.get("verification_uri_complete") or ""),
                max(0.0, float(told.get("interval", DEVICE_INTERVAL))),
                float(told.get("expires_in", DEVICE_TIME)),
            )
        except (KeyError, TypeError, ValueError):
            raise IssuerRefused("device", "its answer has no code to enter") from None
        if not is_private(page):
            raise IssuerRefused("device", f"its page {page[:200]} isn't https://")
        return code

    async def by_device(self, endpoints: Endpoints, code: DeviceCode, sleep: Sleep = asyncio.sleep) -> IssuerGrant:
        """Wait until a person entered `code`."""
        form = {"grant_type": DEVICE_GRANT, "device_code": code.code, "client_id": self._terms.client_id}
        interval, waited = code.interval, 0.0
        while waited < code.life:
            await sleep(interval)
            waited += max(interval, 0.1)
            try:
                return self._granted(endpoints, await self._asked(endpoints.token, form))
            except IssuerRefused as error:
                if error.code not in ("authorization_pending", "slow_down"):
                    raise
                interval += DEVICE_INTERVAL if error.code == "slow_down" else 0.0
            except IssuerAway:
                interval += DEVICE_INTERVAL  # RFC 8628, 3.5: ask less often
        raise IssuerRefused("expired_token", "nobody entered the code in time; begin again")

    async def by_code(self, endpoints: Endpoints, code: str, verifier: str, back: str) -> IssuerGrant:
        """Trade the code that a browser brought back."""
        return self._granted(endpoints, await self._traded(endpoints, code, verifier, back))

    async def _traded(self, endpoints: Endpoints, code: str, verifier: str, back: str) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": verifier,
            "client_id": self._terms.client_id,
            **self._terms.audience_asked(),
        }
        return await self._asked(endpoints.token, form)

    async def renewed(self, grant: IssuerGrant) -> IssuerGrant:
        """The grant with a fresh token; its refresh token may be another one."""
        form = {
            "grant_type": "refresh_token",
            "refresh_token": grant.refresh_token,
            "client_id": self._terms.client_id,
            **self._terms.audience_asked(),
        }
        return self._read(grant, await self._asked(grant.token_endpoint, form))

    async def given_back(self, grant: IssuerGrant) -> bool:
        """Have the issuer forget the grant (RFC 7009); false where it knows no such request."""
        if not grant.revocation_endpoint:
            return False
        hint = "refresh_token" if grant.refresh_token else "access_token"
        form = {
            "token": grant.refresh_token or grant.access_token,
            "token_type_hint": hint,
            "client_id": self._terms.client_id,
        }
        await self._asked(grant.revocation_endpoint, form)
        return True

    def _granted(self, endpoints: Endpoints, told: dict[str, Any]) -> IssuerGrant:
        empty = IssuerGrant(
            endpoints.issuer,
            self._terms.client_id,
            endpoints.token,
            "",
            revocation_endpoint=endpoints.revocation,
            scope=" ".join(self._terms.scopes),
        )
        return self._read(empty, told)

    def _read(self, grant: IssuerGrant, told: dict[str, Any]) -> IssuerGrant:
        try:
            return grant.renewed(told, self._now())
        except ValueError as error:
            raise IssuerRefused("token", str(error)) from None

    # ----------------------------------------------------------------------------------------------------- the wire

    async def _asked(self, url: str, form: Mapping[str, str]) -> dict[str, Any]:
        """An answer that is none of an error."""
        status, told = await self._ask("POST", url, form)
        if status in (200, 201):
            return told
        code = re.sub(r"[^A-Za-z0-9_.-]", "", str(told.get("error") or ""))[:80]
        if status >= 500 or status in NOT_NOW or (not code and status not in (400, 401)):
            raise IssuerAway(f"answered {status}", sent=True)
        detail = " ".join(str(told.get("error_description") or "").split())[:300]
        raise IssuerRefused(code or str(status), f"refused ({code or status})", detail)

    async def _ask(
        self, method: str, url: str, form: Mapping[str, str] | None = None, *, bearer: str = ""
    ) -> tuple[int, dict[str, Any]]:
        """Status and JSON of one answer; what is no JSON is empty."""
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=self._timeout.total_seconds())
        headers = {"Accept": "application/json", "User-Agent": "Signalbox", **(self._proof() if form else {})}
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        try:
            async with (
                aiohttp.ClientSession(trust_env=False, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session,
                session.request(method, url, data=form, headers=headers, allow_redirects=False) as answer,
            ):
                return answer.status, _json(await _bounded(answer))
        except aiohttp.ClientConnectorError as error:
            raise IssuerAway(f"can't be reached ({error.strerror or type(error).__name__})") from None
        except aiohttp.InvalidURL:
            raise IssuerRefused("address", f"{url[:200]} is no address") from None
        except (aiohttp.ClientError, TimeoutError) as error:
            why = "didn't answer in time" if isinstance(error, TimeoutError) else "broke off"
            raise IssuerAway(why, sent=bool(form)) from None

    def _proof(self) -> dict[str, str]:
        """The client's own secret, as RFC 6749, 2.3.1 has it; nothing for a public client."""
        if not self._terms.client_secret:
            return {}
        pair = f"{quote_plus(self._terms.client_id)}:{quote_plus(self._terms.client_secret)}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


async def _bounded(answer: ClientResponse) -> bytes:
    body = b""
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > ANSWER_MAX_BYTES:
            raise IssuerAway(f"answered with more than {ANSWER_MAX_BYTES:,} bytes", sent=True)
    return body


def _json(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
