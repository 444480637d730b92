"""`[auth]`: a provider at which people sign in to the page, the console and the API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from bot.settings.safety.logins import Address
from runtime.contract import Role
from runtime.settings.types import Secret, Section, Text

if TYPE_CHECKING:
    from bot.settings.sources import Layers

OPENID_SCOPE: Final = "openid"
AUTH_ROLES: Final = tuple(role.word for role in Role)
PROVIDER_SETTINGS: Final = ("client_id", "client_secret", "client_secret_env", "audience")

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""


def _private(url: str) -> str:
    from runtime.oauth.issuer import is_private  # for those who sign in at a provider, and nobody else

    if url and (not is_private(url) or "#" in url or "@" in url):
        raise ValueError('an https:// address, such as "https://id.example.com"')
    return url


def _header(name: str) -> str:
    if not name.replace("-", "").isalnum() or not name.isascii():
        raise ValueError('the name of a header, such as "Remote-User"')
    return name


Header = Annotated[str, AfterValidator(_header)]


class AuthRoles(Section):
    """Groups of the provider by the role that they give."""

    viewer: tuple[Text, ...] = Field(default=(), description='Groups whose people may read. "*": everybody.')
    user: tuple[Text, ...] = Field(default=(), description='Groups whose people may also write. "*": everybody.')
    operator: tuple[Text, ...] = Field(default=(), description="Groups of operators.")
    owner: tuple[Text, ...] = Field(
        default=(), description="Groups of owners. They also need `auth.owners_by_group = true`."
    )


class AuthSection(Section):
    """Sign-in at a provider of yours, beside links and tokens of ours: [sign-in.md](sign-in.md)."""

    issuer: Address = Field(
        default="",
        description="Address of the OpenID provider at which people sign in. Empty: nobody does, and links open the page.",
    )
    name: str = Field(default="", description="What people call the provider, on the button. Default: its host.")
    client_id: str = Field(default="", description="Our id at the provider.")
    client_secret: Secret = Field(default=None, description="Secret that belongs to `client_id`, if it has one.")
    client_secret_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `client_secret`."
    )
    scopes: tuple[Text, ...] = Field(
        default=(OPENID_SCOPE, "profile", "email"), description='Scopes to ask for; "openid" must be among them.'
    )
    audience: str = Field(
        default="",
        description="The audience (`aud`) of the provider's tokens (JWT) that the API accepts. Empty: it accepts none of them.",
    )
    groups_claim: Text = Field(
        default="groups", description='Where the provider tells groups; a path with dots, such as "realm_access.roles".'
    )
    groups_from: Literal["userinfo", "id_token"] = Field(
        default="userinfo",
        description='Where that claim is. "id_token": only in ID tokens, as with Microsoft Entra ID; this needs the scope "offline_access".',
    )
    roles: AuthRoles = Field(
        default_factory=AuthRoles, description="Groups of the provider by the role that they give."
    )
    owners_by_group: bool = Field(
        default=False, description="A group may make somebody an owner, and take that away. Without it, only owners do."
    )
    create: bool = Field(
        default=True,
        description="Make a person of whoever signs in for the first time with a group of `auth.roles`. `false`: only people who are known already, by `people add --identity oidc:SUBJECT`.",
    )
    by_email: bool = Field(
        default=False,
        description="Take whoever signs in for the first time for the person with the identity `email:ADDRESS`, if the provider verified the address. Trust your provider with that.",
    )
    url: Annotated[str, AfterValidator(_private)] = Field(
        default="",
        description="A forward-auth address that is asked who somebody is, in place of `auth.issuer`: it answers 2xx and names them in headers, or refuses.",
    )
    user_header: Header = Field(default="Remote-User", description="Header of its answer that names the person.")
    groups_header: Header = Field(
        default="Remote-Groups", description="Header of its answer with their groups, separated by commas."
    )
    name_header: Header = Field(default="Remote-Name", description="Header of its answer with what they're called.")

    @property
    def is_on(self) -> bool:
        return bool(self.issuer or self.url)

    @property
    def called(self) -> str:
        """The provider, as people call it."""
        return self.name or urlsplit(self.issuer or self.url).hostname or ""

    @property
    def by_role(self) -> Mapping[Role, Sequence[str]]:
        return {role: getattr(self.roles, role.word) for role in Role}


def faults_together(layers: Layers) -> Iterator[Fault]:
    """A provider without what it needs, and groups that would give more than was meant."""
    issuer, url = layers.get("auth.issuer"), layers.get("auth.url")
    if issuer and url:
        yield "auth.url", "is set, and auth.issuer too; keep one of them"
    if issuer and not layers.get("auth.client_id"):
        yield "auth.client_id", "is missing; the provider knows us by it"
    for name in PROVIDER_SETTINGS if not issuer else ():
        if layers.get(f"auth.{name}"):
            yield f"auth.{name}", "is set, and auth.issuer isn't; set it, or remove this"
    scopes = _listed(layers.get("auth.scopes"))
    if scopes and OPENID_SCOPE not in scopes:
        yield "auth.scopes", f'has no "{OPENID_SCOPE}", so the provider names nobody; add it'
    if layers.get("auth.groups_from") == "id_token":
        yield from _groups_that_come_once(scopes)
    yield from _roles(layers, is_on=bool(issuer or url))


def _groups_that_come_once(scopes: Sequence[object]) -> Iterator[Fault]:
    from runtime.oauth.issuer import OFFLINE_SCOPE

    if OFFLINE_SCOPE not in scopes:
        yield "auth.scopes", f'has no "{OFFLINE_SCOPE}", without which ID tokens with groups come only once; add it'


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _roles(layers: Layers, *, is_on: bool) -> Iterator[Fault]:
    given = {role: layers.get(f"auth.roles.{role}") or () for role in AUTH_ROLES}
    lists = {role: names for role, names in given.items() if isinstance(names, list)}
    if is_on and not any(given.values()):
        yield "auth.roles", 'gives nobody a role; set user = ["*"] to let in everybody who signs in'
    if lists.get("owner") and layers.get("auth.owners_by_group") is not True:
        yield "auth.roles.owner", "names groups, and owners_by_group isn't true; set it if a group may make owners"
    if lists:
        yield from _names(lists)


def _names(lists: Mapping[str, Sequence[object]]) -> Iterator[Fault]:
    from runtime.oauth.claims import EVERYBODY

    for role in ("operator", "owner"):
        if EVERYBODY in lists.get(role, ()):
            yield f"auth.roles.{role}", f'has "{EVERYBODY}", which would make everybody an {role}; name groups'
    count = Counter(name for names in lists.values() for name in {*map(str, names)})
    for role, names in lists.items():
        for name in dict.fromkeys(map(str, names)):
            if count[name] > 1:
                yield f"auth.roles.{role}", f'has "{name}", as another role does; a group gives one role'
