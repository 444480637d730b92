"""The SDK's client of OAuth, with a grant that lasts over restarts, and without a login where nobody can log in."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from typing import Final

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.exceptions import OAuthFlowError, OAuthTokenError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl

from tools.mcp.oauth.grants import Grant, Login, Return

EARLY: Final = 300.0  # seconds before its end a token is renewed, or a tenth of its life where that is less
BUSY: Final = 429
SERVER_FAULT: Final = 500

SDK_LOG: Final = logging.getLogger("mcp.client.auth.oauth2")
"""Tells of every exception on its way, at `error`."""

OnRefused = Callable[[str], None]
"""Told that only a person can help, with a clause that says how."""


RENEWED_MOST: Final = 3
"""How often one request begins again since another process has just renewed the token."""


class RenewedElsewhere(OAuthFlowError):
    """Another process has renewed the token meanwhile, or somebody logged in or out."""


class LoginNeeded(OAuthFlowError):
    """Only a person's login helps."""


class Provider(OAuthClientProvider):
    """Implements the SDK's auth for one server. `refused` is told once a login is needed and nobody is there for it."""

    def __init__(self, url: str, login: Login, refused: OnRefused) -> None:
        self._book = _Book(url, login)
        is_document = login.client_id.startswith("https://")
        super().__init__(
            url,
            OAuthClientMetadata(
                client_name="Signalbox",
                redirect_uris=[AnyUrl(login.back)],
                scope=login.scopes or None,
            ),
            self._book,
            redirect_handler=self._show,
            callback_handler=self._came_back,
            client_metadata_url=login.client_id if is_document else None,
        )
        SDK_LOG.addFilter(_is_news)
        self._login = login
        self._refused = refused
        self._address = ""
        self._book.provider = self

    async def _show(self, address: str) -> None:
        self._address = address

    async def _came_back(self) -> AuthorizationCodeResult:
        if self._login.ask is None:
            raise self._needed()
        back: Return = await self._login.ask(self._address)
        return AuthorizationCodeResult(code=back.code, state=back.state, iss=back.issuer)

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if not self.context.is_token_valid():
            self._initialized = False  # perhaps another process of this machine has renewed it, or somebody logged in
            await self._initialize()
        if self._login.ask is None and self.context.current_tokens is None:
            response = yield request
            if response.status_code == httpx2.codes.UNAUTHORIZED:
                raise self._needed()
            return
        for _ in range(RENEWED_MOST):
            flow = super()._auth_flow(request)
            try:
                outgoing = await anext(flow)
                while True:
                    response = yield outgoing
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                return
            except RenewedElsewhere:
                continue
            finally:
                await flow.aclose()
                await self._login.grants.free(refused=False)
        raise OAuthTokenError("its token was renewed by others again and again")

    async def _refresh_token(self) -> httpx2.Request:
        """Only one process at a time asks for a fresh token: refresh tokens may be good once."""
        grant = self._book.grant
        if self._login.ask is None and grant and not await self._login.grants.claim(grant):
            self._initialized = False  # while the lock is held: whoever is next reads the new one
            raise RenewedElsewhere("another process renewed it")
        return await super()._refresh_token()

    async def _initialize(self) -> None:
        """Besides tokens and registration: when they end, and where they came from, which the SDK would not know again."""
        await super()._initialize()
        grant = self._book.grant
        if grant is None or self._login.ask is not None:
            return
        self.context.token_expiry_time = grant.expires_at
        self.context.oauth_metadata = OAuthMetadata.model_validate(grant.issuer) if grant.issuer else None
        if grant.resource:
            self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(grant.resource)

    async def _perform_authorization(self) -> httpx2.Request:
        """A token that was refused before its end is renewed first, where nobody is there to log in."""
        if self._login.ask is None and self.context.can_refresh_token():
            return await self._refresh_token()
        return await super()._perform_authorization()

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        if self._login.ask is not None:
            await super()._handle_token_response(response)
        elif not await self._handle_refresh_response(response):
            raise self._needed()

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        """A login server that is away says nothing about the grant, which stays as it is. Errors: OAuthTokenError."""
        if response.status_code >= SERVER_FAULT or response.status_code == BUSY:
            raise OAuthTokenError(f"the login server answered {response.status_code}; the token could not be renewed")
        done = await super()._handle_refresh_response(response)
        if not done and response.status_code < SERVER_FAULT:
            await self._login.grants.free(refused=True)
        return done

    def _needed(self) -> LoginNeeded:
        self._refused(self._login.needed)
        return LoginNeeded(self._login.needed)


class _Book:
    """Implements the SDK's TokenStorage over the grant of one server."""

    provider: Provider

    def __init__(self, url: str, login: Login) -> None:
        self.grant: Grant | None = None
        self._url = url
        self._login = login

    async def get_tokens(self) -> OAuthToken | None:
        # A login begins anew, whatever is there: somebody who logs in again has a reason.
        self.grant = None if self._login.ask else await self._login.grants.read(self._url)
        return OAuthToken.model_validate(self.grant.token) if self.grant else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        context = self.provider.context
        if context.token_expiry_time and tokens.expires_in:
            context.token_expiry_time -= min(EARLY, tokens.expires_in / 10)
        issuer, resource = context.oauth_metadata, context.protected_resource_metadata
        self.grant = Grant(
            self._url,
            client=_json(context.client_info) or {},
            token=_json(tokens) or {},
            expires_at=context.token_expiry_time or (time.time() + tokens.expires_in if tokens.expires_in else None),
            issuer=_json(issuer),
            resource=_json(resource),
        )
        await self._login.grants.write(self.grant)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self.grant:
            return OAuthClientInformationFull.model_validate(self.grant.client)
        login = self._login
        if not login.client_id or login.client_id.startswith("https://"):
            return None
        method = "client_secret_basic" if login.client_secret else "none"
        return OAuthClientInformationFull(
            client_id=login.client_id,
            client_secret=login.client_secret or None,
            token_endpoint_auth_method=method,
            redirect_uris=[AnyUrl(login.back)],
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Kept with the tokens: without them a registration is of no use."""


def _is_news(record: logging.LogRecord) -> bool:
    """False for an exception by which a request only begins again."""
    return not (record.exc_info and isinstance(record.exc_info[1], RenewedElsewhere))


def _json(
    model: OAuthClientInformationFull | OAuthToken | OAuthMetadata | ProtectedResourceMetadata | None,
) -> dict[str, object] | None:
    return model.model_dump(mode="json", exclude_none=True) if model else None
