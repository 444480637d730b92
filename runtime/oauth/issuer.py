"""An issuer as the settings name it, and its addresses as its own metadata tells them. Pure."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from runtime.oauth.errors import IssuerRefused
from runtime.text.glyphs import visible

WELL_KNOWN: Final = ("oauth-authorization-server", "openid-configuration")
"""RFC 8414 puts the first before the issuer's path; OpenID Connect Discovery the second behind it."""

OFFLINE_SCOPE: Final = "offline_access"


@dataclass(frozen=True, slots=True)
class IssuerTerms:
    """Terms of one sign-in. Addresses that are left out are told by the issuer's metadata."""

    name: str
    client_id: str
    issuer: str = ""
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    device_endpoint: str = ""
    revocation_endpoint: str = ""
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    audience: str = ""

    @property
    def wants_metadata(self) -> bool:
        return bool(self.issuer) and not self.token_endpoint

    def asked(self) -> dict[str, str]:
        """Parameters that go with each request for a token: RFC 8707 has `resource` for addresses, others read `audience`."""
        found = {"client_id": self.client_id}
        if self.scopes:
            found["scope"] = " ".join(self.scopes)
        return found | self.audience_asked()

    def audience_asked(self) -> dict[str, str]:
        if not self.audience:
            return {}
        is_address = urlsplit(self.audience).scheme in ("https", "http") and "#" not in self.audience
        return {"audience": self.audience, **({"resource": self.audience} if is_address else {})}


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Addresses of an issuer. `names_itself`: it says who it is when a browser comes back (RFC 9207)."""

    issuer: str
    token: str
    authorization: str = ""
    device: str = ""
    revocation: str = ""
    names_itself: bool = False
    userinfo: str = ""
    keys: str = ""


def metadata_places(issuer: str) -> list[str]:
    """Addresses of the metadata, the likeliest first.

    >>> metadata_places("https://id.example.com/team/")
    ['https://id.example.com/.well-known/oauth-authorization-server/team', 'https://id.example.com/team/.well-known/openid-configuration']
    """
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return [f"{root}/.well-known/{WELL_KNOWN[0]}{path}", f"{root}{path}/.well-known/{WELL_KNOWN[1]}"]


def endpoints_of(terms: IssuerTerms, metadata: Mapping[str, Any]) -> Endpoints:
    """The addresses to ask: of the settings, else of the metadata. Errors: IssuerRefused."""
    if metadata and metadata.get("issuer") != terms.issuer:
        told = str(metadata.get("issuer"))[:200]
        raise IssuerRefused("issuer", f"its metadata says that it is {told}, so it isn't trusted")
    found = Endpoints(
        issuer=terms.issuer,
        token=terms.token_endpoint or str(metadata.get("token_endpoint") or ""),
        authorization=terms.authorization_endpoint or str(metadata.get("authorization_endpoint") or ""),
        device=terms.device_endpoint or str(metadata.get("device_authorization_endpoint") or ""),
        revocation=terms.revocation_endpoint or str(metadata.get("revocation_endpoint") or ""),
        names_itself=metadata.get("authorization_response_iss_parameter_supported") is True,
        userinfo=str(metadata.get("userinfo_endpoint") or ""),
        keys=str(metadata.get("jwks_uri") or ""),
    )
    if not found.token:
        raise IssuerRefused("metadata", "it names no address for tokens; set token_endpoint")
    for address in filter(None, (found.token, found.authorization, found.device, found.revocation)):
        if not is_private(address):
            raise IssuerRefused("metadata", f"{address[:200]} isn't https://, so nothing is sent there")
    return found


def is_private(address: str) -> bool:
    """True for an address on the way to which nobody else reads: over TLS, or on this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_here(host)))


def is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Proof:
    """PKCE (RFC 7636) and the state of one sign-in in a browser."""

    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48), repr=False)
    state: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def challenge(self) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")


def login_page(terms: IssuerTerms, endpoints: Endpoints, proof: Proof, back: str, nonce: str = "") -> str:
    """Address of the page at which a person signs in. `nonce` is what an ID token must repeat."""
    asked = {
        "response_type": "code",
        **terms.asked(),
        "redirect_uri": back,
        "state": proof.state,
        "code_challenge": proof.challenge,
        "code_challenge_method": "S256",
        **(openid_asked(terms, nonce) if nonce else {}),
    }
    mark = "&" if urlsplit(endpoints.authorization).query else "?"
    return f"{endpoints.authorization}{mark}{urlencode(asked)}"


def asking_again(page: str) -> str:
    """The address of a sign-in that asks for the password, and has the provider say when. Source: OpenID Connect Core 1.0, 3.1.2.1."""
    parts = urlsplit(page)
    asked = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key != "prompt"]
    prompts = [word for key, value in parse_qsl(parts.query) if key == "prompt" for word in value.split()]
    return parts._replace(
        query=urlencode([*asked, ("prompt", " ".join(["login", *prompts])), ("max_age", "0")])
    ).geturl()


def openid_asked(terms: IssuerTerms, nonce: str) -> dict[str, str]:
    """Parameters of OpenID Connect. Without a prompt for consent, providers leave out `offline_access` (Core 1.0, section 11)."""
    return {"nonce": nonce, **({"prompt": "consent"} if OFFLINE_SCOPE in terms.scopes else {})}


def check_return(endpoints: Endpoints, proof: Proof, state: str | None, issuer: str | None) -> None:
    """Errors: IssuerRefused where a browser came back from somebody else's page, or another sign-in."""
    if not secrets.compare_digest(state or "", proof.state):
        raise IssuerRefused("state", "the browser came back from another sign-in; begin again")
    if (issuer or endpoints.names_itself) and endpoints.issuer and issuer != endpoints.issuer:
        told = f"says that it is {visible(issuer[:200], one_line=True)}" if issuer else "doesn't say who it is"
        raise IssuerRefused("iss", f"the page that the browser came back from {told}; begin again")
