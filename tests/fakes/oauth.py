"""An MCP server behind a login server, as the specifications have both: `python -m tests.fakes.oauth [LIFE]`.

The MCP server is the SDK's, in either revision; the login server is ours: RFC 8414 and 9728 metadata, registration, PKCE,
resource indicators, and refresh tokens that are good once. A token lives for LIFE seconds. The login page lets everybody in
at once, as a person would who clicks. `POST /revoke-all` ends all tokens, `GET /seen` tells what was asked for.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.fakes.mcp_server import made

SCOPE: Final = "mcp:use"


class LoginServer:
    """Codes and tokens of one life."""

    def __init__(self, url: str, life: float) -> None:
        self.url = url
        self.life = life
        self.clients: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, float] = {}
        self.refresh: set[str] = set()
        self.seen: list[list[str]] = []

    def lets_in(self, headers: Mapping[str, str]) -> bool:
        token = headers.get("authorization", "").removeprefix("Bearer ")
        return self.tokens.get(token, 0) > time.time()

    async def resource(self, _: Request) -> Response:
        told = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url], "scopes_supported": [SCOPE]}
        return JSONResponse(told)

    async def metadata(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    async def register(self, request: Request) -> Response:
        asked = await request.json()
        client = {**asked, "client_id": f"client-{len(self.clients) + 1}", "token_endpoint_auth_method": "none"}
        self.clients[client["client_id"]] = client
        self.seen.append(["register", asked.get("client_name", "")])
        return JSONResponse(client, 201)

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        client = self.clients.get(asked.get("client_id", ""))
        if client is None or asked.get("redirect_uri") not in client["redirect_uris"]:
            return JSONResponse({"error": "invalid_client"}, 400)
        if asked.get("code_challenge_method") != "S256" or asked.get("resource") != f"{self.url}/mcp":
            return JSONResponse({"error": "invalid_request"}, 400)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        self.seen.append(["authorize", asked.get("scope", "")])
        back = {"code": code, "state": asked["state"], "iss": self.url}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 302)

    async def token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        self.seen.append(["token", form.get("grant_type", "")])
        if form.get("resource") != f"{self.url}/mcp":
            return JSONResponse({"error": "invalid_target"}, 400)
        if form.get("grant_type") == "refresh_token" and form.get("refresh_token") in self.refresh:
            self.refresh.discard(form["refresh_token"])
        elif form.get("grant_type") != "authorization_code" or not self._is_code(form):
            return JSONResponse({"error": "invalid_grant"}, 400)
        access, again = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.tokens[access] = time.time() + self.life
        self.refresh.add(again)
        told = {"access_token": access, "token_type": "Bearer", "expires_in": int(self.life), "refresh_token": again}
        return JSONResponse({**told, "scope": SCOPE})

    def _is_code(self, form: Mapping[str, str]) -> bool:
        asked = self.codes.pop(form.get("code", ""), None)
        proof = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        return asked is not None and proof.decode().rstrip("=") == asked["code_challenge"]

    async def revoke_all(self, _: Request) -> Response:
        self.tokens.clear()
        self.refresh.clear()
        return Response(status_code=204)

    async def expire_all(self, _: Request) -> Response:
        self.tokens.clear()
        return Response(status_code=204)

    async def told(self, _: Request) -> Response:
        return JSONResponse(self.seen)


def serve(life: float) -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server = LoginServer(url, life)
    inner = made().streamable_http_app()
    routes = [
        Route("/.well-known/oauth-protected-resource/mcp", server.resource),
        Route("/.well-known/oauth-authorization-server", server.metadata),
        Route("/register", server.register, methods=["POST"]),
        Route("/authorize", server.authorize),
        Route("/token", server.token, methods=["POST"]),
        Route("/revoke-all", server.revoke_all, methods=["POST"]),
        Route("/expire-all", server.expire_all, methods=["POST"]),
        Route("/seen", server.told),
    ]
    outer = Starlette(routes=routes)
    where = f"{url}/.well-known/oauth-protected-resource/mcp"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != "/mcp":
            return await (inner if scope["type"] == "lifespan" else outer)(scope, receive, send)
        if not server.lets_in(Request(scope).headers):
            refusal = {"WWW-Authenticate": f'Bearer resource_metadata="{where}", scope="{SCOPE}"'}
            return await Response(json.dumps({"error": "who are you?"}), 401, refusal)(scope, receive, send)
        return await inner(scope, receive, send)

    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=0)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(float(sys.argv[1]) if len(sys.argv) > 1 else 3600)
