"""A sign-in at an issuer by a person in front of a terminal: a code for another device, or a browser on this machine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from runtime.contract import Now
from runtime.errors import StoreError
from runtime.oauth.client import DeviceCode, IssuerClient
from runtime.oauth.errors import IssuerError, IssuerRefused
from runtime.oauth.grant import IssuerGrant
from runtime.oauth.issuer import Endpoints, IssuerTerms, Proof, check_return, is_private, login_page

if TYPE_CHECKING:
    from tools.mcp.oauth.browser import Callback

SIGN_IN_TIME: Final = timedelta(minutes=10)

ShowCode = Callable[[DeviceCode], None]
ShowPage = Callable[[str], None]
Listen = Callable[["Callback"], None]


class SigningIn:
    """One sign-in. `show_code` and `show_page` tell the person what to do; `listen` is for an address typed in."""

    def __init__(
        self, terms: IssuerTerms, *, now: Now, show_code: ShowCode, show_page: ShowPage, listen: Listen, port: int = 0
    ) -> None:
        self._terms = terms
        self._client = IssuerClient(terms, now=now)
        self._show_code = show_code
        self._show_page = show_page
        self._listen = listen
        self._port = port

    async def grant(self, *, browser: bool = False) -> IssuerGrant:
        """With a code where the issuer gives some, unless a `browser` is wanted. Errors: StoreError says why there is none."""
        try:
            endpoints = await self._client.endpoints()
            if endpoints.device and not browser:
                code = await self._client.device_code(endpoints)
                self._show_code(code)
                return await self._client.by_device(endpoints, code)
            return await self._by_browser(endpoints)
        except IssuerError as error:
            detail = f": {error.detail}" if isinstance(error, IssuerRefused) and error.detail else ""
            raise StoreError(f"{self._terms.name}: its issuer {error}{detail}.") from error

    async def _by_browser(self, endpoints: Endpoints) -> IssuerGrant:
        from tools.mcp.errors import NoServer
        from tools.mcp.oauth.browser import asking, waiting

        if not is_private(endpoints.authorization):
            raise IssuerRefused("page", "has no page to sign in at, and gives no codes; set authorization_endpoint")
        proof = Proof()
        try:
            async with waiting(self._port) as callback:
                self._listen(callback)
                ask = asking(self._show_page, callback, SIGN_IN_TIME.total_seconds())
                back = await ask(login_page(self._terms, endpoints, proof, callback.address))
                check_return(endpoints, proof, back.state, back.issuer)
                return await self._client.by_code(endpoints, back.code, proof.verifier, callback.address)
        except NoServer as error:
            raise StoreError(f"{self._terms.name}: {error}.") from error
        except OSError as error:
            raise StoreError(f"callback_port {self._port} can't be used: {error.strerror}.") from error
